"""Times of PyTorch programs, printed as `examples::bench` prints those of ours.

    import common
    common.bench("train_linear tf32", step, precision="high")
    common.finish()

times `step`, a function without arguments that works on static tensors, in three ways, one line for each:

    bench:   train_linear tf32 eager: 547.00 us (540.00 to 560.00)

* `eager`: called as it is;
* `replay`: captured in a `torch.cuda.CUDAGraph`, and replayed;
* `compiled`: by `torch.compile`, then captured and replayed; of several modes the fastest.

Where there are several ways to write `step`, or to bring its inputs from the host, all are measured, and the fastest
counts. Lines that begin with `note:` name each of them with its time, and a line `way:` names the one that counts.

A figure is the time of one call: CUDA events around many calls in a row, divided by their number; the median of the
rounds, and the quartiles. A row has the name that the Rust program prints, so that `cargo xtask compare` finds both.

    python3 train_linear.py                        everything once
    python3 train_linear.py --rows eager,replay    some of the ways
    python3 train_linear.py --serve                prepares everything, prints `ready`; then measures everything once
                                                   for each line of standard input, and prints `done` after each
"""

import argparse
import itertools
import signal
import statistics
import sys
import time
import traceback

import torch

ROWS = ("eager", "replay", "compiled")
# Names of ways to compile, and the arguments of `torch.compile`. `reduce-overhead` and `max-autotune` would make CUDA
# graphs of their own; here the graph is the same as for `replay`. gpt-fast compiles with `coordinate-descent`.
MODES = {
    "default": {},
    "coordinate-descent": {"options": {"coordinate_descent_tuning": True}},
    "max-autotune": {"mode": "max-autotune-no-cudagraphs"},
}
ROUND_SECONDS = 0.02

parser = argparse.ArgumentParser()
parser.add_argument("--rows", default=",".join(ROWS), help="of eager, replay, compiled")
parser.add_argument("--modes", default="default,max-autotune", help=f"of {', '.join(MODES)}: the fastest counts")
parser.add_argument("--rounds", type=int, default=25)
parser.add_argument("--limit", type=float, default=600, help="seconds to compile in modes other than the first")
parser.add_argument("--serve", action="store_true")
arguments, _ = parser.parse_known_args()
rows = arguments.rows.split(",")
began = time.monotonic()

cases, kept, later = [], [], []


class Case:
    """A figure. `candidates` are functions that return the microseconds of one call, in one round, each with its name;
    the fastest counts. Which one that is shows when `report` is called first: then nothing else uses the GPU.
    """

    def __init__(self, name, candidates, precision):
        self.name, self.candidates, self.precision = name, candidates, precision

    def report(self):
        torch.set_float32_matmul_precision(self.precision)
        if len(self.candidates) > 1:
            medians = [statistics.median(measure() for _ in range(7)) for _, measure in self.candidates]
            for (name, _), median in zip(self.candidates, medians):
                print(f"note:    {self.name}, {name}: {median:.2f} us", flush=True)
            self.candidates = [self.candidates[medians.index(min(medians))]]
        ((way, measure),) = self.candidates
        if way:
            print(f"way:     {self.name}: {way}", flush=True)
        times = [measure() for _ in range(2 + arguments.rounds)][2:]
        low, median, high = statistics.quantiles(times, n=4)
        print(f"bench:   {self.name}: {median:.2f} us ({low:.2f} to {high:.2f})", flush=True)


def bench(row, step, precision="highest", ways=ROWS, modes=None):
    """Prepares the three ways to run `step`, or of a dictionary of steps, each with its name, the fastest. `precision`
    is that of `torch.set_float32_matmul_precision`: `highest` is f32, `high` is tf32. `ways` leaves some out where they
    make no sense, and `modes` are names in `MODES` to try.

    `step` runs under `torch.no_grad` if the caller says so in it; training steps set gradients to None themselves.
    """
    steps = step if isinstance(step, dict) else {"": step}
    calls = {name: {"": (step, 1)} for name, step in steps.items()}
    prepare(row, calls, lambda name, compiled: {"": (compiled, 1)}, steps, precision, ways, modes)


def bench_from_host(row, step, buffers, batches, precision="highest", modes=None):
    """Prepares the ways to run `step(*buffer)` on a new batch for each step. `batches` lie in page-locked memory, and
    `buffers` are at least two tuples of static tensors on the GPU, which the batches are copied to:

    * `copies before the step`: on one stream;
    * `copies beside the step before`: on a stream of their own, to another buffer; a copy waits for the step that read
      its buffer last. One graph has a step for each batch;
    * the same `step by step`: a graph of the step for each buffer, and copies that are not in a graph.
    """

    def ways_of(step):
        return {
            "copies before the step": (serial(step, buffers, batches), 1),
            "copies beside the step before": (epoch(step, buffers, batches), len(batches)),
        }

    def compiled_ways(name, compiled):
        return ways_of(compiled)

    prepare(row, {"": ways_of(step)}, compiled_ways, {"": step}, precision, ROWS, modes, (buffers, batches))


def prepare(row, calls, compiled_calls, steps, precision, ways, modes, host=None):
    """`calls` are the functions to measure for each name of `steps`: each with a name, and its number of steps."""
    torch.set_float32_matmul_precision(precision)
    ways = [way for way in ways if way in rows]

    def captured(title, step, calls):
        """The candidates of one step, each captured and replayed. One that fails is none; the others count."""
        makes = {name: lambda call=call, count=count: gpu_time(capture(call).replay, count)
                 for name, (call, count) in calls.items()}
        if host:
            makes["copies beside the step before, step by step"] = lambda: gpu_time(by_steps(step, *host))
        found = []
        for name, make in makes.items():
            try:
                found.append((joined(title, name), make()))
            except TimeoutError:
                raise
            except Exception as error:
                failed(joined(row, title, name), error)
        return found

    if "eager" in ways:
        # The host is busy all the time: the first way to bring inputs is as good as others.
        first = [(title, *next(iter(of.items()))) for title, of in calls.items()]
        candidates = [(joined(title, name), gpu_time(call, count)) for title, name, (call, count) in first]
        cases.append(Case(f"{row} eager", candidates, precision))
    if "replay" in ways:
        candidates = [one for title, of in calls.items() for one in captured(title, steps[title], of)]
        cases.append(Case(f"{row} replay", candidates, precision))
    if "compiled" in ways:
        case = Case(f"{row} compiled", [], precision)
        cases.append(case)

        def compile(mode):
            torch.set_float32_matmul_precision(precision)
            for title, step in steps.items():
                torch.compiler.reset()
                try:
                    compiled = torch.compile(step, **MODES[mode])
                    case.candidates.extend(captured(joined(mode, title), compiled, compiled_calls(title, compiled)))
                    kept.append(compiled)  # the graph reads constants that it owns
                except Exception as error:  # a mode that fails is none; the others count
                    failed(f"{case.name}, {mode}", error)

        first, *others = modes or arguments.modes.split(",")
        compile(first)
        later.extend((compile, mode) for mode in others)


def failed(name, error):
    traceback.print_exc()
    print(f"note:    {name}: {type(error).__name__}: {str(error)[:200]}", flush=True)


def joined(*names):
    return ", ".join(name for name in names if name)


def upload(buffer, batch):
    for static, new in zip(buffer, batch):
        static.copy_(new, non_blocking=True)


def serial(step, buffers, batches):
    """A batch is copied, then the step runs."""
    turn = itertools.count()

    def call():
        upload(buffers[0], batches[next(turn) % len(batches)])
        step(*buffers[0])

    return call


def epoch(step, buffers, batches):
    """A step for each batch; copies run on a stream of their own, as far ahead as there are buffers."""
    copies = torch.cuda.Stream()

    def call():
        current = torch.cuda.current_stream()
        copies.wait_stream(current)
        read = [None] * len(buffers)
        for number, batch in enumerate(batches):
            place = number % len(buffers)
            with torch.cuda.stream(copies):
                if read[place]:
                    copies.wait_event(read[place])
                upload(buffers[place], batch)
                written = copies.record_event()
            current.wait_event(written)
            step(*buffers[place])
            read[place] = current.record_event()
        current.wait_stream(copies)

    return call


def by_steps(step, buffers, batches):
    """A graph of the step for each buffer, replayed in turns; meanwhile the next batch is copied to another buffer."""
    copies, turn = torch.cuda.Stream(), itertools.count()
    graphs = [capture(lambda buffer=buffer: step(*buffer)) for buffer in buffers]
    read = [torch.cuda.Event() for _ in buffers]
    written = [torch.cuda.Event() for _ in buffers]
    upload(buffers[0], batches[0])
    torch.cuda.synchronize()

    def call():
        current, number = torch.cuda.current_stream(), next(turn)
        place, after = number % len(buffers), (number + 1) % len(buffers)
        with torch.cuda.stream(copies):
            copies.wait_event(read[after])
            upload(buffers[after], batches[(number + 1) % len(batches)])
            written[after].record(copies)
        current.wait_event(written[place])
        graphs[place].replay()
        read[place].record(current)

    return call


def replay_cpu_time(row, step):
    """Prepares the CPU time of `replay()`, without the time that the GPU takes: the mean of 32 calls in a row."""

    graph = capture(step)

    def measure():
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(32):
            graph.replay()
        microseconds = (time.perf_counter() - start) * 1e6 / 32
        torch.cuda.synchronize()
        return microseconds

    if "replay" in rows:
        cases.append(Case(f"{row} replay", [("", measure)], "highest"))


def finish():
    """Measures everything that `bench` prepared: once, or with `--serve` once for each line of standard input. Before
    that, it compiles in the other modes, as long as there is time.
    """
    signal.signal(signal.SIGALRM, too_late)
    for compile, mode in later:
        left = arguments.limit - (time.monotonic() - began)
        if left > 1:
            signal.setitimer(signal.ITIMER_REAL, left)
            compile(mode)
            signal.setitimer(signal.ITIMER_REAL, 0)
    cases[:] = [case for case in cases if case.candidates]
    print(f"device:  {torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
    if not arguments.serve:
        for case in cases:
            case.report()
        return
    print("ready", flush=True)
    for _ in sys.stdin:
        for case in cases:
            case.report()
        print("done", flush=True)


def too_late(signal, frame):
    raise TimeoutError("not compiled within the limit")


def capture(step):
    """The graph of `step`, after some calls on a side stream, as PyTorch's manual says."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(11):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    torch.cuda.synchronize()
    return graph


def gpu_time(call, steps=1):
    """A function that returns the microseconds of a step, by events around about 20 ms of calls of so many steps."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(10):
        call()
    torch.cuda.synchronize()
    count = max(4, min(500, int(ROUND_SECONDS / ((time.perf_counter() - start) / 10))))
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def measure():
        torch.cuda.synchronize()
        first.record()
        for _ in range(count):
            call()
        last.record()
        last.synchronize()
        return first.elapsed_time(last) * 1e3 / count / steps

    return measure
