"""The goldens of the built-in chat model: conversations as its template writes them, and the greedy answers, up to the end of the message."""

import json
import tempfile
from pathlib import Path

import fixtures
import numpy as np
import tiny
import tokenizers
from families import FAMILIES
from safetensors.torch import load_file
from transformers import AutoTokenizer

LONGEST = 160
ANNA = "Anna is 12 years old and lives in Oslo."
# what these clients append by default for a class with a name, an age and a city
LANGCHAIN4J = """
You must answer strictly in the following JSON format: {
"name": (type: string),
"age": (type: integer),
"city": (type: string)
}"""
SPRING_AI = """
Your response should be in JSON format.
Do not include any explanations, only provide a RFC8259 compliant JSON response following this format without deviation.
Do not include markdown code blocks in your response.
Remove the ```json markdown from the output.
Here is the JSON Schema instance your output must adhere to:
```{
  "$schema" : "https://json-schema.org/draft/2020-12/schema",
  "type" : "object",
  "properties" : {
    "age" : {
      "type" : "integer",
      "format" : "int32"
    },
    "city" : {
      "type" : "string"
    },
    "name" : {
      "type" : "string"
    }
  },
  "required" : [ "age", "city", "name" ],
  "additionalProperties" : false
}```
"""
CONVERSATIONS = [
    [("user", "Hi")],
    [("user", "What is the capital of France?"), ("assistant", "The capital of France is Paris."), ("user", "and Italy?")],
    [("system", "You are a pirate."), ("user", "What do cows eat?")],
    [("user", "My name is Bartholomew."), ("assistant", "Hello, Bartholomew!"), ("user", "What is 7 + 8?"), ("assistant", "7 + 8 = 15."), ("user", "What is my name?")],
    [("user", "Tell me a story about a dragon called Ember.")],
    [("user", "Écris-moi, s'il te plaît! 你好 😀")],
    [("user", ANNA + " Answer in JSON with the fields name, age and city.")],
    [("system", "Answer in JSON with the field answer."), ("user", "What is the capital of Italy?")],
    [("user", ANNA + LANGCHAIN4J)],
    [("user", ANNA + SPRING_AI)],
]  # fmt: skip
WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "The weather of a place", "parameters": {
    "type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}}}  # fmt: skip
QUESTION = {"role": "user", "content": "What is the weather in Bern?"}
CALL = {"role": "assistant", "content": "", "tool_calls": [{"type": "function", "function": {"name": "get_weather", "arguments": {"place": "Bern"}}}]}
WITH_TOOLS = [[QUESTION], [QUESTION, CALL, {"role": "tool", "content": "18 degrees"}]]
LEAST = 8  # conversations without a near tie


def make(builtin: Path, out: Path, command: str):
    with tempfile.TemporaryDirectory() as folder:
        tiny.unpacked(builtin, Path(folder), ("tokenizer_config.json",))
        write_goldens(Path(folder), out, command)


def answered(model, ids, end):
    """The greedy answer, its last id `end`, with the other results of `fixtures.greedy`; None if it has a near tie or does not end."""
    tokens, logprobs, gaps, rows = fixtures.greedy(model, ids, LONGEST)
    count = tokens.index(end) + 1 if end in tokens else 0
    if not count or min(gaps[:count]) <= fixtures.MIN_GAP:
        return None
    return tokens[:count], logprobs[:count], gaps[:count], rows[:count]


def write_goldens(directory: Path, out: Path, command: str):
    tokenizer = AutoTokenizer.from_pretrained(directory)
    llama = FAMILIES["llama"]
    model32, model64 = llama.load(directory), llama.double(llama.load(directory))
    config = json.loads((directory / "config.json").read_text())
    tensors, prompts, deviation, difference = {}, [], 0.0, 0.0
    weights = {name.removeprefix("model."): tensor for name, tensor in fixtures.witness(config, load_file(directory / "model.safetensors")).items()}
    plain = [{"messages": [{"role": role, "content": content} for role, content in conversation]} for conversation in CONVERSATIONS]
    for fields in plain + [{"messages": messages, "tools": [WEATHER]} for messages in WITH_TOOLS]:
        text = tokenizer.apply_chat_template(fields["messages"], tools=fields.get("tools"), add_generation_prompt=True, tokenize=False)
        ids = tokenizer(text, add_special_tokens=False)["input_ids"]
        answer = answered(model64, ids, tokenizer.eos_token_id)
        if answer is None:
            print("builtin-chat: near tie or no end, left out:", repr(text))
            continue
        p, (tokens, logprobs, gaps, rows) = len(prompts), answer
        whole = ids + tokens[:-1]
        expected = fixtures.logits_of(model64, whole)
        deviation = max(deviation, (fixtures.logits_of(model32, whole).double() - expected).abs().max().item())
        difference = max(difference, np.abs(expected.numpy() - llama.witness(config, weights, whole)).max())
        tensors |= {f"prompt.{p}.step.{step}.logits": rows[step] for step in (0, len(rows) - 1)}
        prompts.append(fields | {"text": text, "ids": ids, "greedy": tokens, "greedy_text": tokenizer.decode(tokens[:-1]),
                        "logits_of_steps": [0, len(rows) - 1], "greedy_logprobs": logprobs, "smallest_gap": min(gaps)})  # fmt: skip
    assert len(prompts) >= LEAST, "too few conversations without near ties"
    assert difference < fixtures.WITNESS_TOLERANCE, difference
    versions = fixtures.tools() | {"tokenizers": tokenizers.__version__}
    fixtures.write(out, {"name": "builtin-chat", "command": command, "tools": versions, "float32_deviation": deviation, "prompts": prompts}, tensors)
    print("builtin-chat float32 deviation", deviation, "witness", difference, "gaps", [p["smallest_gap"] for p in prompts], [p["greedy_text"] for p in prompts])
