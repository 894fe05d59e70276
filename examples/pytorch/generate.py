"""The decoder of `examples/src/decoder.rs` in PyTorch, with the same weights: its times, and the reference.

    python3 generate.py                     times one token at position 512, batch 1, bf16, with a static KV cache:
                                            as modules with a cache for each layer, and as functions with one cache
    python3 generate.py --reference FILE    writes the tokens and logits that `generate` compares with, as f32 and u32

The reference is computed in f32, from the same bf16 weights: the five given tokens, twelve chosen ones, and the logits
of every 16th token before the last one.
"""

import sys

import torch
import torch.nn.functional as F
from torch import nn

from formula import formula

LAYERS, WIDTH, HEADS, VOCABULARY, CONTEXT = 12, 768, 12, 50304, 1024
GIVEN, END, EVERY = [3, 1, 4, 1, 5], 16, 16


class Decoder:
    def __init__(self, dtype):
        w = WIDTH
        self.tokens = formula((VOCABULARY, w), 1, 0.1).to(dtype)
        self.places = formula((CONTEXT, w), 2, 0.05).to(dtype)
        matrices = formula((LAYERS, 12 * w * w), 3, 0.06).to(dtype)
        vectors = formula((LAYERS, 13, w), 4, 0.1, 2 * w, 13 * w).to(dtype)
        self.last = formula((2, w), 5, 0.2, w, 2 * w).to(dtype)
        self.layers = []
        for m, v in zip(matrices, vectors):
            qkv, projection, up, down = m.split([3 * w * w, w * w, 4 * w * w, 4 * w * w])
            self.layers.append(
                dict(
                    norm1=(v[0], v[2]),
                    norm2=(v[1], v[3]),
                    qkv=(qkv.view(3 * w, w), v[4:7].flatten()),
                    projection=(projection.view(w, w), v[7]),
                    up=(up.view(4 * w, w), v[8:12].flatten()),
                    down=(down.view(w, 4 * w), v[12]),
                )
            )
        self.cache = torch.zeros(LAYERS, 2, HEADS, CONTEXT, 64, device="cuda", dtype=torch.bfloat16)

    def __call__(self, token, place, position):
        """The logits after `token`. It and `place`, its position, are tensors of one; `position` is the number."""
        x = self.tokens[token] + self.places[place]
        for layer, cache in zip(self.layers, self.cache):
            n = F.layer_norm(x, (WIDTH,), *layer["norm1"])
            q, k, v = F.linear(n, *layer["qkv"]).view(3, HEADS, 1, 64)
            cache[0].index_copy_(1, place, k.bfloat16())
            cache[1].index_copy_(1, place, v.bfloat16())
            keys, values = cache[:, :, : position + 1].to(x.dtype)
            mixed = F.scaled_dot_product_attention(q[None], keys[None], values[None])
            x = x + F.linear(mixed.reshape(1, WIDTH), *layer["projection"])
            n = F.layer_norm(x, (WIDTH,), *layer["norm2"])
            x = x + F.linear(F.gelu(F.linear(n, *layer["up"]), approximate="tanh"), *layer["down"])
        return F.linear(F.layer_norm(x, (WIDTH,), *self.last), self.tokens)


class Layer(nn.Module):
    """A layer as PyTorch's users write it, with a static cache of its own."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.projection = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        for name in "keys", "values":
            self.register_buffer(name, torch.zeros(1, HEADS, CONTEXT, 64))

    def forward(self, x, place, filled):
        q, k, v = self.qkv(self.norm1(x)).view(3, 1, HEADS, 1, 64).unbind()
        self.keys.index_copy_(2, place, k)
        self.values.index_copy_(2, place, v)
        keys, values = self.keys[:, :, :filled], self.values[:, :, :filled]
        x = x + self.projection(F.scaled_dot_product_attention(q, keys, values).reshape(1, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Model(nn.Module):
    """The decoder as modules, with the same weights."""

    def __init__(self, decoder):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.last = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)
        self.head.weight = self.tokens.weight
        self.to(decoder.tokens.device, decoder.tokens.dtype)
        pairs = [(self.tokens.weight, decoder.tokens), (self.places.weight, decoder.places)]
        pairs += zip((self.last.weight, self.last.bias), decoder.last)
        for layer, tensors, cache in zip(self.layers, decoder.layers, decoder.cache):
            for name, (weight, bias) in tensors.items():
                module = getattr(layer, name)
                pairs += [(module.weight, weight), (module.bias, bias)]
            pairs += [(layer.keys[0], cache[0]), (layer.values[0], cache[1])]
        with torch.no_grad():
            for mine, theirs in pairs:
                mine.copy_(theirs)

    def forward(self, token, place, position):
        x = self.tokens(token) + self.places(place)
        for layer in self.layers:
            x = layer(x, place, position + 1)
        return self.head(self.last(x))


def reference(file):
    torch.backends.cuda.matmul.allow_tf32 = False
    decoder = Decoder(torch.float32)
    text = list(GIVEN)
    for position in range(END):
        logits = decoder(torch.tensor([text[position]], device="cuda"), torch.tensor([position], device="cuda"), position)
        if position + 1 == len(text):
            best = logits[0].topk(2).values
            print(f"position {position}: {logits.argmax().item()}, ahead by {(best[0] - best[1]).item():.4f}")
            text.append(logits.argmax().item())
    with open(file, "wb") as out:
        out.write(torch.tensor(text, dtype=torch.int32).numpy().tobytes())
        out.write(logits[0, ::EVERY].cpu().numpy().tobytes())


def main():
    import common

    decoder = Decoder(torch.bfloat16)
    position = 512
    decoder.cache.normal_()
    token, place = torch.tensor([17], device="cuda"), torch.tensor([position], device="cuda")

    model = Model(decoder).eval()

    def step_of(model):
        @torch.no_grad()
        def step():
            token.copy_(model(token, place, position).argmax(-1))

        return step

    with torch.no_grad():
        difference = (model(token, place, position) - decoder(token, place, position)).abs().max().item()
    print(f"note:    generate bf16: logits of both ways differ by {difference:.3f} at most", flush=True)
    steps = {"modules, a cache for each layer": step_of(model), "functions, one cache": step_of(decoder)}
    common.bench("generate bf16", steps, modes=["default", "coordinate-descent"])
    common.finish()


if "--reference" in sys.argv:
    with torch.no_grad():
        reference(sys.argv[sys.argv.index("--reference") + 1])
elif __name__ == "__main__":
    main()
