#!/usr/bin/env bash
# What holds the winners of families.txt: hardware counters of one launch each. Per cent
# of the peak of the issue slots, the FMA pipe, the float64 pipe, shared memory's data
# pipe, L2 and DRAM; instructions a cell and step (of a thread), registers of a thread,
# per cent of the warps an SM can hold, and what warps wait for, cycles an instruction.
# Needs what profile.sh does; about 2 minutes.
#
#   bench/h200/limits.sh path/to/tune > bench/h200/limits.txt
set -euo pipefail
tune=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/profile.sh"
stalls=(barrier long_scoreboard short_scoreboard math_pipe_throttle mio_throttle lg_throttle not_selected wait dispatch_stall no_instruction selected)
metrics=sm__inst_issued.avg.pct_of_peak_sustained_elapsed,sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_elapsed,sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_elapsed
metrics+=,l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed,lts__t_sectors.avg.pct_of_peak_sustained_elapsed,dram__bytes.sum.pct_of_peak_sustained_elapsed
metrics+=,smsp__inst_executed.sum,launch__registers_per_thread,sm__warps_active.avg.pct_of_peak_sustained_active,gpu__time_duration.sum
for s in "${stalls[@]}"; do metrics+=,smsp__average_warps_issue_stalled_${s}_per_issue_active.ratio; done

while read -r stencil dtype size schedule; do
  wanted "$stencil" "$dtype" "$size" "$schedule"
done < <(awk '/^# [a-z]+\// { s = $2 } /^Benchmark/ { split($1, n, "/"); print n[2], n[3], n[4], s }' "$(dirname "$0")/families.txt")
wait
echo "# bench/h200/limits.sh bin/tune, $("$tune" --version | head -1)"
device
echo "# issue fma fp64 shared L2 DRAM (% of peak) | instructions/cell/step registers warps% us | waits for"
for i in $(seq $n); do
  counters "$i" "$metrics" | awk -v head="$(cat "$work/$i.head")" -v stalls="${stalls[*]}" '
    { of[$1] = $2 + 0 }
    END {
      split(head, h, " "); cells = 1; k = split(h[3], e, "x"); for (i = 1; i <= k; i++) cells *= e[i]
      steps = match(h[4], /ph=[0-9]+/) ? substr(h[4], RSTART + 3, RLENGTH - 3) : 1
      p = ".avg.pct_of_peak_sustained_elapsed"
      printf "%s\n  %.0f %.0f %.0f %.0f %.0f %.0f | %.1f %d %.0f %.1f |", head, of["sm__inst_issued" p], of["sm__inst_executed_pipe_fma" p], of["sm__inst_executed_pipe_fp64" p],
        of["l1tex__data_pipe_lsu_wavefronts" p], of["lts__t_sectors" p], of["dram__bytes.sum.pct_of_peak_sustained_elapsed"], 32 * of["smsp__inst_executed.sum"] / cells / steps,
        of["launch__registers_per_thread"], of["sm__warps_active.avg.pct_of_peak_sustained_active"], of["gpu__time_duration.sum"] / 1000
      k = split(stalls, s, " ")
      for (i = 1; i <= k; i++) printf " %s %.2f", s[i], of["smsp__average_warps_issue_stalled_" s[i] "_per_issue_active.ratio"]
      print ""
    }'
done
