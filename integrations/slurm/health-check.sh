#!/bin/sh
# HealthCheckProgram of Slurm: measures drained nodes again, with idle nodes, and resumes those that pass.
# Only nodes that the gate drained; does nothing if there are none. Needs in slurm.conf:
#   HealthCheckProgram=/etc/slurm/weft-health.sh
#   HealthCheckInterval=300
#
# It measures in the background: slurmctld considers a node down that does not answer within MessageTimeout.
if [ -z "${WEFT_GATE_DETACHED:-}" ]; then
  WEFT_GATE_DETACHED=1 setsid "$0" </dev/null >/dev/null 2>&1 &
  exit 0
fi
#@common.sh@
# One check at a time: a slow one may still run when the next is due.
exec 9>"$log/gate-$node.lock"
flock -n 9 || exit 0
drained=$(sinfo -h -N -t drained -o '%N %E' | sed -n "s/^\([^ ]*\) $mark.*/\1/p" | sort -u)
[ -n "$drained" ] || exit 0
# Two idle nodes, the same on every node, tell a bad node from a bad peer.
helpers=$(sinfo -h -N -t idle -o %N | sort -u | head -n 2)
[ -n "$helpers" ] || exit 0
nodes=$(echo $drained $helpers | tr ' ' ,)
case ,$nodes, in *,"$node",*) ;; *) exit 0 ;; esac
gate "$nodes" "health-$nodes" | act_on
exit 0
