"""`train_text`: a training step of a decoder of characters with 10.8 million weights, with batches of 8 and 32 texts.

The decoder is that of `examples/src/decoder.rs`, as nanoGPT writes it, and the weights in the beginning, AdamW and its
schedule are those of `examples/src/trainer.rs`. Products are in bf16 by `autocast`, attention is the fastest of
PyTorch's (`scaled_dot_product_attention`), and AdamW is fused and `capturable`. Windows of the text are drawn on the GPU.

    python3 train_text.py                   times a step
    python3 train_text.py --losses STEPS    trains with batches of 32 texts, and prints nine losses, as `train_text` does
"""

import itertools
import math
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn

import common

LAYERS, WIDTH, HEADS, VOCABULARY, CONTEXT, RATE = 6, 384, 6, 128, 256, 1e-3
PAGES = ["docs/tutorial", "docs/language", "docs/architecture", "docs/diagnostics", "docs/safety", "docs/coming-from", "README"]


def paragraphs():
    """The paragraphs of the pages without code and tables, as ASCII; a 0 ends each: as in `train_text.rs`. Where there
    are no pages, beside a program on another machine, other characters take as much time."""
    root = pathlib.Path(__file__).parent.parent.parent
    pages = [root / f"{page}.md" for page in PAGES]
    if not all(page.exists() for page in pages):
        return torch.randint(32, 127, (400_000,), dtype=torch.uint8)
    characters = bytearray()
    for page in pages:
        for prose in page.read_text().split("```")[::2]:
            for paragraph in map(str.strip, prose.split("\n\n")):
                if len(paragraph.encode()) > 40 and not paragraph.startswith(("|", "#", "[", "<", "+")):
                    characters += " ".join(paragraph.split()).encode("ascii", "ignore") + b"\0"
    return torch.frombuffer(characters, dtype=torch.uint8)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.projection = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch = x.shape[0]
        heads = self.qkv(self.norm1(x)).split(WIDTH, 2)
        q, k, v = (part.view(batch, CONTEXT, HEADS, -1).transpose(1, 2) for part in heads)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(mixed.transpose(1, 2).reshape(batch, CONTEXT, WIDTH))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.layers = nn.Sequential(*(Layer() for _ in range(LAYERS)))
        self.last = nn.LayerNorm(WIDTH)
        for parameter in self.parameters():
            if parameter.dim() == 2:
                nn.init.uniform_(parameter, -0.04, 0.04)
        for layer in self.layers:
            for linear in layer.qkv, layer.projection, layer.up, layer.down:
                nn.init.zeros_(linear.bias)

    def forward(self, ids):
        x = self.tokens(ids) + self.places.weight
        return F.linear(self.last(self.layers(x)), self.tokens.weight)


class Training:
    """A step draws windows of the text, as many as the batch has, and learns from them."""

    def __init__(self, batch, steps=500):
        torch.manual_seed(1)
        self.batch, self.steps = batch, steps
        self.text = paragraphs().cuda()
        self.model = Decoder().cuda()
        matrices = [one for one in self.model.parameters() if one.dim() == 2]
        vectors = [one for one in self.model.parameters() if one.dim() == 1]
        groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
        self.rate = torch.tensor(RATE, device="cuda")
        self.optimizer = torch.optim.AdamW(groups, lr=self.rate, betas=(0.9, 0.99), fused=True, capturable=True)
        self.number = torch.zeros((), device="cuda")
        self.offsets = torch.arange(CONTEXT + 1, device="cuda")

    def step(self):
        self.number += 1
        rise = self.steps // 20
        fall = ((self.number - rise) / (self.steps - rise)).clamp(0, 1)
        self.rate.copy_(RATE * (self.number / rise).clamp(max=1) * (0.5 + 0.5 * torch.cos(math.pi * fall)))
        first = torch.randint(len(self.text) - CONTEXT, (self.batch, 1), device="cuda")
        ids = self.text[first + self.offsets].long()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16):
            logits = self.model(ids[:, :-1])
            loss = F.cross_entropy(logits.view(-1, VOCABULARY), ids[:, 1:].reshape(-1))
        loss.backward()
        self.optimizer.step()
        return loss.detach()


if "--losses" in sys.argv:
    steps = int(sys.argv[-1])
    training = Training(32, steps)
    losses = [training.step() for _ in range(steps)]
    shown = [losses[step].item() for step in itertools.chain(range(0, steps, steps // 8), [steps - 1])]
    print("losses:  " + " ".join(f"{loss:.4f}" for loss in shown))
    sys.exit()

for batch in 8, 32:
    common.bench(f"train_text bf16, {batch} texts", Training(batch).step, precision="high")
common.finish()
