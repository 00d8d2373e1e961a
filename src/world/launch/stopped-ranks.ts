import { isStopped } from '../../native/process.js';
import type { RankChild } from './rank-child.js';

/** How long a rank may be stopped when others have ended. */
const patienceMs = 5000;

/** Looks for ranks that a signal keeps stopped: others have ended, and these would be waited for without end. */
export function watchStopped(
  children: readonly RankChild[],
  found: (children: readonly RankChild[]) => void,
): NodeJS.Timeout {
  const sinceMs = new Map<RankChild, number>();
  return setInterval(() => {
    const now = performance.now();
    for (const child of children) {
      if (!isStopped(child.process.pid ?? 0)) sinceMs.delete(child);
      else if (!sinceMs.has(child)) sinceMs.set(child, now);
    }
    const stopped = [...sinceMs].filter(([, since]) => now - since > patienceMs);
    if (stopped.length > 0) found(stopped.map(([child]) => child));
  }, patienceMs / 5);
}
