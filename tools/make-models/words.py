"""The words of the corpus: characters, places, things, and pools of interchangeable phrases."""

GIRLS = """Lily Mia Anna Bella Clara Daisy Ella Emma Eva Flora Grace Hannah Holly Iris Ivy Jane Julia Kate Lena Lucy Maya
Molly Nina Nora Olive Penny Polly Rosa Ruby Sally Sara Sophie Stella Tess Tilly Vera Willa Wren Zoe Amira Mei Leila""".split()
BOYS = """Tom Max Adam Alfie Arlo Ben Bruno Caleb Carl Charlie Dan Eli Emil Felix Finn Fred George Gus Harry Henry Hugo Ian Jack
Jacob Joe Leo Liam Luke Milo Nico Noah Oscar Otto Owen Paul Peter Ravi Sam Simon Theo Tim Toby Will""".split()
PET_NAMES = """Pip Hazel Acorn Biscuit Bramble Button Clover Cricket Dot Fern Ginger Juniper Maple Marble Mocha Moss Nutmeg
Pebble Pepper Pickle Plum Poppy Puddle Rusty Scout Smoky Snowy Speck Thistle Tiptoe Waffle Whiskers""".split()
ANIMALS = """rabbit fox mouse squirrel hedgehog badger otter beaver bear owl duck frog turtle goat lamb pony piglet kitten
puppy sparrow robin crow goose hen mole deer donkey elephant penguin seal""".split()
ELDERS = [
    ("Grandma", "she"), ("Grandpa", "he"), ("Aunt Rose", "she"), ("Uncle Ben", "he"), ("Mrs. Green", "she"),
    ("Mr. Brown", "he"), ("Aunt May", "she"), ("Uncle Jo", "he"), ("Mrs. Hill", "she"), ("Mr. Stone", "he"),
]  # fmt: skip
WORKERS = [
    ("baker", "he"), ("baker", "she"), ("farmer", "he"), ("farmer", "she"), ("teacher", "she"), ("teacher", "he"),
    ("gardener", "he"), ("gardener", "she"), ("doctor", "she"), ("fisherman", "he"), ("weaver", "she"),
    ("carpenter", "he"), ("clockmaker", "he"), ("librarian", "she"), ("miller", "he"), ("painter", "she"),
    ("shepherd", "he"), ("postman", "he"), ("captain", "she"), ("blacksmith", "he"), ("beekeeper", "she"),
]  # fmt: skip

ADJECTIVES = """curious brave clever cheerful gentle kind lively patient polite quiet shy thoughtful honest
friendly careful merry bright busy""".split()
COLORS = "red blue green yellow orange purple white brown pink golden silver black gray".split()
NUMBERS = "two three four five six seven eight nine ten".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()

HOMES = [
    "a small village by the sea", "a quiet village near the forest", "a little house at the edge of the forest",
    "a cottage on a green hill", "a busy town by the river", "a tall house in the city", "a farmhouse in a wide valley",
    "a village at the foot of a mountain", "a cottage beside a mill", "a town with narrow streets",
    "a white house near the harbor", "an old house with a red roof", "a valley full of apple trees",
    "a village beside a lake", "a small town with a tall clock tower", "a village on an island far from the shore",
    "a house above a bookshop", "a fishing village", "a wooden house by a stream",
]  # fmt: skip
BURROWS = [
    "a cozy burrow under an oak tree", "a snug den beneath a hill", "a hollow log near the pond", "a quiet forest",
    "a meadow full of clover", "a hole in the bank of a stream", "an old barn on a farm", "a nest of leaves and moss",
    "a little cave behind a waterfall", "a garden behind a white house", "a wood where the trees were very tall",
]  # fmt: skip
PLACES = [
    "the forest", "the meadow", "the river", "the park", "the beach", "the market", "the old bridge", "the hill",
    "the pond", "the orchard", "the harbor", "the mill", "the garden", "the lake", "the library", "the field",
]  # fmt: skip
SEASONS = {
    "spring": ["mild", "bright", "rainy", "fresh", "windy", "warm"],
    "summer": ["hot", "sunny", "warm", "bright", "lazy", "golden"],
    "autumn": ["windy", "foggy", "cool", "golden", "rainy", "misty"],
    "winter": ["cold", "snowy", "frosty", "gray", "icy", "still"],
}
TOYS = ["kite", "ball", "drum", "doll", "boat", "wagon", "whistle", "puppet", "spinning top", "paper lantern", "toy train",
        "wooden horse", "music box", "hat", "scarf", "umbrella", "basket", "button", "ring", "watch"]  # fmt: skip
TREATS = ["apple pie", "bread", "honey cake", "cherry tart", "soup", "plum jam", "pancakes", "biscuits", "lemon cake",
          "ginger cookies", "warm milk", "blueberry muffins", "roasted chestnuts"]  # fmt: skip
BAKED = ["apple pie", "bread", "honey cake", "a cherry tart", "a lemon cake", "ginger cookies", "blueberry muffins", "biscuits"]

POOLS = {
    "color": COLORS,
    "adj": ADJECTIVES,
    "fur": ["brown", "white", "black", "gray", "golden", "spotted", "striped"],
    "num": NUMBERS,
    "day": DAYS,
    "treat": TREATS,
    "animal": ANIMALS,
    "very": ["very", "very", "so", "quite", "really"],
    "glad": ["happy", "glad", "pleased", "proud", "delighted", "very happy", "full of joy"],
    "sad": ["sad", "unhappy", "upset", "very sad", "disappointed"],
    "afraid": ["afraid", "scared", "frightened", "worried", "nervous"],
    "smiled": ["smiled", "laughed", "grinned", "clapped <h.his> hands", "nodded happily", "jumped for joy"],
    "thought": ["thought for a moment", "thought hard", "sat down to think", "scratched <h.his> head", "took a deep breath"],
    "walked": ["walked", "hurried", "went", "ran", "strolled", "skipped"],
    "saw": ["saw", "noticed", "spotted", "found"],
    "looked": ["looked", "searched", "peeked"],
    "soon": ["soon", "after a while", "before long", "a little later", "after some time"],
    "then": ["then", "after that", "next", "a moment later"],
    "suddenly": ["suddenly", "all at once", "just then", "at that moment"],
    "finally": ["finally", "at last", "in the end"],
    "carefully": ["carefully", "slowly", "gently", "quietly", "very carefully"],
    "hello": ["hello", "good morning", "good day", "hello there", "good afternoon"],
    "thanks": ["thank you", "thank you so much", "thank you very much", "thanks"],
    "yes": ["yes", "of course", "certainly", "yes, please", "gladly"],
    "dear": ["oh no", "oh dear", "dear me", "oh my"],
    "great": ["how wonderful", "hooray", "that is wonderful", "what a surprise", "we did it"],
    "sound": ["the wind in the trees", "the song of a bird", "the sound of the stream", "the bells of the church", "the waves"],
    "hobby": [
        "to climb trees", "to read books about the sea", "to draw pictures of birds", "to sing in the morning", "to count the stars",
        "to collect smooth stones", "to watch the clouds", "to build little boats", "to tell stories", "to swim in the lake",
        "to look for shells", "to bake with <h.his> family", "to ask questions", "to explore", "to fix broken things", "to plant seeds",
        "to fly kites", "to listen to the rain", "to make soup", "to play hide and seek", "to paint", "to walk in the woods",
    ],
    "ending": [
        "From that day on, <h> and <f> were the best of friends.", "<h> never forgot that day.", "It had been a very good day.",
        "That night, <h> slept very well.", "And they all lived happily ever after.", "<h> went home with a smile.",
        "And that is how it happened.", "<h> fell asleep that night with a smile.", "Everyone talked about it for {days|weeks}.",
        "And whenever <h> thought of that day, <h.he> smiled.", "When <h.he> went to bed, <h> was tired but happy.",
        "The stars came out, and all was well.", "<h> could hardly wait for the next day.", "It was the best day of the whole <season>.",
    ],
    "skyline": [
        "The sun was {shining|warm|high in the sky}.", "There was not a cloud in the sky.", "A soft wind was blowing.", "The birds were singing.",
        "The sky was {clear and blue|full of clouds|pale and gray}.", "The air smelled of {flowers|rain|fresh bread|the sea|pine trees}.",
        "Everything was quiet.", "Far away, a bell was ringing.", "",
    ],
}  # fmt: skip
