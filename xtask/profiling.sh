#!/usr/bin/env bash
# Runs NVIDIA's profilers on a program, if they are there, and prints the first lines of what they say: the commands of
# docs/profiling.md. The exit code is 0 if all that are there have worked.
#
#   bash xtask/profiling.sh program [arguments]
set -uo pipefail
(($#)) || { echo "usage: bash xtask/profiling.sh program [arguments]" >&2; exit 2; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export PATH="$PATH:/usr/local/cuda/bin:/opt/nvidia/nsight-systems/bin:/opt/nvidia/nsight-compute"
failed=0

# Runs a command with its output in a file, and prints the last lines of that if the command fails.
try() {
    local log=$1
    shift
    if timeout 120 "$@" >"$log" 2>&1; then
        return 0
    fi
    echo "failed: $*"
    tail -5 "$log"
    failed=1
    return 1
}

if command -v nsys >/dev/null; then
    nsys --version
    try "$folder/nsys.log" nsys profile --trace=cuda --cuda-graph-trace=node --output="$folder/report" "$@" &&
        try "$folder/stats.log" nsys stats --report cuda_gpu_kern_sum --format column "$folder/report.nsys-rep" &&
        grep -A12 'Time (%)' "$folder/stats.log"
else
    echo "nsys is not there"
fi
if command -v ncu >/dev/null; then
    ncu --version | tail -1
    try "$folder/ncu.log" ncu --graph-profiling node --launch-count 1 --set basic "$@" &&
        grep -E 'Duration|Memory Throughput|SM Active Cycles|Registers Per Thread' "$folder/ncu.log"
else
    echo "ncu is not there"
fi
exit "$failed"
