"""Properties of each model family: its class in `transformers`, its random weights, its second implementation."""

import contextlib
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

import torch
from transformers import (
    GPT2LMHeadModel,
    GPTNeoXForCausalLM,
    LlamaForCausalLM,
    MistralForCausalLM,
    Qwen2ForCausalLM,
    Qwen3ForCausalLM,
    SmolLM3ForCausalLM,
    modeling_rope_utils,
)
from transformers.models.gpt_neox import modeling_gpt_neox
from transformers.models.llama import modeling_llama
from transformers.models.mistral import modeling_mistral
from transformers.models.qwen2 import modeling_qwen2
from transformers.models.qwen3 import modeling_qwen3
from transformers.models.smollm3 import modeling_smollm3

import random_weights
import reference
import reference_gated
import reference_neox


@dataclass(frozen=True)
class Family:
    model: type
    weights: Callable  # (config, seed, gain) -> tensors by their names without a prefix
    witness: Callable  # (config, weights, ids) -> logits
    stream: Callable  # model -> the modules after which the residual stream is read: embeddings, blocks, final norm
    double: Callable  # model -> the same in float64

    def load(self, directory: Path):
        return self.model.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager").eval()


class WideTorch:
    """`torch`, whose 32-bit floats are 64 bits wide."""

    float = float32 = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


@contextlib.contextmanager
def float64_throughout(module):
    """Norms, softmax and rotary positions name float32 whatever type the model has; in here they mean float64."""
    modules, narrow = (module, modeling_rope_utils), torch.Tensor.float
    torch.Tensor.float = torch.Tensor.double
    for each in modules:
        each.torch = WideTorch()
    try:
        yield
    finally:
        torch.Tensor.float = narrow
        for each in modules:
            each.torch = torch


def double_rotary(module, rotary):
    """How to make a model of a module of transformers double; `rotary` is its class of rotary positions."""

    def double(model):
        model = model.double()
        with float64_throughout(module):
            model.base_model.rotary_emb = rotary(model.config)
        forward = model.forward

        def wide(*inputs, **named):
            with float64_throughout(module):
                return forward(*inputs, **named)

        model.forward = wide
        return model

    return double


def gated(model, module, rotary):
    return Family(
        model,
        random_weights.gated,
        reference_gated.logits,
        lambda model: (model.model.embed_tokens, model.model.layers, model.model.norm),
        double_rotary(module, rotary),
    )


FAMILIES = {
    "gpt2": Family(
        GPT2LMHeadModel,
        random_weights.gpt2,
        reference.logits,
        lambda model: (model.transformer.drop, model.transformer.h, model.transformer.ln_f),
        lambda model: model.double(),
    ),
    "llama": gated(LlamaForCausalLM, modeling_llama, modeling_llama.LlamaRotaryEmbedding),
    "qwen2": gated(Qwen2ForCausalLM, modeling_qwen2, modeling_qwen2.Qwen2RotaryEmbedding),
    "qwen3": gated(Qwen3ForCausalLM, modeling_qwen3, modeling_qwen3.Qwen3RotaryEmbedding),
    "mistral": gated(MistralForCausalLM, modeling_mistral, modeling_mistral.MistralRotaryEmbedding),
    "smollm3": gated(SmolLM3ForCausalLM, modeling_smollm3, modeling_smollm3.SmolLM3RotaryEmbedding),
    "gpt_neox": Family(
        GPTNeoXForCausalLM,
        random_weights.neox,
        reference_neox.logits,
        lambda model: (model.gpt_neox.emb_dropout, model.gpt_neox.layers, model.gpt_neox.final_layer_norm),
        double_rotary(modeling_gpt_neox, modeling_gpt_neox.GPTNeoXRotaryEmbedding),
    ),
}
