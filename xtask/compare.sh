#!/usr/bin/env bash
# Runs what `cargo xtask compare` put into this folder, on a machine with an NVIDIA GPU and PyTorch: the programs and
# the scripts in turns. Prints a table at the end; the exit code is 0 only if each program and script ran.
#
#   OUT=results bash .gpu/run.sh [programs, separated by commas]
#
# OUT: the folder for performance.json, performance.svg and the scripts' logs.
set -uo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
OUT=$(mkdir -p "${OUT:-$here}" && cd "${OUT:-$here}" && pwd) || exit 2
export OUT
export LD_LIBRARY_PATH="/usr/local/cuda/lib64:/usr/local/nvidia/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export PATH="$PATH:/usr/local/cuda/bin:/usr/local/nvidia/bin"

# NVIDIA's libraries, if they came with PyTorch.
packages=$(python3 -c 'import site; print("\n".join(site.getsitepackages() + [site.getusersitepackages()]))' 2>/dev/null)
while read -r packages; do
    for library in "$packages"/nvidia/*/lib; do
        [[ ! -d $library ]] || LD_LIBRARY_PATH+=:$library
    done
done <<<"$packages"

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# Python reads xz if the machine has no program for it.
tar --extract --xz --file "$here/bin.tar.xz" --directory "$folder" 2>/dev/null ||
    python3 -m tarfile --extract "$here/bin.tar.xz" "$folder" || exit 2
chmod -R +x "$folder/bin"
cp -r "$here/data" "$folder/data"
export CARGO_MANIFEST_DIR="$folder/data/examples" # programs find their files as under Cargo
export TORCHINDUCTOR_CACHE_DIR="$folder/inductor" TRITON_CACHE_DIR="$folder/triton"
export TORCHINDUCTOR_COMPILE_THREADS=4 # for each script; they compile at the same time

"$folder/bin/xtask" compare --run "$folder" "${1:-}"
