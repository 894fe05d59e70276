"""Graph files that Rust has saved, run on memory of PyTorch: what the scripts share that end in `_loaded`.

With PyTorch and a GPU, memory is torch tensors, and graphs run on torch's current stream. Without them it is buffers of
ctypes, and graphs run on the emulator. `cuda_graph_load.py` must be in PYTHONPATH, or where a clone has it, and
`libcuda_graph_load.so` where the variable CUDA_GRAPH_LOAD says.

A script is called with the Rust program, whose file and figures it compares its own with:

    python3 train_linear_loaded.py ../../target/release/train_linear
"""

import ctypes
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

sys.path.append(str(pathlib.Path(__file__).parents[2] / "cuda-graph-load/python"))
from cuda_graph_load import Graph

try:
    import torch

    on_gpu = torch.cuda.is_available()
except ImportError:
    on_gpu = False

DEVICE = "cuda:0" if on_gpu else "emulator"
print("device: ", f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}" if on_gpu else "CPU emulator", flush=True)
# Rounds of a measurement, each of so many launches, and how often Rust's and ours are measured in turns.
ROUNDS, LAUNCHES, TURNS = 25, 500, 5
# How much slower than Rust's a launch from Python may be.
LIMIT = 1.03


class Saved:
    """What a Rust program has saved in a folder, with `--save`."""

    def __init__(self):
        if len(sys.argv) != 2:
            sys.exit(f"usage: python3 {sys.argv[0]} PROGRAM\n\n{__doc__}")
        self._temporary = tempfile.TemporaryDirectory()
        self.folder = pathlib.Path(self._temporary.name)
        self.rows = {}
        self._run("--save", self.folder)

    def _run(self, *options):
        environment = dict(os.environ) if on_gpu else {**os.environ, "CUDA_VISIBLE_DEVICES": ""}
        command = [sys.argv[1], *map(str, options)]
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(f"{done.stdout}\n{' '.join(command)} failed: {done.returncode}")
        return done.stdout.splitlines()

    def open(self, name):
        return Graph(self.folder / name, device=DEVICE)

    def tensors(self, name):
        return tensors(self.folder / name)

    def compare(self, graphs):
        """Measures Rust's rows and ours in turns: launches on a stream of the graph's own, as in Rust, and on torch's.
        Fails if the first are slower than in Rust. `graphs` has a graph for each row.
        """
        if not on_gpu:
            return
        theirs, ours, on_torchs = ({row: [] for row in graphs} for _ in range(3))
        for _ in range(TURNS):
            lines = [line.split(": ") for line in self._run("--bench") if line.startswith("bench:")]
            printed = {line[1].strip(): float(line[2].split()[0]) for line in lines}
            for row, graph in graphs.items():
                theirs[row].append(printed[row])
                ours[row].append(measure(graph, None))
                on_torchs[row].append(measure(graph, torch.cuda.current_stream().cuda_stream))
        slow = []
        for row in graphs:
            medians = []
            for where, times in ("Rust", theirs), ("Python", ours), ("Python on torch's stream", on_torchs):
                low, median, high = statistics.quantiles(times[row], n=4)
                medians.append(median)
                print(f"bench:   {row} in {where}: {median:.2f} us ({low:.2f} to {high:.2f})")
            rust, python, on_torchs_stream = medians
            print(f"ratio:   {row}: {python / rust:.3f}, on torch's stream {on_torchs_stream / rust:.3f}")
            slow += [row] if python > LIMIT * rust else []
        if slow:
            sys.exit(f"slower than in Rust: {', '.join(slow)}")


def tensors(path):
    """The tensors of a file of safetensors, by name: bytes, a multiple of four."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    begin = 8 + length
    header = json.loads(data[8:begin])
    header.pop("__metadata__", None)
    offsets = {name: tensor["data_offsets"] for name, tensor in header.items()}
    return {name: data[begin + first:begin + last] for name, (first, last) in offsets.items()}


def memory(data):
    """Memory of the device with these bytes."""
    if on_gpu:
        return torch.frombuffer(bytearray(data), dtype=torch.int32).cuda()
    return (ctypes.c_int32 * (len(data) // 4)).from_buffer_copy(data)


def size(of):
    """The size of memory in bytes."""
    return 4 * len(of)


def zeros(count):
    return memory(bytes(4 * count))


def copy(to, data):
    """Replaces the contents, after all launches before, and before all launches after."""
    if on_gpu:
        to.copy_(torch.frombuffer(bytearray(data), dtype=torch.int32))
    else:
        ctypes.memmove(to, data, len(data))


def floats(of):
    """The contents of memory, or bytes, as floats."""
    if on_gpu and not isinstance(of, bytes):
        return of.view(torch.float32).tolist()
    data = bytes(of)
    return list(struct.unpack(f"<{len(data) // 4}f", data))


def ints(of):
    return of.tolist() if on_gpu else list(of)


def launch(graph):
    graph.launch(torch.cuda.current_stream().cuda_stream if on_gpu else None)


def wait(graph):
    graph.synchronize()


def measure(graph, stream):
    """Microseconds of a launch, as `examples::bench` measures them: the median of the rounds."""
    times = []
    for _ in range(10 + ROUNDS):
        start = time.perf_counter()
        for _ in range(LAUNCHES):
            graph.launch(stream)
        graph.synchronize()
        times.append((time.perf_counter() - start) * 1e6 / LAUNCHES)
    return statistics.median(times[10:])


def first_launch(open_and_bind):
    """Opens a graph, launches it once, and prints how long that takes."""
    start = time.perf_counter()
    graph = open_and_bind()
    launch(graph)
    graph.synchronize()
    print(f"time:    {(time.perf_counter() - start) * 1e3:.1f} ms to open the file and for a first launch")
    return graph
