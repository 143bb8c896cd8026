#!/usr/bin/env python3
"""Time of one prompt in PyTorch, for a Llama or Qwen3 shape with random bf16 weights.

    tools/peers/torch_prompt.py SHAPE TOKENS

SHAPE is llama-3.2-1b, qwen3-0.6b or llama-3.1-8b. The step is the whole model up to the largest logit of the last token. It is compiled by
torch.compile with max-autotune and replayed as one CUDA graph; projections that share an input are one product. Prints the median of 20
replays in ms after a second of others, by CUDA events. Requires PyTorch 2.5 or newer and a GPU.
"""
import statistics
import sys
import time

import torch
import torch.nn.functional as F

# Layers, width, heads, KV heads, size of a head, inner width, vocabulary, norms of queries and keys.
SHAPES = {
    "qwen3-0.6b": (28, 1024, 16, 8, 128, 3072, 151936, True),
    "llama-3.2-1b": (16, 2048, 32, 8, 64, 8192, 128256, False),
    "llama-3.1-8b": (32, 4096, 32, 8, 128, 14336, 128256, False),
}
EPSILON = 1e-6
COMPILE_RUNS, WARM_UP_SECONDS, REPLAYS = 5, 1, 20


def norm(x, weight):
    return F.rms_norm(x, weight.shape, weight, EPSILON)


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class Model:
    def __init__(self, shape, tokens):
        layers, width, self.heads, self.kv_heads, self.head, inner, vocabulary, self.head_norms = SHAPES[shape]
        random = torch.Generator("cuda").manual_seed(1)

        def weight(rows, columns):
            return (torch.randn(rows, columns, generator=random, device="cuda") * 0.02).bfloat16()

        def ones(*size):
            return torch.ones(*size, device="cuda", dtype=torch.bfloat16)

        self.embedding = weight(vocabulary, width)
        self.layers = [
            {"qkv": weight((self.heads + 2 * self.kv_heads) * self.head, width), "out": weight(width, self.heads * self.head),
             "gate_up": weight(2 * inner, width), "down": weight(width, inner), "norms": ones(2, width), "head_norms": ones(2, self.head)}
            for _ in range(layers)]
        self.last_norm = ones(width)
        frequencies = 1e6 ** (-torch.arange(0, self.head, 2, device="cuda") / self.head)
        angles = torch.outer(torch.arange(tokens, device="cuda"), frequencies).repeat(1, 2)
        self.cos, self.sin = angles.cos().bfloat16(), angles.sin().bfloat16()

    def prefill(self, ids):
        """Returns the best next token, and the keys and values of every layer."""
        x = self.embedding[ids]
        kept = []
        for layer in self.layers:
            heads = F.linear(norm(x, layer["norms"][0]), layer["qkv"]).view(1, len(ids), -1, self.head).transpose(1, 2)
            q, k, v = heads.split((self.heads, self.kv_heads, self.kv_heads), 1)
            if self.head_norms:
                q, k = norm(q, layer["head_norms"][0]), norm(k, layer["head_norms"][1])
            q, k = rotate(q, self.cos, self.sin), rotate(k, self.cos, self.sin)
            kept.append((k, v))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            x = x + F.linear(y.transpose(1, 2).reshape(len(ids), -1), layer["out"])
            gate, up = F.linear(norm(x, layer["norms"][1]), layer["gate_up"]).chunk(2, -1)
            x = x + F.linear(F.silu(gate) * up, layer["down"])
        return F.linear(norm(x[-1:], self.last_norm), self.embedding).argmax(-1), kept


@torch.inference_mode()
def median_millis(step):
    compiled = torch.compile(step, mode="max-autotune-no-cudagraphs", fullgraph=True, dynamic=False)
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(COMPILE_RUNS):
            compiled()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = compiled()  # they stay in the graph's memory
    start = time.monotonic()  # a GPU under load lowers its clock
    while time.monotonic() - start < WARM_UP_SECONDS:
        graph.replay()
        torch.cuda.synchronize()
    millis = []
    for _ in range(REPLAYS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        millis.append(begin.elapsed_time(end))
    return statistics.median(millis)


def main():
    shape, tokens = sys.argv[1], int(sys.argv[2])
    model = Model(shape, tokens)
    ids = torch.randint(1000, (tokens,), device="cuda")
    print(f"{shape}, {tokens} tokens: {median_millis(lambda: model.prefill(ids)):.3f} ms; {torch.cuda.get_device_name()}, torch {torch.__version__}")


if __name__ == "__main__":
    main()
