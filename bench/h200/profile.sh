# Sourced with $tune and a folder $work by counters.sh and limits.sh: hardware counters of single launches. Each
# kernel is a program of its own, since profilers do not follow the processes of tune. Needs nvcc, ncu (Nsight
# Compute) and leave to read counters.

n=0 # programs
wanted() { # stencil dtype size schedule: builds its program in the background
  n=$((n + 1))
  echo "$1 $2 $3 $4" >"$work/$n.head"
  (
    "$tune" source --program --stencil "$1" --dtype "$2" --size "$3" --schedule "$4" >"$work/$n.cu" &&
      nvcc -O3 -std=c++17 -arch=native -o "$work/$n" "$work/$n.cu" >"$work/$n.log" 2>&1
  ) &
  [ $((n % $(nproc))) != 0 ] || wait
}

counters() { # number of a program, metrics: a line each, name and value, of its third launch
  local entry
  entry=$(sed -n 's/^#define ENTRY //p' "$work/$1.cu")
  ncu --clock-control none --print-units base --csv --metrics "$2" --kernel-name "regex:$entry" --launch-skip 2 --launch-count 1 "$work/$1" 3 2>"$work/log" |
    awk -F'","' '/^"[0-9]+"/ { v = $NF; gsub(/[",\r]/, "", v); print $(NF - 2), v }'
}

device() { nvidia-smi --query-gpu=name,uuid,driver_version --format=csv,noheader | sed -n '1s|^|# |p'; }

