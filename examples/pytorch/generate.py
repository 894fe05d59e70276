"""`generate`: one token of a GPT-2-sized decoder in bf16, at position 512, with a static cache, as gpt-fast has it. The
weights are those of `Model::from_formula`.

    python3 generate.py --reference FILE    writes tokens and logits in f32, which `generate` is compared with
"""

import json
import sys

import torch
from torch.nn.functional import gelu, layer_norm, linear, scaled_dot_product_attention

import common

GPT2 = {"layers": 12, "width": 768, "vocabulary": 50304, "context": 1024}
SMALL = {"layers": 2, "width": 128, "vocabulary": 1000, "context": 64}
HEAD = 64


def formula(count, seed, scale, ones=0, period=1):
    """`count` numbers in bf16, as the kernel `formula` of generate.cu makes them."""
    i = torch.arange(count, device="cuda", dtype=torch.int64)
    mask = 0xFFFFFFFF
    x = (i + seed * 0x9E3779B9) & mask
    x = ((x ^ x >> 16) * 0x7FEB352D) & mask
    x = ((x ^ x >> 15) * 0x846CA68B) & mask
    x ^= x >> 16
    one = (i % period < ones).to(torch.float64)
    scale = torch.tensor(scale, dtype=torch.float32).item()  # rounded as the kernel's argument is
    return (scale * ((x >> 8) - 0x800000).double() / 0x800000 + one).float().bfloat16()


class Decoder:
    def __init__(self, layers, width, vocabulary, context, dtype):
        self.layers, self.width, self.dtype = layers, width, dtype
        self.tokens = formula(vocabulary * width, 1, 0.1).view(vocabulary, width).to(dtype)
        self.places = formula(context * width, 2, 0.05).view(context, width).to(dtype)
        matrices = formula(layers * 12 * width * width, 3, 0.06).view(layers, 12 * width, width).to(dtype)
        # Of each layer: q, k and v; the projection; up; down, whose rows are four times as long.
        self.qkv, self.projection, self.up, self.down = matrices.split([3 * width, width, 4 * width, 4 * width], 1)
        self.down = self.down.reshape(layers, width, 4 * width)
        self.vectors = formula(layers * 13 * width, 4, 0.1, 2 * width, 13 * width).view(layers, 13, width).to(dtype)
        self.last_norm = formula(2 * width, 5, 0.2, width, 2 * width).view(2, width).to(dtype)
        heads = width // HEAD
        self.cache = torch.zeros(layers, 2, 1, heads, context, HEAD, device="cuda", dtype=dtype)
        self.columns = torch.arange(context, device="cuda")

    def logits(self, token, place):
        """The logits after `token`, a tensor of one number, at `place`, another."""
        x = self.tokens[token] + self.places[place]
        mask = (self.columns <= place)[None, None, None]
        for layer in range(self.layers):
            vectors, cache = self.vectors[layer], self.cache[layer]
            h = layer_norm(x, (self.width,), vectors[0], vectors[2])
            q, k, v = linear(h, self.qkv[layer], vectors[4:7].flatten()).view(3, 1, -1, 1, HEAD)
            cache[0].index_copy_(2, place, k)
            cache[1].index_copy_(2, place, v)
            mixed = scaled_dot_product_attention(q, cache[0], cache[1], attn_mask=mask)
            x = x + linear(mixed.view(1, self.width), self.projection[layer], vectors[7])
            h = layer_norm(x, (self.width,), vectors[1], vectors[3])
            h = gelu(linear(h, self.up[layer], vectors[8:12].flatten()), approximate="tanh")
            x = x + linear(h, self.down[layer], vectors[12])
        return linear(layer_norm(x, (self.width,), *self.last_norm), self.tokens)


@torch.no_grad()
def reference(sizes):
    """Sixteen tokens, the likeliest each time, and 32 of the logits that chose the last one."""
    decoder = Decoder(**sizes, dtype=torch.float32)
    text = [3, 1, 4, 1, 5]
    for place in range(15):
        token, place = (torch.tensor([number], device="cuda") for number in (text[place], place))
        logits = decoder.logits(token, place)[0]
        if place.item() + 1 == len(text):
            best = logits.topk(2).values
            text.append(logits.argmax().item())
            print(f"note:    {text[-1]} leads by {(best[0] - best[1]).item():.3g}")
    return {"sizes": sizes, "text": text, "largest": logits.abs().max().item(), "logits": logits[:32].tolist()}


if "--reference" in sys.argv:
    with open(sys.argv[sys.argv.index("--reference") + 1], "w") as file:
        json.dump([reference(SMALL), reference(GPT2)], file)
    sys.exit()

decoder = Decoder(**GPT2, dtype=torch.bfloat16)
token, place = torch.tensor([1], device="cuda"), torch.tensor([512], device="cuda")


@torch.no_grad()
def step():
    token.copy_(decoder.logits(token, place).argmax(1))


common.bench("generate bf16", step)
common.finish()
