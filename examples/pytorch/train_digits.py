"""`train_digits`: a training step of the perceptron for handwritten digits, a batch of 64 from page-locked memory.

Adam is `capturable`, and the learning rate is a tensor. With a rate that is a number, a captured step would go on with
the rate of its capture, whatever a scheduler says.
"""

import pathlib

import torch
import torch.nn.functional as F

import common

B = 64
lines = (pathlib.Path(__file__).parent.parent / "data" / "digits.txt").read_text().splitlines()
digits = [line for index, line in enumerate(lines) if index % 5]


def batch(lines):
    images = torch.tensor([[int(pixel, 17) / 16 for pixel in line[:64]] for line in lines])
    return images.pin_memory(), torch.tensor([int(line[65]) for line in lines]).pin_memory()


batches = [batch(digits[first : first + B]) for first in range(0, len(digits) - B, B)]
buffers = [tuple(part.cuda() for part in batches[0]) for _ in range(4)]

linear, relu, dropout = torch.nn.Linear, torch.nn.ReLU, torch.nn.Dropout
layers = [linear(64, 128), relu(), dropout(0.5), linear(128, 128), relu(), dropout(0.5), linear(128, 10)]
model = torch.nn.Sequential(*layers).cuda().train()
optimizer = torch.optim.Adam(model.parameters(), lr=torch.tensor(1e-3, device="cuda"), capturable=True, fused=True)


def step(x, wanted):
    optimizer.zero_grad(set_to_none=True)
    F.cross_entropy(model(x), wanted).backward()
    optimizer.step()


common.bench_from_host("train_digits", step, buffers, batches)
common.finish()
