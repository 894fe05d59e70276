"""The net of `examples/src/bin/train_conv.rs` in PyTorch: the same weights, images and steps, its losses, the memory at
each stage with and without a graph, and the times of a step.

    python3 train_conv.py              losses, memory, times
    python3 train_conv.py --serve      times, as `common` says

Everything is f32 without TF32, as in the Rust program.
"""

import json
import math
import pathlib
import struct
import subprocess
import sys

import torch
from torch import nn

import common

BATCH, STEPS, RATE = 32, 300, 0.1
DIGITS = pathlib.Path(__file__).parent.parent / "data" / "digits.txt"

torch.backends.cudnn.allow_tf32 = False


def digits():
    """Images of 16 x 16, each pixel four times, and labels; without the first of every five."""
    lines = [line.split() for number, line in enumerate(DIGITS.read_text().splitlines()) if number % 5]
    images = torch.tensor([[int(pixel, 17) / 16 for pixel in pixels] for pixels, _ in lines])
    images = images.view(-1, 1, 8, 8).repeat_interleave(2, 2).repeat_interleave(2, 3)
    return images.contiguous(), torch.tensor([int(label) for _, label in lines])


def first_weights(model):
    """The formula of `Weights::first`: a generator of random numbers, and the root of 1 / inputs."""
    state = 1
    for layer in model:
        if not hasattr(layer, "weight"):
            continue
        inputs = layer.weight[0].numel()
        root = struct.unpack("f", struct.pack("f", math.sqrt(inputs)))[0]
        numbers = []
        for _ in range(layer.weight.numel()):
            state = (state * 1664525 + 1013904223) % 2**32
            numbers.append(((state >> 8) / 2**23 - 1) / root)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(numbers).view_as(layer.weight))
            layer.bias.zero_()


class Training:
    """A training, and its memory: bytes allocated and reserved by PyTorch, and what the device has less than before."""

    def __init__(self):
        torch.cuda.init()
        self.free = torch.cuda.mem_get_info()[0]
        self.stages = []
        images, labels = digits()
        self.images, self.labels = images.cuda(), labels.cuda()
        self.stage("data ready")
        self.model = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Flatten(), nn.Linear(512, 10),
        ).cuda()
        first_weights(self.model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=RATE)
        self.stage("model ready")
        self.x, self.y = self.images[:BATCH].clone(), self.labels[:BATCH].clone()
        self.stage("static inputs")

    def stage(self, name):
        torch.cuda.synchronize()
        taken = self.free - torch.cuda.mem_get_info()[0]
        self.stages.append((name, torch.cuda.memory_allocated(), torch.cuda.memory_reserved(), taken))

    def step(self):
        """One step on the static inputs; the loss stays on the device."""
        self.optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(self.model(self.x), self.y)
        loss.backward()
        self.optimizer.step()
        self.loss = loss.detach()

    def capture(self):
        """The graph of a step. Capturing needs steps before it; the weights begin anew after them."""
        graph = common.capture(self.step)
        first_weights(self.model)
        return graph

    def train(self, step):
        losses = []
        for number in range(STEPS):
            rows = [(number * BATCH + row) % len(self.labels) for row in range(BATCH)]
            rows = torch.tensor(rows, device="cuda")
            self.x.copy_(self.images[rows])
            self.y.copy_(self.labels[rows])
            step()
            losses.append(self.loss.item())
            if (number + 1) % (STEPS // 6) == 0:
                self.stage(f"{number + 1} steps")
        return losses


def table(headings, columns):
    print("memory:  KiB              " + "".join(f"{heading:>42}" for heading in headings))
    print(" " * 26 + (f"{'allocated':>18}{'reserved':>12}{'taken':>12}" * len(headings)))
    for row in zip(*columns):
        figures = "".join(f"{a // 1024:>18}{r // 1024:>12}{t // 1024:>12}" for _, a, r, t in row)
        print(f"         {row[0][0]:<17}" + figures)


def memory(way):
    """Prints the stages and losses of a training, in a process of its own: what one way leaves behind, the other would
    find."""
    training = Training()
    step = training.capture().replay if way == "graph" else training.step
    training.stage("graph built")
    losses = training.train(step)
    print(json.dumps([training.stages, losses]))


if "--memory" in sys.argv:
    memory(sys.argv[-1])
    sys.exit()

if not common.arguments.serve:
    ways = []
    for way in ("eager", "graph"):
        child = [sys.executable, __file__, "--memory", way]
        ways.append(json.loads(subprocess.run(child, check=True, capture_output=True, text=True).stdout))
    table(["without a graph", "with a graph"], [stages for stages, _ in ways])
    for losses in (losses for _, losses in ways):
        print("losses:  " + " ".join(f"{loss:.6f}" for loss in losses[:6]), "..", f"{losses[-1]:.6f}")

training = Training()
common.bench("train_conv", training.step)
common.finish()
