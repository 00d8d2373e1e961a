import { describe, expect, test } from 'vitest';
import { reasonOf } from '../../src/world/launchers/slurm-job.js';

describe('why Slurm ends a job', () => {
  const shown = (fields: string) =>
    `JobId=7 JobName=a Requeue=1 PreemptEligibleTime=2026-11-16T06:22:19 ${fields} TimeLimit=00:01:00`;

  test.each([
    [
      'its time limit',
      'JobState=COMPLETING Reason=TimeLimit Restarts=0',
      /time limit \(00:01:00\)/,
    ],
    ['preemption', 'JobState=COMPLETING Reason=None PreemptTime=2026-11-16T06:22:40', /preempted/],
    ['a requeue', 'JobState=COMPLETING Reason=None Restarts=2 PreemptTime=None', /requeued/],
    ['a node that is down', 'JobState=COMPLETING Reason=NodeDown Restarts=1', /lost a node/],
    ['scancel', 'JobState=COMPLETING Reason=None Restarts=1 PreemptTime=None', /cancelled/],
  ])('%s', (_, fields, words) => {
    expect(reasonOf(shown(fields), 1)).toMatch(words);
  });

  test('nothing is said of a job that goes on', () => {
    expect(reasonOf(shown('JobState=RUNNING Reason=None Restarts=1'), 1)).toBeUndefined();
  });
});
