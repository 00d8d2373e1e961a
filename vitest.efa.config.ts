import { defineConfig } from 'vitest/config';
import common from './vitest.config.js';

const { projects: _, ...shared } = common.test ?? {};

/** What runs on emulated EFA devices; `npm run test:efa` provides them. */
export default defineConfig({
  test: {
    ...shared,
    include: [
      'test/efa/**/*.test.ts',
      'test/contract/{channel,lifecycle,limits,peers,steps,times,wrong-plans}.test.ts',
      'test/engine/shuffled.test.ts',
      'test/ranks/{fabric-delivery,shmem}.test.ts',
    ],
    exclude: ['node_modules/**'],
    fileParallelism: false,
  },
});
