import type { Gate, GateNode } from '../../analysis/gate/gate.js';

/** Labels hold no sentences: at most 63 letters, digits, dots, dashes and underscores. */
const label = (value: string): string => value.replace(/[^A-Za-z0-9._-]/g, '-').slice(0, 63);

const conditionReason = {
  pass: 'GatePassed',
  degraded: 'GateDegraded',
  fail: 'GateFailed',
  unmeasured: 'GateNotMeasured',
} as const;

/** As conditions have it: not knowing is a status of its own. */
const statusOf = { pass: 'True', degraded: 'False', fail: 'False', unmeasured: 'Unknown' } as const;

/**
 * A patch of one Kubernetes node: labels to select nodes by, and a condition. It is applied twice, to the node and to
 * its status: the API server takes from each only what belongs there.
 */
export function nodePatch({ node, grade, reason, gbps }: GateNode, at: string, validMs: number) {
  const validUntil = new Date(Date.parse(at) + validMs).toISOString();
  const seconds = at.replace(/\.\d+Z$/, 'Z');
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: node,
      labels: {
        'weft/gate': grade,
        // null removes what an earlier gate wrote.
        'weft/gate-gbps': gbps === null ? null : label(gbps.toFixed(2)),
        'weft/gate-valid-until': label(String(Math.floor(Date.parse(validUntil) / 1000))),
      },
      annotations: { 'weft/gate-reason': reason, 'weft/gate-valid-until': validUntil },
    },
    status: {
      conditions: [
        {
          type: 'WeftFabricHealthy',
          status: statusOf[grade],
          reason: conditionReason[grade],
          message: `${reason} (valid until ${validUntil})`,
          // No lastTransitionTime: whether the status changes is not known here.
          lastHeartbeatTime: seconds,
        },
      ],
    },
  };
}

/** The patch of one node, or a list of the patches of several, as JSON. */
export function formatNodePatch({ nodes, at }: Gate, validMs: number): string {
  const items = nodes.map((node) => nodePatch(node, at, validMs));
  const document = items.length === 1 ? items[0] : { apiVersion: 'v1', kind: 'List', items };
  return `${JSON.stringify(document, null, 2)}\n`;
}
