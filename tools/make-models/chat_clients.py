"""Conversations with LangChain4j and Spring AI, which by default describe the class of the answer at the end of the request.

LangChain4j lists the fields in the order of the class, Spring AI a JSON schema sorted by name. The answer has the same fields in
the same order: texts as they are written, constants of an enum as they are listed, null for what the text does not say.
"""

from typing import NamedTuple

import chat_functions as functions
import chat_json
import chat_tables as tables
import chat_talk as talk
import words
from chat_dialogue import Conversation, new_chat
from chat_json import Record
from chat_template import json_text

LANGCHAIN4J, SPRING_AI = "LangChain4j", "Spring AI"
SPRING_RULES = """Your response should be in JSON format.
Do not include any explanations, only provide a RFC8259 compliant JSON response following this format without deviation.
Do not include markdown code blocks in your response.
Remove the ```json markdown from the output.
Here is the JSON Schema instance your output must adhere to:
"""
# values of which an enum may have some
ENUMS = [words.DAYS, words.COLORS, ["small", "medium", "large"], functions.SKIES, tables.PETS, tables.JOBS, functions.LANGUAGES]
NOUNS = {"person": "a person", "product": "a product", "event": "an event", "book": "a book", "order": "an order", "weather": "a city"}
CLASSES = {"person": "Person Customer User Contact", "product": "Product Item Article", "event": "Event Meeting", "book": "Book", "order": "Order", "weather": "City Place"}
PACKAGES = ["", "Main$", "clients.Client$", "com.example.", "com.example.demo.", "org.acme.model.", "app."]
EXTRACTED = ["Extract {} from ", "Extract information about {} from ", "Extract information about {} from: ", "Extract {}: ", "Extract {} from this text: ", "Read {} from this text:\n"]


class Field(NamedTuple):
    """
    A component of a record: its JSON type or `enum`, `object` or `objects`; the value; whether it is a long or a float; the
    description; the constants of an enum; the fields of an object, and the class as LangChain4j names it.
    """

    name: str
    kind: str
    value: object
    wide: bool = False
    about: str = ""
    options: tuple = ()
    fields: tuple = ()
    class_name: str = ""


def camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def class_name(c, kind: str) -> str:
    return c.pick(PACKAGES) + c.pick(CLASSES[kind].split())


def field(c, name: str, kind: str, value, described: bool) -> Field:
    """A field of a request for JSON as a component of a record."""
    about = c.pick(["the ", "The ", ""]) + name.replace("_", " ") if described else ""
    options = ()
    if kind in ("string", "array") and value and c.chance(0.5):
        values = value if kind == "array" else [value]
        pool = next((pool for pool in ENUMS if set(values) <= set(pool)), None)
        if pool:
            spelled = (lambda text: text.upper().replace(" ", "_")) if c.chance(0.85) else (lambda text: text)
            others = [text for text in pool if text not in values]
            chosen = values + c.rng.sample(others, min(len(others), c.rng.randint(1, 4)))
            chosen.sort(key=pool.index if c.chance(0.5) else lambda _: c.rng.random())
            options = tuple(spelled(text) for text in chosen)
            value = [spelled(text) for text in values] if kind == "array" else spelled(value)
    elif kind == "integer" and value is not None and c.chance(0.08):
        kind, value = "string", str(value)
    return Field(camel(name), kind, value, c.chance(0.25), about, options)


def fields_of(c, listed) -> tuple:
    """Fields of a request for JSON, each a name, a type and a value, as components of a record."""
    described = c.chance(0.15)
    return tuple(field(c, *f, described) for f in listed)


def answer(fields, client: str) -> dict:
    if client == SPRING_AI:
        fields = sorted(fields)
    return {f.name: value_of(f, client) for f in fields}


def value_of(f: Field, client: str):
    if f.kind == "object":
        return answer(f.fields, client)
    return [answer(row, client) for row in f.value] if f.kind == "objects" else f.value


def in_langchain4j(fields) -> str:
    """The fields as LangChain4j lists them."""
    lines = [f'"{f.name}": ({f.about + "; " if f.about else ""}type: {type_name(f)})' for f in fields]
    return "{\n" + ",\n".join(lines) + "\n}"


def type_name(f: Field) -> str:
    several = "array of " if f.kind in ("array", "objects") else ""
    if f.options:
        return several + f"enum, must be one of [{', '.join(f.options)}]"
    if f.fields:
        return several + f"{f.class_name}: {in_langchain4j(f.fields)}"
    return {"array": "array of string", "integer": "long" if f.wide else "integer", "number": "float" if f.wide else "double"}.get(f.kind, f.kind)


def object_schema(fields) -> dict:
    properties = {f.name: schema(f) for f in sorted(fields)}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def schema(f: Field) -> dict:
    """The JSON schema of Spring AI."""
    one = object_schema(f.fields) if f.fields else {"type": "string"} | ({"enum": list(f.options)} if f.options else {})
    about = {"description": f.about} if f.about else {}
    if f.kind in ("array", "objects"):
        return {"type": "array", "items": one} | about
    if f.kind in ("integer", "number"):
        one = {"type": f.kind, "format": {"integer": ("int32", "int64"), "number": ("double", "float")}[f.kind][f.wide]}
    elif f.kind == "boolean":
        one = {"type": "boolean"}
    return one | about


def indented(value, margin: str = "") -> str:
    """JSON as Jackson indents it."""
    if isinstance(value, dict):
        return "{\n" + ",\n".join(f"{margin}  {json_text(k)} : {indented(v, margin + '  ')}" for k, v in value.items()) + f"\n{margin}}}"
    return f"[ {', '.join(map(json_text, value))} ]" if isinstance(value, list) else json_text(value)


def ask(c, client: str, text: str, fields, is_list: bool = False):
    """The request with the description of the class, and the answer. `is_list`: a list of objects, whose fields are those of `fields[0]`."""
    result = [answer(row, client) for row in fields[0].value] if is_list else answer(fields, client)
    if client == LANGCHAIN4J:
        form = "You must answer strictly in the following JSON format: " + in_langchain4j(fields)
    else:
        described = schema(fields[0]) if is_list else object_schema(fields)
        form = SPRING_RULES + "```" + indented({"$schema": "https://json-schema.org/draft/2020-12/schema"} | described) + "```\n"
    chat_json.say(c, f"{text}\n{form}", result)


def facts(c, client: str):
    first_person = c.chance(0.15)
    record = Record(c, "person" if first_person else "", 5, first_person)
    text = c.pick(EXTRACTED).format(NOUNS[record.kind]) + record.text if c.chance(0.35) else record.text
    ask(c, client, text, fields_of(c, record.chosen(c)))


def named_pairs(c, client: str):
    """Keys that say nothing: the text names them."""
    kinds, listed = [("integer", functions.whole(0, 999)), ("string", functions.person), ("string", functions.drawn(words.COLORS)), ("string", functions.city), ("number", functions.decimal(1, 99))], {}
    for _ in range(c.rng.randint(1, 4)):
        kind, draw = c.pick(kinds)
        name = c.pick([c.invented, lambda: c.pick(tables.SPELLED), lambda: f"{c.pick(tables.SPELLED)}_{c.pick(tables.SPELLED)}"])()
        listed[name] = (name, kind, draw(c, None)[1])
    texts = [f"{name.replace('_', ' ')}{{}}{value}" for name, _, value in listed.values()]
    text = ", ".join(texts).replace("{}", ": ") if c.chance(0.5) else functions.listed(["the " + t for t in texts]).replace("{}", " is ") + "."
    ask(c, client, text[0].upper() + text[1:], fields_of(c, listed.values()))


def nested(c, client: str):
    """An object in an object."""
    text, of_outer, name, of_inner, kind = chat_json.nested_facts(c)
    inner = Field(camel(name), "object", None, fields=fields_of(c, of_inner), class_name=class_name(c, kind))
    ask(c, client, text, (*fields_of(c, of_outer), inner))


def several(c, client: str):
    """A list of objects, mostly in a field: LangChain4j asks for no other."""
    text, kind, names, rows = chat_json.several_facts(c)
    wide = c.chance(0.25)
    rows = [tuple(Field(camel(name), t, value, wide) for (name, t), value in zip(names, row, strict=True)) for row in rows]
    name = c.pick(["items", "rows", "list", "results", "entries", "all"])
    every = Field(name, "objects", rows, fields=rows[0], class_name=class_name(c, kind))
    ask(c, client, text, (every,), is_list=client == SPRING_AI and c.chance(0.4))


def question(c, client: str):
    made = chat_json.question(c)
    ask(c, client, made[0], fields_of(c, chat_json.with_answer(c, made, "fields")))


KINDS = [(66, facts), (8, named_pairs), (9, nested), (7, several), (10, question)]
WEIGHTS = [weight for weight, _ in KINDS]


def conversation(rng, client: str = "") -> Conversation:
    c = new_chat(rng)
    client = client or c.pick([LANGCHAIN4J, SPRING_AI])
    if c.chance(0.2):
        c.say("system", c.text(tables.PLAIN_SYSTEM) if c.chance(0.6) else c.pick(["You extract data.", "You read data from texts.", "You answer in JSON."]))
    if c.chance(0.05):
        talk.hello(c)
    for _ in range(c.rng.choice([1, 1, 1, 1, 2])):
        c.rng.choices(KINDS, WEIGHTS)[0][1](c, client)
    return Conversation(c.messages)
