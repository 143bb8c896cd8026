"""The chat template of `builtin:chat`, ChatML with tools in the Hermes form, and the same in Python, which is faster.

    python chat_template.py --count 5000        compares both on conversations of the corpus (needs jinja2)
"""

import argparse
import json
from itertools import islice

IM_START, IM_END = "<|im_start|>", "<|im_end|>"
BEFORE_FUNCTIONS = "You may call these functions:\n<tools>\n"
AFTER_FUNCTIONS = '</tools>\nTo call one, write\n<tool_call>\n{"name": NAME, "arguments": OBJECT}\n</tool_call>'


def quoted(text: str) -> str:
    """As a string of Jinja2."""
    return "'" + text.replace("\n", "\\n") + "'"


TEMPLATE = (
    "{% if tools %}"
    "{{ '<|im_start|>system\\n' }}{% if messages[0]['role'] == 'system' %}{{ messages[0]['content'] + '\\n\\n' }}{% endif %}"
    f"{{{{ {quoted(BEFORE_FUNCTIONS)} }}}}{{% for tool in tools %}}{{% set function = tool['function'] %}}"
    "{{ '{\"name\": ' + (function['name'] | tojson) }}"
    "{{ ', \"description\": ' + ((function['description'] or function['name'] | replace('_', ' ')) | tojson) }}"
    "{{ ', \"parameters\": ' + ((function['parameters'] or {'type': 'object', 'properties': {}}) | tojson) + '}\\n' }}{% endfor %}"
    f"{{{{ {quoted(AFTER_FUNCTIONS)} + '<|im_end|>\\n' }}}}"
    "{% endif %}"
    "{% for message in messages %}"
    "{% if message['role'] == 'tool' %}"
    "{% if loop.first or messages[loop.index0 - 1]['role'] != 'tool' %}{{ '<|im_start|>user' }}{% endif %}"
    "{{ '\\n<tool_response>\\n' + message['content'] + '\\n</tool_response>' }}"
    "{% if loop.last or messages[loop.index0 + 1]['role'] != 'tool' %}{{ '<|im_end|>\\n' }}{% endif %}"
    "{% elif not (tools and loop.first and message['role'] == 'system') %}"
    "{{ '<|im_start|>' + message['role'] + '\\n' + (message['content'] or '') }}"
    "{% for call in message['tool_calls'] or [] %}"
    "{{ ('\\n' if message['content'] or not loop.first else '') + '<tool_call>\\n{\"name\": ' + (call['function']['name'] | tojson) }}"
    "{{ ', \"arguments\": ' + (call['function']['arguments'] | tojson) + '}\\n</tool_call>' }}"
    "{% endfor %}"
    "{{ '<|im_end|>\\n' }}"
    "{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)


def json_text(value) -> str:
    """As the template writes JSON, and as the model shall write it."""
    return json.dumps(value, ensure_ascii=False)


def declaration(function: dict) -> str:
    """A function as the template declares it: always with a description, and the keys in one order, whatever the client sends."""
    return json_text({
        "name": function["name"],
        "description": function.get("description") or function["name"].replace("_", " "),
        "parameters": function.get("parameters") or {"type": "object", "properties": {}},
    })  # fmt: skip


def written(message) -> str:
    """What the assistant writes: its words, then its calls."""
    calls = [f"<tool_call>\n{json_text({'name': name, 'arguments': arguments})}\n</tool_call>" for name, arguments in message.calls]
    return "\n".join(([message.text] if message.text else []) + calls)


def turns(conversation) -> list[tuple[str, str]]:
    """Role and text of each turn, as the template writes them."""
    messages, functions = conversation
    result = []
    if functions:
        own = messages[0].text + "\n\n" if messages[0].role == "system" else ""
        result.append(("system", own + BEFORE_FUNCTIONS + "".join(declaration(f) + "\n" for f in functions) + AFTER_FUNCTIONS))
    previous = ""
    for i, message in enumerate(messages):
        if message.role == "tool":
            response = f"<tool_response>\n{message.text}\n</tool_response>"
            if previous == "tool":
                result[-1] = ("user", result[-1][1] + "\n" + response)
            else:
                result.append(("user", response))
        elif not (functions and i == 0 and message.role == "system"):
            result.append((message.role, written(message)))
        previous = message.role
    return result


def rendered(conversation, ask: bool = False) -> str:
    """As `TEMPLATE` renders it; `ask` adds the opening of the assistant's message."""
    text = "".join(f"{IM_START}{role}\n{content}{IM_END}\n" for role, content in turns(conversation))
    return text + f"{IM_START}assistant\n" if ask else text


def api_fields(conversation) -> dict:
    """`messages` and `tools` of OpenAI's API, with the arguments as objects."""
    messages = []
    for message in conversation.messages:
        fields = {"role": message.role, "content": message.text}
        if message.calls:
            fields["tool_calls"] = [{"type": "function", "function": {"name": name, "arguments": arguments}} for name, arguments in message.calls]
        messages.append(fields)
    tools = [{"type": "function", "function": function} for function in conversation.functions]
    return {"messages": messages} | ({"tools": tools} if tools else {})


def main():
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    from chat import conversations

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--count", type=int, default=5000)
    options = parser.parse_args()
    # the environment of transformers
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    environment.filters["tojson"] = json_text
    template = environment.from_string(TEMPLATE)
    for conversation in islice(conversations(options.seed), options.count):
        for ask in (False, True):
            assert template.render(**api_fields(conversation), add_generation_prompt=ask) == rendered(conversation, ask), conversation
    print(f"{options.count} conversations are rendered alike")


if __name__ == "__main__":
    main()
