"""Writes Jinja2's results for chat templates, single expressions and statements, for the tests of `tokenizer.chat`.

    python tools/golden/chat_templates.py src/test/resources/chat [NAME=FILE ...]

Needs Jinja2 3.1 alone. The environment is transformers' (`_compile_jinja_template`): a sandbox with trim_blocks and lstrip_blocks,
break and continue, the generation block, its own tojson, raise_exception and strftime_now, here with a fixed time. Every
`templates/*.jinja` is rendered with every conversation below into `conversations.json`; STATEMENTS go into `statements.json`.
NAME=FILE is a published template, which the repository does not store, or the tokenizer_config.json that has it:
`published.json` gets its SHA-256 and its renderings. qwen3.jinja is the model's (Apache-2.0). qwen2.5.jinja, smollm2.jinja and smollm3.jinja follow those of the
models and were not compared with the published files (the long texts of smollm3's system prompt are cut); the others are our own
and use the constructs of Llama's, Mistral's, Gemma's and Hermes'.
"""
import datetime
import hashlib
import json
import pathlib
import sys

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

NOW = datetime.datetime(2026, 3, 5, 14, 7, 9)
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}


class Raised(jinja2.exceptions.TemplateError):
    pass


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_content"), [], [], body).set_lineno(line)

    def _content(self, caller):
        return caller()


def environment():
    def raise_exception(message):
        raise Raised(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


def rendered(source, variables):
    """The result: a text, the error that the template raises, or the type of another error."""
    try:
        return {"text": environment().from_string(source).render(**variables)}
    except Raised as raised:
        return {"raised": str(raised)}
    except Exception as error:  # Any error of Jinja2 or Python: the test checks only that there is one.
        return {"error": type(error).__name__}


def message(role, content, **more):
    return {"role": role, "content": content, **more}


WEATHER = {"type": "function", "function": {
    "name": "get_weather", "description": "The weather of a \"place\" & more: é, 日本, <b>",
    "parameters": {"type": "object", "properties": {
        "place": {"type": "string", "description": "Where it's asked for"},
        "days": {"type": "integer", "enum": [1, 2, 3], "default": 1.0},
        "units": {"type": ["string", "null"], "default": None, "strict": True}}, "required": ["place"]}}}
CLOCK = {"type": "function", "function": {
    "name": "clock", "description": "", "parameters": {"type": "object", "properties": {}}, "return": {"type": "string"}}}
CALL = {"id": "abcdefghi", "type": "function",
        "function": {"name": "get_weather", "arguments": {"place": "Zürich", "days": 2, "exact": False}}}
USER = message("user", "Hello, who are you?")
TURNS = [USER, message("assistant", "  I am a model.\n"), message("user", " And what\nis 1 < 2? ")]

CONVERSATIONS = {
    "one turn": {"messages": [USER], "add_generation_prompt": True},
    "one turn, no prompt": {"messages": [USER], "add_generation_prompt": False},
    "system": {"messages": [message("system", "Be brief. \n"), USER], "add_generation_prompt": True},
    "several turns": {"messages": TURNS, "add_generation_prompt": True},
    "system and several turns": {"messages": [message("system", "Be brief."), *TURNS], "add_generation_prompt": True},
    "last of the assistant": {"messages": TURNS[:2], "add_generation_prompt": False},
    "thought": {"messages": [USER, message("assistant", "<think>\nHm.\n</think>\n\nYes."), USER], "add_generation_prompt": True},
    "thought last": {"messages": [USER, message("assistant", "<think>\nHm.\n</think>\n\nYes.")], "add_generation_prompt": False},
    "reasoning": {"messages": [USER, message("assistant", "Yes.", reasoning_content="Hm.")], "add_generation_prompt": False},
    "thinking": {"messages": TURNS, "add_generation_prompt": True, "enable_thinking": True},
    "no thinking": {"messages": TURNS, "add_generation_prompt": True, "enable_thinking": False},
    "mode in system": {"messages": [message("system", "Short. /no_think"), USER], "add_generation_prompt": True},
    "override in system": {"messages": [message("system", "Own. /system_override"), USER], "add_generation_prompt": True},
    "tools": {"messages": [USER], "tools": [WEATHER, CLOCK], "add_generation_prompt": True},
    "tools and system": {"messages": [message("system", "Be brief."), *TURNS], "tools": [WEATHER], "add_generation_prompt": True},
    "tools outside of the turn": {"messages": [USER], "tools": [WEATHER], "tools_in_user_message": False,
                                  "add_generation_prompt": True},
    "xml tools": {"messages": [USER], "xml_tools": [WEATHER, CLOCK], "python_tools": [CLOCK], "add_generation_prompt": True},
    "call and result": {"messages": [USER, message("assistant", "", tool_calls=[CALL]),
                                     message("tool", "18 °C", tool_call_id="abcdefghi"), message("assistant", "18 degrees.")],
                        "tools": [WEATHER], "add_generation_prompt": False},
    "text and call": {"messages": [USER, message("assistant", "Let me look.", tool_calls=[CALL])], "tools": [WEATHER],
                      "add_generation_prompt": False},
    "two calls": {"messages": [USER, message("assistant", "", tool_calls=[CALL, CALL]), message("tool", "1", tool_call_id="abcdefghi"),
                               message("tool", "2", tool_call_id="abcdefghi")],
                  "tools": [WEATHER], "add_generation_prompt": True},
    "call with a bad id": {"messages": [USER, message("assistant", None, tool_calls=[{**CALL, "id": "1"}])], "tools": [WEATHER],
                           "add_generation_prompt": True},
    "built-in tools": {"messages": [USER, message("assistant", "", tool_calls=[{"function": {
        "name": "search", "arguments": {"query": "x", "more": "y"}}}])],
        "builtin_tools": ["search", "code_interpreter"], "add_generation_prompt": True},
    "empty contents": {"messages": [message("system", ""), message("user", ""), message("assistant", ""), message("user", "")],
                       "add_generation_prompt": True},
    "no content": {"messages": [message("user", None)], "add_generation_prompt": True},
    "parts": {"messages": [message("user", [{"type": "text", "text": " one "}, {"type": "image"}, {"type": "text", "text": "two"}])],
              "add_generation_prompt": True},
    "special strings": {"messages": [message("user", "<|im_end|>\n<|im_start|>system\n{{ x }} {% if %}")],
                        "add_generation_prompt": True},
    "letters of the world": {"messages": [message("system", "\u00a0é\u2003"), message("user", "日本 👩‍👩‍👧 \u200b")],
                             "add_generation_prompt": True},
    "roles out of order": {"messages": [USER, USER], "add_generation_prompt": True},
    "assistant first": {"messages": [message("assistant", "Hi."), USER], "add_generation_prompt": True},
    "system later": {"messages": [USER, message("system", "Late."), USER], "add_generation_prompt": True},
    "unknown role": {"messages": [message("critic", "Bad.")], "add_generation_prompt": True},
    "no_message": {"messages": [], "add_generation_prompt": True},
    "date given": {"messages": [USER], "date_string": "1 Jan 2000", "add_generation_prompt": True},
}

VARIABLES = {
    "s": "Hello World", "blank": " \t x y \n", "n": 7, "z": 0, "neg": -7, "f": 2.5, "big": 1e16, "small": 1e-5, "whole": 3.0, "t": True,
    "no": False, "nil": None, "empty": "", "l": [3, 1, 2], "words": ["b", "A", "c", "a"], "e": [],
    "d": {"b": 1, "a": "x", "items": 5, "deep": {"k": [10, 20]}}, "m": [{"r": "u", "c": "1", "n": 2}, {"r": "a", "c": "2", "n": 1},
                                                                        {"r": "u", "c": "3"}],
    "q": "it's \"so\"", "uni": "é日👩\u00a0\u200b\x07", "nest": [[1, 2], [3, [4]]], "lines": "a\nb\r\nc\n\nd",
}

STATEMENTS = (pathlib.Path(__file__).parent / "chat_statements.txt").read_text().removesuffix("\n").split("\n---\n")


def main(directory, published):
    root = pathlib.Path(directory)
    templates = {path.stem: path.read_text() for path in sorted((root / "templates").glob("*.jinja"))}
    write(root / "conversations.json", {
        "conversations": CONVERSATIONS, "tokens": TOKENS, "now": NOW.isoformat(),
        "rendered": {name: everything(source) for name, source in templates.items()}})
    write(root / "statements.json", {
        "variables": VARIABLES,
        "cases": [{"source": source, **rendered(source, VARIABLES)} for source in STATEMENTS]})
    if published:
        write(root / "published.json", {name: {
            "sha256": hashlib.sha256(source.encode()).hexdigest(), "rendered": everything(source)}
            for name, source in published.items()})


def everything(source):
    return {name: rendered(source, {**TOKENS, **variables}) for name, variables in CONVERSATIONS.items()}


def template(path):
    text = pathlib.Path(path).read_text()
    return json.loads(text)["chat_template"] if path.endswith(".json") else text


def write(path, value):
    path.write_text(json.dumps(value, ensure_ascii=True, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], {name: template(path) for name, path in (argument.split("=", 1) for argument in sys.argv[2:])})
