"""Graph files of graph-runtime in Python: open, bind tensors by name, launch. And captured graphs: what they do.

    graph = Graph("step.cugraph", device="cuda:0")
    graph.bind("w", weights)                                # a torch tensor, without a copy
    graph.launch(torch.cuda.current_stream().cuda_stream)

    captured = torch.cuda.CUDAGraph(keep_graph=True)        # and capture into it
    print(lift(captured.raw_cuda_graph(), memory={"x": x}).text)

One file, over `libcuda_graph_load.so`: the variable CUDA_GRAPH_LOAD names it, or it is beside this file. Whoever opens
a file trusts the kernels in it. A graph and the work of others with its memory are ordered by the stream of `launch`, or
by `synchronize`.
"""

import ctypes
import os
import pathlib


class GraphError(RuntimeError):
    """A failure; its message names the file, and the node or the memory."""


def _load():
    beside = pathlib.Path(__file__).parent / "libcuda_graph_load.so"
    library = ctypes.CDLL(os.environ.get("CUDA_GRAPH_LOAD", str(beside)))
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    signatures = {
        "open": ([text, text], pointer),
        "bind": ([pointer, text, pointer, size], ctypes.c_int),
        "launch": ([pointer], ctypes.c_int),
        "launch_on": ([pointer, pointer], ctypes.c_int),
        "synchronize": ([pointer], ctypes.c_int),
        "read": ([pointer, text, pointer, size], ctypes.c_int),
        "write": ([pointer, text, pointer, size], ctypes.c_int),
        "close": ([pointer], None),
        "lift": ([pointer, pointer, size, pointer, size, ctypes.c_int, pointer], ctypes.c_int),
        "lift_build": ([ctypes.c_int, pointer], ctypes.c_int),
        "lift_text": ([], text),
        "error": ([], text),
    }
    for name, (arguments, result) in signatures.items():
        function = getattr(library, "cuda_graph_" + name)
        function.argtypes, function.restype = arguments, result
    return library


def _memory(value):
    """The address and the bytes of a tensor, an array, a ctypes buffer, or of a pair of both."""
    if isinstance(value, tuple):
        return value
    if hasattr(value, "data_ptr"):
        if not value.is_contiguous():
            raise GraphError("the tensor is not contiguous")
        return value.data_ptr(), value.numel() * value.element_size()
    for interface in ("__cuda_array_interface__", "__array_interface__"):
        description = getattr(value, interface, None)
        if description is not None:
            if description.get("strides") is not None:
                raise GraphError("the array is not contiguous")
            bytes_ = int(description["typestr"][2:])
            for length in description["shape"]:
                bytes_ *= length
            return description["data"][0], bytes_
    if isinstance(value, (ctypes.Array, ctypes._SimpleCData, ctypes.Structure)):
        return ctypes.addressof(value), ctypes.sizeof(value)
    raise TypeError(f"no memory: {type(value).__name__}; pass a tensor, an array, or (address, bytes)")


class Memory(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("address", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class Lift(ctypes.Structure):
    """What a captured graph does, in numbers, as the header explains; `text` has the findings, a line each."""

    _names = "nodes known_nodes edges unneeded_edges levels needed_levels pairs_apart racing cannot_tell"
    _fields_ = [(name, ctypes.c_size_t) for name in _names.split()]
    _last = None
    text = ""

    def build(self, needed_edges=False):
        """Makes another CUDA graph of this thread's last lift, which computes the same, and returns its handle: with
        the edges that were read, or only those that conflicts need. The caller instantiates and destroys it.
        """
        if Lift._last is not self:
            raise GraphError("another graph has been read since")
        built = ctypes.c_void_p()
        library = Graph.library()
        if library.cuda_graph_lift_build(needed_edges, ctypes.byref(built)) != 0:
            raise GraphError(library.cuda_graph_error().decode())
        return built.value


def lift(raw, memory=None, ptx=(), keep_needed_edges=False):
    """Reads a CUDA graph, given by its handle. `memory` names tensors, arrays, or pairs of address and bytes, and `ptx`
    has the texts of modules whose kernels it launches. With `keep_needed_edges`, the graph keeps only the edges that
    conflicts need, and is to be instantiated (again).
    """
    library = Graph.library()
    named = [Memory(name.encode(), *_memory(value)) for name, value in (memory or {}).items()]
    modules = [module.encode() for module in ptx]
    result = Lift()
    code = library.cuda_graph_lift(
        raw,
        (Memory * len(named))(*named),
        len(named),
        (ctypes.c_char_p * len(modules))(*modules),
        len(modules),
        keep_needed_edges,
        ctypes.byref(result),
    )
    if code != 0:
        raise GraphError(library.cuda_graph_error().decode())
    result.text = library.cuda_graph_lift_text().decode()
    Lift._last = result
    return result


class Graph:
    """A graph that was opened. It keeps what is bound."""

    _library = None

    @classmethod
    def library(cls):
        if Graph._library is None:
            Graph._library = _load()
        return Graph._library

    def __init__(self, path, device="cuda:0"):
        self.library()
        self._bound = {}
        self._graph = self._library.cuda_graph_open(device.encode(), os.fspath(path).encode())
        if not self._graph:
            self._fail()

    def _fail(self):
        raise GraphError(self._library.cuda_graph_error().decode())

    def _check(self, code):
        if code != 0:
            self._fail()

    def bind(self, name, memory):
        """Lets later launches use this memory, which is not copied, as the memory of this name."""
        address, bytes_ = _memory(memory)
        self._check(self._library.cuda_graph_bind(self._graph, name.encode(), address, bytes_))
        self._bound.setdefault(name, []).append(memory)  # launches in flight may still use what was bound before

    def launch(self, stream=None):
        """Starts the graph, on a stream's handle (0 is the default stream), or on one of its own."""
        if stream is None:
            self._check(self._library.cuda_graph_launch(self._graph))
        else:
            self._check(self._library.cuda_graph_launch_on(self._graph, stream))

    def synchronize(self):
        """Waits for all launches."""
        self._check(self._library.cuda_graph_synchronize(self._graph))
        for memories in self._bound.values():
            del memories[:-1]

    def read(self, name, to):
        """Copies the memory of this name to memory of the host, of as many bytes."""
        address, bytes_ = _memory(to)
        self._check(self._library.cuda_graph_read(self._graph, name.encode(), address, bytes_))
        return to

    def write(self, name, contents):
        """Copies memory of the host, of as many bytes, to the memory of this name."""
        address, bytes_ = _memory(contents)
        self._check(self._library.cuda_graph_write(self._graph, name.encode(), address, bytes_))

    def close(self):
        """Waits for all launches, and frees the graph."""
        graph, self._graph = getattr(self, "_graph", None), None
        if graph:
            self._library.cuda_graph_close(graph)

    __del__ = close

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
