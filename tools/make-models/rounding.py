"""Weights on a coarse grid, so that they compress: each matrix holds small integers times one power of two.

A trained matrix is nearly normal, and 16 bits of BF16 hold far more detail than the model needs. With steps of about an
eighth of the standard deviation a weight carries some five bits, and every grid value is exact in BF16 (integers up to
256). Training ends with the rounding switched on: the forward and backward pass see rounded weights, the optimizer
updates the exact ones (the straight-through estimator), so the model learns to live on its grid.
"""

import math

import torch

STEPS_PER_STD = 8
LARGEST = 256


class Grid:
    """The grids of all the tensors of one model, fixed when made."""

    def __init__(self, model):
        self.steps = {
            name: 2.0 ** round(math.log2(p.detach().float().std().item() / STEPS_PER_STD))
            for name, p in model.named_parameters()
            if p.dim() == 2
        }

    def round(self, name, tensor):
        if name not in self.steps:
            return tensor.bfloat16().float()
        step = self.steps[name]
        return (tensor / step).round().clamp(-LARGEST, LARGEST) * step


class Rounded:
    """Within this context the model's parameters are the rounded ones; the exact ones come back after it."""

    def __init__(self, model, grid):
        self.parameters = dict(model.named_parameters())
        self.grid = grid

    @torch.no_grad()
    def __enter__(self):
        self.exact = {name: p.detach().clone() for name, p in self.parameters.items()}
        for name, p in self.parameters.items():
            p.copy_(self.grid.round(name, p))

    @torch.no_grad()
    def __exit__(self, *_):
        for name, p in self.parameters.items():
            p.copy_(self.exact[name])
