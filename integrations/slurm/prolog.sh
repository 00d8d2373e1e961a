#!/bin/sh
# Prolog of Slurm: the nodes of a job measure the links between them before it starts. Drains a node that fails, with
# the reason, and Slurm requeues the job. Needs in slurm.conf:
#   Prolog=/etc/slurm/weft-prolog.sh
#   PrologFlags=Alloc
#   SchedulerParameters=nohold_on_prolog_fail    Slurm starts the job again on other nodes
#@common.sh@
# A gate that could not run or finish does not hold up the job.
gate "$(job_nodes)" "prolog-$SLURM_JOB_ID" | act_on
