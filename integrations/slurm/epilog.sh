#!/bin/sh
# Epilog of Slurm: the nodes of a job measure the links between them after it. Drains a node that fails, with the
# reason; resumes one that the gate drained earlier and that passes now. Needs in slurm.conf:
#   Epilog=/etc/slurm/weft-epilog.sh
#@common.sh@
gate "$(job_nodes)" "epilog-$SLURM_JOB_ID" | act_on
exit 0
