"""The corpus of `builtin:chat`: an endless, seeded stream of conversations.

    python chat.py --seed 7 --count 5        prints five conversations

A conversation is a list of messages, with the functions that the assistant may call, rendered by the template. The model
is trained to write what the assistant says and calls, and reads the rest.
"""

import argparse
import random

import chat_clients
import chat_json
import chat_knowledge as knowledge
import chat_memory as memory
import chat_skills as skills
import chat_tales as tales
import chat_talk as talk
import chat_tools
from chat_dialogue import Conversation, new_chat
from chat_template import turns

# weight, what is talked about, whether any manner fits it: the others are left out when answers are short or changed letter by letter
KINDS = [
    (6, talk.hello, True), (4, talk.how_are_you, True), (3, talk.feeling, True), (11, talk.about_assistant, True), (12, talk.cannot_know, True), (5, talk.odd, True), (6, talk.reaction, True), (1.5, talk.change_manner, True),
    (12, memory.tell, True), (3, memory.tell_two, True), (11, memory.recall, True), (1.5, memory.summary, False),
    (12, skills.arithmetic, False), (3, skills.counting, False), (10, skills.spelling, False), (4, skills.rhymes, True), (5, skills.opposites, True), (9, skills.kinds, False), (5, skills.calendar, True),
    (5, skills.translation, False), (6, skills.say_after, False), (3, skills.letters_and_words, False),
    (14, knowledge.general, True), (6, knowledge.capitals, True), (3, knowledge.colors, True), (1.5, knowledge.young, True), (2, knowledge.sounds, True), (1.5, knowledge.makers, True), (1.5, knowledge.legs, True), (1, knowledge.bigger, True),
    (9, knowledge.topic, False), (1, knowledge.how_to, False),
    (9, tales.story, False), (4, tales.poem, False), (5, tales.joke, False), (2, tales.riddle, False), (2, tales.letter, False), (2, tales.sentence, True),
]  # fmt: skip
ANY_MANNER = [kind for kind in KINDS if kind[2]]
TOOLS_SHARE, JSON_SHARE, CLIENTS_SHARE = 0.15, 0.13, 0.045
LENGTHS = [1, 1, 2, 2, 3, 3, 4, 5, 6, 8, 10]


def conversations(seed: int):
    """Conversations without end."""
    rng = random.Random(seed)
    while True:
        yield conversation(rng)


def conversation(rng) -> Conversation:
    draw = rng.random()
    if draw < TOOLS_SHARE:
        return chat_tools.conversation(rng)
    if draw < TOOLS_SHARE + JSON_SHARE:
        return chat_json.conversation(rng)
    if draw < TOOLS_SHARE + JSON_SHARE + CLIENTS_SHARE:
        return chat_clients.conversation(rng)
    c = new_chat(rng)
    c.start()
    if c.chance(0.45):
        talk.hello(c)
    for _ in range(rng.choice(LENGTHS)):
        kinds = KINDS if c.manner.long else ANY_MANNER
        rng.choices(kinds, [weight for weight, _, _ in kinds])[0][1](c)
        if c.told and c.chance(0.15):
            memory.recall(c)
        if c.chance(0.06):
            talk.thanks(c)
    if c.chance(0.25):
        talk.thanks(c)
    if c.chance(0.25):
        talk.goodbye(c)
    return Conversation(c.messages)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    options = parser.parse_args()
    stream = conversations(options.seed)
    for _ in range(options.count):
        for role, text in turns(next(stream)):
            print(f"{role}: {text}")
        print("-----")


if __name__ == "__main__":
    main()
