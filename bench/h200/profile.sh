# Sourced with $tune and a folder $work by counters.sh, limits.sh and icache.sh, and by rounds.sh and
# variants.sh, which race programs: hardware counters of single launches. Each kernel is a program of its own, since
# profilers do not follow tune's processes. Needs nvcc, ncu (Nsight Compute) and leave to read counters.

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

race() { # all of $work/*.cu side by side: milliseconds a launch, the fastest of 20, of two passes
  local pass file
  export work
  ls "$work"/*.cu | xargs -P "$(nproc)" -I{} bash -c 'nvcc -O3 -std=c++17 -arch=native -o "$work/$(basename {} .cu)" {} >"$work/log" 2>&1'
  device
  for pass in 1 2; do
    for file in "$work"/*.cu; do
      file=${file%.cu}
      echo "$(cat "$file.head") $("$file" 20 | sed 's/.*: \([0-9.]*\) ms.*/\1/')"
    done
  done | sort -k1,5 -k6,6n | awk '!seen[$1, $2, $3, $4, $5]++'
}
