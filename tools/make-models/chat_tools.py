"""Conversations with functions: which are declared, requests, calls, responses, and answers in words.

Names are made of many pieces, also invented ones, so that the model copies them from the declaration.
"""

import json
from dataclasses import dataclass
from functools import lru_cache

import chat_functions as functions
import chat_knowledge as knowledge
import chat_memory as memory
import chat_skills as skills
import chat_tables as tables
import chat_tales as tales
import chat_talk as talk
import words
from chat_dialogue import Conversation, new_chat
from chat_functions import FAMILIES, Family, Parameter, listed
from english import article, parse

VERBS = """get set find open close start stop create delete list send read write move count check book order print paint pause show hide lock measure update reset load save share rename copy
sort merge split build cook clean feed water fix fill wrap pack weigh""".split()
NOUNS = """lamp door file ticket robot garden box car train letter report photo song house plant machine camera window table shop team game book room bag map boat ship clock drone sensor pump
invoice parcel account folder signal engine basket bridge tower field""".split()
AFFIXES = "my api do the new v2 tool fn user home app ext run service cloud lite beta main x".split()
# names for held-out cases: no name of the training has these words
UNSEEN_WORDS = "acquire ascertain inspect glean obtain probe retrieve gauge summon dispatch tally fathom lattice beacon quill turbine mosaic pylon ferret cobalt saffron walrus plinth gizzard".split()

STYLES = [
    (5, lambda ws: "_".join(ws)), (3, lambda ws: ws[0] + "".join(w.capitalize() for w in ws[1:])), (1, lambda ws: "".join(w.capitalize() for w in ws)), (1, lambda ws: "-".join(ws)), (0.5, lambda ws: "".join(ws)),
]  # fmt: skip
STYLE_WEIGHTS = [weight for weight, _ in STYLES]
CHAT = [talk.hello, talk.how_are_you, talk.feeling, talk.about_assistant, talk.reaction, memory.tell, memory.tell, memory.recall, skills.rhymes, skills.opposites, skills.spelling, skills.kinds, knowledge.general, knowledge.colors, knowledge.sounds, tales.joke, tales.poem]
NOT_POSSIBLE = "I have no function for that."
LENGTHS = [1, 1, 1, 2, 2, 3, 4]
MOST = 3000  # characters of the declarations


def name_of(c, plain: str, style, unseen: bool) -> str:
    """A function's name: the family's own words, mostly, or others, which only the description explains."""
    if unseen:
        return style(c.rng.sample(UNSEEN_WORDS, c.rng.choice([2, 2, 3])))
    draw = c.rng.random()
    if draw < 0.45:
        parts = plain.split()
    elif draw < 0.6:
        parts = plain.split()
        parts.insert(c.pick([0, len(parts)]), c.pick(AFFIXES) if c.chance(0.5) else c.invented())
    elif draw < 0.75:
        parts = [c.pick(VERBS), c.invented()]
    elif draw < 0.9:
        parts = [c.invented() for _ in range(c.rng.choice([1, 2, 2]))]
    elif draw < 0.95:
        parts = [c.pick(VERBS), c.pick(NOUNS), str(c.rng.randint(1, 99))]
    else:
        parts = [c.pick(["tool", "fn", "f", "function", "action"]), c.pick([str(c.rng.randint(1, 99)), c.invented()])]
    return style(parts)


# what a user may write in lower case and the call has with a capital
PROPER = (functions.city, functions.person)
OTHER_END = {"target": "source", "end": "start"}


@dataclass
class Function:
    """A declared function: `names` and `options` by the family's parameters."""

    family: Family
    declared: dict
    names: dict
    options: dict

    def draw(self, c, suffix: str = "") -> tuple[dict, dict]:
        """What the user says for each parameter, its name followed by `suffix`, and the values."""
        said, values = {}, {}
        pair = c.pick(functions.UNITS) if self.family.group == "units" else None
        for key, parameter in self.family.parameters.items():
            if key not in self.names:
                continue
            if pair and key in ("source", "target"):
                said[key + suffix] = values[key] = pair[key == "target"]
                continue
            while True:
                said[key + suffix], values[key] = parameter.draw(c, self.options.get(key))
                if values[key] != values.get(OTHER_END.get(key)):
                    break
        return said, values

    def arguments(self, values, used) -> dict:
        """In the order of the declaration."""
        return {name: values[key] for key, name in self.names.items() if key in used}

    def templates(self, kind: str) -> list:
        """Those that need no undeclared parameter."""
        return [(t, used) for t in getattr(self.family, kind) if (used := used_by(t)).issubset(self.names)]

    def call(self, arguments) -> tuple:
        return self.declared["name"], arguments


@lru_cache(maxsize=4096)
def slots_of(template) -> tuple:
    """The slots of a template, those of a second call with their 2."""

    def slots(nodes):
        for node in nodes:
            if node[0] == "choice":
                for branch in node[1]:
                    yield from slots(branch)
            elif node[0] == "slot" and node.__class__ is tuple:
                yield node[1]

    return tuple(slots(parse(template)))


def used_by(template) -> frozenset:
    """The parameters that a request states."""
    return frozenset(slot.rstrip("2") for slot in slots_of(template))


def stated_twice(template) -> frozenset:
    """The parameters that differ between the two calls of a request."""
    return frozenset(slot[:-1] for slot in slots_of(template) if slot.endswith("2"))


def schema_of(c, parameter, options, described: bool, first: bool) -> dict:
    """The JSON schema of a parameter; `first`: the description comes first."""
    fields = {"type": parameter.type}
    if parameter.type == "array":
        fields["items"] = {"type": "string"}
    if options:
        fields["enum"] = list(options)
    if described:
        about = {"description": c.text(parameter.about)}
        return about | fields if first else fields | about
    return fields


def declare(c, family: Family, style, manner: dict, unseen: bool = False) -> Function:
    plain = c.pick(family.names.split("|"))
    name = name_of(c, plain, style, unseen)
    opaque = c.chance(0.08)
    names, options, properties = {}, {}, {}
    for key, parameter in family.parameters.items():
        if not parameter.required and c.chance(0.5):
            continue
        own = c.invented() if opaque else style_of_parameter(c.pick(parameter.names.split("|")), manner)
        if own in properties:
            own = key
        names[key] = own
        if parameter.options:
            options[key] = c.pick(parameter.options)
        enumerated = options.get(key) if parameter.options and (not family.group == "currency" or manner["enums"]) else None
        properties[own] = schema_of(c, parameter, enumerated, opaque or manner["described"], manner["description_first"])
    required = [names[k] for k, p in family.parameters.items() if k in names and p.required]
    parameters = {"type": "object", "properties": properties}
    if required or manner["closed"]:
        parameters["required"] = required
    if manner["closed"]:
        parameters["additionalProperties"] = False
    declared = {"name": name, "description": c.text(c.pick(family.abouts)), "parameters": parameters}
    if manner["strict"]:
        declared["strict"] = True
    if manner["name_last"]:
        declared = {k: declared[k] for k in ("description", "name", "parameters", *(["strict"] if manner["strict"] else []))}
    return Function(family, declared, names, options)


def style_of_parameter(name: str, manner) -> str:
    parts = name.split()
    return parts[0] + "".join(p.capitalize() for p in parts[1:]) if manner["camel"] else "_".join(parts)


GENERIC = {
    "name": Parameter("name", "The name", functions.person), "id": Parameter("id|number", "The {number|id}", functions.whole(1, 9999), "integer"), "code": Parameter("code|reference|serial|key", "The {code|key}", functions.code),
    "color": Parameter("color|paint", "The color", functions.drawn(words.COLORS)), "size": Parameter("size|format", "The size", functions.option, options=(("small", "medium", "large"), ("small", "large"), ("tiny", "normal", "huge"), ("S", "M", "L"))),
    "mode": Parameter("mode|kind|type|profile", "The {mode|kind}", functions.option, options=(("fast", "slow"), ("auto", "manual"), ("day", "night"), ("quiet", "normal", "loud"), ("basic", "full"))),
    "count": Parameter("count|amount|quantity|limit", "How many", functions.whole(1, 99), "integer"), "price": Parameter("price|cost|budget|weight", "The {price|value}", functions.decimal(1, 500), "number"), "level": Parameter("level|power|priority", "The level", functions.whole(0, 10), "integer"),
    "city": Parameter("city|place|target|region", "The {city|place}", functions.city), "owner": Parameter("owner|user|author|member", "The {owner|person}", functions.person), "day": Parameter("day|date|deadline", "The day", functions.drawn(words.DAYS)), "title": Parameter("title|label|topic|text", "The {title|text}", functions.drawn(functions.SONGS + functions.TASKS)),
    "word": Parameter("word|token|tag|theme|item", "The {word|tag}", functions.made_word), "urgent": Parameter("urgent|active|public|hidden|locked|enabled", "Whether it is so", lambda c, _: (lambda v: (c.pick(["yes", "true"]) if v else c.pick(["no", "false"]), v))(c.chance(0.5)), "boolean"), "file": Parameter("file|path", "The file", functions.file),
}  # fmt: skip


def generic(c, unseen: bool = False) -> Family:
    """A family made up on the spot: a verb, a thing and parameters that users name by their names."""
    verb = c.pick(VERBS)
    thing = c.pick(NOUNS) if c.chance(0.6) else c.invented()
    chosen = c.rng.sample(sorted(GENERIC), c.rng.choice([0, 1, 1, 1, 2, 2, 2, 3]))
    parameters = {}
    for i, key in enumerate(chosen):
        kind = GENERIC[key]
        own = c.pick(kind.names.split("|")) if c.chance(0.8) else c.invented()
        parameters[own if own not in parameters else key] = Parameter(own, kind.about, kind.draw, kind.type, kind.options, required=i == 0 or c.chance(0.7))
    asks = []
    needed = [k for k, p in parameters.items() if p.required]
    for used in {tuple(needed), tuple(parameters)}:
        stated = listed([f"{key} <{key}>" for key in used]) if used else ""
        if not used:
            asks.append(f"{{please |}}{verb} the {thing}{{.|}}")
        else:
            asks += [f"{{please |}}{verb} the {thing} {{with|for}} {stated}{{.|}}", f"{{please |}}{verb} a@ {thing}: {stated}{{.|}}", f"{verb} {thing}, {stated}"]
    article_of = f"{{the {thing}|{article(thing)} {thing}}}"
    s = "es" if verb.endswith(("sh", "ch", "x")) else "ies" if verb == "copy" else "s"
    third = (verb[:-1] if verb == "copy" else verb) + s
    return Family(f"{verb} {thing}", f"{verb} {thing}", (f"{{{verb}|{third}}} {article_of}{{.|}}",), parameters, tuple(asks), lambda c, v: response(c, thing))


def failure(c):
    reason = c.pick(["not found", "no access", "it is locked", "too many requests", "the name is not known", "it is empty", "timeout", "no power"])
    return c.pick([{"error": reason}, {"status": "error", "error": reason}, f"error: {reason}", {"error": reason}]), f"That did not work: {reason}."


def described(c, kinds, least: int):
    fields = {}
    for key in c.rng.sample(kinds, c.rng.randint(least, 3)):
        kind = GENERIC[key]
        fields[c.pick(kind.names.split("|"))] = kind.draw(c, None)[1]
    return fields, "T" + listed([f"the {key} is {value}" for key, value in fields.items()])[1:] + "."


EXPECTED = [key for key in GENERIC if key not in ("title", "file", "urgent", "mode", "size")]
UNEXPECTED = [key for key in EXPECTED if key not in ("name", "city", "id")]


def response(c, thing):
    """A response of a function made up on the spot, and its answer, which follows from the response alone."""
    draw = c.rng.random()
    if draw < 0.25:
        return functions.done(c, None)
    if draw < 0.4:
        value = c.pick([c.rng.randint(0, 9999), c.invented(), c.pick(words.COLORS), c.name()])
        return c.pick([{"result": value}, {"result": value}, str(value)]), f"The result is {value}."
    if draw < 0.5:
        return failure(c)
    if draw < 0.62:
        text = c.text(["the <t> {is|was} {ready|empty|full|new|old|in the <r>|with <n>|<c>}", "<n> has the <t>"], t=thing, n=c.name(), c=c.pick(words.COLORS), r=c.pick(functions.ROOMS))
        return c.pick([text, text + ".", {"message": text}]), text + "."
    if draw < 0.7:
        values = [c.pick([c.name(), c.invented()]) for _ in range(c.rng.randint(2, 4))]
        return c.pick([values, {"items": values}]), f"{listed(values)}."
    return described(c, EXPECTED, 1)


def typed(c, text: str) -> str:
    """As a user types it: often without the capital at the start or the final mark."""
    if c.chance(0.25):
        text = text[0].lower() + text[1:] if not text.startswith(("I ", "I'")) and text.split(" ")[0].lower() in COMMON_STARTS else text
    if c.chance(0.2) and text[-1] in ".?" and text[:-1][-1:] not in ".?\"":
        text = text[:-1]
    return text


COMMON_STARTS = {
    "what", "what's", "how", "is", "are", "do", "will", "who", "where", "which", "please", "can", "tell", "show", "get", "set", "add", "turn", "switch", "send", "find", "search", "look", "convert", "change", "exchange", "play", "start", "book", "reserve", "order",
    "translate", "read", "open", "delete", "remove", "remind", "wake", "schedule", "plan", "put", "create", "register", "lock", "unlock", "define", "explain", "roll", "throw", "track", "check", "list", "calculate", "compute", "multiply", "divide", "subtract", "pick", "give", "weather", *VERBS,
}  # fmt: skip


class Dialogue:
    """A conversation with functions under construction."""

    def __init__(self, rng, unseen: bool = False):
        self.c = c = new_chat(rng)
        c.careless = c.chance(0.3)
        self.functions = self._declare(unseen)
        if c.chance(0.35):
            c.say("system", c.text(tables.PLAIN_SYSTEM) if c.chance(0.7) else c.text("{You are <own>.|Your name is <own>.} {Use the functions.|You help in the house.|Call functions when they help.|}", own=c.pick(tables.ROBOT_NAMES)))

    def _declare(self, unseen: bool) -> list:
        c = self.c
        style = c.rng.choices(STYLES, STYLE_WEIGHTS)[0][1]
        manner = {key: c.chance(p) for key, p in {"described": 0.55, "description_first": 0.2, "closed": 0.3, "strict": 0.12, "name_last": 0.12, "camel": 0.25, "enums": 0.4}.items()}
        declared, groups, size, names = [], set(), 0, set()
        for _ in range(c.rng.choice([1, 1, 1, 2, 2, 2, 3, 3, 4])):
            family = generic(c, unseen) if c.chance(0.35) else c.pick(FAMILIES)
            if family.group in groups or (" " in family.group and any(clash(family.group, g) for g in groups if " " not in g)) or (" " not in family.group and any(clash(family.group, g) for g in groups if " " in g)):
                continue
            function = declare(c, family, style, manner, unseen)
            size += len(json.dumps(function.declared))
            if function.declared["name"] in names or size > MOST:
                continue
            groups.add(family.group)
            names.add(function.declared["name"])
            declared.append(function)
        c.rng.shuffle(declared)
        return declared

    def request(self, function, kind: str = "asks"):
        """(the user's words, call, reply), or None."""
        c = self.c
        found = function.templates(kind)
        if not found:
            return None
        template, used = c.pick(found)
        said, values = function.draw(c)
        values = {k: v for k, v in values.items() if k in used}
        text = functions.phrase(c, template, said)
        if c.chance(0.08) and all(function.family.parameters[key].draw in PROPER or not isinstance(values[key], str) for key in used):
            text = text.lower()
        return text, function.call(function.arguments(values, used)), (function, values)

    def pair(self, function):
        c = self.c
        found = function.templates("pairs")
        if not found:
            return None
        template, used = c.pick(found)
        doubled = stated_twice(template)
        said, values = function.draw(c)
        said2, values2 = function.draw(c, "2")
        values2 = {k: values2[k] if k in doubled else values[k] for k in values}
        if values == values2:
            return None
        text = functions.phrase(c, template, said | said2)
        calls = [function.call(function.arguments(v, used)) for v in (values, values2)]
        return text, calls, [(function, {k: v[k] for k in used}) for v in (values, values2)]

    def exchange(self, text, calls, tasks):
        """A request with its calls; mostly also the responses and the answer."""
        c = self.c
        c.say("user", typed(c, text))
        c.say("assistant", "", calls)
        replies = [self.reply(*task) for task in tasks]
        for given, _ in replies:
            c.say("tool", given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, separators=self.separators))
        c.say("assistant", " ".join(answer for _, answer in replies))

    def reply(self, function, values):
        c = self.c
        if c.chance(0.1):
            return failure(c) if c.chance(0.5) else described(c, UNEXPECTED, 2)
        return function.family.reply(c, values)

    def call_one(self):
        self.last = function = self.c.pick(self.functions)
        text, call, task = self.request(function)
        self.exchange(text, [call], [task])

    def follow(self):
        if self.last is None or not (made := self.request(self.last, "follows")):
            return self.call_one()
        text, call, task = made
        self.exchange(text, [call], [task])

    def call_two(self):
        c = self.c
        pairs = [f for f in self.functions if f.family.pairs]
        if pairs and c.chance(0.6) and (made := self.pair(c.pick(pairs))):
            return self.exchange(*made)
        if len(self.functions) < 2:
            return self.call_one()
        first, second = (self.request(f) for f in c.rng.sample(self.functions, 2))
        start, mark = first[0].rstrip(".?"), first[0][-1] if first[0][-1] in ".?" else "."
        later = second[0]
        if later.split(" ")[0].lower() in COMMON_STARTS:
            later = later[0].lower() + later[1:]
        joined = c.pick([f"{start}{mark} Also, {later}", f"{start}{mark} And {later}", f"{start}, and {later}", f"{start}{mark} {second[0]}"])
        self.exchange(joined, [first[1], second[1]], [first[2], second[2]])

    def chat(self):
        self.c.pick(CHAT)(self.c)

    def impossible(self):
        """A request that none of the functions fits."""
        c = self.c
        groups = {f.family.group for f in self.functions}
        if groups & GENERAL:
            return self.chat()
        family = generic(c) if c.chance(0.25) else c.pick(UNKNOWABLE)
        if family.group in groups or any(clash(family.group, g) for g in groups):
            return self.chat()
        made = self.request(declare(c, family, STYLES[0][1], {k: False for k in ("described", "description_first", "closed", "strict", "name_last", "camel", "enums")}))
        c.say("user", typed(c, made[0]))
        c.say("assistant", NOT_POSSIBLE)

    def incomplete(self):
        """A request without an argument that is needed."""
        c = self.c
        found = [f for f in self.functions if f.family.group in BARE]
        if not found:
            return self.call_one()
        function = c.pick(found)
        asked, key = BARE[function.family.group]
        wanted = key if key in function.family.parameters else next(iter(function.family.parameters))
        c.say("user", typed(c, c.text(asked)))
        c.say("assistant", f"Please tell me the {wanted}.")
        said, values = function.draw(c)
        c.say("user", said[wanted])
        call = function.call(function.arguments(values, {wanted}))
        c.say("assistant", "", [call])
        given, answer = self.reply(function, {wanted: values[wanted]})
        c.say("tool", given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, separators=self.separators))
        c.say("assistant", answer)

    def write(self) -> Conversation:
        c = self.c
        self.separators = c.pick([(", ", ": "), (", ", ": "), (",", ":")])
        self.last = None
        if c.chance(0.1):
            talk.hello(c)
        for _ in range(c.rng.choice(LENGTHS)):
            draw = c.rng.random()
            if draw < 0.5:
                self.call_one()
            elif draw < 0.6:
                self.follow()
            elif draw < 0.76:
                self.call_two()
            elif draw < 0.88:
                self.chat()
            elif draw < 0.96:
                self.impossible()
            else:
                self.incomplete()
        if c.chance(0.12):
            talk.thanks(c)
        return Conversation(c.messages, tuple(f.declared for f in self.functions))


# families that could serve other requests, too
GENERAL = {"search", "calculator"}
CLASHES = [{"weather", "heating"}, {"read", "delete"}, {"message", "email", "reminder", "calendar"}, {"order", "food", "shopping"}, {"timer", "alarm", "reminder", "calendar"}, {"light", "brightness"}, {"customer", "users", "account"}, {"currency", "units"}, {"random", "dice"}, {"sum", "difference", "product", "quotient"},
           {"news", "search"}, {"restaurant", "food"}, {"music", "volume"}, {"time", "date", "calendar"}, {"dictionary", "translate"}, {"distance", "flight"}]  # fmt: skip


FAMILIES_OF = {"file": ("read", "delete"), "lamp": ("light", "brightness"), "door": ("door",), "room": ("heating", "light"), "house": ("heating", "door"), "table": ("restaurant",), "book": ("restaurant", "flight"), "ticket": ("flight",), "song": ("music",), "clock": ("time", "alarm", "timer"), "account": ("account", "customer"), "show": ("customer", "read", "users", "news"), "lock": ("door",), "list": ("users", "shopping"), "order": ("food", "order"),
               "send": ("message", "email"), "read": ("read",), "open": ("read",), "set": ("timer", "alarm", "volume", "heating"), "start": ("timer", "music"), "find": ("search", "recipe", "flight")}  # fmt: skip


def clash(one: str, other: str) -> bool:
    """Whether a function of one family might seem to fit requests of the other; families made up on the spot are told by their verbs and things."""
    if set(one.split()) & set(other.split()):
        return True
    if any(one in FAMILIES_OF.get(word, ()) for word in other.split()) or any(other in FAMILIES_OF.get(word, ()) for word in one.split()):
        return True
    return any({one, other} <= group for group in CLASHES)


# without the functions, other topics of the corpus answer these
ANSWERED_ELSEWHERE = {"sum", "difference", "product", "quotient", "capital", "translate", "dictionary", "calculator", "search", "recipe"}
UNKNOWABLE = [f for f in FAMILIES if f.group not in ANSWERED_ELSEWHERE]
BARE = {
    "weather": ("{what is the weather like|how is the weather|what's the weather|tell me the weather}?", "city"), "time": ("{what time is it|what's the time} there?", "city"), "read": ("{read|open} the file.", "file"), "delete": ("{delete|remove} the file.", "file"), "stock": ("{what is the stock price|tell me the share price}{?|.}", "symbol"),
    "order": ("{where is my order|track my order}{?|.}", "order"), "alarm": ("{set an alarm|wake me up}{.|}", "time"), "music": ("{play a song|play some music}{.|}", "song"), "population": ("{how many people live there|what is the population}?", "city"),
}  # fmt: skip


def conversation(rng, unseen: bool = False) -> Conversation:
    return Dialogue(rng, unseen).write()
