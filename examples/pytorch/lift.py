"""A decode step that PyTorch has captured, read by `cuda-graph-load`: what is known of it, and which of its edges
nothing needs. The step is that of `generate.py`, as modules in bf16, twice: two tokens. Then it is captured again with
`torch.compile`, whose Triton kernels have PTX, which tells what they access.

    cargo build --release -p cuda-graph-load
    CUDA_GRAPH_LOAD=../../target/release/libcuda_graph_load.so python3 lift.py

Each graph is captured twice, and one of both gets only the edges that its nodes need. Two more are built of what was
read: with the edges as they were, and with those that are needed. All compute the same, bit by bit.
"""

import ctypes
import glob
import os
import pathlib
import sys
import tempfile
import time

sys.argv = sys.argv[:1]  # a program's name, which all scripts get that run with Rust's
sys.path.append(str(pathlib.Path(__file__).parents[2] / "cuda-graph-load/python"))
cache = tempfile.TemporaryDirectory()
os.environ["TORCHINDUCTOR_CACHE_DIR"] = cache.name
os.environ["TRITON_CACHE_DIR"] = os.path.join(cache.name, "triton")

try:
    import torch

    on_gpu = torch.cuda.is_available()
except ImportError:
    on_gpu = False
if not on_gpu:
    sys.exit(print("device:  no GPU that PyTorch uses: nothing is captured"))

import generate
from cuda_graph_load import lift

# How long a graph may take to be read, in seconds; and the least nodes of the first one.
LIMIT, NODES = 1.0, 300
POSITION, TOKENS = 512, 2


def captured(step):
    graph = torch.cuda.CUDAGraph(keep_graph=True)
    with torch.cuda.graph(graph):
        step()
    return graph


class Built:
    """A graph of the driver's that a lift has built."""

    driver = None

    def __init__(self, raw):
        Built.driver = Built.driver or ctypes.CDLL("libcuda.so.1")
        self.exec = ctypes.c_void_p()
        flags = ctypes.c_ulonglong(0)
        self.check("cuGraphInstantiateWithFlags", ctypes.byref(self.exec), ctypes.c_void_p(raw), flags)
        self.check("cuGraphDestroy", ctypes.c_void_p(raw))

    def check(self, call, *arguments):
        code = getattr(self.driver, call)(*arguments)
        assert code == 0, f"{call} failed: {code}"

    def replay(self):
        self.check("cuGraphLaunch", self.exec, ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))


def replayed(graph, state):
    """The contents of all tensors that the step writes, after a replay from the same state."""
    token, model, contents = state
    token.fill_(17)
    with torch.no_grad():
        for buffer, content in zip(model.buffers(), contents):
            buffer.copy_(content)
    graph.replay()
    torch.cuda.synchronize()
    return [token.clone(), *(buffer.clone() for buffer in model.buffers())]


def microseconds(graph, launches=200):
    times = []
    for _ in range(7):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(launches):
            graph.replay()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - start) * 1e6 / launches)
    return sorted(times)[3]


def report(name, step, state, ptx, least):
    """Captures a step twice, reads both graphs, and compares them."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.synchronize()
    token, model, _ = state
    memory = {"token": token}
    memory |= {name: weights for name, weights in model.named_parameters() if weights.is_contiguous()}
    memory |= dict(model.named_buffers())
    whole, mended = captured(step), captured(step)
    modules = ptx()
    start = time.perf_counter()
    found = lift(whole.raw_cuda_graph(), memory, modules)
    seconds = time.perf_counter() - start
    built, needed = Built(found.build()), Built(found.build(needed_edges=True))
    lift(mended.raw_cuda_graph(), memory, modules, keep_needed_edges=True)
    whole.instantiate()
    mended.instantiate()
    expected = replayed(whole, state)
    graphs = {"with the edges that it needs": mended, "built of its plan": built, "built with needed edges": needed}
    differing = [
        graph
        for graph, other in graphs.items()
        if not all(torch.equal(one, two) for one, two in zip(expected, replayed(other, state)))
    ]
    share = found.known_nodes / found.nodes
    print(f"lift:    {name}: {found.nodes} nodes in {seconds * 1e3:.1f} ms; all accesses known of {share:.0%}")
    edges = f"{found.unneeded_edges} of {found.edges} edges are not needed"
    print(f"lift:    {name}: {edges}; the longest path has {found.levels} nodes, {found.needed_levels} without")
    pairs = f"{found.pairs_apart} apart, {found.racing} racing, {found.cannot_tell} cannot be told"
    print(f"lift:    {name}: unordered pairs: {pairs}")
    for line in found.text.splitlines():
        if line.startswith(("racing", "not known")):
            print(f"lift:    {name}: {line}")
    print(f"lift:    {name}: bit by bit the same: {', '.join(graph for graph in graphs if graph not in differing)}")
    times = "; ".join(f"{graph} {microseconds(other):.1f} us" for graph, other in graphs.items())
    print(f"bench:   {name}: {microseconds(whole):.1f} us; {times}", flush=True)
    assert not differing, f"{name}: computes something else: {differing}"
    assert found.racing == 0, found.text
    assert found.nodes >= least and seconds < LIMIT, f"{name}: {found.nodes} nodes in {seconds:.3f} s"


def main():
    decoder = generate.Decoder(torch.bfloat16)
    decoder.cache.normal_()
    token, place = torch.tensor([17], device="cuda"), torch.tensor([POSITION], device="cuda")
    model = generate.Model(decoder).eval()
    state = (token, model, [buffer.clone() for buffer in model.buffers()])

    @torch.no_grad()
    def step():
        for _ in range(TOKENS):
            token.copy_(model(token, place, POSITION).argmax(-1))

    report("eager", step, state, lambda: [], NODES)
    for layer in model.layers:
        layer.compile()
    texts = lambda: [pathlib.Path(file).read_text() for file in glob.glob(f"{cache.name}/**/*.ptx", recursive=True)]
    report("compiled layers", step, state, texts, 1)


main()
