"""Eight chains of sixteen small kernels, as `overlap` has them: captured on one stream, as PyTorch code usually is, and
on eight streams that are forked and joined by hand. And the CPU time of a replay of one chain."""

import torch

import common

CHAINS, STEPS, NUMBERS = 8, 16, 128
chains = [torch.zeros(NUMBERS, device="cuda") for _ in range(CHAINS)]
streams = [torch.cuda.Stream() for _ in chains]


def one_chain():
    for _ in range(STEPS):
        chains[0].add_(1.0)


def one_stream():
    for chain in chains:
        for _ in range(STEPS):
            chain.add_(1.0)


def eight_streams():
    current = torch.cuda.current_stream()
    for stream, chain in zip(streams, chains):
        stream.wait_stream(current)
        with torch.cuda.stream(stream):
            for _ in range(STEPS):
                chain.add_(1.0)
    for stream in streams:
        current.wait_stream(stream)


one_chain()
eight_streams()
torch.cuda.synchronize()
assert all((chain == (2 if index == 0 else 1) * STEPS).all() for index, chain in enumerate(chains))

# `torch.compile` would make one kernel of all.
common.bench("overlap one stream", one_stream, ways=["replay"])
common.bench("overlap plain", eight_streams, ways=["eager", "replay"])
common.replay_cpu_time("launch", one_chain)
common.finish()
