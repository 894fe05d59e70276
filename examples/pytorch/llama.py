"""The Llama of `examples/src/llama` in PyTorch, without `transformers`: its times, and the reference.

    python3 llama.py                     times a token at position 96, batch 1, bf16, with a static cache, with weights
                                         by the formula: as modules with a matrix for each weight of the checkpoint, and
                                         with queries, keys and values, and gate and up, in one matrix each
    python3 llama.py --reference FILE    writes the texts and logits that `llama` compares with

The reference is computed in f32, from the same bf16 weights: a text of the tiny model with all logits after each token,
and every 512th logit after the last of eight tokens of the model of the size of Llama-3.2-1B.
"""

import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

from formula import formula

SMALL = dict(width=64, hidden=544, layers=2, heads=4, groups=2, vocabulary=96, context=64, theta=1e4, scaling=(4, 1, 4, 32))
LARGE = dict(width=2048, hidden=8192, layers=16, heads=32, groups=8, vocabulary=128256, context=4096, theta=5e5, scaling=(32, 1, 4, 8192))
GIVEN, LENGTH, EVERY = [ord(c) - 32 for c in "Graph"], 16, 512


def angles(head, context, theta, scaling, **_):
    """Cosines and sines of the angles of each place, with Llama 3's scaling."""
    factor, low, high, places = scaling
    angle = theta ** -(torch.arange(0, head, 2, dtype=torch.float64) / head)
    share = ((places * angle / (2 * math.pi) - low) / (high - low)).clamp(0, 1)
    turns = torch.arange(context, dtype=torch.float64)[:, None] * (angle * (share + (1 - share) / factor))
    turns = torch.cat([turns, turns], 1)
    return turns.cos(), turns.sin()


class Layer(nn.Module):
    """A layer with a static cache. If `joint`, matrices that multiply the same vector are one."""

    def __init__(self, w, joint, cosines, sines, heads, groups, context, **_):
        super().__init__()
        self.heads, self.groups, self.joint = heads, groups, joint
        names = "norm1 q k v o norm2 gate up down".split()
        for name, weight in zip(names, w):
            self.register_buffer(name, weight)
        if joint:
            self.register_buffer("qkv", torch.cat([self.q, self.k, self.v]))
            self.register_buffer("gate_up", torch.cat([self.gate, self.up]))
            del self.q, self.k, self.v, self.gate, self.up
        self.head = w[1].shape[0] // heads
        self.register_buffer("cosines", cosines)
        self.register_buffer("sines", sines)
        for name in "keys", "values":
            self.register_buffer(name, w[0].new_zeros(1, groups, context, self.head))

    def forward(self, x, place, filled):
        n = F.rms_norm(x, x.shape[-1:], self.norm1, 1e-5)
        if self.joint:
            kept = self.groups * self.head
            q, k, v = F.linear(n, self.qkv).split([self.heads * self.head, kept, kept], -1)
        else:
            q, k, v = F.linear(n, self.q), F.linear(n, self.k), F.linear(n, self.v)
        q, k, v = q.view(1, self.heads, 1, -1), k.view(1, self.groups, 1, -1), v.view(1, self.groups, 1, -1)
        cosines, sines = self.cosines[place], self.sines[place]

        def turn(x):
            a, b = x.chunk(2, -1)
            return x * cosines + torch.cat([-b, a], -1) * sines

        self.keys.index_copy_(2, place, turn(k).to(k.dtype))
        self.values.index_copy_(2, place, v)
        keys, values = self.keys[:, :, :filled], self.values[:, :, :filled]
        mixed = F.scaled_dot_product_attention(turn(q).to(q.dtype), keys, values, enable_gqa=True)
        x = x + F.linear(mixed.reshape(1, -1), self.o)
        n = F.rms_norm(x, x.shape[-1:], self.norm2, 1e-5)
        gate, up = F.linear(n, self.gate_up).chunk(2, -1) if self.joint else (F.linear(n, self.gate), F.linear(n, self.up))
        return x + F.linear(F.silu(gate) * up, self.down)


class Llama(nn.Module):
    def __init__(self, sizes, dtype, device, joint=False):
        super().__init__()
        width, hidden, layers = sizes["width"], sizes["hidden"], sizes["layers"]
        head = width // sizes["heads"]
        kept, seed = sizes["groups"] * head, 0

        def tensor(*shape):
            nonlocal seed
            seed += 1
            scale, ones = ((torch.tensor(3.0) / shape[1]).sqrt(), 0) if len(shape) == 2 else (0.2, 1)
            return formula(shape, seed, scale, ones, 1, device).to(dtype)

        self.register_buffer("tokens", tensor(sizes["vocabulary"], width))
        self.register_buffer("norm", tensor(width))
        cosines, sines = (x.to(device, torch.float32 if dtype == torch.float32 else dtype) for x in angles(head, **sizes))
        shapes = [(width,), (width, width), (kept, width), (kept, width), (width, width), (width,), (hidden, width), (hidden, width), (width, hidden)]
        self.layers = nn.ModuleList(Layer([tensor(*shape) for shape in shapes], joint, cosines, sines, **sizes) for _ in range(layers))

    def forward(self, token, place, position):
        """The logits after `token`. It and `place`, its position, are tensors of one; `position` is the number."""
        x = self.tokens[token]
        for layer in self.layers:
            x = layer(x, place, position + 1)
        return F.linear(F.rms_norm(x, x.shape[-1:], self.norm, 1e-5), self.tokens)


def reference(file):
    from safetensors.torch import save_file

    def run(sizes, text, length, device):
        model, rows = Llama(sizes, torch.float32, device), []
        for position in range(length - 1):
            logits = model(torch.tensor([text[position]], device=device), torch.tensor([position], device=device), position)[0]
            rows.append(logits.cpu())
            if position + 1 == len(text):
                best = logits.topk(2).values
                print(f"position {position}: {logits.argmax().item()}, ahead by {(best[0] - best[1]).item():.4f}")
                text.append(logits.argmax().item())
        return rows

    tiny, large = list(GIVEN), list(range(1, 9))
    rows = run(SMALL, tiny, LENGTH, "cpu")
    last = run(LARGE, large, len(large) + 1, "cuda")[-1][::EVERY].contiguous()
    tensors = {"tiny_logits": torch.stack(rows), "large_logits": last}
    texts = {"tiny_text": tiny, "large_text": large[:8]}
    save_file(tensors | {name: torch.tensor(text).to(torch.uint32) for name, text in texts.items()}, file)


def main():
    import common

    position = 96  # in the middle of 128 tokens after 32 given ones
    token, place = torch.tensor([17], device="cuda"), torch.tensor([position], device="cuda")

    def step_of(model):
        @torch.no_grad()
        def step():
            token.copy_(model(token, place, position).argmax(-1))

        return step

    steps = {name: step_of(Llama(LARGE, torch.bfloat16, "cuda", joint)) for name, joint in [("a matrix for each weight", False), ("joint matrices", True)]}
    common.bench("llama bf16", steps, modes=["default", "coordinate-descent"])
    common.finish()


if "--reference" in sys.argv:
    torch.backends.cuda.matmul.allow_tf32 = False
    with torch.no_grad():
        reference(sys.argv[sys.argv.index("--reference") + 1])
else:
    main()
