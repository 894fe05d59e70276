"""The step of `train_linear` on PyTorch's own tensors: a graph file that the Rust program has saved, opened by
`cuda-graph-load`. Compares the losses with those of `train_linear.losses`, and the time of a step with the Rust
program's.

    cargo build --release -p examples -p cuda-graph-load
    export CUDA_GRAPH_LOAD=../../target/release/libcuda_graph_load.so
    python3 train_linear_loaded.py ../../target/release/train_linear
"""

import loaded

saved = loaded.Saved()
data = saved.tensors("train_linear.safetensors")
expected = loaded.floats(data["losses"])
graphs = {}
for name, tolerance in ("f32", 1e-3), ("tf32", 2e-2):
    w, bias = loaded.memory(data["w"]), loaded.memory(data["bias"])
    size = len(data["batches"]) // len(expected)
    batches = [data["batches"][size * number:size * (number + 1)] for number in range(len(expected))]
    batch, loss = loaded.memory(batches[0]), loaded.zeros(1)

    def open_and_bind():
        graph = saved.open(f"train_linear_{name}.cugraph")
        for memory_name, memory in ("w", w), ("bias", bias), ("batch", batch), ("loss", loss):
            graph.bind(memory_name, memory)
        return graph

    graph = graphs[f"train_linear {name}"] = loaded.first_launch(open_and_bind)
    loaded.copy(w, data["w"])
    loaded.copy(bias, data["bias"])
    losses = []
    for new in batches:
        loaded.copy(batch, new)
        loaded.launch(graph)
        loaded.wait(graph)
        losses += loaded.floats(loss)
    worst = max(abs(loss / wanted - 1) for loss, wanted in zip(losses, expected))
    assert worst <= tolerance, f"{name}: the losses are {losses}, not {expected}"
    print(f"check:   {name}: loss {losses[0]:.1f} to {losses[-1]:.1e}, as the reference within {worst:.1e}")
saved.compare(graphs)
