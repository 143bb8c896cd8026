"""A conversation under construction: its messages, the facts the user has stated, the requested manner, and the user's typing."""

import re
from dataclasses import dataclass, field
from typing import NamedTuple

import chat_tables as tables
import words
from english import Writer, polish

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_TYPO_WORD = re.compile(r"\b[a-z]{5,}\b")
LOWER_CASE, UNPUNCTUATED, TYPO = 0.35, 0.5, 0.12
INVENTED_NAME = 0.3
_ONSETS = "b br c ch d dr f fl g gr h j k kl l m n p r s sh st t tr v w y z".split()
_VOWELS = "a e i o u ai ea ia o a e".split()
_CODAS = ["", "", "n", "r", "s", "l", "x", "th", "m", "k", "nd", "rt"]


@dataclass(frozen=True)
class Manner:
    """The format of every answer: a function of the finished plain answer; `said` asks for it; `long` allows long answers."""

    name: str
    said: str
    change: object
    long: bool = True


def first_sentence(text: str) -> str:
    return _SENTENCE.split(text.split("\n")[0], maxsplit=1)[0]


def sentences(text: str) -> list[str]:
    return _SENTENCE.split(text)


PLAIN = Manner("plain", "", lambda text: text)
MANNERS = [
    Manner("brief", "{Answer briefly|Be brief|Keep your answers short|Answer in one sentence|Give short answers|Use only one short sentence}.", first_sentence, False),
    Manner("capitals", "{Answer in capitals|Write in capital letters|Always answer in capital letters|Use only capital letters|Answer in all caps}.", str.upper, False),
    Manner("lower", "{Answer in lower case|Use no capital letters|Write everything in lower case}.", str.lower, False),
    Manner("smile", "{Put a smile after every answer|End every answer with a smile|Always end with :)}.", lambda text: text + " :)"),
    Manner("pirate", "{You are a pirate|Talk like a pirate|Answer like a pirate}.", lambda text: "Arr! " + text + " Yo ho!"),
    Manner("quotes", "{Put your answers in quotation marks|Write every answer in quotation marks}.", lambda text: '"' + text.replace('"', "'") + '"', False),
]  # fmt: skip


def ending_manner(writer) -> Manner:
    phrase = writer.pick(tables.CLOSING_PHRASES)
    said = f"{{End every answer with|Always finish with|After each answer, say|End each message with}} \"{phrase}\""
    return Manner("ending", said, lambda text: f"{text} {phrase}")


def opening_manner(writer) -> Manner:
    phrase = writer.pick(tables.OPENING_PHRASES)
    said = f"{{Begin every answer with|Always start with|Start each answer with}} \"{phrase}\""
    return Manner("opening", said, lambda text: f"{phrase} {text}")


class Message(NamedTuple):
    """One message; `calls` are (function, arguments) that the assistant makes."""

    role: str
    text: str
    calls: tuple = ()


class Conversation(NamedTuple):
    """Messages, the system message first if there is one, and the functions that the assistant may call, as JSON objects."""

    messages: list
    functions: tuple = ()


@dataclass
class Chat:
    """`told` has the user's facts by kind; `own_name` is the assistant's name in the system message."""

    writer: Writer
    messages: list = field(default_factory=list)
    told: dict = field(default_factory=dict)
    own_name: str = ""
    own_kind: str = ""
    manner: Manner = PLAIN
    careless: bool = False

    @property
    def rng(self):
        return self.writer.rng

    def pick(self, options):
        return self.writer.pick(options)

    def chance(self, probability: float) -> bool:
        return self.writer.chance(probability)

    def text(self, template, **slots) -> str:
        """Expands a template, or one of a list; slots are inserted verbatim."""
        if not isinstance(template, str):
            template = self.pick(template)
        self.writer.slots.update(slots)
        return polish(self.writer.expand(template))

    def say(self, role: str, text: str, calls=()):
        self.messages.append(Message(role, text, tuple(calls)))

    def ask(self, question, answer, exact: bool = False, **slots):
        """A question of the user and the assistant's answer. `exact`: the question is typed verbatim."""
        asked = self.text(question, **slots)
        self.say("user", asked if exact else self.typed(asked))
        self.say("assistant", self.manner.change(self.text(answer, **slots)))

    def ask_raw(self, question: str, answer: str):
        """As `ask`, with literal texts instead of templates."""
        self.say("user", question)
        self.say("assistant", self.manner.change(answer))

    def typed(self, text: str) -> str:
        """The text as typed by a user: often without capitals or final punctuation, sometimes with a typo."""
        if self.careless or self.chance(0.1):
            if self.chance(LOWER_CASE * 2):
                text = text.lower()
            if self.chance(UNPUNCTUATED) and text[-1:] in ".?!":
                text = text[:-1]
            if self.chance(0.3):
                text = text.replace("'", "").replace(",", "")
            if self.chance(TYPO * 2):
                text = self.slip(text)
        return text

    def slip(self, text: str) -> str:
        """With two adjacent letters of one word exchanged, or one of them doubled or left out."""
        kept = {word.lower() for value in self.writer.slots.values() if isinstance(value, str) for word in value.split()} | tables.EXACT_WORDS
        found = [m for m in _TYPO_WORD.finditer(text) if m.group() not in kept]
        if not found:
            return text
        match = self.pick(found)
        word = match.group()
        i = 1 + self.rng.randrange(len(word) - 2)
        changed = self.pick([word[:i] + word[i + 1] + word[i] + word[i + 2 :], word[:i] + word[i + 1 :], word[:i] + word[i] + word[i:]])
        return text[: match.start()] + changed + text[match.end() :]

    def name(self) -> str:
        """A first name, sometimes an invented one, so that names are copied and not guessed."""
        return self.invented().capitalize() if self.chance(INVENTED_NAME) else self.pick(tables.NAMES)

    def invented(self) -> str:
        syllables = 1 + self.rng.randrange(1, 3)
        return "".join(self.pick(_ONSETS) + self.pick(_VOWELS) for _ in range(syllables)) + self.pick(_CODAS)

    def start(self):
        """The system message, if there is one, and the manner of typing."""
        self.careless = self.chance(0.55)
        draw = self.rng.random()
        if draw < 0.55:
            return
        parts = []
        if draw < 0.68:
            parts.append(self.text(tables.PLAIN_SYSTEM))
        if 0.68 <= draw < 0.80 or draw > 0.97:
            self.own_name = self.name() if self.chance(0.7) else self.pick(tables.ROBOT_NAMES)
            self.own_kind = self.text("{friendly|kind|helpful|cheerful|patient|little|clever} {robot|teacher|assistant|guide|helper|librarian|computer|gardener|sailor}").lower()
            parts.append(self.text("{You are <own>, a@ <kind>.|You are <own>.|Your name is <own>.|You are a@ <kind> {named|called} <own>.|Your name is <own>. You are a@ <kind>.}", own=self.own_name, kind=self.own_kind))
            self.own_kind = self.own_kind if self.own_kind in parts[-1] else ""
        if 0.80 <= draw < 0.83:
            self.told["name"] = self.name()
            parts.append(self.text("{The user is called <x>.|The name of the user is <x>.|You are talking to <x>.|The user's name is <x>.}", x=self.told["name"]))
        if draw >= 0.83 or (self.own_name and self.chance(0.25)):
            self.take_manner()
            parts.append(self.text(self.manner.said))
        if draw > 0.68 and self.chance(0.2):
            parts.insert(0, self.text(tables.PLAIN_SYSTEM))
        self.say("system", " ".join(parts))

    def take_manner(self):
        draw = self.rng.random()
        if draw < 0.15:
            self.manner = ending_manner(self.writer)
        elif draw < 0.3:
            self.manner = opening_manner(self.writer)
        else:
            self.manner = self.writer.pick_common(MANNERS)


def new_chat(rng) -> Chat:
    return Chat(Writer(rng, {**words.POOLS, **tables.POOLS}))
