"""Easy questions about the world, in many phrasings, with follow-up questions: reasons, related things, more detail."""

import chat_tables as tables
import facts
from chat_dialogue import sentences
from english import article, paragraphs

# (questions, answer, why or "")
GENERAL = [
    ("{why is the sky blue|what makes the sky blue|how come the sky is blue}", "The air scatters blue light more than red light, and so the sky looks blue.", ""),
    ("{why do leaves fall in autumn|why do trees lose their leaves}", "A tree drops its leaves in autumn to save water during the winter.", "In winter, the ground is frozen, and the roots find little water."),
    ("{why is the sea salty|why is the ocean salty|why is sea water salty}", "Rivers carry a little salt from the rocks into the sea, and the salt stays there.", "Only the water rises into the air, and the salt stays behind."),
    ("why do we see lightning before {we hear |}thunder", "Light is much faster than sound.", ""),
    ("why do cats have whiskers", "With their whiskers, cats can feel their way in the dark.", ""),
    ("{why does ice float|why does ice swim on water}", "Ice is a little lighter than water.", "When water freezes, it takes up more room."),
    ("{why do birds fly south|why do birds leave in autumn}", "In winter, they find more food in warm countries.", "In the cold, there are few insects to eat."),
    ("{why is the night dark|why is it dark at night|why does it get dark}", "At night, our side of the earth is turned away from the sun.", "The earth turns around once a day."),
    ("{why do we sleep|why do we need sleep}", "While we sleep, the body rests and the brain puts the day in order.", ""),
    ("{why do we need bees|why are bees important}", "Bees carry pollen from flower to flower, and so the plants can make fruit.", ""),
    ("{why does it rain|where does rain come from|how does rain form}", "Water rises from the sea into the air, forms clouds, and falls down as rain when the drops are heavy.", "The sun warms the water, and so it rises as vapor."),
    ("{why do we have seasons|why are there seasons|why is it cold in winter}", "The earth is tilted as it travels around the sun, and so the days are longer in summer than in winter.", ""),
    ("{how many days are in a week|how many days does a week have|how many days are there in a week}", "{There are seven days in a week|A week has seven days}.", ""),
    ("{how many days are in a year|how many days does a year have}", "A year has 365 days, and a leap year has 366.", "The earth needs a little more than 365 days to go around the sun."),
    ("{how many months are in a year|how many months does a year have|how many months are there}", "{There are twelve months in a year|A year has twelve months}.", ""),
    ("{how many hours are in a day|how many hours does a day have}", "{A day has 24 hours|There are 24 hours in a day}.", ""),
    ("{how many minutes are in an hour|how many minutes does an hour have}", "An hour has 60 minutes.", ""),
    ("{how many seconds are in a minute|how many seconds does a minute have}", "A minute has 60 seconds.", ""),
    ("{how many weeks are in a year|how many weeks does a year have}", "A year has 52 weeks.", ""),
    ("{how many letters are in the alphabet|how many letters does the alphabet have}", "The English alphabet has 26 letters.", ""),
    ("{how many colors does a rainbow have|what are the colors of the rainbow|which colors are in a rainbow}", "A rainbow has seven colors: red, orange, yellow, green, blue, indigo, and violet.", "Drops of rain split the light of the sun into its colors."),
    ("{how many planets are there|how many planets does the sun have|how many planets are in the solar system}", "There are eight planets: Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, and Neptune.", ""),
    ("{how many continents are there|what are the continents}", "There are seven continents: Africa, Antarctica, Asia, Australia, Europe, North America, and South America.", ""),
    ("{what is the largest planet|which planet is the biggest|what's the biggest planet}", "{The largest planet is Jupiter|Jupiter is the largest planet}.", ""),
    ("{what is the smallest planet|which planet is the smallest}", "The smallest planet is Mercury.", ""),
    ("{which planet is closest to the sun|what is the planet nearest to the sun}", "Mercury is closest to the sun.", ""),
    ("{what is the largest animal|which animal is the biggest|what's the biggest animal in the world}", "The largest animal is the blue whale.", "In the sea, the water carries its weight."),
    ("{what is the tallest animal|which animal is the tallest}", "The tallest animal is the giraffe.", "With its long neck, it reaches the leaves of high trees."),
    ("{what is the fastest animal|which animal is the fastest|which animal runs fastest}", "{The fastest animal on land is the cheetah|On land, it is the cheetah}.", "It has long legs and a light body."),
    ("{what is the largest ocean|which ocean is the biggest}", "The largest ocean is the Pacific.", ""),
    ("{what is the highest mountain|which mountain is the highest|what is the tallest mountain in the world}", "The highest mountain is Mount Everest.", ""),
    ("{what is the longest river|which river is the longest}", "{The Nile is often called the longest river|The longest river is the Nile, and the Amazon is nearly as long}.", ""),
    ("{where does the sun rise|in which direction does the sun rise}", "The sun rises in the east.", "The earth turns toward the east."),
    ("{where does the sun set|in which direction does the sun set|where does the sun go down}", "The sun sets in the west.", "The earth turns toward the east, and so the sun seems to move to the west."),
    ("{what is the sun|is the sun a star}", "The sun is a star, a huge ball of hot gas.", ""),
    ("{what is the moon made of|is the moon made of cheese}", "The moon is made of rock, not of cheese.", ""),
    ("{is the earth round|is the earth flat|what shape is the earth|what shape does the earth have}", "The earth is round, like a ball.", ""),
    ("{where do fish live|what do fish live in}", "Fish live in water.", "They breathe with gills, and gills work only in water."),
    ("{what do bees make|what does a bee make}", "Bees make honey.", "The honey is their food in winter."),
    ("{what do cows eat|what does a cow eat}", "Cows eat grass and hay.", ""),
    ("{what do cats eat|what does a cat eat}", "Cats eat meat and fish, and they hunt mice.", ""),
    ("{what do rabbits eat|what does a rabbit eat}", "Rabbits eat grass, leaves, and carrots.", ""),
    ("{what do dogs eat|what does a dog eat}", "Dogs eat meat and many other things.", ""),
    ("{what do birds eat|what does a bird eat}", "Birds eat seeds, berries, worms, and insects.", ""),
    ("{where do penguins live|do penguins live at the north pole}", "Penguins live in the south, many of them in Antarctica.", ""),
    ("{can penguins fly|do penguins fly}", "No, penguins cannot fly, but they swim very well.", "Their wings are made for swimming."),
    ("{can fish fly|do fish fly}", "Most fish cannot fly, but flying fish jump out of the water and glide.", ""),
    ("{can dogs talk|can animals talk|can cats talk}", "Not with words, but they talk with sounds and with their bodies.", ""),
    ("{when do owls sleep|do owls sleep at night}", "Most owls sleep during the day.", "They hunt at night."),
    ("{how long does a {cat|dog} live|how old does a {cat|dog} get}", "About twelve to fifteen years.", ""),
    ("{what is water made of|what is H2O}", "Water is made of hydrogen and oxygen.", ""),
    ("{at what temperature does water boil|when does water boil|how hot is boiling water}", "Water boils at 100 degrees Celsius.", ""),
    ("{at what temperature does water freeze|when does water freeze|when does water turn to ice}", "Water freezes at 0 degrees Celsius.", ""),
    ("{what is ice|what is ice made of}", "Ice is frozen water.", ""),
    ("{what is snow|what is snow made of}", "Snow is made of tiny crystals of ice.", ""),
    ("{what do plants need|what does a plant need to grow|what do flowers need}", "Plants need light, water, and air.", "With the help of light, the leaves make sugar out of water and air."),
    ("{how do I make tea|how do you make tea|how to make tea|how can I make a cup of tea}", "Boil some water, pour it over the tea leaves, wait for three minutes, and take out the leaves.", ""),
    ("{how do I boil an egg|how do you boil an egg|how to cook an egg}", "Put the egg into boiling water, and take it out after five minutes, or after ten if you like it hard.", ""),
    ("{how do I make pancakes|how do you make pancakes|give me a recipe for pancakes|how to bake pancakes}", "Mix flour, milk, eggs, and a little salt, and fry the thin batter in a hot pan on both sides.", ""),
    ("{how do I make a salad|how do you make a salad|give me a recipe for salad}", "Wash the leaves, cut some tomatoes and a cucumber, and add oil, vinegar, and salt.", ""),
    ("{how do I make coffee|how do you make coffee|how to make coffee}", "Put ground coffee into a filter, pour hot water over it, and let it run into the cup.", ""),
    ("{how can I sleep better|I cannot sleep. What can I do|how do I fall asleep}", "Make the room dark and quiet, put away your phone, and go to bed at the same time every day.", "The body likes regular hours."),
    ("{how do I learn a language|how can I learn English|what is the best way to learn a language}", "Learn a few words every day, read easy books, and talk with people.", "A little every day works better than much at once."),
    ("{how do I make friends|how can I find friends}", "Be kind, listen well, and ask people about the things they like.", ""),
    ("{what is love|what does love mean}", "Love is when somebody is very dear to you, and you want them to be well.", ""),
    ("{what is a friend|what makes a good friend}", "A good friend listens, helps, and stays with you in bad times.", ""),
    ("{what is a dog|what are dogs}", "A dog is an animal with four legs that barks and likes to be with people.", ""),
    ("{what is a cat|what are cats}", "A cat is a small animal with soft fur that meows and hunts mice.", ""),
    ("{what is a noun}", "A noun is a word for a person, a place, or a thing, such as \"tree\".", ""),
    ("{what is a verb}", "A verb is a word for something that you do, such as \"run\".", ""),
    ("{what is an adjective}", "An adjective is a word that says how something is, such as \"red\".", ""),
    ("{what is a triangle|how many sides does a triangle have|how many corners does a triangle have}", "A triangle has three sides and three corners.", ""),
    ("{what is a square|how many sides does a square have|how many corners does a square have}", "A square has four equal sides and four corners.", ""),
    ("{what is a token|what are tokens}", "A token is a piece of text, often a word or a part of a word. Language models read and write tokens.", ""),
    ("{what is AI|what is artificial intelligence|explain AI}", "Artificial intelligence means programs that do things for which people need their minds, such as talking or playing chess.", ""),
    ("{what is the internet|explain the internet}", "The internet joins computers all over the world, so that they can send messages to each other.", ""),
    ("{what is Java|what is Python}", "It is a language in which people write programs.", ""),
    ("{who wrote Hamlet|who wrote Romeo and Juliet}", "William Shakespeare wrote it.", ""),
    ("{who was the first person on the moon|who first walked on the moon|who landed on the moon first}", "Neil Armstrong was the first person on the moon, in 1969.", ""),
    ("{what is the largest country|which country is the biggest}", "The largest country is Russia.", ""),
    ("{what is the largest desert|which desert is the biggest|what is the biggest hot desert}", "The largest hot desert is the Sahara.", ""),
    ("{what is gold|is gold a metal}", "Gold is a yellow metal that does not rust.", ""),
    ("{which animal gives us milk|where does milk come from}", "Milk comes from cows, goats, and sheep.", ""),
    ("{which animal gives us wool|where does wool come from}", "Wool comes from sheep.", ""),
    ("{where do eggs come from|which animal lays eggs}", "Hens lay eggs, and other birds do, too.", ""),
    ("{what came first, the chicken or the egg|which came first, the egg or the hen}", "Nobody can say for sure, but animals laid eggs long before there were hens.", ""),
]  # fmt: skip
WHY_FOLLOW = ["{why|why is that|and why|why so|how come|but why|can you tell me why}?"]
NO_WHY = ["I do not know {why|more about it|the reason}. {That is just how it is.|I am only a small model.|}"]


def general(c):
    asked, answer, why = c.pick(GENERAL)
    lead = c.pick(["", "", "", "", "{do you know|can you tell me|tell me|I have a question|please tell me}: "])
    c.ask(lead + asked + "?", answer)
    if c.chance(0.35 if why else 0.08):
        c.ask(WHY_FOLLOW, why or NO_WHY)


def chain(c, first, follow, answers, rows, limit=3):
    """The same question about one thing, and then about others: rows are dictionaries of slots."""
    for i, row in enumerate(c.rng.sample(rows, c.rng.randint(1, limit))):
        c.ask(first if i == 0 or c.chance(0.3) else follow, answers, **row)


def capitals(c):
    rows = [dict(a=a, b=b) for a, b in tables.CAPITALS]
    if c.chance(0.2):
        return chain(c, ["{<b> is the capital of which country|of which country is <b> the capital}?", "{where is|in which country is} <b>?"], ["{and|and where is|what about} <b>?"], ["<b> is {the capital of|in} <a>."], rows, 2)
    chain(c, ["{what is|what's|tell me|do you know|name} the capital of <a>?", "{capital of <a>|<a>'s capital|which city is the capital of <a>}?"], ["{and|and of|what about|and what about|and the capital of} <a>?"], ["The capital of <a> is <b>.", "It is <b>."], rows)


def colors(c):
    rows = [dict(a=a, b=b, w=w) for a, b, w in tables.THINGS]
    row = c.pick(rows)
    chain(c, ["what color {is|has} <a>?", "{which color is|what is the color of|tell me the color of} <a>?"], ["{and|what about|and what about|and what color is} <a>?"], ["<^a> is <b>.", "It is <b>."], [row, *rows[:3]], 2)
    if c.messages[-2].text.lower().find(row["a"]) >= 0 and c.chance(0.6):
        c.ask(WHY_FOLLOW, "Because <w>.", **row)


def young(c):
    rows = [dict(a=a, b=b) for a, b in facts.YOUNG]
    chain(c, ["{what is|what do you call|what's} a {young|baby} <a>{ called|}?", "{what is the young of a|how is a young} <a> called?" ], ["{and|what about|and what is} a young <a>?"], ["A young <a> is {called |}a@ <b>.", "It is called a@ <b>."], rows)


def sounds(c):
    rows = [dict(a=f"{article(a)} {a}", b=b) for a, b in facts.SOUNDS]
    chain(c, ["{what sound does <a> make|what does <a> say|how does <a> sound|which noise does <a> make}?"], ["{and|what about|and what about|and what does} <a>?"], ["<^a> <b>."], rows)


def makers(c):
    rows = [dict(a=does, b=who) for does, who in facts.MAKERS]
    chain(c, ["{who|tell me who|do you know who} <a>?"], ["and who <a>?"], ["<b> <a>.", "<b>."], rows, 2)


def legs(c):
    rows = [dict(a=a, n=facts.NUMBER_WORDS[n], l="no" if n == 0 else facts.NUMBER_WORDS[n]) for a, n in tables.LEGS]
    chain(c, ["how many legs {does <a> have|has <a>}?"], ["{and|what about|and what about|and how many has} <a>?"], ["<^a> has <l> legs."], rows)


STRENGTHS = "mouse cat dog goat cow elephant whale".split()


def bigger(c):
    a, b = c.rng.sample(range(len(STRENGTHS)), 2)
    x, y = STRENGTHS[a], STRENGTHS[b]
    big, small = (x, y) if a > b else (y, x)
    slots = {"a": article(x) + " " + x, "b": article(y) + " " + y, "big": article(big) + " " + big, "small": article(small) + " " + small}
    c.ask(["{what|which animal|who} is {bigger|larger}, <a> or <b>?", "is <a> bigger than <b>?"], ["<^big> is bigger than <small>."], **slots)


TOPICS = [*facts.TOPICS, *tables.PLAIN_FACTS]


def of_topic(c, topic) -> list[str]:
    if topic in tables.PLAIN_FACTS:
        return sentences(tables.PLAIN_FACTS[topic])
    return sentences(c.text(paragraphs(facts.TOPICS[topic])))


def topic(c):
    """An explanation in parts, asked for piece by piece, and then perhaps another topic."""
    for i, name in enumerate(c.rng.sample(TOPICS, c.rng.choice([1, 1, 1, 2]))):
        known = of_topic(c, name)
        if i == 0:
            asked = ["{tell me|tell me something|can you tell me something|what do you know|what can you tell me|talk to me|teach me something|I want to know more|say something} about <t>{.|}", "{explain|describe|please explain} <t>{.| to me.|}", "{what about|how about|do you know about|do you know anything about} <t>?", "{I have a question about|I am interested in|let's talk about|I like} <t>{.|}"]
        else:
            asked = ["{and what about|what about|and|now tell me about|and can you tell me about} <t>?"]
        n = c.rng.randint(2, 4)
        c.ask(asked, " ".join(known[:n]), t=name)
        while c.chance(0.35):
            part = known[n : n + c.rng.randint(1, 3)]
            n += len(part)
            more = ["{tell me more|more|go on|and|what else|continue|please go on|tell me more about that|anything else|more please|and then}{.|?|}", "{tell me more about|what else do you know about|more about} <t>{.|?|}"]
            c.ask(more, " ".join(part) if part else ["That is all {that |}I know about <t>.", "I do not know more about <t>."], t=name)
            if not part:
                break


def how_to(c):
    """The topics that are instructions, asked for as such."""
    name, asked = c.pick([("bread", "bread"), ("paper boats", "a paper boat")])
    known = of_topic(c, name)
    c.ask(["{how do I make|how do you make|how can I make|how to make|can you tell me how to make|explain how to make|give me instructions for making|I want to make} <t>?"], " ".join(known[:6]), t=asked)
