"""Stories, poems, jokes, riddles and letters on request, with the names and things that were asked for."""

import chat_tables as tables
import words
from english import Being, article

HEROES = "dragon fox mouse cat dog rabbit robot princess knight pirate bear owl penguin boy girl king queen witch wizard elephant unicorn cloud snail duck farmer sailor astronaut monkey turtle ghost giant frog horse lion wolf bird".split()
THINGS = "lamp key ball kite book hat boat drum bell star map flower stone apple clock lantern ring umbrella cake letter".split()
PLACES = ["in the forest", "by the sea", "on a mountain", "in a small village", "in a big city", "on an island", "in an old castle", "at the edge of a lake", "in a quiet valley", "on the moon", "in a garden", "under an old oak"]

# <h> hero with pronouns, <k> what the hero is, <f> a friend, <g> what the friend is, <o> a thing, <p> a place
OPEN = ["Once upon a time, there was a@ <$adj> <k> named <h>. <h.He> lived <p>.", "Once upon a time, a@ <$adj> <k> named <h> lived <p>.", "<p1>, there lived a@ <$adj> <k> called <h>.", "Long ago, a@ <k> named <h> lived <p>."]
MIDDLES = [
    "One day, <h> found a@ <$adj2> <o>. \"Whose <o> is this?\" <h.he> asked. <h.He> {asked everybody|looked for the owner}, until <h.he> met <f>, a@ <g>, who {was crying|looked very sad}. \"{I have lost|I cannot find} my <o>,\" said <f>. <h> gave it back, and <f> {smiled|was very happy}.",
    "<h> wanted to learn to {sing|dance|swim|fly|whistle|read}, but it was hard. \"{Try again|Do not give up},\" said <f>, the <g>. So <h> tried every day. After {a week|a month|many days}, <h.he> {could do it|did it}, and everybody clapped.",
    "One {night|evening}, there was a big storm. <h> heard a knock at the door. It was <f>, a@ <g>, who was {wet and cold|lost in the rain}. \"Come in,\" said <h>. They drank {hot tea|warm milk} and told stories until the storm was over.",
    "<h> was afraid of the dark. One evening, <f> the <g> gave <h.him> a@ <o>. \"{When you are afraid, hold it|Keep it with you},\" said <f>. That night, <h> looked up and saw {a thousand stars|the bright moon}. After that, <h.he> was not afraid any more.",
    "One morning, <h> set out to find a@ <$adj2> <o>. On the way, <h.he> met <f>, a@ <g>. \"May I come with you?\" asked <f>. They walked over hills and through the woods. At last, they found the <o> {under a tree|behind a waterfall|in an old box}, and they shared it.",
    "<h> had a@ <$adj2> <o> and did not want to share it. But playing alone was {boring|no fun}. Then <f>, a@ <g>, came by and asked, \"{Can we play together|May I see your <o>}?\" <h> thought for a moment and said yes. They played all day, and it was much more fun.",
    "One day, the <o> of <f>, the <g>, broke. \"{Oh no|Oh dear},\" said <f>, \"{who can fix it|what shall I do}?\" <h> {thought hard|had an idea} and fixed it with {a piece of string|a little glue}. \"Thank you,\" said <f>, \"you are a true friend.\"",
    "<h> planted a small seed {behind the house|in the earth} and gave it water every day. \"Nothing will grow,\" said <f>, the <g>. But <h> waited. In spring, a@ <$color> flower came out, and it was the most beautiful one of all. <f> had to laugh and said, \"{You were right|I was wrong}.\"",
    "One day, <h> was so sleepy that <h.he> {put the <o> on <h.his> head|looked for the <o> in the soup}. <f>, the <g>, laughed and laughed. Then <h> laughed, too. \"I think I need a nap,\" said <h>, and <h.he> slept until the next morning.",
    "<h> and <f>, a@ <g>, had a race. <f> was much faster, but <f> stopped to {eat berries|sleep in the sun|look at the clouds}. <h> went on, step by step, and came to the <o> at the end first. \"Slow and steady wins,\" said <h>.",
]  # fmt: skip
ENDINGS = ["From that day on, they were {good|best} friends.", "And they lived happily ever after.", "It was a very good day.", "<h> never forgot that day.", "That night, <h> slept very well.", "And <h> was happy."]


def hero(c, name, kind) -> Being:
    female = kind in ("princess", "girl", "queen", "witch") or (kind not in ("boy", "king", "knight", "wizard") and c.chance(0.5))
    return Being(name, kind, "she", "her", "her", "herself") if female else Being(name, kind, "he", "him", "his", "himself")


def story(c):
    asked_kind, asked_name, asked_thing = c.chance(0.7), c.chance(0.35), c.chance(0.15)
    kind = c.pick(HEROES) if asked_kind else c.pick(HEROES[:12])
    name = c.name() if asked_name else c.pick(words.PET_NAMES + words.GIRLS + words.BOYS)
    thing = c.pick(THINGS)
    who = f"{article(kind)} {kind}" if asked_kind else ""
    about = " about " + who if who else ""
    about += (" called <n>" if c.chance(0.5) else " named <n>") if who and asked_name else " about <n>" if asked_name else ""
    about += (" and " if about else " about ") + f"{article(thing)} {thing}" if asked_thing else ""
    asked = ["{tell me|write|please tell me|can you tell me|I want to hear|make up|write me|I would like} {a|a short|a little|another|a nice} story<about>{.|}", "{story|a story|short story}<about>{, please|}{.|}"]
    if asked_name and not asked_kind:
        kind = c.pick(["girl", "boy"])
    c.writer.slots["n"] = name
    c.ask(asked, tale(c, name, kind, thing), about=c.text(about) and " " + c.text(about))
    if c.chance(0.25):
        new = c.pick([k for k in HEROES if k != kind])
        if c.chance(0.5):
            c.ask(["{another one|another story|one more|tell me another one|one more story|again}{.|, please|!|}"], tale(c, c.pick(words.PET_NAMES), c.pick(HEROES[:12]), c.pick(THINGS)))
        else:
            c.ask(["{and one|now one|another one|and a story} about a@ <k>{.|?|}"], tale(c, c.pick(words.PET_NAMES), new, c.pick(THINGS)), k=new)
    elif c.chance(0.15):
        c.ask(["{what was|what is} the {name of the <k>|<k> called}?", "{who was the story about|what was the name of the hero}?"], ["{The <k> was called|The name of the <k> was} <n>.", "<n>."], k=kind, n=name)


def tale(c, name, kind, thing) -> str:
    friend_kind = c.pick([k for k in HEROES[:18] if k != kind])
    friend = c.pick([n for n in words.PET_NAMES + words.GIRLS if n != name])
    place = c.pick(PLACES)
    adjective = c.pick(["shiny", "golden", "small", "old", "strange", "beautiful", "red", "blue", "silver", "wooden"])
    c.writer.slots.update(h=hero(c, name, kind), k=kind, f=friend, g=friend_kind, o=thing, p=place, p1=place[0].upper() + place[1:])
    return c.text(c.pick(OPEN) + " " + c.pick(MIDDLES).replace("<$adj2>", adjective) + " " + c.pick(ENDINGS))


POEM_THINGS = {
    "the sea": ("The sea is wide, the sea is blue,", "it sings a song for me and you.", "The waves come in, the waves go out,", "and little fishes swim about."),
    "the moon": ("The moon is bright, the moon is round,", "it climbs the sky without a sound.", "It looks at every roof and tree,", "and then it smiles at you and me."),
    "a cat": ("A little cat sat by the door,", "she had some milk and wanted more.", "She closed her eyes, she dreamed of mice,", "and all she said was: this is nice."),
    "a dog": ("My little dog can run and play,", "he wags his tail the whole long day.", "And when the day is over, he", "will come and sleep right next to me."),
    "spring": ("The snow is gone, the grass is green,", "the finest flowers can be seen.", "The birds are singing in the tree,", "and spring has come for you and me."),
    "winter": ("The snow falls down without a sound,", "it makes a blanket on the ground.", "We sit inside, the fire is warm,", "and nothing here can do us harm."),
    "the rain": ("The rain is tapping on the pane,", "it stops a while and starts again.", "It fills the pond, it wakes the seed,", "it gives us all the things we need."),
    "the stars": ("The stars come out, so small, so bright,", "they fill the sky with silver light.", "I count them all, but long before", "the hundredth star, I count no more."),
    "love": ("Your name is like a song to me,", "a little boat upon the sea.", "And where you go, I would go, too,", "for all good things begin with you."),
    "a friend": ("A friend is someone good and true,", "who laughs and sometimes cries with you.", "And if the road is dark and long,", "a friend will hum a little song."),
    "the sun": ("The sun gets up, the night is done,", "it says hello to everyone.", "It warms the field, it warms the hill,", "and shines upon my window sill."),
    "autumn": ("The leaves turn yellow, red, and brown,", "and one by one they tumble down.", "The wind is cool, the days are short,", "and apples are of every sort."),
    "a tree": ("The tree stood there when I was small,", "it was so strong, it was so tall.", "And in its branches, every spring,", "a hundred birds begin to sing."),
    "the night": ("The night is dark, the night is deep,", "and all the world has gone to sleep.", "The owl alone is still awake", "and flies in silence by the lake."),
    "a rose": ("A rose was growing by the wall,", "the reddest rose among them all.", "It had a thorn, but I don't mind:", "the rose itself was sweet and kind."),
    "a computer": ("My computer hums and glows,", "what it is thinking, no one knows.", "It counts in zeros and in ones,", "and never stops until it runs."),
}  # fmt: skip


def poem(c):
    named = c.chance(0.8)
    thing = c.pick(list(POEM_THINGS))
    asked = "{write|tell me|give me|can you write|please write|I want|make} a {short |little |}{poem|rhyme|verse|poem}"
    c.ask(asked + (" about <t>{.|}" if named else "{.|}"), "<r>", t=thing, r="\n".join(line[0].upper() + line[1:] for line in POEM_THINGS[thing]))
    if c.chance(0.2):
        other = c.pick([t for t in POEM_THINGS if t != thing])
        c.ask("{and|now|and one|another one} about <t>{.|?|}", "<r>", t=other, r="\n".join(line[0].upper() + line[1:] for line in POEM_THINGS[other]))


JOKES = [
    ("Why did the clock go to the doctor?", "Because it always felt run down."), ("What has hands but cannot clap?", "A clock."), ("Why was the math book sad?", "Because it had too many problems."), ("What gets wetter the more it dries?", "A towel."),
    ("Why did the chicken cross the road?", "To get to the other side."), ("What do you call a bear without teeth?", "A gummy bear."), ("Why can a bicycle not stand alone?", "Because it is two tired."), ("What has a neck but no head?", "A bottle."),
    ("What did the zero say to the eight?", "Nice belt!"), ("Why do bees hum?", "Because they have forgotten the words."), ("What kind of tree fits in your hand?", "A palm tree."), ("What has keys but opens no door?", "A piano."),
    ("Why did the computer go to bed early?", "Because it had a lot of bytes to digest."), ("What goes up but never comes down?", "Your age."), ("Why is the sea so friendly?", "Because it always waves."), ("What do you call a sleeping bull?", "A bulldozer."),
    ("Why did the tomato turn red?", "Because it saw the salad dressing."), ("What runs but has no legs?", "Water."), ("Which room has no door?", "A mushroom."), ("Why did the cookie feel sick?", "Because it was feeling crumbly."),
    ("What did one wall say to the other?", "Let us meet at the corner."), ("How does the moon cut its hair?", "Eclipse it."), ("What has teeth but cannot bite?", "A comb."), ("Why are fish so clever?", "Because they live in schools."),
]  # fmt: skip


def joke(c):
    for i, (question, answer) in enumerate(c.rng.sample(JOKES, c.rng.choice([1, 1, 2, 2, 3]))):
        asked = ["{tell me|do you know|can you tell me|I want to hear|give me} {a|a good|a funny|another} joke{.|}", "{make me laugh|say something funny|joke|a joke, please|be funny}{.|!|}"] if i == 0 else ["{another one|another joke|one more|tell me another|again|more|one more joke}{.|, please|!|}"]
        c.ask(asked, "<q> <a>", q=question, a=answer)


def riddle(c):
    """Asked with the answer held back until the user guesses or gives up."""
    question, answer = c.pick([j for j in JOKES if j[0].startswith(("What has", "What gets", "What goes", "What runs"))])
    c.ask("{tell me|give me|ask me|do you know} a {riddle|question}{.|}", "<q>", q=question)
    if c.chance(0.5):
        c.ask(["{I do not know|I don't know|no idea|tell me|what is the answer|I give up|what is it|what}{.|?|}"], "<a>", a=answer)
    else:
        thing = answer.rstrip(".").lower()
        right = c.chance(0.5)
        guess = thing if right else c.pick([t for t in ("a cat", "the wind", "a house", "a tree", "the sun", "a stone", "a boat") if t != thing])
        c.ask(["{is it <g>|<g>|it is <g>|maybe <g>|<g>, I think}?"], "{Yes, that is right|Right|Very good}! {It is <a>.|}" if right else "No{, it is not <g>|}. {It is <a>.|The answer is: <a>.}", g=guess, a=thing)


def letter(c):
    a, b = c.name(), c.name()
    occasion, body = c.pick([
        ("a birthday card", "Happy birthday! I wish you {a wonderful day|all the best}, {health, and many good friends|and a lot of cake}."), ("a thank-you note", "Thank you {very much for your help|for the lovely present}. {It made me very happy.|You are a good friend.}"),
        ("an invitation", "I would like to invite you to {my party|dinner|tea} on <$day>. {I hope that you can come.|Please tell me if you can come.}"), ("a short letter", "{How are you?|I hope that you are well.} {I am fine.|Here, the sun is shining.} {I would like to see you soon.|Please write back soon.}"),
        ("a get-well card", "I heard that you are ill. {I hope that you feel better soon.|Get well soon!}"), ("an apology", "I am {very |}sorry {for what I said|that I forgot your birthday}. {I hope that you can forgive me.|It will not happen again.}"),
    ])  # fmt: skip
    c.ask("{write|please write|can you write|help me write} {<o> to <a>|<o> to <a> from <b>}{.|}", "x", o=occasion, a=a, b=b)
    signed = b if f"from {b}".lower() in c.messages[-2].text.lower() else "your friend"
    c.messages.pop()
    c.say("assistant", c.manner.change(f"Dear {a},\n\n{c.text(body)}\n\nBest wishes,\n{signed}"))


def sentence(c):
    """One sentence with a word that is asked for."""
    word = c.pick([w for w in tables.SPELLED if w in THINGS or w in tables.KINDS["animals"]])
    c.ask(["{write|make|say|give me|form} a sentence {with|with the word|about} {<w>|\"<w>\"|a@ <w>}{.|}", "use {<w>|\"<w>\"} in a sentence{.|}"],
          ["The <w> {is|was} {very |}{small|old|beautiful|on the table|in the garden|near the house}.", "{Yesterday, I saw|I have|I would like to have|She dreamed of|There is} a@ <w> {in the garden|at home|by the river}.", "<n> {likes|looked for|found|drew} the <w>."], w=word, n=c.pick(words.GIRLS + words.BOYS))  # fmt: skip
