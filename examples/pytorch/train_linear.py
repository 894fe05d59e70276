"""A linear layer that learns by gradient descent, as `train_linear` has it: the step alone, on a batch that lies on the
GPU, and with a new batch from page-locked memory for each step.

    python3 train_linear.py --losses     writes the losses of the first 100 steps, in f32: `train_linear.losses`
"""

import sys

import torch

import common

BATCH, INPUTS, OUTPUTS, STEPS, RATE = 64, 1024, 1024, 100, 1e-3


def numbers(stream, count):
    """Numbers from -1 to 1 that look random, the same as in `train_linear.rs`."""
    low = 0xFFFFFFFF
    bits = (torch.arange(count, dtype=torch.int64) * 0x9E3779B9 + stream * 0x85EBCA6B) & low
    bits = ((bits ^ bits >> 16) * 0x21F0AAAD) & low
    bits = ((bits ^ bits >> 15) * 0x735A2D97) & low
    return ((bits ^ bits >> 15) >> 8).float() / (1 << 23) - 1


def batch(number):
    x = numbers(2 + number, BATCH * INPUTS).view(BATCH, INPUTS)
    return x, (x[:, :OUTPUTS] - x.roll(-1, 1)[:, :OUTPUTS]) / 2


def model():
    layer = torch.nn.Linear(INPUTS, OUTPUTS, device="cuda")
    with torch.no_grad():
        layer.weight.copy_(numbers(0, OUTPUTS * INPUTS).view(OUTPUTS, INPUTS) / 32)
        layer.bias.copy_(numbers(1, OUTPUTS) / 32)
    return layer


def training_step(layer):
    optimizer = torch.optim.SGD(layer.parameters(), lr=RATE)

    def step(x, target):
        optimizer.zero_grad(set_to_none=True)
        loss = torch.nn.functional.mse_loss(layer(x), target, reduction="sum")
        loss.backward()
        optimizer.step()
        return loss

    return step


x, target = (part.cuda() for part in batch(0))
if "--losses" in sys.argv:
    torch.set_float32_matmul_precision("highest")
    step = training_step(model())
    with open("train_linear.losses", "w") as file:
        for number in range(STEPS):
            for static, new in zip((x, target), batch(number)):
                static.copy_(new)
            print(f"{step(x, target).item():.9g}", file=file)
    sys.exit()

buffers = [(x, target)] + [(x.clone(), target.clone()) for _ in range(3)]
pinned = [tuple(part.pin_memory() for part in batch(number)) for number in range(32)]
for row, precision in ("train_linear f32", "highest"), ("train_linear tf32", "high"):
    step = training_step(model())
    common.bench(row, lambda step=step: step(x, target), precision=precision)
    common.bench_from_host(f"{row}, inputs from the host", training_step(model()), buffers, pinned, precision)
common.finish()
