"""Conversations with a trained model, greedy, for review, and how many held-out calls, JSON answers and answers after a call are exactly right."""

import random

import torch
import torch.nn.functional as F

import chat_clients
import chat_json
import chat_template
import chat_tools
from chat_dialogue import Conversation, Message

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
    end = tokenizer.token_to_id(chat_template.IM_END)
    rows = [tokenizer.encode(chat_template.rendered(talk, ask=True)).ids for talk in talks]
    given, live = [len(row) for row in rows], list(range(len(rows)))
    for _ in range(LIMIT):
        longest = max(len(rows[i]) for i in live)
        padded = torch.tensor([rows[i] + [0] * (longest - len(rows[i])) for i in live], device=device)
        last = torch.tensor([len(rows[i]) - 1 for i in live], device=device)
        hidden = model.model(padded, torch.arange(longest, device=device).expand(padded.shape))
        chosen = F.linear(hidden[torch.arange(len(live), device=device), last], model.model.embed_tokens.weight).argmax(-1).tolist()
        for i, token in zip(live, chosen, strict=True):
            if token not in (end, 0):
                rows[i].append(token)
        live = [i for i, token in zip(live, chosen, strict=True) if token not in (end, 0)]
        if not live:
            break
    return [tokenizer.decode(row[n:]) for row, n in zip(rows, given, strict=True)]


def write_samples(model, tokenizer, device, path):
    talks = [[Message("system", talk[0][8:])] if talk[0].startswith("system: ") else [] for talk in TALKS]
    asked = [talk[1:] if talk[0].startswith("system: ") else talk for talk in TALKS]
    for turn in range(max(len(talk) for talk in asked)):
        live = [i for i, talk in enumerate(asked) if turn < len(talk)]
        for i in live:
            talks[i].append(Message("user", asked[i][turn]))
        for i, text in zip(live, answers(model, tokenizer, [Conversation(talks[i]) for i in live], device), strict=True):
            talks[i].append(Message("assistant", text))
    with open(path, "w", encoding="utf-8") as file:
        for talk in talks:
            print("\n".join(f"{message.role}: {message.text}" for message in talk) + "\n\n-----\n", file=file)


def cases(conversations, is_wanted, count: int) -> list:
    """One case from each of the first suitable conversations: the conversation up to an answer, and the answer."""
    found = []
    for conversation in conversations:
        messages = conversation.messages
        places = [i for i, message in enumerate(messages) if message.role == "assistant" and is_wanted(messages, i)]
        if places:
            found.append((Conversation(messages[: places[-1]], conversation.functions), chat_template.written(messages[places[-1]])))
            if len(found) == count:
                break
    return found


def endless(write, seed: int, **options):
    rng = random.Random(seed)
    while True:
        yield write(rng, **options)


def held_out_cases(seed: int, count: int) -> dict:
    """Cases by kind. `unseen`: no name of a function in the training has the words of these names."""

    def calls(number):
        return lambda messages, i: len(messages[i].calls) == number

    def is_json(messages, i):
        return messages[i].text[:1] in ("{", "[")

    tools = chat_tools.conversation
    return {
        "calls": cases(endless(tools, seed), calls(1), count),
        "calls of functions with unseen names": cases(endless(tools, seed + 1, unseen=True), calls(1), count),
        "two calls": cases(endless(tools, seed + 2), calls(2), count),
        "answers after calls": cases(endless(tools, seed + 3), lambda messages, i: messages[i - 1].role == "tool", count),
        "requests without a function": cases(endless(tools, seed + 4), lambda messages, i: messages[i].text == chat_tools.NOT_POSSIBLE, count),
        "JSON": cases(endless(chat_json.conversation, seed + 5), is_json, count),
        "records of LangChain4j": cases(endless(chat_clients.conversation, seed + 6, client=chat_clients.LANGCHAIN4J), is_json, count),
        "records of Spring AI": cases(endless(chat_clients.conversation, seed + 7, client=chat_clients.SPRING_AI), is_json, count),
    }


@torch.no_grad()
def are_exact(model, tokenizer, some, device) -> list[bool]:
    """Whether the greedy answers are these to the letter: whether each token of them is the likeliest after those before it."""
    end = tokenizer.token_to_id(chat_template.IM_END)
    result = []
    for i in range(0, len(some), 25):
        prompts = [tokenizer.encode(chat_template.rendered(conversation, ask=True)).ids for conversation, _ in some[i : i + 25]]
        wanted = [tokenizer.encode(answer).ids + [end] for _, answer in some[i : i + 25]]
        rows = [(prompt + answer)[: model.shape.positions] for prompt, answer in zip(prompts, wanted, strict=True)]
        longest = max(len(row) for row in rows)
        chosen = model(torch.tensor([row + [0] * (longest - len(row)) for row in rows], device=device)).argmax(-1).tolist()
        result += [best[len(p) - 1 : len(p) - 1 + len(a)] == a for best, p, a in zip(chosen, prompts, wanted, strict=True)]
    return result


def write_exactness(model, tokenizer, device, path, seed: int, count: int = 100, shown: int = 6) -> dict:
    """How many held-out cases of each kind are exactly right; the file gets some wrong ones."""
    report, wrong = {}, []
    for kind, some in held_out_cases(seed, count).items():
        right = are_exact(model, tokenizer, some, device)
        report[kind] = f"{sum(right)} of {len(right)}"
        wrong += [(kind, *case) for case, good in zip(some, right, strict=True) if not good][:shown]
    given = answers(model, tokenizer, [conversation for _, conversation, _ in wrong], device) if wrong else []
    with open(path, "w", encoding="utf-8") as file:
        for (kind, conversation, wanted), text in zip(wrong, given, strict=True):
            print(f"# {kind}\n\n{chat_template.rendered(conversation)}\nwanted: {wanted}\ngiven: {text}\n", file=file)
    return report
