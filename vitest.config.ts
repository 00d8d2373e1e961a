import { defineConfig } from 'vitest/config';

/** Files that start no ranks: they run side by side, before the others. */
const together = [
  ...['docs', 'measure', 'plan', 'reference', 'results', 'settings'],
  ...['simulate', 'topology'],
].map((room) => `test/${room}/**/*.test.ts`);
together.push(
  // That one compares times.
  'test/analysis/**/!(change-points).test.ts',
  'test/report/{charts,failed-rows,gpu-initiated,html,several-runs,soak,svg}.test.ts',
  'test/cli/{ab-words,earlier-runs,flags,k8s,predict,progress-line,shell-words}.test.ts',
  'test/cli/job-files/*.test.ts',
);

export default defineConfig({
  test: {
    pool: 'forks',
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['default', './scripts/vitest-closing-line.mjs'],
    projects: [
      {
        extends: true,
        test: { name: 'together', include: together, maxWorkers: 3, sequence: { groupOrder: 0 } },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/**/*.test.ts'],
          // On emulated EFA devices: npm run test:efa.
          exclude: ['test/efa/**', 'node_modules/**', ...together],
          // Ranks are real processes and the machine may have two cores: one file at a time.
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
