"""The functions of the conversations with tools: what they are for, how users ask for them, what they return.

A family is a use, such as the weather of a place; a conversation declares it under one of many names. Everything that a
call contains is in the declaration or in the user's words, so it can be copied.
"""

import re
from dataclasses import dataclass

import chat_tables as tables
import words
from facts import NUMBER_WORDS

CITIES = sorted(set(tables.CITIES) | {city for _, city in tables.CAPITALS if city.isascii()})
COUNTRIES = [country for country, _ in tables.CAPITALS if not country.startswith("the ")]
ROOMS = ["kitchen", "bedroom", "living room", "bathroom", "garage", "hall", "office", "garden", "cellar", "attic"]
GROCERIES = "milk eggs bread butter cheese apples rice flour sugar tea coffee onions pasta honey salt bananas soap".split()
DISHES = ["pizza", "pasta", "soup", "salad", "curry", "sushi", "apple pie", "fried rice", "tomato soup", "pancakes", "noodles"]
TOPICS = ["the history of chess", "how bees make honey", "old steam trains", "the moons of Jupiter", "cheap bicycles", "solar panels", "red pandas", "the tallest tower", "volcanoes", "paper planes",
          "how to tie a knot", "green tea", "jazz music", "good books about ships", "wild flowers", "electric cars", "the deepest lake", "black holes", "open source software", "train tickets"]  # fmt: skip
MESSAGES = ["I will be late", "dinner is ready", "the meeting is at noon", "please call me back", "happy birthday", "I am on my way", "thank you for the flowers", "we need more milk", "the door is open", "see you tomorrow",
            "the train is late", "I love the new song", "bring your umbrella", "the cat is fine"]  # fmt: skip
TASKS = ["water the flowers", "call the doctor", "feed the cat", "buy some bread", "wash the car", "clean the kitchen", "write to Anna", "pay the bill", "take a break", "lock the door", "read the letter", "bake a cake"]
EVENTS = ["lunch with <n>", "meeting with <n>", "piano lesson", "team meeting", "birthday of <n>", "dentist", "football match", "concert", "walk with <n>", "school trip"]
SONGS = ["Blue River", "Morning Sun", "The Long Way Home", "Little Star", "Dancing Rain", "Stone and Sky", "Winter Song", "Golden Hour", "Paper Moon", "Over the Hills"]
LANGUAGES = tables.LANGUAGES + ["Dutch", "Polish", "Japanese", "Turkish"]
SENTENCES = ["good morning", "where is the station", "thank you", "I like your hat", "the sea is blue", "how are you", "my dog is tired", "see you soon", "one coffee, please", "the book is on the table"]
CURRENCIES = [("euros", "EUR"), ("dollars", "USD"), ("pounds", "GBP"), ("yen", "JPY"), ("francs", "CHF")]
UNITS = [("miles", "kilometers"), ("kilometers", "miles"), ("pounds", "kilograms"), ("kilograms", "pounds"), ("inches", "centimeters"), ("meters", "feet"), ("feet", "meters"), ("liters", "gallons")]
SKIES = ["sunny", "rainy", "cloudy", "windy", "foggy", "snowy", "clear"]
_INSERTED = re.compile("\x01([a-z0-9_]+)\x02")
FILES = "notes report list plan data letter story photo budget recipe draft summary index songs".split()


@dataclass(frozen=True)
class Parameter:
    """`names` in words, one of which the declaration has; `draw` gives what the user says and the argument; `options` are sets of values of an enum."""

    names: str
    about: str
    draw: object
    type: str = "string"
    options: tuple = ()
    required: bool = True


@dataclass(frozen=True)
class Family:
    """
    `group` is shared by families of which a conversation has one at most. `asks` are templates of requests, `pairs` of
    requests for two calls (slots end in 2), `follows` of a second request. `reply` makes a response and the answer to it.
    """

    group: str
    names: str
    abouts: tuple
    parameters: dict
    asks: tuple
    reply: object
    pairs: tuple = ()
    follows: tuple = ()


def phrase(c, template, said: dict) -> str:
    """A template in proper English with the user's words inserted verbatim: no rule of capitals applies to them."""
    text = c.text(template, **{key: f"\x01{key}\x02" for key in said})
    return _INSERTED.sub(lambda match: said[match.group(1)], text)


def drawn(pool):
    def draw(c, _):
        value = c.pick(pool)
        return value, value

    return draw


def whole(low, high):
    """An integer, sometimes in words if it is small."""

    def draw(c, _):
        value = c.rng.randint(low, high)
        return (NUMBER_WORDS[value] if value <= 12 and c.chance(0.15) else str(value)), value

    return draw


def decimal(low, high):
    """A number; whole ones stay whole."""

    def draw(c, _):
        value = c.rng.randint(low, high)
        if c.chance(0.35):
            value = round(value + c.rng.randint(1, 9) / 10, 1)
        return str(value), value

    return draw


def city(c, _):
    value = c.pick(CITIES) if c.chance(0.7) else c.invented().capitalize()
    return value, value


def person(c, _):
    value = c.name()
    return value, value


def clock(c, _):
    value = f"{c.rng.randint(0, 23)}:{c.pick(['00', '00', '15', '30', '45', '05', '20'])}"
    return value, value


def code(c, _):
    value = c.pick(["{}-{}", "{}{}"]).format(c.invented()[:2].upper(), c.rng.randint(10, 9999))
    return value, value


def symbol(c, _):
    value = c.invented()[:4].upper()
    return value, value


def mail(c, _):
    value = f"{c.name().lower()}@{c.pick(['example.com', 'mail.org', 'post.net', 'example.org'])}"
    return value, value


def file(c, _):
    value = (c.pick(FILES) if c.chance(0.7) else c.invented()) + c.pick(["", "", str(c.rng.randint(1, 20))]) + c.pick([".txt", ".txt", ".csv", ".md", ".json"])
    return value, value


def made_word(c, _):
    value = c.pick(tables.SPELLED) if c.chance(0.6) else c.invented()
    return value, value


def event(c, _):
    value = c.pick(EVENTS).replace("<n>", c.name())
    return value, value


def option(c, values):
    value = c.pick(values)
    return value, value


def switch(c, _):
    value = c.chance(0.5)
    return ("on" if value else "off"), value


def currency(c, _):
    said, value = c.pick(CURRENCIES)
    return (value if c.chance(0.3) else said), value


def groceries(c, _):
    values = c.rng.sample(GROCERIES, c.rng.randint(1, 4))
    return listed(values), values


def sum_text(c, _):
    value = f"{c.rng.randint(2, 999)} {c.pick('+-*/')} {c.rng.randint(2, 99)}"
    return value, value


def listed(values) -> str:
    return values[0] if len(values) == 1 else ", ".join(values[:-1]) + " and " + values[-1]


def number(c, value) -> object:
    return str(value) if c.chance(0.5) else {c.pick(["result", "result", "value", "answer"]): value}


def weather(c, v):
    degrees, sky = c.rng.randint(-15, 38), c.pick(SKIES)
    place = v["city"]
    unit = f" {v['unit'][0].upper()}{v['unit'][1:]}" if len(v.get("unit", "")) > 1 else ""
    return c.pick([
        ({"temperature": degrees, "condition": sky}, f"It is {sky} and {degrees} degrees{unit} in {place}."), ({"city": place, "temperature": degrees}, f"It is {degrees} degrees{unit} in {place}."),
        (f"{degrees} degrees", f"It is {degrees} degrees in {place}."), (sky, f"It is {sky} in {place}."), (f"{sky}, {degrees} degrees", f"It is {sky} and {degrees} degrees in {place}."), ({"condition": sky}, f"It is {sky} in {place}."),
        (f"{degrees} degrees in {place}", f"It is {degrees} degrees in {place}."), (f"{sky} and {degrees} degrees", f"It is {sky} and {degrees} degrees in {place}."), ({"temperature": degrees}, f"It is {degrees} degrees{unit} in {place}."),
    ])  # fmt: skip


def time(c, v):
    now, _ = clock(c, None)
    return c.pick([now, {"time": now}, {"city": v["city"], "time": now}]), f"It is {now} in {v['city']}."


def result_of(work):
    def reply(c, v):
        value = work(v)
        return number(c, value), f"The result is {value}."

    return reply


def quotient(v):
    value = round(v["a"] / v["b"], 2)
    return int(value) if value == int(value) else value


def done(c, _):
    return c.pick([{"status": "ok"}, {"ok": True}, "ok", "done", {"success": True}, {"status": "done"}]), "Done."


def told(template):
    """The response is ok, the answer says what was done."""

    def reply(c, v):
        return done(c, v)[0], template.format(**v)

    return reply


def light(c, v):
    return done(c, v)[0], f"The light in the {v['room']} is {'on' if v['on'] else 'off'} now."


def locked(c, v):
    return done(c, v)[0], f"The {v['door']} is {'locked' if v['locked'] else 'unlocked'} now."


def search(c, v):
    found = c.text(["There {is a page|are <k> pages} about <q>", "You can read about <q> in {the library|the news of <m>}", "The best page about <q> is by <n>"], q=v["query"], n=c.name(), k=str(c.rng.randint(2, 90)), m=c.pick(words.MONTHS))
    return c.pick([found, found + ".", {"results": [found]}, {"title": found}]), found + "."


def money(c, v):
    value = round(c.rng.randint(1, 900) + c.rng.randint(0, 99) / 100, 2)
    return c.pick([{"result": value}, {"amount": value, "currency": v["target"]}, f"{value} {v['target']}"]), f"{v['amount']} {v['source']} are {value} {v['target']}."


def lengths(c, v):
    value = round(c.rng.randint(1, 900) + c.rng.randint(0, 99) / 100, 2)
    return c.pick([{"result": value}, str(value), {"value": value, "unit": v["target"]}]), f"{v['value']} {v['source']} are {value} {v['target']}."


def translated(c, v):
    text = " ".join(c.invented() for _ in range(c.rng.randint(1, 3)))
    return c.pick([text, {"translation": text}, {"text": text}]), f"In {v['language']}, it is \"{text}\"."


def stock(c, v):
    price = round(c.rng.randint(5, 400) + c.rng.randint(0, 99) / 100, 2)
    return c.pick([{"price": price}, {"symbol": v["symbol"], "price": price}, str(price)]), f"{v['symbol']} costs {price}."


def customer(c, v):
    name, town = c.name(), city(c, None)[0]
    return c.pick([({"name": name, "city": town}, f"It is {name} from {town}."), ({"name": name}, f"It is {name}."), ({"id": v["id"], "name": name}, f"It is {name}."), (name, f"It is {name}.")])


def content(c, v):
    text = c.pick(MESSAGES)
    return c.pick([text, {"content": text}]), f"{v['file']} says: {text}."


def order(c, v):
    state, day = c.pick(["on its way", "packed", "delivered", "late", "paid", "lost"]), c.pick(words.DAYS)
    return c.pick([({"status": state}, f"The order {v['order']} is {state}."), ({"status": state, "day": day}, f"The order {v['order']} is {state}, {day}."), (state, f"The order {v['order']} is {state}.")])


def distance(c, v):
    km = c.rng.randint(12, 9000)
    return c.pick([{"km": km}, {"distance": km, "unit": "km"}, f"{km} km"]), f"It is {km} km from {v['start']} to {v['end']}."


def capital(c, v):
    name = dict(tables.CAPITALS)[v["country"]]
    return c.pick([name, {"capital": name}]), f"The capital of {v['country']} is {name}."


def population(c, v):
    people = c.rng.randint(2, 900) * c.pick([1000, 10000, 100000])
    return c.pick([{"population": people}, str(people)]), f"{v['city']} has {people} people."


def meaning(c, v):
    text = c.text(["a@ <adj> {<$animal>|hat|song|cake|stone|word}", "{to walk|to sing|to eat|to speak} very {slowly|quickly|loudly}"], adj=c.pick(words.ADJECTIVES)).lower()
    return c.pick([text, {"meaning": text}, {"word": v["word"], "definition": text}]), f"{v['word'][0].upper()}{v['word'][1:]} means: {text}."


def random_number(c, v):
    value = c.rng.randint(min(v["low"], v["high"]), max(v["low"], v["high"]))
    return number(c, value), f"The number is {value}."


def dice(c, v):
    value = c.rng.randint(1, v["sides"])
    return number(c, value), f"It is a@ {value}.".replace("a@", "an" if value in (8, 11, 18) else "a")


def news(c, v):
    text = c.text(["<n> wins a prize", "A new {museum|bridge|school|park} opens in <p>", "{Rain|Snow|Sun} all over <p>"], n=c.name(), p=city(c, None)[0])
    return c.pick([text, {"headline": text}, {"news": [text]}]), f"{text}."


def flight(c, v):
    ref, _ = code(c, None)
    return c.pick([{"booking": ref}, {"status": "ok", "booking": ref}, ref]), f"The flight from {v['start']} to {v['end']} is booked: {ref}."


def table(c, v):
    ref, _ = code(c, None)
    return c.pick([{"booking": ref}, {"status": "ok", "booking": ref}, ref]), f"A table for {v['people']} at {v['time']} is booked: {ref}."


def recipe(c, v):
    dish = c.pick(DISHES)
    return c.pick([dish, {"recipe": dish}, {"title": dish}]), f"You can make {dish} with {v['food']}."


def today(c, _):
    day = c.pick(words.DAYS)
    date = f"{c.rng.randint(1, 30)} {c.pick(words.MONTHS)}"
    return c.pick([(day, f"Today is {day}."), ({"day": day}, f"Today is {day}."), (date, f"Today is {date}."), ({"date": date}, f"Today is {date}."), ({"day": day, "date": date}, f"Today is {day}, {date}.")])


def battery(c, _):
    level = c.rng.randint(1, 100)
    return c.pick([{"level": level}, {"percent": level}, f"{level}%"]), f"The battery is at {level} percent."


def users(c, _):
    names = [c.name() for _ in range(c.rng.randint(1, 4))]
    return c.pick([{"users": names}, names, ", ".join(names)]), f"{'The user is' if len(names) == 1 else 'The users are'} {listed(names)}."


def played(c, v):
    return done(c, v)[0], f"Now playing {v['song']}."


P = Parameter
PLACE = P("city|place|location|town|city name|where", "{The|Name of the} {city|place|town}", city)
START = P("from|origin|start|from city|departure", "{Where it starts|The start|The place of departure}", city)
END = P("to|destination|end|to city|arrival", "{Where it ends|The destination|The place of arrival}", city)
A = P("a|x|first|left|number1", "The first number", whole(0, 999), "integer")
B = P("b|y|second|right|number2", "The second number", whole(1, 999), "integer")
ROOM = P("room|place|location", "{The room|Which room}", drawn(ROOMS))
FAMILIES = [
    Family("weather", "get weather|weather|current weather|fetch weather|get current weather|lookup weather|weather at|get forecast", ("{Get|Gets|Returns|Look up} the {current |}weather {of|in|for} a {city|place}{.|}", "{The weather|Current weather} {of a place|in a city}"),
           {"city": PLACE, "unit": P("unit|units|scale", "{The unit|Unit of the temperature}", option, options=(("celsius", "fahrenheit"), ("fahrenheit", "celsius"), ("Celsius", "Fahrenheit")), required=False)},
           ("{what is|what's|tell me|how is} the weather {in|like in} <city>{ today| now| right now|}?", "{is it warm|is it raining|do I need a coat|do I need an umbrella|how warm is it|how cold is it|will it rain} in <city>{ today|}?", "{I need|get|show me|look up} the weather {in|for|of} <city>{.|}", "weather in <city>{?|}",
            "{what is|tell me|how is} the weather in <city> in <unit>?", "{how warm is it|what is the temperature} in <city>, in <unit>?"), weather,
           ("{what is|what's|how is} the weather in <city> and {in |}<city2>?", "{compare the weather|get the weather} {of|in} <city> and <city2>{.|}", "is it {warmer|colder} in <city> or in <city2>?"), ("{and|what about|how about} {in |}<city>?",)),
    Family("time", "get time|current time|time in|get local time|clock|world clock|get current time", ("{Get|Gets|Returns|Tells} the {local |current |}time {of|in} a {city|place}{.|}", "{Local|Current} time of a city"), {"city": PLACE},
           ("{what time is it|what's the time|what is the time|how late is it|tell me the time} in <city>{ now|}?", "{is it late|is it night|is it morning} in <city>?", "{current |local |}time in <city>{?|}"), time, ("what time is it in <city> and {in |}<city2>?",), ("{and|what about} {in |}<city>?",)),
    Family("sum", "add|sum|add numbers|plus|add two numbers|get sum", ("{Add|Adds|Sum of} two {integers|numbers}{.|}", "Returns the sum of two numbers"), {"a": A, "b": B}, ("{what is|what's|how much is} <a> {+|plus} <b>?", "{calculate|compute} <a> + <b>{.|}", "{add|please add|can you add} <a> and <b>{.|}", "<a> {+|plus} <b>{?| = ?|}"), result_of(lambda v: v["a"] + v["b"]),
           ("what is <a> + <b> and <a2> + <b2>?", "add <a> and <b>, and also <a2> and <b2>{.|}"), ("{and|what about} <a> {+|plus} <b>?",)),
    Family("difference", "subtract|minus|difference|subtract numbers", ("{Subtract|Subtracts} {the second number from the first|two numbers}{.|}",), {"a": A, "b": B}, ("{what is|what's|how much is} <a> {-|minus} <b>?", "<a> {-|minus} <b>{?|}"), result_of(lambda v: v["a"] - v["b"]), (), ("{and|what about} <a> {-|minus} <b>?",)),
    Family("product", "multiply|times|product|multiply numbers|mul", ("{Multiply|Multiplies|The product of} two {integers|numbers}{.|}",), {"a": A, "b": B}, ("{what is|what's|how much is} <a> {*|times} <b>?", "{multiply|please multiply} <a> {by|with|and} <b>{.|}"), result_of(lambda v: v["a"] * v["b"]),
           ("multiply <a> by <b>, and <a2> by <b2>{.|}",), ("{and|what about} <a> {*|times} <b>?",)),
    Family("quotient", "divide|divide numbers|quotient|div", ("{Divide|Divides} {the first number by the second|two numbers}{.|}",), {"a": A, "b": B}, ("{what is|what's|how much is} <a> {/|divided by} <b>?", "{divide|please divide} <a> by <b>{.|}"), result_of(quotient)),
    Family("calculator", "calculate|calculator|evaluate|compute|eval expression|do math", ("{Calculate|Calculates|Evaluates} an expression{.|}", "A calculator for expressions such as 1 + 2"), {"expression": P("expression|formula|input|expr", "{The|An} expression{, such as 1 + 2|}", sum_text)},
           ("{what is|what's|how much is} <expression>?", "{calculate|compute|work out} <expression>{.|}", "<expression>{?| = ?|}"), lambda c, v: result_of(lambda v: quotient({"a": eval(v["expression"]), "b": 1}))(c, v), ("calculate <expression> and <expression2>{.|}",), ("{and|what about} <expression>?",)),
    Family("search", "search|web search|search web|find pages|lookup|search the web|google|find", ("{Search|Searches} the {web|internet}{ for pages|}{.|}", "{Find|Finds} pages on the web{.|}"), {"query": P("query|q|text|terms|question", "{The|What to} search{ for| query|}", drawn(TOPICS))},
           ("{search|search the web|look} for <query>{.|}", "{find|look up|find me|search} {something about|pages about|} <query>{.|}", "{what can you find about|can you look up} <query>?"), search, ("search for <query> and for <query2>{.|}",), ("{and|now} {look for|search for} <query>{.|}",)),
    Family("light", "set light|switch light|turn light|control lamp|set lamp|light", ("{Turn|Switch|Turns} a {light|lamp} on or off{.|}", "Controls the {lights|lamps} of the {house|home}"), {"room": ROOM, "on": P("on|state|enabled|power|is on", "{Whether it is on|True for on}", switch, "boolean")},
           ("{turn|switch|please turn} <on> the {light|lamp} in the <room>{.|}", "{turn|switch|please switch|can you turn} the <room> light <on>{.|}", "{light|lights} <on> in the <room>{, please|}{.|}"), light, ("turn the <room> light <on> and the <room2> light <on2>{.|}",), ("and {in |}the <room>, <on>{.|}",)),
    Family("brightness", "set brightness|dim light|set light level|set dimmer", ("{Set|Sets} the brightness of a {light|lamp}{, from 0 to 100|}{.|}",), {"room": ROOM, "level": P("level|brightness|percent|value", "{The brightness|From 0 to 100}", whole(0, 100), "integer")},
           ("{set|dim|please set} the {light|lamp} in the <room> to <level>{ percent|}{.|}", "{set|change} the <room> light to <level>{ percent|}{.|}", "brightness <level> in the <room>{, please|}{.|}"), told("The light in the {room} is at {level} percent now."), ("set the <room> light to <level> and the <room2> light to <level2>{.|}",)),
    Family("heating", "set temperature|set heating|set thermostat|heat|set heat", ("{Set|Sets} the {temperature|heating} of a room{.|}",), {"room": ROOM, "degrees": P("degrees|temperature|target|value", "{Degrees|The temperature}", decimal(10, 28), "number")},
           ("{set|heat|please set} the <room> to <degrees>{ degrees|}{.|}", "{make it|I want} <degrees> degrees in the <room>{.|}", "set the {heating|temperature} in the <room> to <degrees>{.|}"), told("The {room} is set to {degrees} degrees now."), ("set the <room> to <degrees> and the <room2> to <degrees2> degrees{.|}",)),
    Family("message", "send message|send text|message|text someone|send sms|notify", ("{Send|Sends} a {text |}message to {a person|somebody}{.|}",), {"to": P("to|recipient|person|name|contact", "{Who gets it|The recipient|The name of the person}", person), "text": P("text|message|body|content", "{The text|The message|What it says}", drawn(MESSAGES))},
           ("{send a message to|text|write to|message} <to>: <text>{.|}", "{tell <to>|let <to> know}: <text>{.|}", "send <to> {this message|a message|the text}: {<text>|\"<text>\"}"), told("I told {to}: {text}."), ("send <to> and <to2> {each a message|messages}: <text> for <to>, <text2> for <to2>{.|}",)),
    Family("email", "send email|send mail|email|mail|write email", ("{Send|Sends} an {email|e-mail}{.|}",), {"to": P("to|address|recipient|email", "The {address|email address}", mail), "subject": P("subject|title|topic", "The subject", drawn(TASKS + ["party", "invoice", "holiday", "meeting", "lunch"])), "body": P("body|text|content", "The text", drawn(MESSAGES), required=False)},
           ("{send an email|write an email|send a mail} to <to> with the subject {<subject>|\"<subject>\"}{.|}", "email <to>, subject <subject>, text: <body>", "{send|write} an email to <to> about {<subject>|\"<subject>\"}{.|}", "send an email to <to> with the subject \"<subject>\" and the text \"<body>\""), told("The email to {to} is on its way.")),
    Family("currency", "convert currency|exchange|currency|convert money|get exchange", ("{Convert|Converts} {money|an amount} from one currency to another{.|}",),
           {"amount": P("amount|value|money|sum", "The amount", decimal(1, 2000), "number"), "source": P("from|source|from currency|base", "{The code of the currency|From which currency}", currency, options=(tuple(code for _, code in CURRENCIES),)), "target": P("to|target|to currency|quote", "{The code of the new currency|To which currency}", currency, options=(tuple(code for _, code in CURRENCIES),))},
           ("{convert|change|exchange} <amount> <source> {to|into} <target>{.|}", "how {much is|many <target> are} <amount> <source>{ in <target>|}?", "<amount> <source> in <target>{?|}"), money, ("convert <amount> <source> to <target>, and <amount2> <source2> to <target2>{.|}",), ("and <amount> <source> {in|to} <target>?",)),
    Family("units", "convert units|convert|convert unit|unit converter", ("{Convert|Converts} {a value from one unit to another|units}{.|}",), {"value": P("value|amount|number|quantity", "The {value|number}", decimal(1, 500), "number"), "source": P("from|from unit|source|unit", "The unit of the value", None), "target": P("to|to unit|target|new unit", "The new unit", None)},
           ("{convert|change} <value> <source> {to|into} <target>{.|}", "{how much is|what is|what are} <value> <source> in <target>?", "how many <target> are <value> <source>?"), lengths, ("convert <value> <source> to <target>, and <value2> <source2> to <target2>{.|}",), ("and <value> <source> {in|to} <target>?",)),
    Family("timer", "set timer|start timer|timer|countdown", ("{Start|Starts|Set} a timer{.|}",), {"minutes": P("minutes|duration|mins|time", "{How many minutes|Minutes}", whole(1, 90), "integer"), "label": P("label|name|title", "{A name|What it is for}", drawn(["tea", "pasta", "eggs", "nap", "bread", "exam", "game"]), required=False)},
           ("{set|start|please set|I need} a timer {for|of} <minutes> minutes{.|}", "{count down|wake me in|timer:} <minutes> minutes{.|}", "{set|start} a timer {for|of} <minutes> minutes {called|for the} <label>{.|}"), told("The timer is set to {minutes} minutes."), ("set timers for <minutes> and <minutes2> minutes{.|}",)),
    Family("alarm", "set alarm|wake up|alarm|wake me", ("{Set|Sets} an alarm{.|}",), {"time": P("time|at|when|wake time", "{The time|When it rings}", clock)}, ("{wake me|wake me up|set an alarm|set the alarm} {at|for} <time>{.|}", "{I must get up|I have to get up|alarm} at <time>{.|}"), told("The alarm is set for {time}."), ("set alarms for <time> and <time2>{.|}",), ("{and|also} at <time>{.|}",)),
    Family("calendar", "add event|create event|add to calendar|schedule|new appointment|plan event", ("{Add|Adds} an event to the calendar{.|}", "Creates an appointment"), {"title": P("title|name|event|what|summary", "{The title|What it is}", event), "day": P("day|date|weekday|on", "The day", drawn(words.DAYS)), "time": P("time|at|start|hour", "The time", clock, required=False)},
           ("{add|put|please add} <title> to my calendar on <day>{.|}", "{plan|schedule|add}: <title>, <day>{.|}", "{add|put} <title> {in|to} {the|my} calendar {on|for} <day> at <time>{.|}", "{schedule|plan} <title> on <day> at <time>{.|}"), told("I added {title} on {day}."), ("add <title> on <day> and <title2> on <day2>{.|}",)),
    Family("reminder", "remind|add reminder|create reminder|set reminder|remind me", ("{Remind|Reminds} the user {of a task|of something}{.|}",), {"task": P("task|text|what|message|note", "{What to do|The task}", drawn(TASKS)), "time": P("time|when|at", "{When|The time}", clock, required=False)},
           ("{remind me|please remind me|do not let me forget} to <task>{.|}", "{I must not forget|reminder:} to <task>{.|}", "{remind me|please remind me} at <time> to <task>{.|}", "remind me to <task> at <time>{.|}"), told("I will remind you to {task}."), ("remind me to <task> and to <task2>{.|}",)),
    Family("music", "play song|play music|play|start song|play track", ("{Play|Plays} a song{.|}",), {"song": P("song|title|track|name", "{The song|Title of the song}", drawn(SONGS))}, ("{play|please play|start|I want to hear|put on} {<song>|\"<song>\"|the song <song>}{.|}",), played, (), ("{now|and then} {<song>|\"<song>\"}{.|}",)),
    Family("volume", "set volume|volume|change volume|set sound", ("{Set|Sets} the volume{.|}",), {"level": P("level|volume|value|percent", "{The volume|From 0 to 100}", whole(0, 100), "integer")}, ("{set|turn|change} the volume to <level>{.|}", "volume <level>{, please|}{.|}"), told("The volume is {level} now.")),
    Family("restaurant", "book table|reserve table|reserve|make reservation", ("{Book|Books|Reserve} a table in a restaurant{.|}",), {"people": P("people|guests|party size|seats", "{How many people|Number of guests}", whole(1, 12), "integer"), "time": P("time|at|when", "The time", clock)},
           ("{book|reserve|I need|get me} a table for <people> at <time>{.|}", "{table for|a table for} <people> people at <time>{, please|}{.|}"), table),
    Family("flight", "book flight|find flight|reserve flight|get flight", ("{Book|Books|Find} a flight{.|}",), {"start": START, "end": END, "day": P("day|date|when", "The day", drawn(words.DAYS), required=False)},
           ("{book|find|I need|get me} a flight from <start> to <end>{.|}", "{I want to fly|fly me} from <start> to <end>{.|}", "{book|find} a flight from <start> to <end> on <day>{.|}"), flight, ("book a flight from <start> to <end>, and one from <start2> to <end2>{.|}",)),
    Family("food", "order food|order|order dish|buy food", ("{Order|Orders} food{.|}",), {"dish": P("dish|item|food|meal", "{The dish|What to order}", drawn(DISHES)), "count": P("count|quantity|amount|number", "How {many|much}", whole(2, 9), "integer")},
           ("{order|I want|get me|I would like|please order} <count> {times|portions of|x} <dish>{.|}", "<dish>, <count> {times|portions}{, please|}{.|}"), told("I ordered {count} of: {dish}."), ("order <count> portions of <dish> and <count2> of <dish2>{.|}",)),
    Family("translate", "translate|translate text|translator|get translation", ("{Translate|Translates} {a text|text}{.|}",), {"text": P("text|sentence|input|phrase", "{The text|What to translate}", drawn(SENTENCES)), "language": P("language|to|target|target language|into", "{The language|Into which language}", drawn(LANGUAGES))},
           ("{translate|please translate|can you translate} \"<text>\" {to|into} <language>{.|}", "{how do you say|what is} \"<text>\" in <language>?"), translated, ("translate \"<text>\" into <language> and {into |}<language2>{.|}",), ("{and|what about} \"<text>\" in <language>?",)),
    Family("stock", "get stock price|stock price|get quote|quote|share price", ("{Get|Gets|Returns} the price of a {stock|share}{.|}",), {"symbol": P("symbol|ticker|stock|company", "The symbol{ of the stock|}", symbol)}, ("{what is|what's|tell me|get} the {stock price|price|share price} of <symbol>?", "{how much is|how much does|what does} {a share of|one} <symbol> {cost|now cost}?"), stock,
           ("what is the price of <symbol> and <symbol2>?",), ("{and|what about} <symbol>?",)),
    Family("customer", "get user|find customer|get customer|load user|user by id|fetch client", ("{Get|Gets|Finds} a {user|customer} by {number|id}{.|}",), {"id": P("id|user id|number|customer id", "The {number|id}", whole(1, 9999), "integer")}, ("{who is|show me|get|find|load} {user|customer} {number |}<id>{.|?|}", "what is the name of {user|customer} <id>?"), customer,
           ("who are {users|customers} <id> and <id2>?",), ("and <id>?",)),
    Family("read", "read file|open file|get file|load file|cat", ("{Read|Reads} a file{.|}",), {"file": P("file|path|name|filename|file name", "The {file|path|name}", file)}, ("{read|open|show me|show} {the file |}<file>{.|}", "what {is in|does it say in} {the file |}<file>?"), content, ("read <file> and <file2>{.|}",), ("and <file>?",)),
    Family("delete", "delete file|remove file|erase|rm", ("{Delete|Deletes} a file{.|}",), {"file": P("file|path|name|filename", "The {file|path|name}", file)}, ("{delete|remove|erase|throw away} {the file |}<file>{.|}",), told("{file} is deleted."), ("delete <file> and <file2>{.|}",)),
    Family("shopping", "add items|add to list|shopping list|buy|add groceries", ("{Add|Adds} {things|items} to the shopping list{.|}",), {"items": P("items|things|products|names", "{The things|What to buy}", groceries, "array")}, ("{add|put} <items> {to|on} {my|the} shopping list{.|}", "{I need to buy|we need|buy} <items>{.|}", "shopping list: <items>"), lambda c, v: (done(c, v)[0], f"I added {listed(v['items'])}.")),
    Family("capital", "get capital|capital of|capital|find capital", ("{Get|Gets|Returns} the capital of a country{.|}",), {"country": P("country|name|of|nation", "The country", drawn(COUNTRIES))}, ("{what is|what's|tell me} the capital of <country>?", "capital of <country>{?|}"), capital, ("what are the capitals of <country> and <country2>?",), ("{and|what about} <country>?",)),
    Family("population", "get population|population|count people|inhabitants", ("{Get|Gets|Returns} {the population of a city|how many people live in a city}{.|}",), {"city": PLACE}, ("how many people live in <city>?", "{what is|tell me} the population of <city>?"), population, ("how many people live in <city> and in <city2>?",), ("{and|what about} {in |}<city>?",)),
    Family("dictionary", "define|define word|lookup word|dictionary|get definition", ("{Define|Defines|Explains} a word{.|}", "A dictionary"), {"word": P("word|term|name", "The word", made_word)}, ("{define|look up the word|explain the word} {<word>|\"<word>\"}{.|}", "what does {<word>|\"<word>\"|the word <word>} mean?"), meaning, (), ("and {<word>|\"<word>\"}?",)),
    Family("random", "random number|random|get random|pick number", ("{A random number|Returns a random number} between two numbers{.|}",), {"low": P("low|min|from|minimum", "The {lowest|smallest} number", whole(0, 20), "integer"), "high": P("high|max|to|maximum", "The {highest|largest} number", whole(30, 999), "integer")},
           ("{give me|pick|I need|draw} a {random |}number {between <low> and|from <low> to} <high>{.|}",), random_number),
    Family("dice", "roll dice|roll|throw dice|roll die", ("{Roll|Rolls|Throws} a die{.|}",), {"sides": P("sides|faces|size", "{How many sides|The sides of the die}", whole(4, 20), "integer")}, ("{roll|throw} a die with <sides> sides{.|}", "{roll|throw} a <sides> sided die{.|}"), dice),
    Family("news", "get news|news|headlines|latest news", ("{Get|Gets|Returns} {the news|headlines} about a topic{.|}",), {"topic": P("topic|subject|about|query", "The topic", drawn("sports music science trains cooking gardening chess football films weather art".split()))}, ("{what is new in|what's the news about|news about|show me the news about} <topic>?",), news, (), ("and about <topic>?",)),
    Family("order", "track order|get order|order status|find order|where is order", ("{Get|Gets|Returns} the state of an order{.|}", "{Track|Tracks} an order{.|}"), {"order": P("order|order id|id|number|order number", "The {number|id} of the order", code)}, ("where is {my |the |}order <order>?", "{track|check|find} {my |the |}order <order>{.|}", "what is the {state|status} of order <order>?"), order, (), ("and <order>?",)),
    Family("door", "lock door|set lock|lock|control lock", ("{Lock|Locks} or {unlock|unlocks} a door{.|}",), {"door": P("door|name|which", "Which door", drawn(["front door", "back door", "garage door", "cellar door", "garden gate"])), "locked": P("locked|lock|closed|state", "{Whether it is locked|True to lock it}", lambda c, _: (lambda v: ("lock" if v else "unlock", v))(c.chance(0.5)), "boolean")},
           ("{<locked>|please <locked>|can you <locked>} the <door>{.|}",), locked, ("<locked> the <door> and <locked2> the <door2>{.|}",)),
    Family("distance", "get distance|distance|measure distance|how far", ("{Get|Gets|Returns} the distance {between|of} two {cities|places}{.|}",), {"start": START, "end": END}, ("how far is it from <start> to <end>?", "{what is|tell me} the distance {between <start> and|from <start> to} <end>?"), distance, (), ("{and|what about} from <start> to <end>?",)),
    Family("account", "create user|add user|new user|register user|create account", ("{Create|Creates|Adds} a user{.|}",), {"name": P("name|user|user name|login", "The name", person), "age": P("age|years", "The age", whole(13, 90), "integer"), "admin": P("admin|is admin|administrator", "Whether it is an administrator", lambda c, _: (lambda v: ("an admin" if v else "no admin", v))(c.chance(0.5)), "boolean", required=False)},
           ("{create|add|register} a user {called|named} <name>, <age> years old{.|}", "{new user|add user|create user}: <name>, age <age>{.|}", "{create|add} {a user|the user} <name>, age <age>, <admin>{.|}"), told("The user {name} is created."), ("create the users <name>, age <age>, and <name2>, age <age2>{.|}",)),
    Family("recipe", "find recipe|get recipe|search recipe|recipe", ("{Find|Finds} a recipe{.|}",), {"food": P("food|ingredient|with|item", "{What to cook with|The ingredient}", drawn(GROCERIES))}, ("{find|show me|give me|I need} a recipe with <food>{.|}", "what can I {cook|make} with <food>?"), recipe, (), ("and with <food>?",)),
    Family("date", "get date|today|current date|get day|date", ("{Get|Gets|Returns} {today's date|the current date|the day}{.|}",), {}, ("{what day is it|what day is today|what is the date|what's the date|which day is it|what is today's date}{ today|}?",), today),
    Family("battery", "get battery|battery level|battery|check battery", ("{Get|Gets|Returns} {the level of the battery|how full the battery is}{.|}",), {}, ("{how full is the battery|what is the battery level|check the battery|how much battery is left}?",), battery),
    Family("users", "list users|get users|all users|show users", ("{List|Lists|Returns} all users{.|}",), {}, ("{list|show me|who are} {all |}the users{.|?|}", "which users are there?"), users),
]  # fmt: skip
