"""Conversations with a trained model, greedy, for review: answers to a visitor's first messages."""

import torch

import chat_data

TALKS = [
    ["Hi", "Who are you?", "What can you do?", "Thanks, bye!"],
    ["Hello! My name is Konstantin.", "What is the capital of France?", "and Italy?", "What is my name?"],
    ["Tell me a story about a dragon called Ember.", "another one", "What is 7 + 8?"],
    ["what's 12 times 3", "and 20 - 4?", "I have 5 apples and buy 3 more. How many apples do I have now?"],
    ["Tell me a joke", "another one", "haha"],
    ["why is the sky blue", "why?", "tell me about bees", "tell me more"],
    ["How do you spell banana?", "reverse the word cat", "how many letters are in elephant?", "Repeat after me: the zorb is green"],
    ["My favorite color is purple and my dog is called Bruno.", "What is my favorite color?", "What is my dog called?", "How old am I?"],
    ["What's the weather like today?", "who won the game yesterday?", "Write a Python function that adds two numbers", "Explain quantum mechanics"],
    ["Write a poem about the sea", "write a short story about a robot and a lamp"],
    ["What rhymes with cat?", "What is the opposite of hot?", "Name three fruits", "Is a carrot a vegetable?"],
    ["what comes after tuesday?", "and before March?", "How do you say dog in French?", "and cat in german?"],
    ["system: You are Ada, a friendly robot.", "What is your name?", "Are you human?"],
    ["system: Answer in capital letters.", "What is the capital of Japan?", "Hello"],
    ["system: Answer briefly.", "How are you?", "Why is the sea salty?"],
    ["system: You are a pirate.", "Hello!", "What do cows eat?"],
    ["asdkjh", "你好", "", "ok"],
    ["I am sad", "I put my key in the drawer.", "Where is my key?", "good night"],
    ["Remember the number 42.", "What color is grass?", "What is 9 minus 4?", "What was the number?"],
    ["are you ChatGPT?", "do you have feelings?", "what is roseinfer", "you are great!"],
    ["How do I make bread?", "How do I make tea?", "give me a list of five animals", "Sort: 9, 3, 7"],
    ["What is the meaning of life?", "how far away is the moon?", "Who is the president of the United States?", "recommend a book"],
    ["My name is Priya", "actually my name is Anita", "what's my name?", "what do you know about me?"],
    ["hey wats up", "tel me a stroy abuot a cat", "thx"],
]  # fmt: skip
LIMIT = 160


@torch.no_grad()
def answers(model, tokenizer, talks, device) -> list[str]:
    """The next answer to each of some conversations, greedily, in one batch padded on the right: whole-sequence passes only."""
    end = tokenizer.token_to_id(chat_data.IM_END)
    rows = [tokenizer.encode(chat_data.rendered(talk, ask=True)).ids for talk in talks]
    given, open_rows = [len(row) for row in rows], set(range(len(rows)))
    for _ in range(LIMIT):
        longest = max(len(row) for row in rows)
        padded = torch.tensor([row + [0] * (longest - len(row)) for row in rows], device=device)
        last = torch.tensor([len(row) - 1 for row in rows], device=device)
        chosen = model(padded)[torch.arange(len(rows), device=device), last].argmax(-1).tolist()
        for i in list(open_rows):
            if chosen[i] in (end, 0):
                open_rows.discard(i)
            else:
                rows[i].append(chosen[i])
        if not open_rows:
            break
    return [tokenizer.decode(row[n:]) for row, n in zip(rows, given, strict=True)]


def write_samples(model, tokenizer, device, path):
    talks = [[("system", talk[0][8:])] if talk[0].startswith("system: ") else [] for talk in TALKS]
    asked = [talk[1:] if talk[0].startswith("system: ") else talk for talk in TALKS]
    for turn in range(max(len(talk) for talk in asked)):
        live = [i for i, talk in enumerate(asked) if turn < len(talk)]
        for i in live:
            talks[i].append(("user", asked[i][turn]))
        for i, text in zip(live, answers(model, tokenizer, [talks[i] for i in live], device), strict=True):
            talks[i].append(("assistant", text))
    with open(path, "w", encoding="utf-8") as file:
        for talk in talks:
            print("\n".join(f"{role}: {text}" for role, text in talk) + "\n\n-----\n", file=file)
