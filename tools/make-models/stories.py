"""Stories: each is a plot in the template language with a table of scenarios that fit it, so cause and effect agree.

The slots: <h> the hero, <f> a friend, <g> a grown-up (both of the other gender than the hero, so that pronouns are
plain), <desc> what the hero is, <home>, <place>, <season>, <when>, <obj>, <col>, <treat>, and what a scenario binds.
"""

import plots_a
import plots_b
import rambles
import words
from english import Being, he, paragraphs, she

OPENINGS = [
    "Once upon a time, there was a@ <desc> named <h>{. <h.He> lived in| who lived in} <home>.",
    "Once upon a time, in <home>, there lived a@ <desc> named <h>.",
    "Once upon a time, a@ <desc> named <h> lived in <home>.",
    "Once there was a@ <desc> named <h> who loved <$hobby>.",
    "There was once a@ <desc> called <h> who lived in <home>.",
    "In <home>, there lived a@ <desc> {named|called} <h>.",
    "<h> was a@ <desc> who lived in <home>.",
    "Long ago, in <home>, a@ <desc> named <h> lived with <h.his> {family|mother and father|two brothers|little sister}.",
    "<h> lived in <home>. <h.He> was a@ <$adj> {little |young |}<h.kind> who loved <$hobby>.",
    "This is the story of <h>, a@ <desc> from <home>.",
]
MORE = [
    "", "", "<h.He> loved <$hobby>.", "More than anything, <h.he> loved <$hobby>.", "<h.His> best friend was <f>.",
    "Every {morning|evening|day}, <h.he> {looked out of the window|went for a walk|said hello to the birds|fed the ducks}.",
    "Everyone said that <h.he> was <$adj> and <$adj>.", "<h.He> {had a@ <col> <toy> that <h.he> loved|was always ready to help}.",
    "<h.He> liked <treat>, <season> days, and long stories.",
]  # fmt: skip


def people(writer, female: bool) -> Being:
    return she(writer.pick_common(words.GIRLS)) if female else he(writer.pick_common(words.BOYS))


def animal(writer, female: bool) -> Being:
    kind = writer.pick_common(words.ANIMALS)
    name = writer.pick_common(words.PET_NAMES) if writer.chance(0.95) else f"Little {kind.capitalize()}"
    return she(name, kind) if female else he(name, kind)


def grown_up(writer, female: bool) -> Being:
    pronoun = "she" if female else "he"
    if writer.chance(0.5):
        kind = writer.pick([k for k, p in words.WORKERS if p == pronoun])
        name = f"the {writer.pick(['', '', 'old ', 'kind '])}{kind}"
    else:
        name = kind = writer.pick([n for n, p in words.ELDERS if p == pronoun])
    return she(name, kind) if female else he(name, kind)


def cast(writer, avoid=()):
    """Binds all characters and things that a plot may name. `avoid` has the names of the last documents."""
    female, beasts = writer.chance(0.5), writer.chance(0.35)
    make = animal if beasts else people
    hero = make(writer, female)
    while hero.name in avoid:
        hero = make(writer, female)
    befriend = animal if beasts or writer.chance(0.2) else people
    friend = befriend(writer, not female)
    while friend.name.split()[0] == hero.name.split()[0]:
        friend = befriend(writer, not female)
    season = writer.pick(list(words.SEASONS))
    sky = writer.pick(words.SEASONS[season])
    toys = writer.rng.sample(words.TOYS, 2)
    colors = writer.rng.sample(words.COLORS, 2)
    writer.bind(h=hero, f=friend, g=grown_up(writer, not female), season=season, sky=sky)
    writer.bind(toy=toys[0], toy2=toys[1], col=colors[0], col2=colors[1], treat="<$treat>", baked=writer.pick(words.BAKED), num="<$num>", day="<$day>")
    writer.bind(home=writer.pick_common(words.BURROWS if beasts else words.HOMES), place=writer.pick(words.PLACES))
    writer.bind(desc="<$adj> {|little |young |}<h.kind>", fdesc="{small|<$adj>|<$adj>|young} <f.kind>")
    writer.bind(when="one <sky> {morning|morning|day|afternoon|evening|<season> morning|<season> day}")


def story(writer) -> str:
    """One story, finished."""
    if writer.chance(0.2):
        plot = rambles.ramble(writer.rng)
    else:
        plot = writer.pick(PLOTS)
        writer.bind(**writer.pick(plot.scenarios))
    opening = writer.pick_common(OPENINGS) + " " + writer.pick(MORE)
    text = paragraphs(plot.text.replace("<open>", opening))
    if writer.chance(0.1):
        return title_case(writer.write(plot.title)) + "\n\n" + writer.write(text)
    return writer.write(text)


def title_case(title: str) -> str:
    small = {"a", "an", "and", "at", "for", "of", "on", "the", "to"}
    return " ".join(word if i and word in small else word[:1].upper() + word[1:] for i, word in enumerate(title.split()))


PLOTS = plots_a.PLOTS + plots_b.PLOTS
