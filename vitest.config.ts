import { defineConfig } from 'vitest/config';

const inRooms = (rooms: readonly string[]) => rooms.map((room) => `test/${room}/**/*.test.ts`);

/** Files that start no ranks: they run side by side, before the others. */
const together = [
  ...inRooms(['docs', 'measure', 'plan', 'reference', 'results', 'settings']),
  ...inRooms(['shmem', 'simulate', 'topology']),
  // The other one compares times.
  'test/analysis/**/!(change-points).test.ts',
  'test/all-to-all-single/{contents,imbalance,log}.test.ts',
  'test/benchmarks/{breakdown,figures,proxy-loss,refusals,routing-file}.test.ts',
  'test/cli/{ab-words,earlier-runs,flags,info,k8s,predict,progress-line,shell-words}.test.ts',
  'test/cli/job-files/*.test.ts',
  'test/engine/{marks,simulated,simulated-steps,spinning}.test.ts',
  'test/fabric/{arrivals,device-path,host-facts,immediates,libfabric-package}.test.ts',
  'test/fabric/{memory-mode,nics,rdma-facts,segments}.test.ts',
  'test/lab/{alias,spec,efa/fault-names}.test.ts',
  'test/report/{charts,failed-rows,gpu-initiated,html,model,routing,several-runs,soak,svg}.test.ts',
  'test/runner/{agree-on-inputs,gather-samples,job,marked-times,row,soak/links}.test.ts',
  'test/session/{devices,gpu-rails,rails,reach,unused-nic}.test.ts',
  'test/session/{path/link-watch,path/tcp-resent,preflight/judge}.test.ts',
  'test/setup/{distribution,npm-packages,sbom,soak-growth,stamp,system-packages}.test.ts',
  'test/world/{identity,kubernetes,lone-process,meeting,slurm-job,token,values}.test.ts',
];

/** Files that judge no speed, though some start ranks: two at a time. */
const inPairs = [
  ...inRooms(['browser', 'fuzz', 'gpu', 'live', 'memory', 'native', 'package', 'report', 'runner']),
  ...inRooms(['session', 'setup', 'world']),
  'test/cli/!(ab).test.ts',
];

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
          name: 'in pairs',
          include: inPairs,
          exclude: together,
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['test/**/*.test.ts'],
          // On emulated EFA devices: npm run test:efa.
          exclude: ['test/efa/**', ...together, ...inPairs],
          // Ranks are real processes and the machine may have two cores: one file at a time.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
