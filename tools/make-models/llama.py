"""Llama with the parameter names and layouts of the published checkpoints: RMS norm, RoPE, GQA, a gated MLP, tied embeddings."""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import nn


@dataclass(frozen=True)
class Shape:
    vocab: int
    positions: int = 2048
    width: int = 256
    inner: int = 768
    heads: int = 4
    kv_heads: int = 2
    layers: int = 8
    epsilon: float = 1e-5
    theta: float = 10000.0

    @property
    def head_size(self) -> int:
        return self.width // self.heads


class RmsNorm(nn.Module):
    def __init__(self, shape):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(shape.width))
        self.epsilon = shape.epsilon

    def forward(self, x):
        wide = x.float()
        return self.weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.epsilon)).type_as(x)


def linear(inputs, outputs, std):
    layer = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(layer.weight, std=std)
    return layer


def rotate(x, cos, sin):
    """RoPE as in transformers: the first half of a head is paired with the second half."""
    first, second = x.float().chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, second * cos + first * sin], dim=-1).type_as(x)


class Attention(nn.Module):
    def __init__(self, shape, out_std):
        super().__init__()
        self.shape = shape
        self.q_proj = linear(shape.width, shape.heads * shape.head_size, 0.02)
        self.k_proj = linear(shape.width, shape.kv_heads * shape.head_size, 0.02)
        self.v_proj = linear(shape.width, shape.kv_heads * shape.head_size, 0.02)
        self.o_proj = linear(shape.heads * shape.head_size, shape.width, out_std)

    def forward(self, x, cos, sin):
        batch, length, _ = x.shape
        q, k, v = (p(x).view(batch, length, -1, self.shape.head_size).transpose(1, 2) for p in (self.q_proj, self.k_proj, self.v_proj))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        group = self.shape.heads // self.shape.kv_heads
        k, v = (t.repeat_interleave(group, dim=1) for t in (k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, length, -1))


class Mlp(nn.Module):
    def __init__(self, shape, out_std):
        super().__init__()
        self.gate_proj = linear(shape.width, shape.inner, 0.02)
        self.up_proj = linear(shape.width, shape.inner, 0.02)
        self.down_proj = linear(shape.inner, shape.width, out_std)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, shape, out_std):
        super().__init__()
        self.input_layernorm = RmsNorm(shape)
        self.self_attn = Attention(shape, out_std)
        self.post_attention_layernorm = RmsNorm(shape)
        self.mlp = Mlp(shape, out_std)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    def __init__(self, shape):
        super().__init__()
        out_std = 0.02 / math.sqrt(2 * shape.layers)
        self.embed_tokens = nn.Embedding(shape.vocab, shape.width)
        nn.init.normal_(self.embed_tokens.weight, std=0.02)
        self.layers = nn.ModuleList(Layer(shape, out_std) for _ in range(shape.layers))
        self.norm = RmsNorm(shape)
        frequencies = shape.theta ** -(torch.arange(0, shape.head_size, 2).float() / shape.head_size)
        angles = torch.outer(torch.arange(shape.positions).float(), frequencies)
        self.register_buffer("cos", angles.cos(), persistent=False)
        self.register_buffer("sin", angles.sin(), persistent=False)

    def forward(self, ids, positions):
        cos, sin = self.cos[positions][:, None], self.sin[positions][:, None]
        x = self.embed_tokens(ids)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)


class Llama(nn.Module):
    """
    In training, half of the rows have one gap in their positions, at a random place and as wide as the positions allow at
    most: windows shorter than the context teach the model every distance of it.
    """

    def __init__(self, shape: Shape):
        super().__init__()
        self.shape = shape
        self.model = Decoder(shape)

    def forward(self, ids):
        batch, length = ids.shape
        positions = torch.arange(length, device=ids.device).expand(batch, length)
        if self.training and length < self.shape.positions:
            place = torch.randint(length, (batch, 1), device=ids.device)
            gap = torch.randint(self.shape.positions - length + 1, (batch, 1), device=ids.device)
            gapped = torch.rand((batch, 1), device=ids.device) < 0.5
            positions = positions + gap * (gapped & (positions >= place))
        return F.linear(self.model(ids, positions), self.model.embed_tokens.weight)

    def config(self, begin: int, end) -> dict:
        """The `config.json` of this model, in Hugging Face's field names."""
        shape = self.shape
        return {
            "architectures": ["LlamaForCausalLM"],
            "model_type": "llama",
            "attention_bias": False,
            "attention_dropout": 0.0,
            "bos_token_id": begin,
            "eos_token_id": end,
            "head_dim": shape.head_size,
            "hidden_act": "silu",
            "hidden_size": shape.width,
            "initializer_range": 0.02,
            "intermediate_size": shape.inner,
            "max_position_embeddings": shape.positions,
            "mlp_bias": False,
            "num_attention_heads": shape.heads,
            "num_hidden_layers": shape.layers,
            "num_key_value_heads": shape.kv_heads,
            "pretraining_tp": 1,
            "rms_norm_eps": shape.epsilon,
            "rope_scaling": None,
            "rope_theta": shape.theta,
            "tie_word_embeddings": True,
            "torch_dtype": "bfloat16",
            "vocab_size": shape.vocab,
        }
