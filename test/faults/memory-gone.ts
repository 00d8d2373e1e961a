import { type Cell, kept, type Phase } from './cell.js';
import { memoryLimit } from './memory-limit.js';
import type { Scene } from './scene.js';
import { untilGone } from './signals.js';

/** A process that is alone takes more memory than it may have. Nobody is left to say so; nothing else is lost. */
export function memoryGone(phase: Extract<Phase, 'report' | 'serve'>): Cell {
  const { group, around } = memoryLimit();
  const says = phase === 'serve' ? [/serving the runs/] : [];
  const eat = async ({ place, job, launcher }: Scene) => {
    if (phase === 'serve') await job.says(/http:\S+\n/);
    place.feed(group);
    await untilGone(launcher);
  };
  return {
    fault: {
      ...{ name: 'out of memory', on: 'process', mode: 'eat', ...around },
      ...(phase === 'serve' ? { after: eat } : { strike: eat }),
    },
    phase,
    world: 'alone',
    ends: { exit: 'SIGKILL', says, file: kept },
  };
}
