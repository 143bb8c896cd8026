"""GPT-2 with the parameter names and layouts of the published checkpoints: projections are stored [in, out]."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class Shape:
    vocab: int
    positions: int = 512
    width: int = 256
    heads: int = 4
    layers: int = 5
    epsilon: float = 1e-5


class Projection(nn.Module):
    def __init__(self, inputs, outputs, std):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) * std)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return F.linear(x, self.weight.t(), self.bias)


class Attention(nn.Module):
    def __init__(self, shape, out_std):
        super().__init__()
        self.heads = shape.heads
        self.c_attn = Projection(shape.width, 3 * shape.width, 0.02)
        self.c_proj = Projection(shape.width, shape.width, out_std)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (t.view(batch, length, self.heads, -1).transpose(1, 2) for t in self.c_attn(x).split(width, dim=2))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.c_proj(mixed.transpose(1, 2).reshape(batch, length, width))


class Mlp(nn.Module):
    def __init__(self, shape, out_std):
        super().__init__()
        self.c_fc = Projection(shape.width, 4 * shape.width, 0.02)
        self.c_proj = Projection(4 * shape.width, shape.width, out_std)

    def forward(self, x):
        return self.c_proj(F.gelu(self.c_fc(x), approximate="tanh"))


class Block(nn.Module):
    def __init__(self, shape, out_std):
        super().__init__()
        self.ln_1 = nn.LayerNorm(shape.width, eps=shape.epsilon)
        self.attn = Attention(shape, out_std)
        self.ln_2 = nn.LayerNorm(shape.width, eps=shape.epsilon)
        self.mlp = Mlp(shape, out_std)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class Gpt2(nn.Module):
    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        out_std = 0.02 / math.sqrt(2 * shape.layers)
        self.wte = nn.Embedding(shape.vocab, shape.width)
        self.wpe = nn.Embedding(shape.positions, shape.width)
        nn.init.normal_(self.wte.weight, std=0.02)
        nn.init.normal_(self.wpe.weight, std=0.01)
        self.h = nn.ModuleList(Block(shape, out_std) for _ in range(shape.layers))
        self.ln_f = nn.LayerNorm(shape.width, eps=shape.epsilon)

    def forward(self, ids):
        x = self.wte(ids) + self.wpe.weight[: ids.shape[1]]
        for block in self.h:
            x = block(x)
        return F.linear(self.ln_f(x), self.wte.weight)

    def config(self, end_of_text: int) -> dict:
        """The `config.json` of this model, in Hugging Face's field names."""
        return {
            "architectures": ["GPT2LMHeadModel"],
            "model_type": "gpt2",
            "activation_function": "gelu_new",
            "attn_pdrop": 0.0,
            "embd_pdrop": 0.0,
            "resid_pdrop": 0.0,
            "bos_token_id": end_of_text,
            "eos_token_id": end_of_text,
            "initializer_range": 0.02,
            "layer_norm_epsilon": self.shape.epsilon,
            "n_embd": self.shape.width,
            "n_head": self.shape.heads,
            "n_inner": None,
            "n_layer": self.shape.layers,
            "n_positions": self.shape.positions,
            "scale_attn_by_inverse_layer_idx": False,
            "scale_attn_weights": True,
            "tie_word_embeddings": True,
            "torch_dtype": "bfloat16",
            "vocab_size": self.shape.vocab,
        }
