#!/bin/sh
# Epilog of Slurm: all nodes of a job measure between each other after it. A node that fails is drained with the
# reason; one that this gate drained earlier and that passes is resumed. Needs in slurm.conf:
#   Epilog=/etc/slurm/weft-epilog.sh
#@common.sh@
gate "$(job_nodes)" "epilog-$SLURM_JOB_ID" | act_on
exit 0
