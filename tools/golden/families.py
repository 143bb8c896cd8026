"""What the golden script must know of a family of models: its class in `transformers`, its random weights, its witness."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import torch
from transformers import GPT2LMHeadModel, LlamaForCausalLM, modeling_rope_utils
from transformers.models.llama import modeling_llama

import random_weights
import reference
import reference_llama


@dataclass(frozen=True)
class Family:
    model: type
    weights: Callable  # (config, seed, gain) -> tensors by their names without a prefix
    witness: Callable  # (config, weights, ids) -> logits
    stream: Callable  # model -> the modules behind which the residual stream is read: embeddings, blocks, final norm
    double: Callable  # model -> the same in float64

    def load(self, directory: Path):
        return self.model.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager").eval()


class WideTorch:
    """`torch`, whose 32-bit floats are 64 bits wide."""

    float = float32 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


@contextlib.contextmanager
def float64_throughout():
    """Norms, softmax and rotary positions of Llama name float32 whatever type the model has; in here they mean float64."""
    modules, narrow = (modeling_llama, modeling_rope_utils), torch.Tensor.float
    torch.Tensor.float = torch.Tensor.double
    for module in modules:
        module.torch = WideTorch()
    try:
        yield
    finally:
        torch.Tensor.float = narrow
        for module in modules:
            module.torch = torch


def double_llama(model):
    model = model.double()
    with float64_throughout():
        model.model.rotary_emb = modeling_llama.LlamaRotaryEmbedding(model.config)
    forward = model.forward

    def wide(*inputs, **named):
        with float64_throughout():
            return forward(*inputs, **named)

    model.forward = wide
    return model


FAMILIES = {
    "gpt2": Family(
        GPT2LMHeadModel,
        random_weights.gpt2,
        reference.logits,
        lambda model: (model.transformer.drop, model.transformer.h, model.transformer.ln_f),
        lambda model: model.double(),
    ),
    "llama": Family(
        LlamaForCausalLM,
        random_weights.llama,
        reference_llama.logits,
        lambda model: (model.model.embed_tokens, model.model.layers, model.model.norm),
        double_llama,
    ),
}
