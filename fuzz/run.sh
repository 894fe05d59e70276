#!/usr/bin/env bash
# Runs a fuzz target with a stable compiler: guided by coverage as by cargo-fuzz, without sanitizers.
#
#     bash fuzz/run.sh TARGET [FOLDER OR OPTION OF LIBFUZZER]..
set -euo pipefail
folder=$(cd "$(dirname "$0")" && pwd)
coverage="-Cpasses=sancov-module"
for option in level=4 inline-8bit-counters pc-table trace-compares; do
  coverage+=" -Cllvm-args=-sanitizer-coverage-$option"
done
# A target is named so that neither build scripts nor macros are instrumented.
host=$(rustc -vV | sed -n 's/^host: //p')
RUSTFLAGS="--cfg fuzzing $coverage -Cdebug-assertions -Coverflow-checks" CARGO_PROFILE_RELEASE_OPT_LEVEL=1 \
  cargo build --release --manifest-path "$folder/Cargo.toml" --target "$host" --bin "$1"
exec "$folder/target/$host/release/$1" "${@:2}"
