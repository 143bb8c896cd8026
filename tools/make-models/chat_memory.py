"""Facts that the user states and asks for later: name, color, pet, number, town, age, food, job, hobby, the location of a thing."""

import chat_tables as tables
import words

ACK = "{Good to know.|I will remember that.|I will keep that in mind.|Thank you for telling me.|How nice!|That is nice.|}"
NOT_TOLD = ["You have not told me {that|that yet}.", "I do not know that, because you have not told me{ yet|}."]

# kind: how a value is drawn and stated, the reply, the question for it, and the answer to the question
KINDS = {
    "name": (
        lambda c: c.name(),
        ["{My name is|I am|I'm|I am called|You can call me|Call me|People call me|The name is} <x>{.|!|}", "{by the way, |}my name is <x>{.|, and what is yours?}", "{please |}{remember my name: |call me }<x>{.|}"],
        ["{Nice|Good|I am glad} to meet you, <x>! {How can I help you?|What can I do for you?|}", "Hello, <x>! {How can I help you?|What shall we talk about?|Nice to meet you.|}"],
        ["{what is my name|what's my name|do you remember my name|who am I|do you know my name|tell me my name|what am I called|how am I called|can you say my name|say my name}?"], ["Your name is <x>.", "{You are|You are called} <x>."]),
    "color": (
        lambda c: c.pick(words.COLORS),
        ["{My favorite color is|The color I like best is|I like the color|I love the color} <x>{.|!|}", "<x> is my favorite color{.|!|}"],
        [f"<^x> is a {{nice|beautiful|lovely}} color. {ACK}", f"{{Ah|Oh}}, <x>! {ACK}"],
        ["{what is my favorite color|what's my favorite color|which color do I like|which color do I like best|do you remember my favorite color|do you know which color I like}?"], ["Your favorite color is <x>.", "You like <x> best."]),
    "pet": (
        lambda c: (c.pick(tables.PETS), c.pick(words.PET_NAMES) if c.chance(0.6) else c.name()),
        ["{I have|I've got|At home, I have} a <x0> {called|named} <x1>{.|!|}", "{My <x0> is called|The name of my <x0> is|My <x0>'s name is} <x1>{.|}", "I have a <x0>. {Its|The} name is <x1>."],
        [f"<x1> is a {{nice|lovely|good}} name for a <x0>. {ACK}", "{How nice|How lovely}! {Say hello to <x1> for me.|I like the name <x1>.|What does <x1> like to do?}"],
        ["{what is my <x0> called|what is the name of my <x0>|what's my <x0>'s name|do you remember my <x0>'s name|how is my <x0> called|what is my pet's name|what's the name of my pet}?"], ["Your <x0> is called <x1>.", "{The name of your <x0> is|Your <x0>'s name is} <x1>."]),
    "number": (
        lambda c: c.rng.randint(1, 100),
        ["{My {favorite|lucky} number is|Remember the number|Please remember the number|Please remember this number:|Keep this number in mind:|The number is} <x>{.|}", "I am thinking of the number <x>{.|}"],
        ["{OK|All right|Of course}, {I will remember <x>|<x>}.", "<x>. {I will remember it.|I will keep it in mind.|}"],
        ["{what was the number|what is my number|which number did I tell you|what was my number|do you remember the number|what number did I say|what is my favorite number|what's my lucky number}?"], ["{The number was|Your number is|You told me the number} <x>.", "It was <x>."]),
    "city": (
        lambda c: c.pick(tables.CITIES) if c.chance(0.75) else c.invented().capitalize(),
        ["{I live in|I am from|I come from|My home is in|My home town is|I was born in} <x>{.|}"],
        [f"<x> {{must be|sounds like}} a nice place. {ACK}", f"{{Ah|Oh}}, <x>! {ACK}"],
        ["{where do I live|where am I from|where do I come from|do you remember where I live|which town do I come from|what is my home town}?"], ["You {live in|are from|come from} <x>."]),
    "age": (
        lambda c: c.rng.randint(5, 80),
        ["{I am|I'm} <x> years old{.|}", "{My age is <x>|I am <x>|I just turned <x>|I turned <x> today}{.|}"],
        [f"<x>{{! What a good age.| is a good age.}} {ACK}", f"{{Very well|Thank you}}, you are <x>. {ACK}"],
        ["{how old am I|what is my age|do you remember my age|do you remember how old I am|what's my age}?"], ["You are <x> years old.", "You are <x>."]),
    "food": (
        lambda c: c.pick(tables.FOODS),
        ["{My favorite food is|I like to eat|I love|The food I like best is|I could eat all day:} <x>{.|!|}"],
        [f"{{Mmh|Yum}}, <x>! {ACK}", f"<^x>, {{that is a good choice|how tasty}}. {ACK}"],
        ["{what is my favorite food|what do I like to eat|what's my favorite food|which food do I like|do you remember what I like to eat}?"], ["{Your favorite food is|You like to eat|You like} <x>."]),
    "job": (
        lambda c: c.pick(tables.JOBS),
        ["{I am|I'm|I work as} a@ <x>{.|}", "{My job is: <x>|I have worked as a@ <x> for years}{.|}"],
        ["{That is|What} an interesting job. {Do you like it?|What do you like about it?|}", "A@ <x>! {That is a fine job.|Do you like your work?|}"],
        ["{what is my job|what do I do for a living|what do I work as|what's my job|do you remember my job|what is my profession}?"], ["You are a@ <x>.", "You work as a@ <x>."]),
    "hobby": (
        lambda c: c.pick(tables.HOBBIES),
        ["{I like|My hobby is|I love|In my free time, I like|My favorite hobby is} <x>{.|!|}"],
        [f"<^x> is {{fun|a nice hobby|a good hobby}}. {ACK}", f"{{How nice|That sounds fun}}! {ACK}"],
        ["{what is my hobby|what do I like to do|what's my hobby|do you remember my hobby|what do I do in my free time}?"], ["{Your hobby is|You like} <x>."]),
    "thing": (
        lambda c: (c.pick(tables.OBJECTS), c.pick(tables.SPOTS)),
        ["{I put|I left|I have put|Remember: I put} {my|the} <x0> <x1>{.|}", "My <x0> is <x1>{.|}"],
        ["{OK|All right|Good to know}, your <x0> is <y>. {I will remember that.|}", "{I will remember|I will keep in mind} that your <x0> is <y>."],
        ["{where is my <x0>|where did I put my <x0>|where is the <x0>|I cannot find my <x0>. Where is it|do you know where my <x0> is|where did I leave my <x0>}?"], ["Your <x0> is <y>.", "You {put|left} it <y>."]),
    "friend": (
        lambda c: c.name(),
        ["{My best friend is|My best friend is called|My friend's name is|I have a friend called} <x>{.|}"],
        [f"{{It is good to have friends|A good friend is worth a lot}}. {ACK}", "{Say hello to <x> from me!|How nice! How long have you known <x>?}"],
        ["{who is my best friend|what is my friend's name|what is my best friend called|what is the name of my friend|who is my friend}?"], ["{Your best friend is|Your friend is called} <x>."]),
    "word": (
        lambda c: c.invented(),
        ["{The secret word is|The password is|Remember this word:|Please remember the word|The magic word is} <x>{.|}"],
        ["{OK|All right|Of course}, {I will remember it|I will remember the word|the word is <x>}."],
        ["{what is the secret word|what was the word|which word did I tell you|do you remember the word|what was the secret word|what was the password|what is the magic word}?"], ["{The word is|The word was|You told me the word} <x>."]),
}  # fmt: skip
WEIGHTED = ["name"] * 4 + ["color", "pet", "pet", "number", "number", "city", "age", "food", "job", "hobby", "thing", "thing", "friend", "word", "word"]


def slots(kind, value) -> dict:
    if kind == "pet":
        return {"x0": value[0], "x1": value[1]}
    if kind == "thing":
        return {"x0": value[0], "x1": value[1], "y": value[1].replace(" my ", " your ")}
    return {"x": value}


def tell(c):
    kind = c.pick(WEIGHTED)
    draw, said, answered, _, _ = KINDS[kind]
    changed = kind in c.told
    value = c.told[kind] = draw(c)
    if changed and kind not in ("pet", "thing"):
        said = ["{Actually,|No,|I have changed my mind:|Sorry, I made a mistake:} " + c.pick(said)]
    c.ask(said, answered, **slots(kind, value))
    if c.chance(0.2):
        recall(c, kind)


def tell_two(c):
    """Two facts in one message."""
    first, second = c.rng.sample(["color", "city", "age", "food", "hobby"], 2)
    name = c.told["name"] = c.name()
    a, b = (KINDS[k][0](c) for k in (first, second))
    c.told[first], c.told[second] = a, b
    plain = {"color": "my favorite color is <x>", "city": "I live in <x>", "age": "I am <x> years old", "food": "I like to eat <x>", "hobby": "my hobby is <x>"}
    one, two = (c.text(plain[k], x=v) for k, v in ((first, a), (second, b)))
    c.ask("{Hello! |Hi, |}{my name is|I am} <n>, {and|} <one> {and|and also} <two>.", ["Nice to meet you, <n>! {I will remember that.|Thank you for telling me.|}", "Hello, <n>! {Good to know.|I will keep that in mind.|}"], n=name, one=one[0].lower() + one[1:] if not one.startswith("I ") else one, two=two[0].lower() + two[1:] if not two.startswith("I ") else two)
    recall(c, c.pick([first, second, "name"]))


def recall(c, kind=None):
    """A question about a stated fact or, sometimes, about an unknown one."""
    if kind is None:
        unknown = [k for k in KINDS if k not in c.told]
        if (not c.told or c.chance(0.15)) and unknown:
            kind = c.pick(unknown)
            asked = KINDS[kind][3]
            value = ("dog", "") if kind == "pet" else (c.pick(tables.OBJECTS), "") if kind == "thing" else ""
            return c.ask(asked, NOT_TOLD, **slots(kind, value))
        kind = c.pick(list(c.told))
    _, _, _, asked, given = KINDS[kind]
    c.ask(asked, given, **slots(kind, c.told[kind]))


def summary(c):
    """All stated facts, in one answer."""
    plain = {"name": "your name is <x>", "color": "your favorite color is <x>", "city": "you come from <x>", "age": "you are <x> years old", "food": "you like <x>", "hobby": "your hobby is <x>", "pet": "you have a <x0> called <x1>", "job": "you are a@ <x>", "number": "your number is <x>",
             "friend": "your friend is called <x>", "word": "the word is <x>", "thing": "your <x0> is <y>"}  # fmt: skip
    asked = "{what do you know about me|what have I told you|what did I tell you|tell me what you know about me|what do you remember about me}?"
    if not c.told:
        return c.ask(asked, ["Nothing yet. You have not told me anything about you.", "You have not told me anything about you."])
    parts = [c.text(plain[k], **slots(k, v)) for k, v in c.told.items()]
    parts = [p[0].lower() + p[1:] for p in parts]
    joined = parts[0] if len(parts) == 1 else ", ".join(parts[:-1]) + ", and " + parts[-1]
    c.ask(asked, "{You told me that|I know that} <joined>.", joined=joined)
