"""A small template language for writing correct English, and the rules that polish what it writes.

Templates are ordinary text with three marks:

    {one|two|}      one of the branches, each as likely as the others (a branch may be empty and may nest)
    <hero>          the value of a slot; <hero.him> is one of its attributes; <^hero> is the slot with a capital
    <$weather>      a fresh draw from the pool of that name; the draw is itself a template
    a@ <thing>      the article that fits the word that follows: "a" or "an"

Expansion draws from a `random.Random`, so the same seed writes the same text.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(r"([{}|]|<\^?\$?[A-Za-z0-9_]+(?:\.[A-Za-z]+)?>)")
_ARTICLE = re.compile(r"\b([Aa])@ (\"?)(\w+)")
_SENTENCE_START = re.compile(r'(^"?|\n"?|[.!?:] "|[.!?] |\." |[.!?]" ")([a-z])')
_SPACES = re.compile(r"[ \t]{2,}")
_SPACE_BEFORE_MARK = re.compile(r" +([,.!?;:](?:\s|$|\"))")
SKEW = 1.6
_SILENT_H = ("hour", "honest", "heir")
_SPOKEN_Y = ("uni", "use", "usual", "one", "once", "eu", "ukulele")


def article(word: str) -> str:
    """The indefinite article for a word: "an owl", "an hour", "a unicorn", "an 8", "a 7"."""
    lower = word.lower()
    if lower[0].isdigit():
        return "an" if lower[0] == "8" or lower in ("11", "18") else "a"
    if lower.startswith(_SILENT_H):
        return "an"
    if lower.startswith(_SPOKEN_Y) and not lower.startswith("unin"):
        return "a"
    return "an" if lower[0] in "aeiou" else "a"


@lru_cache(maxsize=None)
def parse(template: str):
    """The template as a tree: a tuple of literals (str), slots (("slot", …)) and choices (("choice", branches))."""
    stack = [[[]]]
    for piece in _TOKEN.split(template):
        if piece == "{":
            stack.append([[]])
        elif piece == "}" and len(stack) > 1:
            branches = tuple(tuple(branch) for branch in stack.pop())
            stack[-1][-1].append(("choice", branches))
        elif piece == "|" and len(stack) > 1:
            stack[-1].append([])
        elif piece.startswith("<") and piece.endswith(">") and len(piece) > 2:
            capital, name = piece[1] == "^", piece[1:-1].lstrip("^")
            kind = "pool" if name.startswith("$") else "slot"
            base, _, attribute = name.lstrip("$").partition(".")
            stack[-1][-1].append((kind, base, attribute, capital))
        elif piece:
            stack[-1][-1].append(piece)
    if len(stack) != 1:
        raise ValueError(f"unbalanced braces in template: {template!r}")
    return tuple(stack[0][0])


@dataclass(frozen=True, slots=True)
class Being:
    """A character of a story: names and pronouns."""

    name: str
    kind: str
    he: str
    him: str
    his: str
    himself: str

    @property
    def He(self):  # noqa: N802 - the capital is the point
        return self.he.capitalize()

    @property
    def His(self):  # noqa: N802
        return self.his.capitalize()

    def __str__(self):
        return self.name


def she(name: str, kind: str = "girl") -> Being:
    return Being(name, kind, "she", "her", "her", "herself")


def he(name: str, kind: str = "boy") -> Being:
    return Being(name, kind, "he", "him", "his", "himself")


class Writer:
    """Expands templates against bound slots and named pools."""

    def __init__(self, rng, pools):
        self._random = rng.random
        self.rng = rng
        self.pools = pools
        self.slots = {}

    def pick(self, options):
        return options[int(self._random() * len(options))]

    def pick_common(self, options):
        """An option, the front of the list more often: like words in life, names and phrases are not equally common."""
        return options[int(self._random() ** SKEW * len(options))]

    def chance(self, probability: float) -> bool:
        return self._random() < probability

    def bind(self, **slots):
        """Fixes slots for the rest of the document; text is expanded once, here, so it stays the same everywhere."""
        for name, value in slots.items():
            self.slots[name] = self.expand(value) if isinstance(value, str) else value

    def expand(self, template: str) -> str:
        out = []
        self._expand(parse(template), out)
        return "".join(out)

    def _expand(self, nodes, out):
        for node in nodes:
            if node.__class__ is str:
                out.append(node)
            elif node[0] == "choice":
                branches = node[1]
                self._expand(branches[int(self._random() * len(branches))], out)
            else:
                out.append(self._value(*node))

    def _value(self, kind, name, attribute, capital):
        if kind == "pool":
            text = self.expand(self.pick_common(self.pools[name]))
        else:
            value = self.slots[name]
            text = str(getattr(value, attribute) if attribute else value)
        return text[:1].upper() + text[1:] if capital else text

    def write(self, template: str) -> str:
        """One finished text: expanded, with articles, capitals and spaces put right."""
        return polish(self.expand(template))


def polish(text: str) -> str:
    text = _SPACES.sub(" ", text)
    text = _SPACE_BEFORE_MARK.sub(r"\1", text)
    text = _ARTICLE.sub(_put_article, text)
    text = _SENTENCE_START.sub(lambda m: m.group(1) + m.group(2).upper(), text)
    return "\n".join(line.strip() for line in text.split("\n")).strip()


def _put_article(match):
    chosen = article(match.group(3))
    chosen = chosen.capitalize() if match.group(1) == "A" else chosen
    return f"{chosen} {match.group(2)}{match.group(3)}"


def paragraphs(block: str) -> str:
    """A triple-quoted block as template text: blank lines part paragraphs, other line breaks are spaces."""
    parts = re.split(r"\n\s*\n", block.strip())
    return "\n\n".join(" ".join(part.split("\n")) for part in parts)



_SAID = "said|asked|cried|whispered|shouted|called"
_SPEAKER = r"the (?:old |kind )?[a-z]+|(?:Mrs\. |Mr\. |Aunt |Uncle |Little )?(?!Mrs?\b)[A-Z][a-z]+"
_SPEECH = re.compile(rf'(^|\n|[.!?]"? )"([^"]+)([,!?])" (?:({_SAID}) ({_SPEAKER})|(he|she) ({_SAID}))\.(?! ")(?=\s|$)')


def vary_speech(text: str, rng, probability: float) -> str:
    """Moves the speaker to the front in some speeches: `"Come in," said Tom.` becomes `Tom said, "Come in."`"""

    def front(match):
        if rng.random() >= probability:
            return match.group(0)
        before, words, mark, said, speaker, pronoun, pronoun_said = match.groups()
        speaker = speaker or pronoun
        mark = "." if mark == "," else mark
        return f'{before}{speaker[0].upper()}{speaker[1:]} {said or pronoun_said}, "{words}{mark}"'

    return _SPEECH.sub(front, text)
