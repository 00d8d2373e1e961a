# Settings, from the shell file /etc/weft/gate.conf if it exists:
#   GATE_OPTIONS   more options of weft gate, e.g. "--min-gbps 80 --timeout 30"
#   GATE_TOKEN     file with a secret that all nodes share (owner root, mode 0600); without it nothing is measured,
#                  unless GATE_UNAUTHENTICATED=1 lets anyone join who knows the job number and reaches the port
#   GATE_METRICS   file for Prometheus' textfile collector
#   GATE_LOG       folder for run files and messages (default: /var/log/weft)
#   SLURM_CONF     path of slurm.conf if it is not the usual one; use export, because health checks do not get it
#   WEFT_BUNDLE_DIR  folder into which a bundle unpacks (default: /var/cache/weft)
# Slurm starts this without a search path and without HOME.
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WEFT_BUNDLE_DIR=${WEFT_BUNDLE_DIR:-/var/cache/weft}
export PATH WEFT_BUNDLE_DIR
weft() { @WEFT@ "$@"; }
conf=${WEFT_GATE_CONF:-/etc/weft/gate.conf}
[ ! -r "$conf" ] || . "$conf"
log=${GATE_LOG:-/var/log/weft}
mkdir -p "$log"
node=${SLURMD_NODENAME:-$(hostname -s)}
# Only nodes whose reason starts with this are resumed.
mark='weft gate:'

# gate NODES JOB: prints "node grade reason" of this node; the first node adds those that never joined.
gate() (
  export WEFT_NODES="$1" WEFT_NODE="$node" WEFT_JOB="$2"
  find "$log" -maxdepth 1 -name "gate-$node-*.jsonl" -mtime +7 -delete
  find "$log" -maxdepth 1 -name "gate-$node.log" -size +1000k -exec mv {} {}.1 ';'
  exec 2>>"$log/gate-$node.log"
  if [ ! -r "${GATE_TOKEN:-}" ] && [ "${GATE_UNAUTHENTICATED:-}" != 1 ]; then
    echo "$(date): no gate: GATE_TOKEN in $conf must name a file that can be read" >&2
    exit
  fi
  run=$log/gate-$node-$2.jsonl
  rm -f "$run"
  weft gate --own --quiet --out "$run" ${GATE_TOKEN:+--token-file "$GATE_TOKEN"} \
    ${GATE_METRICS:+--metrics "$GATE_METRICS"} ${GATE_OPTIONS:-}
)

reason_of() { sinfo -h -N -n "$1" -o %E | head -n 1; }

# drain NODE REASON: unless someone else has drained it already.
drain() {
  case $(reason_of "$1") in
    none | '' | "$mark"*) scontrol update "nodename=$1" state=drain "reason=$mark $2" ;;
  esac
}

# resume NODE: if it was drained here.
resume() {
  case $(reason_of "$1") in
    "$mark"*) scontrol update "nodename=$1" state=resume ;;
  esac
}

# Drains what failed, resumes this node if it passed. Returns 1 if this node failed.
act_on() {
  own=0
  while read -r name grade reason; do
    case $grade in
      fail)
        drain "$name" "$reason"
        [ "$name" != "$node" ] || own=1
        ;;
      pass) [ "$name" != "$node" ] || resume "$name" ;;
    esac
  done
  return $own
}

job_nodes() {
  if [ -n "${SLURM_JOB_NODELIST:-}" ]; then echo "$SLURM_JOB_NODELIST"
  else squeue -h -j "$SLURM_JOB_ID" -o %N; fi
}
