"""As scale.c, in Python, with buffers of ctypes and an object that describes its memory as torch tensors do."""

import ctypes
import sys

from cuda_graph_load import Graph, GraphError

try:
    Graph("nowhere.cugraph", device="emulator")
except GraphError as error:
    print(error)


class Tensor:
    def __init__(self, numbers):
        self.memory = (ctypes.c_float * len(numbers))(*numbers)

    def is_contiguous(self):
        return True

    def data_ptr(self):
        return ctypes.addressof(self.memory)

    def numel(self):
        return len(self.memory)

    def element_size(self):
        return 4


class Described:
    """As arrays of cupy and numba: by an interface."""

    def __init__(self, memory):
        address, shape = ctypes.addressof(memory), (8, 8)
        self.__cuda_array_interface__ = {"data": (address, False), "shape": shape, "typestr": "<f4", "version": 3}


with Graph(sys.argv[1], device="emulator") as graph:
    data = Tensor(range(64))
    try:
        graph.bind("data", (data.data_ptr(), 252))
    except GraphError as error:
        print(error)
    graph.bind("data", data)
    graph.write("first", ctypes.c_float(5))
    graph.launch()
    graph.launch()
    graph.synchronize()
    print(*(f"{number:g}" for number in (data.memory[0], data.memory[1], graph.read("last", ctypes.c_float()).value)))
    other = (ctypes.c_float * 64)(*([2.0] * 64))
    graph.bind("data", Described(other))
    graph.launch()
    graph.synchronize()
    print(f"{other[1]:g} {data.memory[1]:g}")
