"""Conversations whose answers are JSON: data of a text, answers with named fields, lists, nested objects, and JSON schemas.

The request determines the answer: the fields in the order asked for, or else in the order of the text; texts as they are
written, numbers as numbers, yes and no as booleans, null for what the text does not say.
"""

import chat_functions as functions
import chat_memory as memory
import chat_tables as tables
import chat_talk as talk
import words
from chat_dialogue import Conversation, new_chat
from chat_functions import listed
from chat_template import json_text

# key: other names of it; type; how a value is drawn; how the text says it, after the subject
FIELDS = {
    "person": {
        "name": ("name|name|first_name|person|user", "string", functions.person, None),
        "age": ("age|age|years|age_in_years", "integer", functions.whole(3, 95), "{is <x> years old|is <x>}"),
        "city": ("city|city|town|home|place", "string", functions.city, "{lives in <x>|comes from <x>}"),
        "job": ("job|job|occupation|profession", "string", functions.drawn(tables.JOBS), "{works as|is} a@ <x>"),
        "hobby": ("hobby|hobby|likes|interest", "string", functions.drawn(tables.HOBBIES), "{likes|loves} <x>"),
        "food": ("food|favorite_food|meal", "string", functions.drawn(functions.DISHES), "likes to eat <x>"),
        "email": ("email|email|mail|address", "string", functions.mail, "has the {email|address} <x>"),
        "married": ("married|married|is_married", "boolean", lambda c, _: (lambda v: ("is married" if v else "is not married", v))(c.chance(0.5)), "<x>"),
        "pets": ("pets|pets|animals", "array", lambda c, _: (lambda v: (listed(["a " + p for p in v]), v))(c.rng.sample(tables.PETS, c.rng.randint(1, 3))), "has <x>"),
    },
    "product": {
        "product": ("product|product|item|name", "string", lambda c, _: (lambda v: (v, v))(c.pick(tables.OBJECTS + words.TOYS) if c.chance(0.7) else c.invented()), None),
        "price": ("price|price|cost|euros", "number", functions.decimal(1, 300), "{costs <x> {euros|dollars}|sells for <x> euros}"),
        "color": ("color|color|paint", "string", functions.drawn(words.COLORS), "is <x>"),
        "weight": ("weight|weight|grams", "integer", functions.whole(13, 900), "weighs <x> grams"),
        "size": ("size|size|format", "string", functions.drawn(["small", "medium", "large"]), "comes in size <x>"),
        "stock": ("stock|stock|quantity|count", "integer", functions.whole(13, 500), "is in stock <x> times"),
        "maker": ("maker|maker|brand|company", "string", lambda c, _: (lambda v: (v, v))(c.invented().capitalize()), "is made by <x>"),
        "new": ("new|new|is_new", "boolean", lambda c, _: (lambda v: ("is new" if v else "is not new", v))(c.chance(0.5)), "<x>"),
    },
    "event": {
        "title": ("title|title|event|name", "string", functions.drawn(["concert", "lesson", "team meeting", "football match", "book club", "school trip", "party", "play", "market"]), None),
        "day": ("day|day|date|weekday", "string", functions.drawn(words.DAYS), "is on <x>"),
        "time": ("time|time|start|starts_at", "string", functions.clock, "{starts|begins} at <x>"),
        "place": ("place|place|location|room", "string", lambda c, _: (lambda v: (v, v))(c.pick(functions.ROOMS) if c.chance(0.5) else functions.city(c, None)[0]), "takes place in <x>"),
        "guests": ("guests|guests|people|visitors", "integer", functions.whole(13, 300), "has <x> guests"),
        "host": ("host|host|organizer|with", "string", functions.person, "is led by <x>"),
        "free": ("free|free|is_free", "boolean", lambda c, _: (lambda v: ("is free" if v else "is not free", v))(c.chance(0.5)), "<x>"),
    },
    "book": {
        "title": ("title|title|book|name", "string", functions.drawn(functions.SONGS + ["The Red Fox", "A Night at Sea", "Seven Stones", "The Quiet Mill", "My Life in Trains"]), None),
        "author": ("author|author|writer|written_by", "string", functions.person, "{was written by <x>|is by <x>}"),
        "year": ("year|year|published", "integer", functions.whole(1800, 2024), "{came out in <x>|is from <x>}"),
        "pages": ("pages|pages|length|page_count", "integer", functions.whole(40, 900), "has <x> pages"),
        "language": ("language|language|written_in", "string", functions.drawn(functions.LANGUAGES), "is in <x>"),
    },
    "order": {
        "customer": ("customer|customer|name|buyer", "string", functions.person, None),
        "items": ("items|items|products|things", "array", functions.groceries, "{orders|buys} <x>"),
        "total": ("total|total|price|amount", "number", functions.decimal(3, 400), "pays <x> euros"),
        "order": ("order|order|order_id|number", "string", functions.code, "has the order number <x>"),
        "paid": ("paid|paid|is_paid", "boolean", lambda c, _: (lambda v: ("has paid" if v else "has not paid", v))(c.chance(0.5)), "<x>"),
        "day": ("day|day|date|delivery", "string", functions.drawn(words.DAYS), "gets it on <x>"),
    },
    "weather": {
        "city": ("city|city|place|location", "string", functions.city, None),
        "condition": ("condition|condition|weather|sky", "string", functions.drawn(functions.SKIES), "is <x>"),
        "temperature": ("temperature|temperature|degrees|temp", "integer", functions.whole(13, 38), "has <x> degrees"),
        "people": ("people|people|population|inhabitants", "integer", functions.whole(100, 9999), "has <x> people"),
        "country": ("country|country|land|nation", "string", functions.drawn(functions.COUNTRIES), "is in <x>"),
        "river": ("river|river|water", "string", lambda c, _: (lambda v: (v, v))(c.invented().capitalize()), "lies on the {river |}<x>"),
    },
}  # fmt: skip
SUBJECTS = {"person": "<x>", "product": "{The|This} <x>", "event": "The <x>", "book": "\"<x>\"", "order": "<x>", "weather": "<x>"}
FIRST_PERSON = {"is not": "am not", "is": "am", "lives": "live", "comes": "come", "works": "work", "likes": "like", "loves": "love", "has": "have"}
TYPE_NAMES = {"string": ["string"], "integer": ["integer", "number"], "number": ["number"], "boolean": ["boolean", "true or false"], "array": ["list", "array"]}
EMPTY = {"string": "", "integer": 0, "number": 0, "boolean": False, "array": []}

BE_JSON = "{Answer in|Reply in|Answer with|Answer as|Respond in|Respond with|Reply with|Return|Give me|Write|Output} {JSON|JSON|JSON|JSON|JSON|valid JSON}"
FIELDS_ARE = "{with the fields|with fields|with the keys|with keys|with|using the fields|that has the fields|containing the keys|with the properties} "
ONE_FIELD = "{with the field|with the key|with one field,|with|using the field} "
ONLY = "{Answer|Reply} {only with|with nothing but} JSON"


class Record:
    """Facts about one thing: the text, and for each fact its key, its names, type and value."""

    def __init__(self, c, kind: str = "", most: int = 5, first_person: bool = False):
        self.kind = kind = kind or c.pick(list(FIELDS))
        fields = FIELDS[kind]
        subject = next(iter(fields))
        others = [k for k in fields if k != subject]
        self.keys = [subject, *c.rng.sample(others, c.rng.randint(1, min(most, len(others))))]
        self.values, parts = {}, []
        for key in self.keys:
            _, _, draw, said = fields[key]
            spoken, self.values[key] = draw(c, None)
            parts.append(c.text(said, x=spoken) if said else spoken)
        name, parts = parts[0], [p[0].lower() + p[1:] for p in parts[1:]]
        if first_person:
            parts = [self._mine(p) for p in parts]
            self.text = f"{c.pick(['I am', 'My name is', 'I am called'])} {name}. I " + joined(c, parts, "I") + "."
        else:
            pronoun = {"person": "", "order": ""}.get(kind, "It")
            self.text = c.text(SUBJECTS[kind], x=name) + " " + joined(c, parts, pronoun) + "."

    @staticmethod
    def _mine(part: str) -> str:
        for his, mine in FIRST_PERSON.items():
            if part.startswith(his + " "):
                return mine + part[len(his) :]
        return part

    def chosen(self, c):
        """The keys that are asked for, under the names asked for: (name, type, value)."""
        keys = c.rng.sample(self.keys, c.rng.randint(1, len(self.keys))) if c.chance(0.5) else list(self.keys)
        return self.named(c, keys)

    def named(self, c, keys):
        fields, result = FIELDS[self.kind], []
        for key in keys:
            names, kind, _, _ = fields[key]
            name = c.pick(names.split("|"))
            result.append((name if name not in [n for n, _, _ in result] else key, kind, self.values[key]))
        missing = [k for k in fields if k not in self.keys]
        if missing and c.chance(0.06):
            key = c.pick(missing)
            if key not in [n for n, _, _ in result]:
                result.insert(c.rng.randrange(len(result) + 1), (key, fields[key][1], None))
        return result

    def plain(self):
        return [(key, FIELDS[self.kind][key][1], self.values[key]) for key in self.keys]


def joined(c, parts, pronoun: str) -> str:
    """As one sentence, or as two with a pronoun."""
    if len(parts) > 2 and pronoun and c.chance(0.5):
        i = c.rng.randint(1, len(parts) - 1)
        return f"{listed(parts[:i])}. {pronoun} {listed(parts[i:])}"
    return listed(parts)


def object_of(fields) -> dict:
    return {name: value for name, _, value in fields}


def schema_of(fields, c, nested=()) -> dict:
    properties = {}
    for name, kind, _ in fields:
        properties[name] = {"type": kind} | ({"items": {"type": "string"}} if kind == "array" else {})
    for name, inner in nested:
        properties[name] = schema_of(inner, c)
    schema = {"type": "object", "properties": properties}
    if c.chance(0.7):
        schema["required"] = list(properties)
    if c.chance(0.25):
        schema["additionalProperties"] = False
    return schema


def names_of(c, fields) -> str:
    """The fields as a request lists them."""
    style = c.rng.random()
    names = [name for name, _, _ in fields]
    if style < 0.2:
        names = [f'"{name}"' for name in names]
    elif style < 0.4:
        names = [f"{name} ({c.pick(TYPE_NAMES[kind])})" for name, kind, _ in fields]
    return listed(names) if c.chance(0.7) else ", ".join(names)


def with_fields(c, fields) -> str:
    return c.text(FIELDS_ARE if len(fields) > 1 else ONE_FIELD).lower() + " " + names_of(c, fields)


def skeleton(c, fields) -> str:
    """The form of the answer, with types or empty values."""
    style = c.rng.randrange(3)
    if style == 0:
        return json_text({name: EMPTY[kind] for name, kind, _ in fields})
    if style == 1:
        return "{" + ", ".join(f'"{name}": {"string[]" if kind == "array" else kind}' for name, kind, _ in fields) + "}"
    return "{" + ", ".join(f'"{name}": ...' for name, _, _ in fields) + "}"


def request_for(c, text: str, fields, schema=None) -> str:
    """Asks for the fields of a text, or for all that it says if there are none."""
    end = text if text[-1] in ".?!" else text + "."
    if schema is None and not fields:
        return c.pick([c.text("{Extract the data as JSON|Turn this into JSON|Convert to JSON|Convert this text to JSON|Write this as JSON|Make JSON of this|As JSON}:") + " " + text, end + " " + c.text("{Answer in JSON|Give me that as JSON|Write that as JSON|Return it as JSON|Now as JSON}.")])
    if schema is not None or c.chance(0.2):
        form = json_text(schema) if schema is not None else skeleton(c, fields)
        name = "schema" if schema is not None else "form"
        asked = c.text(f"{{Answer|Reply|Respond}} {{in|with}} JSON {{that matches|that fits|of|with}} this {name}{{:|}}") if c.chance(0.6) else c.text(f"{{Use this JSON {name}:|JSON {name}:|Return JSON like this:}}" if schema is None else f"{{Use this JSON {name}:|JSON {name}:|The schema of the answer:}}")
        return c.pick([f"{end} {asked} {form}", f"{asked} {form}\n\n{text}", f"{text}\n\n{asked}\n{form}"])
    if c.chance(0.3):
        return f"{begun(c, '{Extract|Please extract|Get|Find|Take}')} {names_of(c, fields)} {c.pick(['as JSON', 'in JSON', 'as a JSON object'])}{c.pick([':', ' from this text:', ' from:'])} {text}"
    asked = begun(c, BE_JSON if c.chance(0.8) else ONLY)
    form = f"{asked} {with_fields(c, fields)}"
    return c.pick([f"{end} {form}.", f"{form}: {text}", f"{form}.\n\n{text}", f"{text}\n\n{form}."])


def begun(c, template) -> str:
    """The start of a request, sometimes without its capital."""
    text = c.text(template)
    return text[0].lower() + text[1:] if c.chance(0.2) else text


def say(c, request: str, answer):
    """A request and its answer, a value."""
    c.say("user", request)
    c.say("assistant", json_text(answer))


def facts(c):
    """The facts of a text as an object."""
    record = Record(c)
    draw = c.rng.random()
    if draw < 0.15:
        return say(c, request_for(c, record.text, ()), object_of(record.plain()))
    fields = record.chosen(c)
    if draw < 0.4:
        fields = [(n, "string" if k == "integer" and c.chance(0.12) else k, v) for n, k, v in fields if v is not None]
        answer = {n: str(v) if k == "string" else v for n, k, v in fields}
        return say(c, request_for(c, record.text, fields, schema_of(fields, c)), answer)
    say(c, request_for(c, record.text, fields), object_of(fields))


def own_facts(c):
    """What users say of themselves."""
    record = Record(c, "person", 3, first_person=True)
    fields = record.chosen(c)
    say(c, request_for(c, record.text, fields, schema_of(fields, c) if all(v is not None for _, _, v in fields) and c.chance(0.25) else None), object_of(fields))


REMEMBERED = ["name", "color", "city", "age", "food", "job", "hobby", "number", "friend", "word"]


def remembered(c):
    """What users said of themselves earlier."""
    for _ in range(c.rng.choice([1, 2, 2, 3])):
        memory.tell(c)
    fields = [(key, "integer" if isinstance(c.told[key], int) else "string", c.told[key]) for key in REMEMBERED if key in c.told]
    if not fields:
        return
    c.rng.shuffle(fields)
    asked = begun(c, "{Write what you know about me|Tell me what you know about me|Give me my data|Write down what I told you} as JSON").replace("as json", "as JSON")
    say(c, f"{asked} {with_fields(c, fields)}.", object_of(fields))


def several_facts(c):
    """Things of one kind: the text, the kind, the name and type of two fields, and their values for each thing."""
    kind = c.pick(["person", "product", "book", "weather"])
    fields = FIELDS[kind]
    subject, other = next(iter(fields)), c.pick([k for k in fields if k not in ("pets", next(iter(fields)))])
    rows, parts = [], []
    names = [(fields[k][0].split("|")[0 if c.chance(0.7) else -1], fields[k][1]) for k in (subject, other)]
    for _ in range(c.rng.randint(2, 4)):
        (said, first), (said2, second) = fields[subject][2](c, None), fields[other][2](c, None)
        rows.append((first, second))
        part = c.text(fields[other][3], x=said2)
        parts.append(f"{'the ' + said if kind == 'product' else chr(34) + said + chr(34) if kind == 'book' else said} {part[0].lower() + part[1:]}")
    text = listed(parts) + "."
    return text[0].upper() + text[1:], kind, names, rows


def records(c):
    """A list of objects."""
    text, _, ((first, _), (second, _)), rows = several_facts(c)
    rows = [{first: a, second: b} for a, b in rows]
    form = c.text("{Answer in JSON with a list|Make a JSON list|Give me a JSON list|Return a JSON array} of objects with") + f" {first} and {second}"
    if c.chance(0.25):
        key = c.pick(["items", "rows", "people", "list", "results", "entries"])
        form = c.text("{Answer in|Return|Reply with} JSON") + f" with the field {key}, a list of objects with {first} and {second}"
        rows = {key: rows}
    say(c, c.pick([f"{text} {form}.", f"{form}: {text}", f"{form}.\n\n{text}"]), rows)


def nested_facts(c):
    """Two things: the text, the fields of the outer one, the name, fields and kind of the inner one."""
    outer, inner = Record(c, c.pick(["order", "event", "book", "product"]), 2), Record(c, "person" if c.chance(0.7) else "weather", 2)
    name = c.pick(["customer", "contact", "owner", "person", "guest"]) if inner.kind == "person" else c.pick(["place", "location", "from"])
    if name in [FIELDS[outer.kind][k][0].split("|")[0] for k in outer.keys]:
        name = "other"
    of_outer, of_inner = ([f for f in r.named(c, r.keys) if f[2] is not None] for r in (outer, inner))
    return outer.text + " " + inner.text, [f for f in of_outer if f[0] != name], name, of_inner, inner.kind


def nested(c):
    """An object in an object."""
    text, of_outer, name, of_inner, _ = nested_facts(c)
    answer = object_of(of_outer) | {name: object_of(of_inner)}
    if c.chance(0.45):
        return say(c, request_for(c, text, (), schema_of(of_outer, c, [(name, of_inner)])), answer)
    form = c.text(BE_JSON) + f" with the fields {', '.join(n for n, _, _ in of_outer)} and {name}, where {name} {c.pick(['has the fields', 'is an object with', 'has'])} {listed([n for n, _, _ in of_inner])}"
    say(c, c.pick([f"{text} {form}.", f"{form}: {text}", f"{form}.\n\n{text}"]), answer)


def made_up(c):
    """Keys and values given one by one."""
    kinds, pairs = [functions.whole(0, 999), functions.drawn(words.COLORS), functions.person, functions.made_word, functions.decimal(1, 99), functions.city, functions.clock], {}
    for _ in range(c.rng.randint(1, 4)):
        key = c.pick([c.invented, lambda: c.pick(tables.SPELLED), lambda: c.pick(list(functions.FILES)), lambda: f"{c.pick(tables.SPELLED)}_{c.pick(tables.SPELLED)}"])()
        pairs[key] = str(value) if isinstance(value := c.pick(kinds)(c, None)[1], str) else value
    if c.chance(0.2):
        pairs[c.pick(["ok", "active", "ready", "open", "done"])] = c.chance(0.5)
    words_of = {k: ("true" if v is True else "false" if v is False else v) for k, v in pairs.items()}
    style = c.rng.randrange(4)
    if style == 0:
        request = c.text("{Write|Make|Give me|Return} {this as JSON|a JSON object}:") + " " + ", ".join(f"{k}: {v}" for k, v in words_of.items())
    elif style == 1:
        request = c.text("{Write|Make|Give me|Return} a JSON object {with|where}") + " " + listed([f"{k} is {v}" for k, v in words_of.items()]).replace("with ", "") + "."
        request = request.replace("object with ", "object where ")
    elif style == 2:
        request = c.text("{Convert|Turn} {to|into|this into} JSON:").replace("Convert this into", "Convert into").replace("Turn to", "Turn into") + "\n" + "\n".join(f"{k}{c.pick([': ', ' = ', ': '])}{v}" for k, v in words_of.items())
    else:
        request = c.text("{JSON|A JSON object|JSON, please,} with") + " " + listed([f"{k} {v}" for k, v in words_of.items()])
    say(c, request, pairs)


def question(c):
    """A question of the corpus with a sure answer: (question, key of the subject, subject, keys of the answer, type, answer)."""
    draw = c.rng.random()
    if draw < 0.25:
        country, city = c.pick(tables.CAPITALS)
        return f"What is the capital of {country}?", "country", country, "capital", "string", city
    if draw < 0.45:
        a, b = c.rng.randint(0, 20), c.rng.randint(0, 20)
        if c.chance(0.5):
            return f"What is {a} + {b}?", "", None, "result|sum", "integer", a + b
        a, b = max(a, b), min(a, b)
        return f"What is {a} - {b}?", "", None, "result|difference", "integer", a - b
    if draw < 0.55:
        a, b = c.pick(tables.OPPOSITES)
        a, b = (a, b) if c.chance(0.5) else (b, a)
        return f"What is the opposite of {a}?", "word", a, "opposite", "string", b
    if draw < 0.62:
        thing, legs = c.pick(tables.LEGS)
        return f"How many legs does {thing} have?", "animal", thing.split(" ", 1)[1], "legs|count", "integer", legs
    if draw < 0.7:
        thing, color, _ = c.pick(tables.THINGS)
        return f"What color {'are' if thing.endswith('s') and ' ' not in thing and thing != 'grass' else 'is'} {thing}?", "", None, "color", "string", color
    if draw < 0.78:
        i = c.rng.randrange(7)
        return f"What day comes after {words.DAYS[i]}?", "day", words.DAYS[i], "next|next_day", "string", words.DAYS[(i + 1) % 7]
    if draw < 0.86:
        row, k = c.pick(tables.TRANSLATIONS), c.rng.randrange(4)
        return f"What is \"{row[0]}\" in {tables.LANGUAGES[k]}?", "word", row[0], "translation", "string", row[k + 1]
    if draw < 0.93:
        n = c.rng.randint(0, 30)
        return f"Is {n} even?", "number", n, "even", "boolean", n % 2 == 0
    a, b = c.rng.sample(range(100), 2)
    return f"Which is larger: {a} or {b}?", "", None, "larger|largest", "integer", max(a, b)


def with_answer(c, made, form: str):
    """The fields for a question: the answer, perhaps after the subject."""
    _, subject, of, names, kind, value = made
    key = c.pick(names.split("|")) if c.chance(0.6) else "answer"
    fields = [(key, kind, value)]
    if subject and form == "fields" and c.chance(0.35):
        fields.insert(0, (subject, "integer" if isinstance(of, int) else "string", of))
    return fields


def asked(c):
    """A question, and the fields of the answer, or none: then the answer is the field answer."""
    made = question(c)
    if c.chance(0.2):
        return say(c, c.pick([f"{made[0]} {c.text(BE_JSON)}.", f"{c.text(BE_JSON)}: {made[0]}", f"{made[0]} {c.text(ONLY)}."]), {"answer": made[5]})
    fields = with_answer(c, made, "fields")
    say(c, request_for(c, made[0], fields, schema_of(fields, c) if c.chance(0.2) else None), object_of(fields))


def lists(c):
    draw = c.rng.randrange(6)
    make = c.text("{Make|Write|Give me|Return} a JSON {list|array} of")
    if draw == 0:
        values = c.rng.sample(functions.GROCERIES + tables.FOODS, c.rng.randint(2, 5))
        return say(c, c.pick([f"{make}: {listed(values)}", f"{make} {listed(values)}.", f"{listed(values)} {c.pick(['as a JSON list', 'as a JSON array', 'in a JSON list'])}"]), values)
    if draw == 1:
        values = [c.name() for _ in range(c.rng.randint(2, 5))]
        place = functions.city(c, None)[0]
        text = f"{listed(values)} {c.pick(['went to', 'live in', 'met in', 'are in'])} {place}."
        if c.chance(0.3):
            key = c.pick(["names", "people", "persons"])
            return say(c, f"{text} {c.text(BE_JSON)} with the field {key}, a list of the names.", {key: values})
        return say(c, c.pick([f"{text} {make} the names.", f"{make} the names: {text}"]), values)
    if draw == 2:
        a = c.rng.randint(0, 20)
        values = list(range(a, a + c.rng.randint(3, 8)))
        return say(c, f"{make} the numbers from {values[0]} to {values[-1]}.", values)
    if draw == 3:
        values = c.rng.sample(range(31), c.rng.choice([3, 3, 4]))
        return say(c, c.text("{Sort|Sort these numbers:|Order}") + f" {', '.join(map(str, values))}. {c.text('{Answer with|Answer as|Give me|Return} a JSON {list|array}')}.", sorted(values))
    if draw == 4:
        word = c.pick(tables.SPELLED)
        return say(c, f"{make} the letters of {word}.", list(word))
    values = [c.rng.randint(0, 99) for _ in range(c.rng.randint(2, 5))]
    text = c.text("{The numbers are|I have the numbers|The scores were|We counted}") + f" {listed([str(v) for v in values])}."
    key = c.pick(["numbers", "values", "scores", "counts"])
    say(c, f"{text} {c.text(BE_JSON)} {c.text(ONE_FIELD).lower()} {key}.", {key: values})


def truth(c):
    """A question about a text, answered by a boolean."""
    name = c.name()
    thing = c.pick(["a car", "a dog", "a garden", "a bicycle", "a boat", "an umbrella", "a piano"])
    has = c.chance(0.5)
    text = f"{name} {'has' if has else 'does not have'} {thing}."
    key = c.pick(["answer", "has_" + thing.split()[-1], "has", thing.split()[-1], "result", "correct"])
    if key == "correct":
        return say(c, f"{text} Does {name} have {thing}? {c.text(BE_JSON)} {c.text(ONE_FIELD).lower()} answer.", {"answer": has})
    say(c, f"{text} Does {name} have {thing}? {c.text(BE_JSON)} {c.text(ONE_FIELD).lower()} {key} (boolean).", {key: has})


KINDS = [(10, facts), (4, own_facts), (2, remembered), (3, records), (3, nested), (4, made_up), (5, asked), (3, lists), (1, truth)]
WEIGHTS = [weight for weight, _ in KINDS]
SYSTEM_BOTH = ["You are a helpful assistant. ", "", "", "You are a data service. "]


def by_system(c):
    """The system message asks for JSON, the user only writes texts or questions."""
    before = c.pick(SYSTEM_BOTH)
    if c.chance(0.4):
        made = question(c)
        key = "answer" if c.chance(0.6) else c.pick(["result", "reply", "value", c.invented()])
        named = key != "answer" or c.chance(0.6)
        c.say("system", before + c.text("{Always answer|Answer|Answer every question|Reply|Write every answer} in JSON" + (" {with the field|with the key|with one field,|as an object with} " + key if named else "") + "."))
        for _ in range(c.rng.choice([1, 2, 2, 3])):
            say(c, made[0], {key: made[5]})
            made = question(c)
        return
    record = Record(c, "", 4)
    fields = record.named(c, record.keys)
    schema = c.chance(0.25) and all(v is not None for _, _, v in fields)
    if schema:
        c.say("system", before + c.text("{Answer|Reply} {in JSON|with JSON} that matches this schema:") + " " + json_text(schema_of(fields, c)))
    else:
        c.say("system", before + c.pick(["Extract ", "From what the user writes, extract ", "Find "]) + names_of(c, fields) + c.pick([" and answer in JSON.", " as JSON.", " and reply in JSON.", " and write JSON."]))
    say(c, record.text, object_of(fields))
    for _ in range(c.rng.choice([0, 1, 1, 2])):
        other = Record(c, record.kind, 9)
        values = [(n, k, None if key is None else other.values.get(key)) for (n, k, _), key in zip(fields, keys_of(record, fields), strict=True)]
        if schema and any(v is None for _, _, v in values):
            break
        say(c, other.text, object_of(values))


def keys_of(record, fields):
    """The key of each named field; a field that no key of the kind has is None."""
    kind = FIELDS[record.kind]
    used, result = set(), []
    for name, _, _ in fields:
        key = next((k for k in [*record.keys, *kind] if k not in used and name in (k, *kind[k][0].split("|"))), None)
        used.add(key)
        result.append(key)
    return result


def conversation(rng) -> Conversation:
    c = new_chat(rng)
    c.careless = c.chance(0.3)
    draw = rng.random()
    if draw < 0.2:
        by_system(c)
        return Conversation(c.messages)
    if draw < 0.4:
        c.say("system", c.text(tables.PLAIN_SYSTEM))
    elif draw < 0.5:
        c.say("system", c.text("{You answer in JSON.|You are a helpful assistant that answers in JSON.|You output JSON.|Answer in JSON when the user asks for it.}"))
    if c.chance(0.1):
        talk.hello(c)
    for _ in range(c.rng.choice([1, 1, 2, 2, 3, 4])):
        c.rng.choices(KINDS, WEIGHTS)[0][1](c)
    if c.chance(0.15):
        talk.thanks(c)
    return Conversation(c.messages)
