"""Days without a plot: a few small events in any order, so that no two of them are alike."""

from plot import Plot

START = """
<open>

<when>, <h> and <f> {went for a walk|set out to see the world|had nothing to do|walked to <place>}. {<$skyline>|"Where shall we go?" asked <f>. "{Let us just walk|Wherever the road goes}," said <h>.}
"""
END = """
{When the sun went down|In the evening|When it grew dark}, they {walked home|turned around and went home|sat down on the steps in front of the house}. "{What was the best part|What did you like best}?" asked <f>. <h> <$thought>. "{The <LAST>|All of it|The walk home}," <h.he> said. <$ending>
"""
EVENTS = {
    "snail": "On a leaf sat a snail{ with a@ <$color> shell|}. {\"{Good morning|Where are you going}?\" asked <h>, but the snail did not answer.|They watched it for a long time, and it moved as far as a finger is long.|\"It carries its house on its back,\" said <f>.}",
    "puddle": "{In the middle of the road|Behind a wall} there was a big puddle. {<f> jumped over it, and <h> jumped into it.|<h> looked into it and saw the clouds.|They threw in little stones and counted the rings.}",
    "bridge": "They came to a bridge and {leaned over|looked down at the water}. {<h> dropped a stick on one side, and <f> ran to the other side to see it come out.|A fish jumped, and then it was gone.|\"Does the river ever get tired?\" asked <f>.}",
    "old man": "An old man was sitting on a bench{ with a pipe|}. {\"I have sat here every day for <num> years,\" he said, \"and I have seen something new every day.\"|He {told|asked} them {a riddle: \"What has hands but cannot clap?\" \"A clock!\" said <h>.|the time, and then he fell asleep.}}",
    "cloud": "They lay down in the grass and looked at the clouds. \"That one is a@ <$animal>,\" said <h>. \"No, it is {a ship|a teapot|a castle|a@ <$animal>},\" said <f>.",
    "bakery": "{Near the corner|In the village}, they smelled {fresh bread|warm cake}. The baker {gave each of them a small loaf|waved and gave them some biscuits}. {It was still warm.|They ate them at once.}",
    "kitten": "A@ <$fur> kitten {followed them|sat on a wall}. {It purred when <h> stroked it.|\"You are too far from home,\" said <f>, and they carried it back to its mother.|It played with the string of <h>'s shoe.}",
    "gate": "Behind an iron gate there was an old garden. {Nobody had cut the grass for years.|The roses had climbed over the wall.} {<h> opened the gate, and it squeaked.|They found a stone frog in the middle of it.}",
    "wagon": "A wagon {full of hay|full of apples|with <num> barrels} came along the road. {\"Would you like a ride?\" asked the driver, and so they rode to the next village.|The driver waved, and they waved back.|The horse looked at them and shook its head.}",
    "echo": "At the foot of a cliff, <h> shouted, \"Hello!\" \"Hello!\" said the echo. {\"Who are you?\" shouted <f>. \"You,\" said the echo.|They shouted until they had no voice left.}",
    "hole": "{Under a root|In the bank}, there was a dark hole. \"Who lives there?\" asked <f>. {Two bright eyes looked out, and then they were gone.|<h> put a nut in front of it, and they waited. A small paw came out and took the nut.}",
    "wind": "A strong wind {came up|blew over the field}. {It took <h>'s hat, and they ran after it until it landed on the head of a scarecrow.|They spread their arms and almost flew.}",
    "boat": "{On the bank of the river|By the water} lay a@ <$color> boat. {They sat in it and rowed a little.|Someone had painted a star on it.|\"Where could we go with it?\" asked <h>. \"Everywhere,\" said <f>.}",
    "coin": "<h> found an old coin in the {sand|grass}. {It was so old that nobody could read it.|\"What will you buy with it?\" asked <f>. \"Nothing,\" said <h>. \"I will keep it.\"}",
    "rain": "{It began to rain|Then came a short rain}, and they stood under {a tree|the roof of a barn}. {They told each other stories until it stopped.|\"Listen, it sounds like a drum,\" said <f>.} Afterward, everything {was shining|smelled fresh}.",
    "berries": "They found {blackberries|strawberries|blueberries} {along the path|in a sunny place}. {They ate until their fingers were {blue|red}.|\"One for me, and one for you,\" said <h>.}",
    "music": "Somewhere, somebody was playing the {flute|fiddle|piano}. {They stood still and listened.|They followed the music and found a girl who sat in a window.|<f> began to dance, and then <h> danced, too.}",
    "frog": "A frog sat on a stone in the pond. {It looked at them, and they looked at it.|\"Say something,\" said <h>. \"Croak,\" said the frog.|When they came closer, it jumped into the water.}",
    "tree": "{In the middle of the field|On the hill} stood a tree that was older than {anyone|the village}. {<h> climbed up and could see <place>.|They tried to reach around it, but their arms were too short.|There were names in the bark, and one of them was the name of <g>.}",
    "train": "A train went by, and they {waved|counted the cars}. {Somebody in a@ <$color> coat waved back.|\"One day, I will be on it,\" said <h>.|There were twelve, and the last one was <$color>.}",
    "letter": "A letter lay {on the ground|under a bush}. {It was for <g>, and so they took it to <g.his> house.|The rain had washed away the name, and only the word \"dear\" was left.}",
    "shadow": "The sun stood low, and their shadows were {long|very long}. {\"Now we are giants,\" said <h>.|<f> tried to jump over <f.his> own shadow, and it did not work.}",
    "duck": "A mother duck crossed the road with {five|six|seven} ducklings. {They stopped and let them pass.|The last one was slow, and <h> helped it over the edge of the road.}",
    "bell": "They heard the bell of the tower{ and counted: one, two, three, four|}. {\"It is later than I thought,\" said <h>.|A hundred birds flew up.}",
}  # fmt: skip


def ramble(rng) -> Plot:
    names = rng.sample(list(EVENTS), rng.randint(3, 5))
    text = START + "\n" + "\n\n".join(EVENTS[name] for name in names) + "\n" + END.replace("<LAST>", rng.choice(names))
    return Plot("A Walk with <f>", text)
