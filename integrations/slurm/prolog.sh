#!/bin/sh
# Prolog of Slurm: all nodes of a job measure between each other before it starts. A node that fails is drained with
# the reason, and Slurm requeues the job. Needs in slurm.conf:
#   Prolog=/etc/slurm/weft-prolog.sh
#   PrologFlags=Alloc
#   SchedulerParameters=nohold_on_prolog_fail    the job starts again on other nodes by itself
#@common.sh@
# A gate that could not run or finish does not hold up the job.
gate "$(job_nodes)" "prolog-$SLURM_JOB_ID" | act_on
