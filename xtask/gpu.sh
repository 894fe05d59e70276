#!/usr/bin/env bash
# Runs what `cargo xtask gpu` put into this folder, on a machine with an NVIDIA GPU: tests, tests with every node
# delayed at random, tests in debug mode, tests by the runtime library, examples, tests and examples under
# compute-sanitizer's tools, benchmarks, and scripts that run graph files on memory of PyTorch's. Prints a table at the
# end; the exit code is 0 only if everything passed.
#
#   bash .gpu/run.sh [--only tests|delays|debug|runtime|examples|sanitizer|bench|python] [--jobs N] [part of a name]
#
# --jobs: the number of programs that run at the same time (1). They are spread over all GPUs of the machine; ranks have
# all of them.
# Benchmarks, scripts, programs that measure times or the free memory of the card, ranks, and faults always run alone.
# GPU_TIMEOUT: seconds that one program may take (480). GPU_LOGS: the folder for each program's whole output.
set -uo pipefail
export LC_ALL=C

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
only='' name_part='' jobs=1
while (($#)); do
    case $1 in
        --only) only=${2:?--only needs tests, delays, debug, runtime, examples, sanitizer, bench or python}; shift 2 ;;
        --jobs) jobs=${2:?--jobs needs a number}; shift 2 ;;
        -*) echo "unknown option $1" >&2; exit 2 ;;
        *) name_part=$1; shift ;;
    esac
done

limit=${GPU_TIMEOUT:-480}
logs=${GPU_LOGS:-${OUT:-$here}/logs}
mkdir -p "$logs"
export LD_LIBRARY_PATH="/usr/local/cuda/lib64:/usr/local/nvidia/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export PATH="$PATH:/usr/local/cuda/bin:/usr/local/nvidia/bin"
export CUDA_GRAPH_TEST_DEVICE=cuda # the tests use a CUDA device or fail; without this they use the emulator
export RUST_BACKTRACE=1

if ! nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; then
    echo "no NVIDIA GPU can be used here: nvidia-smi fails" >&2
    exit 2
fi
gpus=$(nvidia-smi --list-gpus | wc -l)

binaries=$(mktemp -d)
trap 'rm -rf "$binaries"' EXIT
# Python reads xz if the machine has no program for it.
tar --extract --xz --file "$here/bin.tar.xz" --directory "$binaries" 2>/dev/null ||
    python3 -m tarfile --extract "$here/bin.tar.xz" "$binaries" || exit 2

# NVIDIA's libraries, if they were installed as Python packages: under names with a version, some of which cudarc tries.
find_libraries() {
    local folder library packages
    packages=$(python3 -c 'import site; print("\n".join(site.getsitepackages() + [site.getusersitepackages()]))' 2>/dev/null)
    mkdir "$binaries/lib"
    while read -r folder; do
        for library in "$folder"/nvidia/*/lib/libcublas.so.*; do
            [[ -e $library ]] || continue
            ln -sf "$library" "$binaries/lib/libcublas.so"
            LD_LIBRARY_PATH+=:$binaries/lib:$(dirname "$library")
        done
    done <<<"$packages"
}
find_libraries

# Prints the folder of the runtime library: of CUDA 12 for the tests by it, of CUDA 13 for what compares both.
cudart() { # kind
    case $1 in
        runtime) echo "$binaries/bin/cudart-12" ;;
        *) echo "$binaries/bin/cudart-13" ;;
    esac
}

# Prints the tests that a tool or debug mode cannot run, as arguments of a test program; `faults.cpp`, beside this
# script in the repository, shows some of them without our code.
# All tools: a capture, which the tool's own calls end.
# initcheck: batch memory operations that wait; under it they never end, or CUDA's launch crashes. A graph that kernels
# may launch, which never ends either. And a test of the free memory of the card, of which the tool takes some.
# racecheck: a warp whose lanes wait for each other; under it they never end.
# racecheck runs no module of threads that meet at `mbarrier`s: it reports what the barrier orders as races.
# Delays, and all tools: a test of the time that nodes take.
# Debug mode: tests of the error without it, of the handles of the whole graph, and of how often the owner of adopted
# memory is called: the copies that debug mode makes call it, too.
# The runtime: tests of graphs in contexts that are not primary, which it does not build.
# Delays, debug mode and the runtime: processes that are ranks, which begin slowly, and whose kernels are those of ranks
# that are threads.
left_out() { # tool
    local names=(a_capture_on_another_thread the_slow_node_among_a_hundred_is_found)
    case $1 in
        delays) names=(the_slow_node_among_a_hundred_is_found processes::) ;;
        debug) names=(sticky_errors_come_back raw_handles captured_work_becomes_a_plan adopted:: processes::) ;;
        runtime) names=(any_may_be_current memory_of_other_contexts_is_refused processes::) ;;
        initcheck) names+=(raw_nodes_are_between_their_neighbours each_kind_of_node_is_read_and_built)
            names+=(graphs_for_kernels_are_launched_by_the_host nine_buckets_need_the_largest_ones_memory) ;;
        racecheck) names+=(control::relay) ;;
    esac
    printf -- '--skip %s ' "${names[@]}"
}

# Prints the number of accesses that memcheck calls out of bounds although, as it says itself, all their bytes are
# inside an allocation.
contradictions() { # log
    local line size=0 address=0 count=0
    while IFS= read -r line; do
        if [[ $line =~ Invalid.*\ of\ size\ ([0-9]+)\ bytes ]]; then
            size=${BASH_REMATCH[1]}
        elif [[ $line =~ Access\ to\ (0x[0-9a-f]+)\ is\ out\ of\ bounds ]]; then
            address=${BASH_REMATCH[1]}
        elif [[ $line =~ is\ inside\ the\ nearest\ allocation\ at\ (0x[0-9a-f]+)\ of\ size\ ([0-9]+) ]]; then
            ((address + size > BASH_REMATCH[1] + BASH_REMATCH[2])) || ((++count))
        fi
    done <"$1"
    echo "$count"
}

# Whether the tool itself failed, rather than the program. Beside other programs, it makes graphs with conditional nodes
# end in an illegal address, although no kernel accessed one: memcheck reports and counts the accesses of kernels.
# `faults.cpp` shows it. The tool then reports no error, or one "Internal Sanitizer Error" of its own, or nothing but
# accesses that contradict themselves. racecheck crashes at random, in a thread of its own: `frames.c` tells. Such a run
# says nothing, and is repeated.
tool_failed() { # tool log
    local wrong
    [[ $1 == - ]] || ! grep -A 64 '^crashed:' "$2" | grep -q libsanitizer ||
        grep -A 64 '^crashed:' "$2" | grep -qE '/(tests|examples)-' || return 0
    [[ $1 != - ]] && grep -qE 'CUDA_ERROR_(ILLEGAL_ADDRESS|LAUNCH_FAILED)' "$2" || return 1
    wrong=$(contradictions "$2")
    ! grep -q 'Internal Sanitizer Error' "$2" || ((++wrong))
    ((wrong > 0)) || grep -q CUDA_ERROR_ILLEGAL_ADDRESS "$2" || return 1
    grep -qE "SUMMARY: (0|$wrong) errors?\b" "$2"
}

[[ ! -d $binaries/bin/compute-sanitizer ]] || chmod -R +x "$binaries/bin/compute-sanitizer"

# The library that prints the frames of a crash; none if the machine has no C compiler.
frames=$binaries/frames.so
cc -shared -fPIC -o "$frames" "$here/frames.c" 2>/dev/null || frames=''

# The command line of a run, in the array `command_line`.
set_command_line() { # kind file tool module
    local program=$binaries/bin/$2
    chmod +x "$program"
    command_line=("$program")
    case $1 in
        # Fails on an error that it finds, and if the program makes no CUDA call at all. It does not report CUDA calls
        # that fail: some tests provoke them.
        sanitizer)
            command_line=(env CUDA_GRAPH_TEST_KEEPS_CONTEXT=1 ${frames:+"LD_PRELOAD=$frames"})
            command_line+=("$binaries/bin/compute-sanitizer/compute-sanitizer" --tool "$3" --error-exitcode 1)
            # All errors: `tool_failed` compares their number with that of those that cannot be.
            [[ $3 != memcheck ]] || command_line+=(--report-api-errors no --print-limit 100000)
            command_line+=("$program")
            [[ $2 != tests-* ]] || command_line+=(--test-threads 1 $(left_out "$3"))
            [[ $2 != examples-* ]] || command_line+=(--small) # a kernel takes a millisecond, or more
            ;;
        # It prints a table, and its tests take turns: one thread says which of them ran when the program died.
        tests)
            case $2 in
                *-fault_injection) command_line+=(--nocapture --test-threads 1) ;;
                *-driver) command_line+=(--nocapture) ;; # it prints each rule, and how many the driver agrees with
            esac
            ;;
        delays) command_line=(env CUDA_GRAPH_TEST_DELAYS=1 "$program" $(left_out delays)) ;;
        debug) command_line=(env CUDA_GRAPH_DEBUG=1 "$program" $(left_out debug)) ;;
        runtime) command_line=(env CUDA_GRAPH_RUNTIME_API=1 "$program" $(left_out runtime)) ;;
        bench) command_line+=(--bench) ;; # as `cargo bench` does
        # The script saves the program's graph file, runs it, and measures both in turns. Without PyTorch, it says that
        # it is on the emulator.
        python) command_line=(env "CUDA_GRAPH_LOAD=$binaries/bin/libcuda_graph_load.so" python3 "pytorch/$4.py" "$program") ;;
    esac
    [[ $2 != tests-* ]] || command_line+=(--include-ignored) # those that need a GPU
    [[ $1.$2.$4 != @(tests|runtime).*-statements.- ]] || command_line+=(--skip profile::) # it has a run of its own
    [[ $4 == - || $1 == python ]] || command_line+=("$4::") # the tests of one module
    [[ $4 != profile || $1 == sanitizer ]] || command_line+=(--test-threads 1) # they measure times
}

# Prints little of a passing run's output, so that failures stay in sight; the log has all of it.
show() { # kind verdict log
    case $2,$1 in
        fail,*) tail -n 60 "$3" ;;
        pass,bench | pass,python) cat "$3" ;;
        pass,tests | pass,delays | pass,debug | pass,runtime) grep -E '^(test result|faults:|driver: [0-9]+ of)' "$3" ;;
        pass,*) tail -n 12 "$3" ;;
    esac
}

# Runs one line of the manifest, prints what `show` chooses of its output, and writes its row of the table to a file. If
# the tool fails in each of some attempts beside other programs, the line is put off until nothing else runs.
run() { # attempts number kind name package file tool module
    local attempts=$1
    shift
    local number=$1 kind=$2 name=$3 package=$4 file=$5 tool=$6 module=$7 log began status attempt milliseconds verdict=pass
    log=$logs/$kind.$tool.$file.$module.log
    set_command_line "$kind" "$file" "$tool" "$module"
    began=${EPOCHREALTIME/./}
    for ((attempt = 1; attempt <= attempts; ++attempt)); do
        (
            # As Cargo does: in the package's folder, whose data files were copied too.
            cd "$here/data/$package" || exit 1
            export CARGO_MANIFEST_DIR=$PWD
            [[ $file == *-ranks ]] || export CUDA_VISIBLE_DEVICES=$((number % gpus))
            export LD_LIBRARY_PATH=$(cudart "$kind"):$LD_LIBRARY_PATH
            exec timeout --kill-after=10 "$limit" "${command_line[@]}" </dev/null
        ) >"$log" 2>&1
        status=$?
        tool_failed "$tool" "$log" || break
        echo "the tool failed in attempt $attempt of $name"
    done
    if ((attempt > attempts && attempts == BESIDE)); then
        (IFS=$'\t' && echo "$*") >>"$binaries/put_off"
        return
    fi
    milliseconds=$(((${EPOCHREALTIME/./} - began) / 1000))
    if ((status == 124 || status == 137)); then
        echo "did not end within $limit s" >>"$log"
    fi
    if ((status != 0)); then
        echo "exit status $status" >>"$log"
        verdict=fail
    fi
    printf '=== %s %s\n%s\n' "$kind" "$name" "$(show "$kind" "$verdict" "$log")"
    printf '%-10s %-48s %-4s %6d.%03d s\n' "$kind" "$name" "$verdict" $((milliseconds / 1000)) $((milliseconds % 1000)) \
        >"$binaries/rows/$number"
}

# Whether a program runs alone, after all others: benchmarks, scripts, programs that measure times or the free memory of
# the card, ranks, whose kernels wait for each other and would use up the time of the others' processes, and faults,
# whose processes must end in time.
runs_alone() { # kind file module
    local alone='train_conv|ranks|faults|fault_injection'
    [[ $1 == @(bench|python) || $2 == *-@($alone) || $2.$3 == *-captures.@(-|pools) || $3 == profile ]]
}

# Other programs run as many at a time as `--jobs` says. The attempts of each, beside others and alone:
BESIDE=2 ALONE=12
mkdir "$binaries/rows"
for turn in others alone; do
    number=10000
    while IFS=$'\t' read -r kind name package file tool module <&3; do
        number=$((number + 1))
        [[ $tool == - ]] || name+=" ($tool)"
        [[ -z $only || $kind == "$only" ]] || continue
        [[ $name == *"$name_part"* ]] || continue
        # See `tool_failed`: the tool crashes each time. And a step of `train_linear` takes it seconds.
        [[ $tool.$file != racecheck.*-@(generate|train_linear) ]] || continue
        if runs_alone "$kind" "$file" "$module"; then
            [[ $turn == others ]] || run "$ALONE" "$number" "$kind" "$name" "$package" "$file" "$tool" "$module"
        elif [[ $turn == others ]]; then
            while (($(jobs -rp | wc -l) >= jobs)); do wait -n; done
            run "$BESIDE" "$number" "$kind" "$name" "$package" "$file" "$tool" "$module" &
        fi
    done 3<"$here/manifest"
    wait
done
while IFS=$'\t' read -r number kind name package file tool module <&3; do
    run "$ALONE" "$number" "$kind" "$name" "$package" "$file" "$tool" "$module"
done 3< <(cat "$binaries/put_off" 2>/dev/null)

rows=$(cat "$binaries"/rows/* 2>/dev/null)
if [[ -z $rows ]]; then
    echo "nothing to run: $here/manifest has no such kind or name" >&2
    exit 2
fi
failed=$(grep -cE ' fail +[0-9.]+ s$' <<<"$rows")
echo
echo "$rows"
echo "$(($(wc -l <<<"$rows") - failed)) passed, $failed failed; whole output in $logs"
((failed == 0))
