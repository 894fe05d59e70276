"""Weights by a formula, the same as those of the Rust programs."""

import torch

MASK = 0xFFFFFFFF


def formula(shape, seed, scale, ones=0, period=1, device="cuda"):
    """The kernel `formula` of `examples/kernels/generate.cu`."""
    i = torch.arange(torch.Size(shape).numel(), device=device, dtype=torch.int64)
    x = (i + seed * 0x9E3779B9) & MASK
    x = ((x ^ (x >> 16)) * 0x7FEB352D) & MASK
    x = ((x ^ (x >> 15)) * 0x846CA68B) & MASK
    x ^= x >> 16
    unit = ((x >> 8) - 0x800000).double() / 0x800000
    scale = float(torch.as_tensor(scale, dtype=torch.float32))
    return (scale * unit + (i % period < ones)).float().bfloat16().reshape(shape)
