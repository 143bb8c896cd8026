"""Everything in the corpus that is not a story: explanations, questions, letters, talks, lists, diaries, verses."""

import facts
import words
from english import article, paragraphs


def explanation(writer) -> str:
    topic = writer.pick(list(facts.TOPICS))
    text = writer.write(paragraphs(facts.TOPICS[topic]))
    lead = writer.rng.random()
    if lead < 0.08:
        return f"Tell me about {topic}.\n\n{text}" if topic[-1] == "s" else f"Tell me something about {topic}.\n\n{text}"
    if lead < 0.16:
        return f"{topic.capitalize()}\n\n{text}"
    if lead < 0.24:
        return writer.write('"{What are you reading|What did you learn today}?" asked <g>. "{Listen|I will read it to you}," said <h>.') + "\n\n" + text
    return text


def question(writer) -> tuple[str, str]:
    """One question with its answer."""
    rng, pick = writer.rng, writer.pick
    kind = rng.randrange(10)
    if kind == 0:
        thing, color = pick(facts.THINGS)
        return f"What color is {thing}?", pick([f"{thing.capitalize()} is {color}.", f"It is {color}."])
    if kind == 1:
        old, young = pick(facts.YOUNG)
        return f"What is a young {old} called?", f"A young {old} is called {article(young)} {young}."
    if kind == 2:
        animal, sound = pick(facts.SOUNDS)
        return f"What sound does {article(animal)} {animal} make?", f"{article(animal).capitalize()} {animal} {sound}."
    if kind == 3:
        a, b = pick(facts.OPPOSITES)
        a, b = (a, b) if writer.chance(0.5) else (b, a)
        return f"What is the opposite of {a}?", f"The opposite of {a} is {b}."
    if kind == 4:
        does, who = pick(facts.MAKERS)
        return f"Who {does}?", f"{who} {does}."
    if kind == 5:
        names = words.DAYS if writer.chance(0.5) else words.MONTHS
        i = rng.randrange(len(names))
        return f"What comes after {names[i]}?", f"After {names[i]} comes {names[(i + 1) % len(names)]}."
    if kind == 6:
        a, b = rng.randrange(11), rng.randrange(10)
        n = facts.NUMBER_WORDS
        return f"What is {n[a]} plus {n[b]}?", f"{n[a].capitalize()} plus {n[b]} is {n[a + b]}."
    return pick(facts.WHY)


SPOKEN = [
    '"<question>" asked <g>. "<answer>," said <h>.',
    '"<question>" <g.he> asked. "<answer>," said <h>.',
    '"<question>" said <g>. <h> thought for a moment. "<answer>," <h.he> said.',
]


def quiz(writer) -> str:
    rounds = [question(writer) for _ in range(writer.rng.randint(2, 6))]
    style = writer.rng.randrange(4)
    if style == 0:
        return "\n\n".join(f"Question: {q}\nAnswer: {a}" for q, a in dict(rounds).items())
    if style == 1:
        return "\n\n".join(f"Q: {q}\nA: {a}" for q, a in dict(rounds).items())
    if style == 2:
        return "\n\n".join(f"{q} {a}" for q, a in dict(rounds).items())
    lines = [writer.expand("<g> asked <h> some questions.")]
    for q, a in dict(rounds).items():
        writer.bind(question=q, answer=a[:-1])
        lines.append(writer.expand(writer.pick(SPOKEN)))
    lines.append(writer.expand('"{Very good|Well done|All of them are right}!" said <g>.'))
    return writer.write("\n\n".join(lines))


LETTER = """
{Dear|Dearest} <f>,

{How are you?|I hope that you are well.|Thank you for your letter.} {I am writing to you from <home>.|I have not seen you for a long time.|It is <season> here, and the days are <sky>.} {Yesterday|On <day>|Last week}, <news> {I thought of you.|I wish that you had been here.|You would have
laughed.} {The <$animal> of our neighbor {says hello|is well}, too.|My <toy> is still my favorite thing.|We often eat <treat>.}

{Will you come and visit me|When will you come|Can you come to see us} {in <$month>|on <$day>|soon}? {We could <plan>.|I would like to show you <place>.} {Please write back soon.|I am looking forward to your answer.}

{Your friend|With love|Best wishes|Love}, <h>
"""
NEWS = [
    "we went to <place> and saw <num> <animals>.", "it rained all day, and the street looked like a river.", "I lost a tooth while I was eating an apple.", "my brother fell into the pond, but he only got wet.",
    "we found a hedgehog in the garden, and it ate out of my hand.", "I learned to whistle.", "there was a big storm, and the lamp went out, and we told stories in the dark.", "I baked <baked> all by myself.",
    "a circus came to town, and I saw a clown who could walk on his hands.", "we planted a tree, and I gave it a name.", "the cat had four kittens, and one of them is <$fur>.",
]  # fmt: skip
PLANS = ["build a house in a tree", "go fishing", "fly kites on the hill", "look at the stars", "bake a cake", "swim in the lake", "read by the fire", "row a boat across the pond"]

HELLO = """
{Hello! My name is|Hello, my name is|Hello, I am|Hello! I am|Hi! I am|Hi, my name is|Good morning! My name is} <h>{, and| and} I {live in <home>|am <$num> years old|come from <home>}. {I {have|share a room with} a@ {<$fur> {cat|dog}|<col> bird} {named|called} <pet>.|I have a {brother|sister} and a little dog named <pet>.|My best friend is <f>.}
{{In the morning|After school}, I like {to read|to draw|to play outside|to ride my bicycle|to feed the ducks}.|My favorite color is <col>, and my favorite food is <treat>.|I like <season> best, because {it is beautiful|everything is different}.} {When I grow up, I want to be a@ {sailor|doctor|teacher|baker|painter|gardener|pilot}.|One day, I want to
see the {sea|mountains|desert|world}.} {What is your name|What do you like to do|And who are you}?
"""
MEETING = """
"{Hello|Good morning|Good afternoon|Good evening}, <f>," said <h>. {"{Hello|Good morning|Nice to see you}, <h>," said <f>. "{How are you{ today|}|How are things with you}?"

"I am {very well|fine|quite well}, thank you," said <h>. "{And you|And how are you}?" "{I am fine, too|I am a little tired|I have had a strange day|I cannot complain}," said <f>. "<matter>"|"Good to see you, <h>," said <f>. "Where are you going?"

"I am {on my way to <place>|looking for my <toy>|going to visit <g>}," said <h>. "{And you|What are you doing here}?" "{I am only taking a walk|I do not know|I am on my way home}," said <f>. "<matter>"}

{"{Really|Is that true|Are you sure}?" asked <h>. "{Yes, really|Oh yes|It is true|Very sure}," said <f>. "<more>."|"{What did you do then|And then}?" asked <h>. "<more>," said <f>.|"{How strange|You poor thing|I have never heard of such a thing}," said <h>. "<more>," said <f>.} {They both laughed.|<h> shook <h.his> head and laughed.|<h> did not know what to say.|<h> thought about it for a while.}

"{Well, I must go|It is getting late|I have to go home now}," said <h>. "{Goodbye, <f>|See you {tomorrow|on <day>}|It was nice to talk to you}." "{Goodbye|See you soon|Good night}, <h>," said <f>{, and <f.he> waved until <h> was gone|}.
"""
MATTERS = [
    dict(matter="This morning, there was a duck in my kitchen.", more="I gave it some bread, and now it will not leave"),
    dict(matter="I have painted my door <col>, and now I cannot find my house.", more="I walked past it three times"),
    dict(matter="My clock has stopped, so I do not know when to eat.", more="To be safe, I have had breakfast twice"),
    dict(matter="I have found <num> eggs and no hen.", more="I think that the hen is hiding under my bed"),
    dict(matter="The wind has taken my hat.", more="A goat was wearing it when I saw it again"),
    dict(matter="I am teaching my parrot to speak.", more="He already says good morning, but only to the cat"),
]  # fmt: skip
DIARY = """
<day>

{Today was a@ <sky> day.|It is <season>, and today it was <sky>.|Dear diary, today I have a lot to tell.} {In the morning|After breakfast}, I {went to <place> with <f>|helped <g> in the garden|read in my room}. {Later|In the afternoon}, <news> {It made me laugh.|I was tired, but happy.|I will never forget it.} {For supper, we had <treat>.|<g> came to visit
and told us a story.} {Now it is late, and I can hear <$sound>.|Now I must sleep.} {Tomorrow, I want to <plan>.|I wonder what tomorrow will bring.}
"""
SCENE = """
{The <day> market was over, and the square was empty.|<^season> had come early that year.|The morning was <sky>, and nobody was in the street.|The old <worker> opened the door and looked at the sky.|The train was late.|The house at the end of the street had been empty for years.|The little town was still asleep.}
{<$skyline>|A dog barked somewhere.|Smoke rose from the chimneys.} {<h> {stood|sat} by the window and {waited|listened to <$sound>}.|<h> walked slowly along the street with <h.his> hands in <h.his> pockets.} {<h.He> was thinking of <f>, who had gone away in <month>.|"Something is going to happen today," <h.he> thought.}

{Then there was a knock at the door.|Then <h.he> heard steps.|Then somebody called <h.his> name.} <h> {opened the door|turned around}. It was <f>! {<f.His> coat was wet, and <f.he> was smiling.|<f.He> carried a@ <col> bag in one hand and a@ <toy> in the other.} "{I am back|I have come home|I thought that you might be here}," <f.he> said. {<h> could
not say a word.|"You are late," said <h>, but <h.he> was smiling, too.} "{Come in and get warm|Sit down|Tell me everything}," <h.he> said at last.

{They talked until the lamp went out.|They drank tea and talked about old times.|And so the day ended much better than it had begun.}
"""
COUNTING = [
    "One {little|small} <animal> sat by the {door|stream}. Another came, and then there were two. A third one came, and then there were three. A fourth one came, and then there were four. A fifth one came, and then there were five. Five {little|small} <animals> sat in a row, until {a dog barked|it began to rain|the moon came up|the bell rang}. Then {four|three|two} ran away, and only LEFT.",
    "Let us count: one, two, three, four, five, six, seven, eight, nine, ten. {Now let us count back: ten, nine, eight, seven, six, five, four, three, two, one, zero!|You have ten fingers and ten toes.|And now you know how to count to ten.}",
    "There are seven days in a week: Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, and Sunday. {On Monday, the week begins.|Today is <day>.} {On Saturday and Sunday, there is no school.|On <day>, <h> {visits <g>|goes swimming|bakes bread}.}",
    "There are twelve months in a year: January, February, March, April, May, June, July, August, September, October, November, and December. {The birthday of <h> is in <month>.|February is the shortest month.} {<h> likes <month> best.|The year begins in January and ends in December.}",
    "The colors of the rainbow are red, orange, yellow, green, blue, indigo, and violet. {<h> likes <col> best, and <f> likes <col2>.|If you mix blue and yellow, you get green.|If you mix red and yellow, you get orange.}",
    "The number after {one is two|two is three|three is four|four is five|five is six|six is seven|seven is eight|eight is nine|nine is ten}. {A triangle has three sides, and a square has four.|A dozen is twelve, and half a dozen is six.|Two and two make four, and four and four make eight.}",
]  # fmt: skip
LEFT = {"four": "one was left", "three": "two were left", "two": "three were left"}
VERSES = [
    "The <col> {boat|kite} is on the {lake|hill},\nthe {wind is soft|day is warm}, the {trees are still|world is still}.\n{We sing a song, we laugh, we play|We run and jump along the way},\n{and so we spend the summer day|until the sun has gone away}.",
    "{Good night, good night, the day is done|The stars are coming, one by one},\n{the moon has come, and gone the sun|the little birds have gone to rest,\nand every bird is in its nest}.\n{Sleep well, my dear, till morning light|Now close your eyes and hold on tight},\n{I wish you all a sweet good night|and have a good and quiet night}.",
    "One for the {mouse|cat} and two for the {bee|bear},\nthree for the {rabbit|hen} who is sitting there,\nfour for the {fish|frog} and five for the {snail|whale},\nand that is the end of my {little|funny} tale.",
    "Rain, rain, on the {roof|tree},\nrain on {you|him} and rain on me.\nRain on the {river|meadow}, rain on the {street|wheat},\nrain on my {head|hat} and rain on my feet.",
]  # fmt: skip
REQUESTS = [
    "Tell me a story about a@ <h.kind>.", "Write a story about a@ <h.kind> named <h>.", "Please tell me a story.", "Tell me a bedtime story.", "Write a short story about <h> and <f>.", "Can you tell me a story about a@ <h.kind>?",
]  # fmt: skip


def letter(writer):
    writer.bind(news=writer.pick(NEWS), plan=writer.pick(PLANS))
    return writer.write(paragraphs(LETTER))


def greeting(writer):
    writer.bind(pet=writer.pick(words.PET_NAMES))
    return writer.write(paragraphs(HELLO))


def meeting(writer):
    writer.bind(**writer.pick(MATTERS))
    return writer.write(paragraphs(MEETING))


def diary(writer):
    writer.bind(news=writer.pick(NEWS), plan=writer.pick(PLANS))
    return writer.write(paragraphs(DIARY))


def scene(writer):
    return writer.write(paragraphs(SCENE))


def list_of_things(writer):
    text = writer.expand(writer.pick(COUNTING))
    for gone, left in LEFT.items():
        if f"Then {gone} ran" in text:
            text = text.replace("LEFT", left)
    return writer.write(text)


def verse(writer):
    return writer.write(writer.pick(VERSES))


def request(writer):
    return writer.write(writer.pick(REQUESTS))
