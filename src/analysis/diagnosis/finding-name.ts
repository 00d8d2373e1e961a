import type { Finding } from '../../results/finding.js';
import { namesOf } from '../hosts/differences.js';

/** `h2’s NIC nic1 (out)`, `h1 → h3`, `rank 2 on h2`. */
export function nameOf({ cause, who }: Pick<Finding, 'cause' | 'who'>): string {
  const way = who.direction === 'both' ? '' : who.direction === 'out' ? ', outgoing' : ', incoming';
  const rail = who.nic ?? (who.rail === undefined ? '' : `rail ${who.rail}`);
  const on = rail === '' ? '' : ` on ${rail}`;
  switch (cause) {
    case 'host': {
      const { hosts = [] } = who;
      return hosts.length > 1 ? `hosts ${namesOf(hosts)}` : `host ${who.host}${way}`;
    }
    case 'nic':
      return `NIC ${rail} of ${who.host}${way}`;
    case 'rail':
      return `rail ${rail}`;
    case 'leaf':
      return `leaf ${who.leaf}${on}`;
    case 'uplink':
      return `uplinks of leaf ${who.leaf}${on}${way}`;
    case 'spine':
      return `spine ${who.spine}${on}`;
    case 'core':
      return `core between the spines${on}`;
    case 'rank':
      return `rank ${who.rank} on ${who.host}${way}`;
    case 'pair': {
      const arrow = who.direction === 'both' ? '↔' : '→';
      return `pair ${who.from} ${arrow} ${who.to}${on}`;
    }
  }
}
