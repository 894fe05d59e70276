"""`infer`: the perceptron of 64, 128, 128 and 10 numbers at batch 1, with the weights that `train_digits` has made."""

import json
import pathlib
import struct

import torch

import common

data = pathlib.Path(__file__).parent.parent / "data"


def load(path):
    """The tensors of a safetensors file: the length of the header, the header as JSON, the numbers."""
    file = path.read_bytes()
    (length,) = struct.unpack("<Q", file[:8])
    tensors = {}
    for name, tensor in json.loads(file[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = tensor["data_offsets"]
            numbers = bytearray(file[8 + length + begin : 8 + length + end])
            tensors[name] = torch.frombuffer(numbers, dtype=torch.float32).reshape(tensor["shape"])
    return tensors


linear, relu = torch.nn.Linear, torch.nn.ReLU
model = torch.nn.Sequential(linear(64, 128), relu(), linear(128, 128), relu(), linear(128, 10)).cuda().eval()
model.load_state_dict(load(data / "digits.safetensors"))

lines = (data / "digits.txt").read_text().splitlines()[::5]
images = torch.tensor([[int(pixel, 17) / 16 for pixel in line[:64]] for line in lines], device="cuda")
labels = torch.tensor([int(line[65]) for line in lines], device="cuda")
with torch.no_grad():
    right = (model(images).argmax(1) == labels).sum().item()
print(f"check:   {right} of {len(lines)} images told right", flush=True)
assert right >= 0.97 * len(lines)

x = images[:1].clone()


@torch.no_grad()
def infer():
    return model(x)


common.bench("infer", infer)
common.finish()
