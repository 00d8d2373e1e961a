#!/bin/sh
# HealthCheckProgram of Slurm: measures a drained node again, with idle nodes, and resumes it if it passes. Never drains
# a node. Only nodes that the gate drained; does nothing if there are none. Needs in slurm.conf:
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
# One node at a time, so that none keeps the others from being tested: the one with the oldest reason.
drained=$(sinfo -h -N -r -t drained -o '%H %N %E' | sort | sed -n "s/^[^ ]* \([^ ]*\) $mark.*/\1/p" | head -n 1)
[ -n "$drained" ] || exit 0
# Two idle nodes, the same on every node, tell a bad node from a bad peer. One of them is rank 0. For sinfo -t idle,
# drained nodes are idle, too.
helpers=$(sinfo -h -N -r -o '%T %N' | sed -n 's/^idle //p' | sort -u | head -n 2)
[ -n "$helpers" ] || exit 0
nodes=$(echo $helpers $drained | tr ' ' ,)
case ,$nodes, in *,"$node",*) ;; *) exit 0 ;; esac
gate "$nodes" "health-$nodes" | while read -r name grade reason; do
  [ "$name" = "$drained" ] || continue
  old=$(reason_of "$name")
  # Slurm dates a reason only when its text changes.
  again="(tested again $(date +%FT%T))"
  case $grade:$old in
    pass:"$mark"*) resume "$name" ;;
    fail:"$mark"*) scontrol update "nodename=$name" "reason=$mark $reason $again" ;;
    *:"$mark"*) scontrol update "nodename=$name" "reason=${old%% (tested again*} $again" ;;
  esac
done
exit 0
