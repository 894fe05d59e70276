#!/usr/bin/env bash
# Runs NVIDIA's profilers on a program, if they are there, and prints the first lines of what they say: the commands of
# docs/profiling.md. The program should end soon. Built with the feature `nvtx`, it tells them the names of its graphs.
# The exit code is 0 if all that are there have worked.
#
#   bash xtask/profiling.sh program [arguments]
set -uo pipefail
(($#)) || { echo "usage: bash xtask/profiling.sh program [arguments]" >&2; exit 2; }

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Nsight Compute brings an nsys that records, but makes no report.
for bin in /usr/local/cuda/bin /opt/nvidia/nsight-systems*/*/bin /opt/nvidia/nsight-compute/* \
    /opt/nvidia/nsight-compute/*/host/target-linux-x64; do
    [[ ! -d $bin ]] || PATH+=:$bin
done
failed=0

# Runs a command with its output in a file, and prints the last lines of that if the command fails.
try() {
    local log=$1
    shift
    if timeout 120 "$@" >"$log" 2>&1; then
        return 0
    fi
    echo "failed ($?): $*"
    tail -5 "$log"
    failed=1
    return 1
}

if command -v nsys >/dev/null; then
    nsys --version
    if try "$folder/nsys.log" nsys profile --trace=cuda,nvtx --cuda-graph-trace=node --output="$folder/report" "$@"; then
        if [[ -e $folder/report.nsys-rep ]]; then
            for report in cuda_gpu_kern_sum nvtx_sum; do
                try "$folder/$report.log" nsys stats --report "$report" --format column "$folder/report.nsys-rep" &&
                    grep -A12 'Time (%)' "$folder/$report.log"
            done
        else
            echo "nsys has recorded ($(du -h "$folder"/report* | cut -f1)), but this nsys makes no report"
            grep -aoE '(build|instantiate|launch|wait for|node) [A-Za-z_][A-Za-z_0-9]*' "$folder"/report* | sort | uniq -c
        fi
    fi
else
    echo "nsys is not there"
fi
if command -v ncu >/dev/null; then
    ncu --version | tail -1
    try "$folder/ncu.log" ncu --nvtx --clock-control none --graph-profiling node --launch-count 1 --set basic "$@" &&
        grep -E 'Duration|Memory Throughput|SM Active Cycles|Registers Per Thread|NVTX|<[0-9]+,|cuda_graph' "$folder/ncu.log"
else
    echo "ncu is not there"
fi
exit "$failed"
