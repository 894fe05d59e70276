"""The decode step of `engine` on PyTorch's own tensors: weights as a checkpoint has them, by their names there, and a
graph file that the Rust program has saved, opened by `cuda-graph-load`. Compares tokens and logits with those that the
Rust program has compared with plain Rust, and the time of a token with the Rust program's.

    cargo build --release -p examples -p cuda-graph-load
    export CUDA_GRAPH_LOAD=../../target/release/libcuda_graph_load.so
    python3 engine_loaded.py ../../target/release/engine
"""

import json
import struct

import loaded

saved = loaded.Saved()
config = json.loads((saved.folder / "config.json").read_text())
expected = saved.tensors("expected.safetensors")
text = [int(token) for token in loaded.floats(expected["text"])]
context, head = config["max_position_embeddings"], config["hidden_size"] // config["num_attention_heads"]
given = int(loaded.floats(expected["given"])[0])

memory = {
    "text": loaded.zeros(context),
    "position": loaded.zeros(2),
    "logits": loaded.zeros(config["vocab_size"]),
    "cosines": loaded.memory(expected["cosines"]),
    "sines": loaded.memory(expected["sines"]),
}
for layer in range(config["num_hidden_layers"]):
    for part in "keys", "values":
        memory[f"model.layers.{layer}.{part}"] = loaded.zeros(context * config["num_key_value_heads"] * head)
for path in saved.folder.glob("*.safetensors"):
    if path.name != "expected.safetensors":
        memory.update((name, loaded.memory(tensor)) for name, tensor in saved.tensors(path.name).items())


def open_and_bind():
    graph = saved.open("step.cugraph")
    for name, tensor in memory.items():
        graph.bind(name, tensor)
    return graph


graph = loaded.first_launch(open_and_bind)
loaded.copy(memory["text"], struct.pack(f"<{context}i", *text[:given], *[0] * (context - given)))
loaded.copy(memory["position"], struct.pack("<2i", 0, given))
for _ in text[1:]:
    loaded.launch(graph)
loaded.wait(graph)
found = loaded.ints(memory["text"])[:len(text)]
assert found == text, f"the text is {found}, not {text}"
logits, wanted = loaded.floats(memory["logits"]), loaded.floats(expected["logits"])
worst, most = max(abs(a - b) for a, b in zip(logits, wanted)), max(map(abs, wanted))
assert worst <= 1e-6 * most, f"the logits differ by {worst}"
print(f"check:   {len(text)} tokens as by the Rust program; the worst logit differs by {worst:.1e} of {most:.2f}")
loaded.copy(memory["position"], struct.pack("<2i", context - 1, 0))  # where the Rust program measures
saved.compare({"engine adopted": graph})
