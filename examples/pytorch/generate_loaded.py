"""The decoders of `generate` on PyTorch's own tensors: graph files that the Rust program has saved, opened by
`cuda-graph-load`. The small one writes the text that it writes in Rust. The large one, on a GPU, is opened first, with
weights of zero: only the time is of interest, of a process that has loaded nothing yet.

    cargo build --release -p examples -p cuda-graph-load
    export CUDA_GRAPH_LOAD=../../target/release/libcuda_graph_load.so
    python3 generate_loaded.py ../../target/release/generate
"""

import ctypes
import pathlib

import loaded

# Of the large decoder: layers, width, vocabulary, context.
LAYERS, WIDTH, VOCABULARY, CONTEXT = 12, 768, 50304, 1024

saved = loaded.Saved()


def decode(name, weights, context):
    """Opens a graph, and writes the text that Rust has written."""
    wanted = saved.tensors(f"{name}.safetensors")
    given, text = ([int(token) for token in loaded.floats(wanted[part])] for part in ("given", "text"))
    state = (ctypes.c_uint32 * 10)(1, 0, len(given), len(text) - 1, 0xFFFFFFFF)
    words = (ctypes.c_uint32 * (context + 1))(*given)

    def open_and_bind():
        graph = saved.open(f"{name}.cugraph")
        for tensor, memory in weights.items():
            graph.bind(tensor, memory)
        graph.write("text", words)
        graph.write("state", state)
        return graph

    graph = loaded.first_launch(open_and_bind)
    return text, list(graph.read("text", words))[:len(text)]


if loaded.on_gpu:
    lengths = {
        "tokens": VOCABULARY * WIDTH,
        "places": CONTEXT * WIDTH,
        "matrices": LAYERS * 12 * WIDTH * WIDTH,
        "vectors": LAYERS * 13 * WIDTH,
        "last_norm": 2 * WIDTH,
    }
    decode("large", {name: loaded.zeros(length // 2) for name, length in lengths.items()}, CONTEXT)

file = pathlib.Path(__file__).parents[1] / "data/text.safetensors"
weights = {name: loaded.memory(tensor) for name, tensor in loaded.tensors(file).items()}
width = loaded.size(weights["last_norm"]) // 4
text, found = decode("small", weights, loaded.size(weights["places"]) // 2 // width)
assert found == text, f"the text is {found}, not {text}"
print(f"check:   {len(text)} tokens as by the Rust program: {bytes(found)}")
