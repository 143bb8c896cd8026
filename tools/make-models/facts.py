"""Facts in plain words: short explanations (each a list of sentences with alternatives) and tables for questions."""

TOPICS = {
    "lighthouses": """
{The lighthouse|A lighthouse} {is a tall tower with a bright light at the top|is a tower that helps ships at night}. {It stands {near the sea|on a rock or a cliff}.|Most lighthouses stand on the coast, close to dangerous rocks.} {Sailors can see the light from
far away.|On a clear night, the light can be seen for many miles.} {The light turns, and so it seems to flash.|A big lens of glass makes the light stronger.} {Each lighthouse has its own pattern of flashes, so that sailors know which one they see.|By counting the flashes,
a sailor knows which lighthouse it is.} {Long ago, a keeper lived in the tower and lit the lamp every evening.|In the past, the lamp burned oil, and a keeper had to look after it.} {Today, most lights work by themselves.|Today, electric lamps do the work.} {The lighthouse says to every ship: be
careful, the land is near.|Without it, many ships would be lost.}
""",
    "seasons": """
{There are four seasons in a year|A year has four seasons}: spring, summer, autumn, and winter. {In spring, the days grow longer, and the first flowers open.|Spring brings rain, new leaves, and the songs of birds.} {In summer, it is warm, and children play outside until late.|Summer is the warmest season,
and the fruit begins to ripen.} {In autumn, the leaves turn red and yellow and fall from the trees.|In autumn, farmers bring in the harvest.} {In winter, the nights are long, and in many places it snows.|Winter is cold, and some animals sleep until spring.} {Then spring comes again.|After winter, it all
begins again.} {The seasons change because the earth is tilted as it travels around the sun.|We have seasons because the earth leans a little to one side on its way around the sun.}
""",
    "bees": """
{Bees are small insects that live together in a hive.|A bee is an insect with four wings and six legs.} {Thousands of them share one home.|In one hive there may be thousands of bees and only one queen.} {They fly from flower to flower and gather sweet juice, which is called nectar.|They visit hundreds of flowers
every day.} {From the nectar, they make honey.|In the hive, the nectar slowly turns into honey.} {The honey is their food in winter.|They store the honey in little rooms of wax that have six sides.} {When a bee finds good flowers, she dances to show the others the way.|Bees tell each other where to find flowers by
dancing.} {Without bees, there would be far fewer apples and cherries.|Many plants need bees to make fruit and seeds.}
""",
    "bread": """
{To make bread, you need flour, water, salt, and yeast.|Bread is made of flour, water, salt, and a little yeast.} {First, mix everything in a bowl.|First, put everything into a big bowl and stir it.} {Then press and fold the dough with your hands until it is smooth.|Then work the dough with your hands for ten minutes.} {Cover it with a
cloth and wait for an hour.|Let it rest in a warm place.} {The yeast makes little bubbles, and the dough grows.|While it rests, it becomes twice as big.} {After that, make a round loaf and put it into a hot oven.|Next, give it a shape and bake it in a hot oven.} {When the crust is brown, the bread is ready.|It is done when it sounds hollow
under your fingers.} {Let it cool before you cut it.|Be careful, it is hot!}
""",
    "rain": """
{Rain comes from clouds, and clouds come from water.|Where does the rain come from?} {The sun warms the sea, the lakes, and the rivers.|When the sun shines on water, the water becomes warm.} {Some of the water rises into the air, but we cannot see it.|A part of it goes up into the air as vapor.} {High in the sky, the air is cold.|The higher it
goes, the colder it gets.} {There, the vapor turns into tiny drops, and the drops make a cloud.|The vapor turns back into drops, and many drops together are a cloud.} {When the drops are too heavy, they fall down as rain.|When they grow heavy, they fall.} {The rain runs into the rivers, and the rivers run into the sea.|The water flows back to the
sea, and the journey begins again.}
""",
    "the moon": """
{The moon is our nearest neighbor in space.|The moon travels around the earth.} {It needs about a month to go around the earth once.|One trip around the earth takes about four weeks.} {It has no light of its own.|The moon does not shine by itself.} {What we see is the light of the sun.|It shines because the sun shines on it.} {Sometimes we see a full
round moon, and sometimes only a thin curve.|Some nights it is round, and some nights it looks like a boat.} {There is no air on the moon and no wind.|Nothing grows on the moon, and no wind blows there.} {People have walked on it and have brought back stones.|A few people have stood on the moon and looked back at the earth.}
""",
    "trees": """
{A tree has roots, a trunk, branches, and leaves.|Trees are the largest plants on land.} {The roots hold it in the ground and drink water.|Under the ground, the roots take in water.} {The trunk carries the water up to the leaves.|The bark protects the trunk, just as our skin protects us.} {The leaves catch the light of the sun and use it to make food.|With
the help of light, the leaves make sugar out of water and air.} {Every year, the trunk grows a new ring.|If you count the rings of a trunk, you know how old the tree is.} {Some trees live for more than a thousand years.|An oak can live for hundreds of years.} {Birds, insects, and squirrels make their homes in trees.|A tree gives shade, fruit, and a home to
many animals.}
""",
    "bicycles": """
{A bicycle has two wheels, two pedals, and a chain.|The bicycle is a simple and clever machine.} {When you push the pedals, the chain turns the back wheel.|Your legs turn the pedals, and the chain pulls the back wheel around.} {With the front wheel, you steer.|You steer with the handlebars.} {The brakes press on the wheels and make them slow.|To stop, you
use the brakes.} {It is easier to stay up when you ride fast than when you ride slowly.|As long as it rolls, it does not fall.} {A bicycle needs no fuel, only breakfast.|Riding a bicycle is good for you, and it makes no smoke.} {Always wear a helmet.|Do not forget to wear a helmet, and ring the bell when someone is in the way.}
""",
    "rivers": """
{A river begins high in the hills.|Every river starts as a small spring.} {There, water comes out of the ground, and a little stream is born.|Rain and melted snow run together and make a stream.} {On its way down, other streams join it.|Stream after stream flows into it, and it becomes wider.} {In the mountains, it is fast and loud.|Where the land is steep,
it rushes over the stones.} {In the valley, it is slow and calm.|On flat land, it moves slowly and makes wide turns.} {People build towns by rivers because everyone needs water.|Boats travel on it, and fish live in it.} {At last, it reaches the sea.|In the end, it flows into the sea.}
""",
    "clocks": """
{A clock tells us the time.|Most clocks have two hands.} {The short hand shows the hours, and the long hand shows the minutes.|The long hand goes around once in an hour, and the short hand needs twelve hours.} {There are sixty seconds in a minute and sixty minutes in an hour.|An hour has sixty minutes, and a day has twenty-four hours.} {At noon, both hands
point to the twelve.|At three o'clock, the short hand points to the three, and the long hand points to the twelve.} {Inside an old clock, small wheels turn each other.|In old clocks, a weight or a spring turns the wheels.} {Before there were clocks, people looked at the sun.|Long ago, people used the shadow of a stick to tell the time.}
""",
    "snow": """
{Snow falls when it is cold.|When it is very cold, clouds bring snow and not rain.} {High in the clouds, water freezes and makes tiny crystals.|A snowflake begins as a tiny piece of ice in a cloud.} {Every snowflake has six sides or six arms.|If you look closely, you can see that it has six arms.} {People say that no two of them are the same.|Hardly ever are two of
them alike.} {Fresh snow is soft and makes the world quiet.|Snow keeps the ground warm, like a blanket.} {You can build a snowman out of it, or ride down a hill on a sled.|Children love to throw snowballs and to build snowmen.} {When the sun comes back, the snow melts and turns into water.|In spring, it melts and runs into the streams.}
""",
    "libraries": """
{A library is a house full of books.|A library is a place where you can borrow books.} {There are stories, poems, maps, and books about almost everything.|You can find books about stars, animals, cooking, and far countries.} {The librarian helps you to find what you are looking for.|If you cannot find a book, ask the librarian.} {You may take a book home and bring
it back after some weeks.|You can read there, or take the books home for a while.} {In a library, people are quiet, so that everyone can read.|It is quiet there, because people want to read.} {It costs very little, and it is open to everyone.|Whoever you are, you are welcome.}
""",
    "computers": """
{A computer is a machine that follows instructions.|A computer can count, compare, and remember.} {A list of instructions is called a program.|People write the instructions, and together they make a program.} {The computer does them one after another, and it does them very fast.|It does exactly what the program says, even when the program is wrong.} {Inside, everything is
a number: words, pictures, and music.|For a computer, every letter and every picture is made of numbers.} {When something does not work, a programmer looks for the mistake.|A mistake in a program is called a bug.} {It takes patience to find it, and it feels good when it is gone.|Good programmers test their work before they trust it.}
""",
    "language models": """
{A language model is a program that continues a text.|A language model reads some words and guesses the next one.} {It has read many sentences, and it has learned which words often follow each other.|It learned this from many examples.} {Then it adds its guess to the text and guesses again.|It writes one small piece at a time.} {A small model knows only simple stories.|The
model that writes this is very small, and it has read only simple stories.} {It does not know whether they are true.|It can be wrong, so do not believe everything that it says.} {A big model has read more, but it works in the same way.|Bigger models do the same thing with many more numbers.}
""",
    "boats": """
{A boat floats because it pushes water away.|Why does a heavy boat float?} {The water pushes back, and that holds the boat up.|A boat is hollow, and so it is lighter than the water that it pushes away.} {A boat with sails is moved by the wind.|The wind blows into the sails and moves the boat.} {Other boats have oars or an engine.|If there is no wind, you must row.} {At the back there is
a rudder, and with it you can steer.|With the rudder, the captain steers to the left or to the right.} {An anchor keeps the boat in its place.|In the harbor, the boat is tied up with a strong rope.}
""",
    "birds": """
{All birds have feathers, wings, and a beak.|Birds are the only animals with feathers.} {Most of them can fly, but some cannot.|Not every bird can fly: the penguin swims, and the ostrich runs.} {They build nests and lay eggs.|In spring, they build their nests out of grass, twigs, and moss.} {The parents keep the eggs warm until the young birds come out.|The young birds are always hungry,
and their parents bring them food all day.} {In autumn, many birds fly to warmer countries.|Some birds fly thousands of miles every year and still find the way home.} {In the morning, you can hear them sing.|They sing to find a partner and to say that this tree is taken.}
""",
    "maps": """
{A map is a picture of a place, seen from above.|A map shows you where things are.} {Blue is water, green is forest, and thin lines are roads.|Rivers are blue lines, and roads are often white or yellow.} {On most maps, north is at the top.|The top of the map is usually the north.} {A compass has a needle that points to the north.|With a compass, you can find out where north is.} {With a map and a
compass, you can find your way even in a strange land.|If you have a map and know where you are, you cannot get lost.} {Small maps show big countries, and big maps may show only one village.|The scale tells you how far it really is.}
""",
    "magnets": """
{A magnet pulls things that are made of iron.|If you hold a magnet near a nail, the nail jumps to it.} {It does not pull wood, glass, or paper.|Wood, paper, and glass do not feel it at all.} {Every magnet has two ends, a north pole and a south pole.|The two ends of a magnet are called poles.} {A north pole and a south pole pull each other, but two north poles push each other away.|Poles that are different pull each
other, and poles that are the same push each other away.} {The earth itself is a big magnet.|Even the earth is a magnet, and that is why a compass works.}
""",
    "gardens": """
{The garden {behind the house|in front of the school} is {small|not very big}, but {many things grow in it|it is full of life}.|In a garden, there is always something to do.} {In spring, you dig the earth and put in the seeds.|First, the earth must be soft, and then you can plant.} {Put each seed as deep as your finger, and cover it.|Small seeds go into the top of the earth, and big seeds go deeper.} {Then give
them water, but not too much.|Plants need water, light, and time.} {Worms are good for the earth, because they make it loose.|Do not be angry with the worms, because they help you.} {In summer, you can pick beans, peas, and strawberries.|After some weeks, you can eat what you have planted.} {Nothing tastes better than a carrot from your own garden.|A gardener is never bored.}
""",
    "paper boats": """
{Here is how to make a paper boat.|You can make a boat out of one sheet of paper.} {First, fold the sheet in half.|First, take a sheet of paper and fold it in the middle.} {Then fold the two upper corners to the center.|Next, fold down the two corners, so that they meet.} {Fold up the lower edge on both sides.|Now turn the edges up, one on each side.} {It looks like a hat.|Now you have a hat, and you could stop here.} {Open the
hat and press it flat the other way.|Open it and make it into a square.} {Fold the corners up, and pull the two ends apart.|Then pull the ends apart, and the boat is ready.} {Put it on the water and watch it sail.|It will float until the paper is wet.}
""",
    "sleep": """
{Everybody needs sleep.|All animals sleep, and so do we.} {When we sleep, the body rests and grows.|During the night, the body repairs itself.} {The brain is busy even then: it sorts what we have learned.|While we sleep, the brain puts the day in order.} {Children need about ten hours of sleep, and grown people need about eight.|A child needs more sleep than a grown person.} {Sometimes we dream.|In our dreams, we can fly, or
talk to animals.} {A dark and quiet room helps.|It is easier to fall asleep when it is dark and quiet.} {Good night!|Sleep well!}
""",
    "wind": """
{Wind is air that moves.|We cannot see the wind, but we can see what it does.} {It moves the leaves, the clouds, and the waves.|It makes the leaves dance and drives the clouds across the sky.} {Warm air rises, and cold air takes its place, and that is how wind begins.|Wind begins when the sun warms the air in one place more than in another.} {A soft wind is called a breeze, and a strong one is called a storm.|A gentle
wind is pleasant, but a storm can break trees.} {A windmill uses the wind to grind corn.|People use the wind to sail, to grind corn, and to make electricity.}
""",
}  # fmt: skip

THINGS = [
    ("a ripe banana", "yellow"), ("grass", "green"), ("fresh snow", "white"), ("the sky on a clear day", "blue"), ("a ripe tomato", "red"), ("coal", "black"),
    ("a carrot", "orange"), ("milk", "white"), ("a lemon", "yellow"), ("an elephant", "gray"), ("chocolate", "brown"), ("a strawberry", "red"),
]  # fmt: skip
YOUNG = [("dog", "puppy"), ("cat", "kitten"), ("sheep", "lamb"), ("cow", "calf"), ("horse", "foal"), ("hen", "chick"), ("duck", "duckling"), ("goat", "kid"), ("bear", "cub"), ("pig", "piglet")]
SOUNDS = [("dog", "barks"), ("cat", "meows"), ("cow", "moos"), ("duck", "quacks"), ("sheep", "bleats"), ("owl", "hoots"), ("lion", "roars"), ("bee", "buzzes"), ("mouse", "squeaks"), ("snake", "hisses")]
OPPOSITES = [("hot", "cold"), ("big", "small"), ("day", "night"), ("fast", "slow"), ("old", "young"), ("wet", "dry"), ("up", "down"), ("open", "closed"), ("loud", "quiet"), ("light", "dark"), ("early", "late"),
             ("full", "empty"), ("hard", "soft"), ("tall", "short"), ("happy", "sad"), ("left", "right")]  # fmt: skip
MAKERS = [("bakes bread", "A baker"), ("teaches children", "A teacher"), ("makes shoes", "A shoemaker"), ("grows corn and keeps cows", "A farmer"), ("helps people who are ill", "A doctor"), ("puts out fires", "A firefighter"),
          ("brings the letters", "A postman"), ("repairs clocks", "A clockmaker"), ("looks after books", "A librarian"), ("catches fish", "A fisherman")]  # fmt: skip
WHY = [
    ("Why do leaves fall in autumn?", "A tree drops its leaves in autumn to save water during the winter."),
    ("Why is the sea salty?", "Rivers carry a little salt from the rocks into the sea, and the salt stays there."),
    ("Why do we see lightning before we hear thunder?", "Light is much faster than sound."),
    ("Why do cats have whiskers?", "With their whiskers, cats can feel their way in the dark."),
    ("Why does ice float?", "Ice is a little lighter than water."),
    ("Why do birds fly south?", "In winter, they find more food in warm countries."),
    ("Why is the night dark?", "At night, our side of the earth is turned away from the sun."),
    ("How many legs does a spider have?", "A spider has eight legs."),
    ("How many legs does an insect have?", "An insect has six legs."),
    ("How many days are there in a week?", "There are seven days in a week."),
    ("How many months are there in a year?", "There are twelve months in a year."),
    ("How many colors does a rainbow have?", "A rainbow has seven colors: red, orange, yellow, green, blue, indigo, and violet."),
    ("What do bees make?", "Bees make honey."),
    ("What do we need to make bread?", "We need flour, water, salt, and yeast."),
    ("What is the largest animal?", "The largest animal is the blue whale."),
    ("What is the tallest animal?", "The tallest animal is the giraffe."),
    ("Where does the sun rise?", "The sun rises in the east."),
    ("Where does the sun set?", "The sun sets in the west."),
    ("Where do fish live?", "Fish live in water."),
    ("When do owls sleep?", "Most owls sleep during the day."),
    ("Who are you?", "I am a small language model. I tell simple stories."),
    ("What can you do?", "I can tell short stories, answer easy questions, and describe simple things."),
]  # fmt: skip
NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
                "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"]  # fmt: skip
