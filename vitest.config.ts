import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // On emulated EFA devices: npm run test:efa.
    exclude: ['test/efa/**', 'node_modules/**'],
    // Ranks are real processes and the machine may have two cores: one file at a time.
    fileParallelism: false,
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './scripts/vitest-closing-line.mjs'],
  },
});
