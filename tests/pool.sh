# Sourced by the test runners: jobs that run side by side, as many as there are processors.
#   JOBS (processors)            how many
#   OMP_NUM_THREADS (1; 2 when there is one job at a time)  threads of each
# What needs threads sets OMP_NUM_THREADS itself.
JOBS=${JOBS-$(nproc)}
export OMP_NUM_THREADS=${OMP_NUM_THREADS-$((JOBS > 1 ? 1 : 2))}
# Threads that wait give their processor to another job.
export OMP_WAIT_POLICY=${OMP_WAIT_POLICY-passive}

# side_by_side COMMAND: runs COMMAND, an exported function, on each line of stdin, begun in that order; prints the line when it is
# done.
side_by_side() {
  xargs -r -d '\n' -P "$JOBS" -n 1 bash -c "$1"' "$1"; echo "$1"' "$1"
}
