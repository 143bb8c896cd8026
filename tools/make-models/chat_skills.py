"""Small exercises: sums, counting, spelling, rhymes, opposites, kinds of things, the calendar, other languages, saying after."""

import chat_tables as tables
import words
from english import article
from facts import NUMBER_WORDS

N = NUMBER_WORDS
MAKE = "{what is|what's|how much is|calculate|tell me|can you calculate|compute|} "
OPERATIONS = [("+", "plus"), ("-", "minus"), ("*", "times"), ("/", "divided by")]


def operands(c, kind):
    rng = c.rng
    if kind == 0:
        return (a := rng.randint(0, 20)), (b := rng.randint(0, 20)), a + b
    if kind == 1:
        a = rng.randint(0, 20)
        return a, (b := rng.randint(0, a)), a - b
    if kind == 2:
        return (a := rng.randint(0, 12)), (b := rng.randint(0, 12)), a * b
    b, q = rng.randint(1, 10), rng.randint(0, 10)
    return b * q, b, q


def arithmetic(c):
    draw = c.rng.random()
    if draw < 0.6:
        for _ in range(c.rng.choice([1, 1, 1, 2, 3])):
            one_sum(c)
    elif draw < 0.75:
        a, b, d = (c.rng.randint(0, 12) for _ in range(3))
        if c.chance(0.5):
            c.ask(MAKE + "<a> {+|plus} <b> {+|plus} <d>?", "<a> + <b> is <e>, and <e> + <d> is <f>. {So the answer is <f>.|}", a=a, b=b, d=d, e=a + b, f=a + b + d)
        else:
            a, b, d = a + 8, b % 6, d % 6
            e = a + b - d
            c.ask(MAKE + "<a> {+|plus} <b> {-|minus} <d>?", "<a> + <b> is <s>, and <s> - <d> is <e>. {So the answer is <e>.|}", a=a, b=b, d=d, s=a + b, e=e)
    elif draw < 0.9:
        word_problem(c)
    else:
        compare(c)


def one_sum(c):
    kind = c.pick([0, 0, 0, 1, 1, 2, 2, 3])
    a, b, r = operands(c, kind)
    sign, word = OPERATIONS[kind]
    if c.chance(0.25) and max(a, b, r) <= 20:
        return c.ask(MAKE + f"<a> {word} <b>?", f"<^a> {word} <b> is <r>.", a=N[a], b=N[b], r=N[r])
    tight = sign if c.chance(0.3) else f" {sign} "
    asked = c.pick([MAKE + f"<a> {word} <b>?", MAKE + f"<a>{tight}<b>?", f"<a>{tight}<b>{{ = ?| =|=|?|}}", f"{{and|what about|and what is}} <a> {word} <b>?"])
    c.ask(asked, [f"<a> {sign} <b> is <r>.", f"<a> {sign} <b> = <r>.", f"<a> {word} <b> is <r>.", "{The answer is|It is} <r>."], a=a, b=b, r=r)


STORIES = [
    ("{I have|<n> has|There are} <a> <things>{, and|. Then} {I get|<n> gets|I buy} <b> more. How many <things> {do I have|are there} {now|in all}?", 0),
    ("{I have|<n> has} <a> <things> {and gives|and I give} {away <b>|<b> of them away}. How many are left?", 1),
    ("{I had|There were} <a> <things>. {I ate|I lost|I sold} <b> of them. How many {are left|do I have now}?", 1),
    ("There are <b> {bags|boxes|baskets} with <a> <things> in each. How many <things> are there{ in all|}?", 2),
    ("<b> children share <a> <things>. How many does each child get?", 3),
]


def word_problem(c):
    template, kind = c.pick(STORIES)
    a, b, r = operands(c, kind)
    while min(a, b) < 2:
        a, b, r = operands(c, kind)
    sign = OPERATIONS[kind][0]
    template = template.replace("{I have|<n> has} <a> <things> {and gives|and I give}", c.pick(["I have <a> <things> and I give", "<n> has <a> <things> and gives"]))
    things = c.pick("apples eggs books pens balls coins cookies cards stones pears stamps flowers nuts cakes oranges".split())
    c.ask(template, [f"<a> {sign} <b> = <r>. {{So the answer is <r>.|So there are <r> <things>.|}}"] if kind != 3 else ["<a> / <b> = <r>. {So each child gets <r> <things>.|}"], a=a, b=b, r=r, things=things, n=c.name())


def compare(c):
    a, b = c.rng.sample(range(0, 101), 2)
    low, high = min(a, b), max(a, b)
    kind = c.rng.randrange(5)
    if kind == 0:
        c.ask("{which is {bigger|larger|more}|what is {bigger|larger|more}|which number is {bigger|larger}}{,|:} <a> or <b>?", ["<high> is {bigger|larger} than <low>.", "<high>."], a=a, b=b, low=low, high=high)
    elif kind == 1:
        c.ask("{which is smaller|what is less|which number is smaller}{,|:} <a> or <b>?", ["<low> is {smaller|less} than <high>.", "<low>."], a=a, b=b, low=low, high=high)
    elif kind == 2:
        n = c.rng.randint(0, 30)
        c.ask("is <a> {even or odd|odd or even}?", "<a> is <r>.", a=n, r="even" if n % 2 == 0 else "odd")
    elif kind == 3:
        numbers = c.rng.sample(range(0, 31), c.rng.choice([3, 3, 4]))
        c.ask("{sort|order|put in order|sort these numbers:|please sort} <a>{.|}", "<b>{.|}", exact=True, a=", ".join(map(str, numbers)), b=", ".join(map(str, sorted(numbers))))
    else:
        n = c.rng.randint(0, 30)
        after = c.chance(0.5)
        c.ask(f"{{what|which number}} comes {'after' if after else 'before'} <a>?", f"{{{'After' if after else 'Before'} <a> comes <b>|<b>}}.", a=n + 1, b=n + 2 if after else n)


def counting(c):
    kind = c.rng.randrange(4)
    if kind == 0:
        n = c.rng.randint(2, 20)
        c.ask(["{count|please count|can you count|count up} {to|from 1 to|from one to} <n>{.|?|}"], "<r>.", n=c.pick([n, N[n]]), r=", ".join(str(i) for i in range(1, n + 1)))
    elif kind == 1:
        n = c.rng.randint(3, 12)
        c.ask("{count|please count|can you count} {backwards|down} from <n>{.|?|}", "<r>.", n=n, r=", ".join(str(i) for i in range(n, 0, -1)))
    elif kind == 2:
        a = c.rng.randint(2, 20)
        b = a + c.rng.randint(2, 8)
        c.ask("{count|please count} from <a> to <b>{.|}", "<r>.", a=a, b=b, r=", ".join(str(i) for i in range(a, b + 1)))
    else:
        step, n = c.pick([(2, 10), (2, 8), (5, 6), (10, 10), (3, 5), (5, 4), (2, 5)])
        c.ask("{count|please count} {by|in steps of} <s> {up |}to <n>{.|}", "<r>.", s=c.pick([step, N[step]]), n=step * n, r=", ".join(str(step * i) for i in range(1, n + 1)))


def spelled(word) -> str:
    return "-".join(word.upper())


def spelling(c):
    word = c.pick(tables.SPELLED) if c.chance(0.8) else c.invented()
    slots = dict(w=word, s=spelled(word), n=len(word), r=word[::-1], b=spelled(word[::-1]))
    kind = c.rng.randrange(7)
    if kind < 2:
        c.ask("{how do you spell|spell|please spell|can you spell|how is it spelled:|spell the word|how do I spell} {<w>|\"<w>\"}{?|.|}", ["<s>.", "{You spell it|It is spelled|<^w> is spelled} <s>."], exact=True, **slots)
    elif kind < 4:
        c.ask("{reverse|please reverse|spell backwards|say backwards|turn around|write backwards|reverse the word|what is the reverse of|can you reverse} {<w>|\"<w>\"}{.|?|}", ["<s> backwards is <b>, {so it is|that is} \"<r>\".", "<s> becomes <b>: \"<r>\"."], exact=True, **slots)
    elif kind == 4:
        c.ask("{how many letters {are in|are there in|has|does it have:} |how long is |count the letters {in|of} |how many letters are in the word }{<w>|\"<w>\"}?", ["<s>: that is <n> letters.", "<s>. {These are|That is} <n> letters."], exact=True, **slots)
    elif kind == 5:
        first = c.chance(0.5)
        c.ask(f"{{what is|what's|tell me}} the {'first' if first else 'last'} letter of {{the word |}}<w>?", f"<s>: the {'first' if first else 'last'} letter is <l>.", exact=True, l=(word[0] if first else word[-1]).upper(), **slots)
    else:
        letter = c.pick(word) if c.chance(0.75) else c.pick("aeiorst")
        n = word.count(letter)
        c.ask("{how often does the letter <l> appear in|how many times is the letter <l> in|how many <l>'s are in|how many letters <l> are in} {the word |}<w>?",
              "<s>: {that is|I count} <t>.", exact=True, l=letter, t=["no " + letter, "1 " + letter][n] if n < 2 else f"{n} {letter}'s", **slots)  # fmt: skip


def rhymes(c):
    group = c.rng.sample(c.pick(tables.RHYMES), 3)
    if c.chance(0.7):
        c.ask(["{what rhymes with|what word rhymes with|give me a rhyme for|find a rhyme for|which word rhymes with|a rhyme for|rhyme with|do you know a rhyme for|tell me a word that rhymes with} {<a>|\"<a>\"|the word <a>}{?|.|}"], ["<^b> rhymes with <a>.", "<^b>{.| and <d>.}", "<^b> and <d> rhyme with <a>."], a=group[0], b=group[1], d=group[2])
    else:
        other = c.pick(c.pick(tables.RHYMES))
        same = c.chance(0.5) or other in group
        rhyming = any(group[0] in g and (group[1] if same else other) in g for g in tables.RHYMES)
        c.ask("{do <a> and <b> rhyme|does <a> rhyme with <b>|is <b> a rhyme for <a>}?", "{Yes, <a> and <b> rhyme.|Yes, <a> rhymes with <b>.}" if rhyming else "No, <a> and <b> do not rhyme.", a=group[0], b=group[1] if same else other)


def opposites(c):
    for i in range(c.rng.choice([1, 1, 2, 3])):
        a, b = c.pick(tables.OPPOSITES)
        a, b = (a, b) if c.chance(0.5) else (b, a)
        asked = ["{what is|what's|tell me|give me|do you know|name} the opposite of {<a>|\"<a>\"}{?|}", "{opposite of|the opposite of} <a>{?|}", "what is the {contrary|reverse} of <a>?"] if i == 0 else ["{and|and of|what about|and what about|and the opposite of} <a>?"]
        c.ask(asked, ["The opposite of <a> is <b>.", "{It is <b>|<^b>}."], a=a, b=b)


def kinds(c):
    draw = c.rng.random()
    if draw < 0.5:
        several(c)
    elif draw < 0.8:
        kind = c.pick(tables.CLASSIFIED)
        thing = c.pick(tables.KINDS[kind])
        true = c.chance(0.5)
        claimed = kind if true else c.pick([k for k in tables.CLASSIFIED if thing not in tables.KINDS[k]])
        art = f"{article(thing)} {thing}" if kind not in ("colors", "metals", "countries", "cities", "drinks") else thing
        c.ask("is <a> <k>?", ["Yes, <a> is <k>."] if true else ["No, <a> is <r>.", "No, <a> is not <k>. {It is <r>.|}"], a=art, k=tables.ONE_OF[claimed], r=tables.ONE_OF[kind])
    else:
        right, wrong = c.rng.sample(tables.CLASSIFIED, 2)
        many = c.rng.sample(tables.KINDS[right], 3)
        odd = c.pick([w for w in tables.KINDS[wrong] if w not in tables.KINDS[right]])
        four = many + [odd]
        c.rng.shuffle(four)
        c.ask(["{which word does not fit|which one does not belong|find the odd one out|what does not fit}: <l>{?|}"], "<^o>, because {it is <w>|the others are <k>}.", l=", ".join(four), o=odd, w=tables.ONE_OF[wrong], k=right)


def several(c):
    kind = c.pick([k for k in tables.KINDS if k not in ("days", "months")])
    items = tables.KINDS[kind]
    n = c.rng.randint(1, min(6, len(items)))
    chosen = c.rng.sample(items, n)
    if n == 1:
        c.ask("{name|tell me|give me|say} <k>{.|}", ["<^x>.", "{How about <x>?|<^x> is <k>.}"], k=tables.ONE_OF[kind], x=chosen[0])
    else:
        count = c.pick([str(n), N[n]])
        asked = "{name|list|tell me|give me|can you name|write down|I need} <n> <k>{.|}" if c.chance(0.8) else "{give me|write|make} a list of <n> <k>{.|}"
        c.ask(asked, "<r>", n=count, k=kind, r=listed(c, chosen))
    if c.chance(0.35):
        rest = [x for x in items if x not in chosen]
        if rest:
            c.ask("{another one|one more|and one more|and another}{?|.|, please}", ["<^x>.", "{How about <x>?|One more: <x>.}"], x=c.pick(rest))
        else:
            c.ask("{another one|one more|and one more}{?|.|, please}", ["I do not know any other.", "Those are all that I know."])


def listed(c, items) -> str:
    style = c.rng.random()
    if style < 0.4:
        return "\n".join(f"{i}. {item[0].upper() + item[1:]}" for i, item in enumerate(items, 1))
    joined = items[0] + " and " + items[1] if len(items) == 2 else ", ".join(items[:-1]) + ", and " + items[-1]
    return joined[0].upper() + joined[1:] + "."


def calendar(c):
    months = c.chance(0.5)
    names = words.MONTHS if months else words.DAYS
    unit = "month" if months else "day"
    n, i = len(names), c.rng.randrange(len(names))
    kind = c.rng.randrange(6)
    if kind < 3:
        for step in range(c.rng.choice([1, 1, 2])):
            after = c.chance(0.5)
            where, j = ("after", i + 1) if after else ("before", i - 1)
            asked = f"{{what|which {unit}|what {unit}}} {{comes|is}} {where} <a>?" if step == 0 else f"{{and|what about|and what comes}} {where} <a>?"
            c.ask(asked, [f"{where.capitalize()} <a> comes <b>.", f"<b> comes {where} <a>.", "<b>."], a=names[i % n], b=names[j % n])
            i = j
    elif kind == 3 and not months:
        c.ask("{if today is <a>, {what is tomorrow|what day is tomorrow}|today is <a>. {What is tomorrow|What day is it tomorrow}}?", "{If today is <a>, then tomorrow is <b>.|Tomorrow is <b>.}", a=names[i], b=names[(i + 1) % n])
    elif kind == 4 and not months:
        c.ask("{if today is <a>, what was yesterday|today is <a>. What {was|day was} yesterday}?", "{If today is <a>, then yesterday was <b>.|Yesterday was <b>.}", a=names[i], b=names[(i - 1) % n])
    elif kind == 5:
        c.ask("{list|name|tell me|what are} {all |}the {days of the week|days}{.|?|}" if not months else "{list|name|tell me|what are} {all |}the months{ of the year|}{.|?|}", "<r>.", r=", ".join(names[:-1]) + ", and " + names[-1])
    else:
        ordinals = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth".split()
        c.ask("{what is|which is} the <o> <u> of the <v>?", ["The <o> <u> of the <v> is <b>.", "<b>."], o=ordinals[i], u=unit, v="year" if months else "week", b=names[i])


def translation(c):
    for i in range(c.rng.choice([1, 1, 2, 3])):
        row, k = c.pick(tables.TRANSLATIONS), c.rng.randrange(4)
        language, a, b = tables.LANGUAGES[k], row[0], row[k + 1]
        if i == 0 or c.chance(0.5):
            asked = ["{how do you say|what is|what's|how do I say} {<a>|\"<a>\"} in <l>?", "{translate|please translate} {<a>|\"<a>\"} {to|into} <l>{.|}", "what is the <l> word for <a>?"]
        else:
            asked = ["{and|and what about|what about} {<a>|\"<a>\"} in <l>?"]
        if c.chance(0.15):
            c.ask("{what does|what does the <l> word} \"<b>\" mean{ in English|}?", "{The word|The <l> word} \"<b>\" means \"<a>\".", exact=True, l=language, a=a, b=b)
        else:
            c.ask(asked, ["In <l>, \"<a>\" is \"<b>\".", "It is \"<b>\"."], l=language, a=a, b=b)


def say_after(c):
    draw = c.rng.random()
    if draw < 0.35:
        said = c.invented() if c.chance(0.5) else c.pick(tables.SPELLED)
    elif draw < 0.6:
        said = " ".join(c.pick(tables.SPELLED) if c.chance(0.7) else c.invented() for _ in range(c.rng.randint(2, 6)))
    elif draw < 0.7:
        said = " ".join(str(c.rng.randint(0, 99)) for _ in range(c.rng.randint(1, 5)))
    else:
        said = c.text(["{I love|I like|We like} <$food>{.|!|}", "The {cat|dog|<$animal>} {sleeps|runs|sings} {in|behind|under} the {garden|house|tree}{.|}", "{hello|good morning}, <n>{!|.|}", "{how are you|where is <n>|what is this}?", "<n> {likes|has|sees} a <$color> {ball|hat|kite}.", "{roses are red|the sky is blue|life is good|knowledge is power|practice makes perfect}{.|}", "{yes|no|maybe|never}{!|}"], n=c.name())
    if c.chance(0.15):
        n = c.rng.randint(2, 4)
        said = said.rstrip(".!?")
        return c.ask_raw(c.text("{say|repeat|write} <w> <n> times{.|}", w=f'"{said}"' if c.chance(0.5) else said, n=c.pick([n, N[n]])), " ".join([said] * n))
    quoted = f'"{said}"' if c.chance(0.3) else said
    lead = c.pick(["Repeat after me:", "repeat after me:", "Say", "say", "Please say", "Repeat:", "repeat", "Write", "Say this:", "Can you say", "Please repeat:", "say exactly:", "Repeat this sentence:", "echo"])
    c.ask_raw(f"{lead} {quoted}", said)


def letters_and_words(c):
    """First words by letter, words in order, capitals on request."""
    kind = c.rng.randrange(3)
    if kind == 0:
        letter = c.pick("abcdefghlmprstw")
        fitting = [w for w in tables.SPELLED if w.startswith(letter)]
        c.ask("{tell me|give me|name|say|find} a word {that begins with|that starts with|with} {<l>|the letter <l>}{.|}", ["<^w>.", "\"<^w>\" begins with <l>."], l=c.pick([letter, letter.upper()]), w=c.pick(fitting))
    elif kind == 1:
        chosen = c.rng.sample(tables.SPELLED, 3)
        c.ask("{sort these words|put these words in order|put in alphabetical order|sort}: <a>", "<b>", exact=True, a=", ".join(chosen), b=", ".join(sorted(chosen)))
    else:
        said = " ".join(c.rng.sample(tables.SPELLED, c.rng.randint(1, 3)))
        c.ask_raw(c.text("{write|say} {in capitals|in capital letters}: <w>", w=said), said.upper())
