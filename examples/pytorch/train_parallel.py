"""The linear layer of `train_linear` that learns on several GPUs, each from 64 samples of its own, as
`train_parallel --model linear --bench` does: gradients are averaged over the ranks.

    torchrun --nproc-per-node 2 train_parallel.py

Each rank is a process. Two ways are measured: `DistributedDataParallel`, and one `all_reduce` of all gradients in one
tensor after the way back; eager, and captured in a CUDA graph and replayed. All ranks make the same number of calls, so
the rounds are of a fixed length, unlike in `common.py`.
"""

import os
import statistics
import sys

os.environ["TORCH_NCCL_ASYNC_ERROR_HANDLING"] = "0"  # as PyTorch's manual says for DDP in a graph

import torch
import torch.distributed as dist

BATCH, INPUTS, OUTPUTS, RATE = 64, 1024, 1024, 1e-3
ROUNDS, CALLS = 15, 200

device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
torch.cuda.set_device(device)
dist.init_process_group("nccl", device_id=device)


def model():
    torch.manual_seed(0)
    return torch.nn.Linear(INPUTS, OUTPUTS, device=device)


def by_ddp():
    layer = torch.nn.parallel.DistributedDataParallel(model(), device_ids=[device], gradient_as_bucket_view=True)
    optimizer = torch.optim.SGD(layer.parameters(), lr=RATE)

    def step():
        optimizer.zero_grad(set_to_none=True)
        torch.nn.functional.mse_loss(layer(x), target, reduction="sum").backward()
        optimizer.step()

    return step


def by_hand():
    layer = model()
    flat = torch.zeros(OUTPUTS * INPUTS + OUTPUTS, device=device)
    layer.weight.grad = flat[: OUTPUTS * INPUTS].view(OUTPUTS, INPUTS)
    layer.bias.grad = flat[OUTPUTS * INPUTS :]
    optimizer = torch.optim.SGD(layer.parameters(), lr=RATE)

    def step():
        flat.zero_()
        torch.nn.functional.mse_loss(layer(x), target, reduction="sum").backward()
        dist.all_reduce(flat, op=dist.ReduceOp.AVG)
        optimizer.step()

    return step


def capture(step):
    for _ in range(11):
        step()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=torch.cuda.current_stream()):
        step()
    torch.cuda.synchronize()
    return graph.replay


def measure(row, call):
    times = []
    for _ in range(2 + ROUNDS):
        dist.barrier()
        torch.cuda.synchronize()
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(CALLS):
            call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / CALLS)
    low, median, high = statistics.quantiles(times[2:], n=4)
    if dist.get_rank() == 0:
        print(f"bench:   {row}: {median:.2f} us ({low:.2f} to {high:.2f})", flush=True)


torch.manual_seed(dist.get_rank())
x = torch.rand(BATCH, INPUTS, device=device) * 2 - 1
target = (x - x.roll(-1, 1)) / 2
if dist.get_rank() == 0:
    ranks = dist.get_world_size()
    print(f"device:  {ranks} x {torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}")
kept = []
# As PyTorch's manual says: what is captured is made, and runs first, on a stream that is not the default one.
torch.cuda.set_stream(torch.cuda.Stream())
for name, precision in ("f32", "highest"), ("tf32", "high"):
    torch.set_float32_matmul_precision(precision)
    for way, make in ("DDP", by_ddp), ("one all_reduce", by_hand):
        step = make()
        measure(f"train_parallel linear {name}, {way} eager", step)
        kept.append(capture(step))
        measure(f"train_parallel linear {name}, {way} replay", kept[-1])
# Communicators that graphs use may not end before these.
torch.cuda.synchronize()
dist.barrier()
sys.stdout.flush()
os._exit(0)
