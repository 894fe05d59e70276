"""The block of `transformer_block` in PyTorch: its times, and the results that the Rust program checks its own with.

    python3 transformer_block.py                     times, in tf32 and in bf16
    python3 transformer_block.py --reference FILE    writes some rows of the results in f64, as safetensors
"""

import json
import math
import struct
import sys

import numpy
import torch
from torch import nn
from torch.nn import functional

HEAD = 64
# Tokens, width and the distance of the rows that are kept: on a GPU, and on the emulator.
SIZES = {"full": (128, 768, 16), "reduced": (32, 384, 8)}


def numbers(seed, count, scale, offset=0.0):
    """Numbers within `scale` of `offset`, by a formula that the Rust program computes too."""
    mixed = numpy.arange(count, dtype=numpy.uint32) * numpy.uint32(2654435761)
    mixed += numpy.uint32(seed * 2246822519 % 2**32)
    for shift, factor in (16, 0x85EBCA6B), (13, 0xC2B2AE35):
        mixed ^= mixed >> numpy.uint32(shift)
        mixed *= numpy.uint32(factor)
    mixed ^= mixed >> numpy.uint32(16)
    unit = (mixed >> numpy.uint32(8)).astype(numpy.float32) / numpy.float32(1 << 23) - numpy.float32(1)
    return torch.from_numpy(unit * numpy.float32(scale) + numpy.float32(offset))


class Block(nn.Module):
    """A pre-norm block: `x + attention(norm(x))`, then `x + mlp(norm(x))`."""

    def __init__(self, width):
        super().__init__()
        self.heads = width // HEAD
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        inside, outside = 1 / math.sqrt(width), 1 / math.sqrt(4 * width)
        formulas = {
            self.norm1.weight: (2, 0.1, 1.0), self.norm1.bias: (3, 0.1),
            self.qkv.weight: (4, inside), self.qkv.bias: (5, inside),
            self.project.weight: (6, inside), self.project.bias: (7, inside),
            self.norm2.weight: (8, 0.1, 1.0), self.norm2.bias: (9, 0.1),
            self.up.weight: (10, inside), self.up.bias: (11, inside),
            self.down.weight: (12, outside), self.down.bias: (13, outside),
        }
        with torch.no_grad():
            for parameter, (seed, *formula) in formulas.items():
                parameter.copy_(numbers(seed, parameter.numel(), *formula).view_as(parameter))

    def forward(self, x):
        rows, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(rows, 3, self.heads, HEAD).permute(1, 2, 0, 3).unsqueeze(1).unbind()
        attention = functional.scaled_dot_product_attention(q, k, v).squeeze(0)
        x = x + self.project(attention.transpose(0, 1).reshape(rows, width))
        return x + self.down(functional.gelu(self.up(self.norm2(x))))


def input_of(rows, width):
    return numbers(1, rows * width, math.sqrt(3)).view(rows, width)


def write_reference(file):
    """Writes every so many rows of the results, computed in f64 of weights in f32, as f32."""
    header, data = {}, b""
    for name, (rows, width, apart) in SIZES.items():
        with torch.no_grad():
            kept = Block(width).double()(input_of(rows, width).double())[::apart].float().numpy().tobytes()
        header[name] = {
            "dtype": "F32", "shape": [rows // apart, width], "data_offsets": [len(data), len(data) + len(kept)],
        }
        data += kept
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(file, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


def main():
    import common

    rows, width, _ = SIZES["full"]
    for name, kind, precision in ("tf32", torch.float32, "high"), ("bf16", torch.bfloat16, "highest"):
        model, x = Block(width).to("cuda", kind), input_of(rows, width).to("cuda", kind)

        @torch.no_grad()
        def step(model=model, x=x):
            return model(x)

        torch.set_float32_matmul_precision(precision)
        exact = Block(width).double()(input_of(rows, width).double()).detach()
        print(f"note:    {name}: largest difference from f64 {(step().double().cpu() - exact).abs().max():.2g}")
        common.bench(f"transformer_block {name}", step, precision=precision)
    common.finish()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--reference"]:
        write_reference(sys.argv[2])
    else:
        main()
