"""Plots, first half: things lost, friends helped, fears, lessons, journeys, storms."""

from plot import Plot

LOST = Plot(
    "The Lost {Treasure|Thing}",
    """
<open> {|<$skyline>}

<when>, <h> {could not find|lost} <h.his> <thing>. <h.He> had {always kept it|left it} <kept>, but now it was gone. "<$dear>!" said
<h>. "{Where can it be?|Where is my <thing>?|I must find it!}"

First, <h.he> <$looked> <where1>, but it was not there. {Then|Next}, <h.he> <$looked> <where2>. {There was nothing but <dust>.|All <h.he>
found was <dust>.} <h> {felt <$sad>|began to cry|sat down and sighed}.

<f> came {along the path|to see what was wrong|by}. "{Why are you so sad|What is the matter}?" <f.he> asked. "I have lost my <thing>,"
said <h>. "{Do not worry|Do not be sad}," said <f>. "{When did you last have it|Where were you this morning}?" <h> <$thought>.
"I was <doing>," <h.he> said.

So they {went back together|ran there together|walked back to look}. {There, <place2>, was|And there it was, <place2>:} the <thing>! <why>
"<$great>!" {cried|said} <h>. "<$thanks>, <f>."

{<h.He> learned that it helps to stop and think.|After that, <h> always put the <thing> back in its place.|"Two pairs of eyes are
better than one," said <f>.} <$ending>
""",
    (
        dict(thing="<col> <toy>", kept="under {the|<h.his>} bed", where1="behind the door", where2="in the big basket",
             dust="an old sock", doing="playing in the garden", place2="under the rose bush",
             why="The wind had blown it there."),
        dict(thing="silver key", kept="on a hook by the door", where1="in every drawer", where2="under the table",
             dust="dust and a dry leaf", doing="getting water at the well", place2="beside the well",
             why="It must have fallen when {the bucket tipped over|<h.he> bent down}."),
        dict(thing="<col> button", kept="in a tin box", where1="in <h.his> pockets", where2="between the stones of the path",
             dust="<num> small ants", doing="jumping over the stream", place2="at the edge of the water",
             why="A little frog was sitting on it."),
        dict(thing="<col> scarf", kept="by the fire", where1="in the cupboard", where2="behind the chair", dust="a ball of wool",
             doing="climbing the apple tree", place2="on the lowest branch",
             why="A bird had begun to make it into a nest, but the nest was not finished."),
        dict(thing="picture book", kept="next to the window", where1="on the shelf", where2="under the blanket",
             dust="a pencil", doing="reading by the pond", place2="on a flat rock", why="A duck was looking at the pictures."),
        dict(thing="little bell", kept="on a <col> ribbon", where1="in the long grass", where2="in the hay",
             dust="a very sleepy mouse", doing="running after butterflies", place2="in a hollow tree",
             why="A squirrel had thought that it was a golden nut."),
    ),
)

RESCUE = Plot(
    "<h> and the <creature>",
    """
<open>

<when>, <h> was {walking {past|near}|playing near} <place> when <h.he> heard a {small|tiny|sad} voice. "Help! {Please help me|
Somebody help me}!" <h> {looked around|stopped and listened}. There was a@ {little|small} <creature>, and <trouble>.

"{Do not be afraid|Hold on|Wait}," said <h>. "I will help you." <h.He> <fix>. {It took a long time|It was not easy}, but
<$finally> the <creature> was {safe|free}.

"<$thanks>," said the <creature>. "You are very kind. {One day, I will help you, too|I will not forget this}." <h> {smiled|laughed}.
{How could such a small <creature> help anyone?|"There is no need," <h.he> said.}

{Some days later|A week later|Not long after that}, <h> was in trouble <h.himself>. <trouble2> <h.He> called for help, but nobody was
near. {Nobody, that is, but the <creature>.|Then <h.he> heard a voice that <h.he> knew.} "{I am here|Here I am}!" said the <creature>. "Now it is my turn."

The <creature> <fix2>. {Soon|In no time}, everything was all right again. {"You see," said the <creature>, "even a small friend can be
a great friend."|"<$thanks>," said <h>. "You have a big heart."|<h> had helped the <creature>, and now the <creature> had helped <h>.} <$ending>
""",
    (
        dict(creature="mouse", trouble="its tail was caught under a stone", fix="pushed the stone with both hands until it rolled away",
             trouble2="<^h.he> was caught in an old net.", fix2="chewed through the ropes, one by one"),
        dict(creature="bird", trouble="one of its wings was hurt", fix="made a warm nest from <h.his> scarf and brought it seeds and water every day",
             trouble2="<^h.he> was lost in the fog and could not see the path.", fix2="flew ahead and sang, so that <h> could follow the song home"),
        dict(creature="turtle", trouble="it was lying on its back in the sand", fix="put both hands under the shell and turned it over",
             trouble2="<^h.his> boat had floated away, and <h.he> was alone on a rock in the lake.", fix2="swam after the boat, took the rope in its mouth, and pulled it back"),
        dict(creature="bee", trouble="it had fallen into the pond", fix="held out a long leaf so that it could climb out of the water",
             trouble2="A big dog was growling at <h.him> by the gate.", fix2="buzzed around the ears of the dog until it ran away"),
        dict(creature="kitten", trouble="it had climbed too high in a tree", fix="found a ladder, climbed up, and carried it down",
             trouble2="In the night, a pot fell over in the kitchen, and the floor began to smoke while <h.he> slept.",
             fix2="meowed and meowed until <h> woke up and put out the fire with a bucket of water"),
        dict(creature="lamb", trouble="it was stuck in the thick mud", fix="laid some branches on the mud and pulled as hard as <h.he> could",
             trouble2="It was snowing, and <h.his> hands were as cold as ice.", fix2="lay down next to <h.him> and kept <h.him> warm until the snow stopped"),
    ),
)

SHARING = Plot(
    "The <thing>",
    """
<open>

<when>, <h> and <f> {were playing|met} {at|near} <place>. {Under a tree|Beside the path|Behind a wall}, they found <a>. "It is mine!"
said <h>. "I saw it first." "No, it is mine!" said <f>. "I picked it up first."

They {pulled|argued} and {pulled|argued}. {Neither of them wanted to give up.|Their voices got louder and louder.} {Then|<^$suddenly>}, <oops>.
{Now nobody had anything.|Both of them were very quiet.} <h> looked at <f>, and <f> looked at <h>. "I am sorry," said <h>. "{I am sorry, too|So am I},"
said <f>.

<g.name> {had seen everything|heard them and came over}. "{Would you like to hear an idea|May I tell you something}?" <g.he> asked. "<idea>."
{The two friends nodded.|"That is a good plan!" they said.|They had not thought of that.}

So that is what they did. <after> {It was much more fun that way.|<h> laughed, and <f> laughed, too.|And do you know what? It was better than before.}

"{A thing that is shared is never small|When you share, you both win|Sharing makes everything better}," said <g>. <$ending>
""",
    (
        dict(thing="Red Ball", a="a big red ball", oops="the ball rolled down the hill and into the stream", idea="One of you can throw, and the other can catch",
             after="They got the ball out of the water and played until the sun went down."),
        dict(thing="Last Pear", a="one last pear on the ground", oops="the pear fell into the mud", idea="If you wash it and cut it in two, there is half for each of you",
             after="They washed the pear, cut it in half, and ate it on the wall."),
        dict(thing="Kite", a="a@ <col> kite with a long tail", oops="the string broke, and the kite flew up into a tree",
             idea="One of you can hold the string while the other runs", after="They tied a new string to the kite, and it rose high above the trees."),
        dict(thing="Little Boat", a="a little boat with a@ <col> sail", oops="the sail tore with a loud rip",
             idea="One of you can sew the sail, and the other can paint the boat", after="They mended the sail, painted the boat, and let it float across the pond."),
        dict(thing="Sled", a="an old wooden sled", oops="the sled slid away without them and stopped at the bottom of the hill",
             idea="A sled like this has room for two", after="They sat down together, held on tight, and raced down the hill."),
        dict(thing="Drum", a="a small <col> drum", oops="the drum fell on the stones with a bang", idea="One of you can drum, and the other can dance",
             after="<h> played the drum, and <f> danced. Then <f> played, and <h> danced."),
    ),
)

FEAR = Plot(
    "<h> Is Brave",
    """
<open> {But there was one thing|There was only one thing} that <h> did not like: <h.he> was afraid of <fear>. <because>

<when>, <need>. <h> {stood still|did not move}. {<h.His> heart beat fast.|<h.His> knees shook.} "I cannot do it," <h.he> {whispered|said}. "I am too <$afraid>."

<g> sat down beside <h.him>. "{Everyone is afraid of something|It is all right to be afraid}," <g.he> said. "{When I was small, I was afraid of
<fear>, too|Being brave does not mean that you are never afraid}. Let us {try|do} it together, one {little |small |}step at a time."

{First|So, first}, <step1>. {That was not so bad.|Nothing bad happened.} Then <step2>. <h> {took a deep breath|counted to <num>|held <g>'s
hand}. {And then|<^$finally>}, <step3>.

"{I did it|Look, I did it}!" {cried|said} <h>. "{You did|Yes, you did}," said <g>, "{and all by yourself|and I am very proud of you}." {Now <h> knew that
being brave means to try, even when you are afraid.|After that, <fear> did not seem so {big|terrible} anymore.} <$ending>
""",
    (
        dict(fear="the dark", because="At night, every shadow looked like a monster.", need="the lamp went out, and <h> had to go upstairs to bed",
             step1="they sat in the dark and listened to the clock", step2="they found out that the monster on the wall was only a coat",
             step3="<h> walked up the stairs alone, and saw how brightly the stars shine when there is no lamp"),
        dict(fear="deep water", because="Once, <h.he> had slipped and fallen into a pond.", need="all the others were swimming in the lake, and they called <h.him> to come in",
             step1="<h> put one foot into the water", step2="<h.he> went in up to the knees and splashed a little", step3="<h.he> let go of the edge, kicked with both legs, and swam"),
        dict(fear="storms", because="The thunder was so loud that the windows shook.", need="black clouds came over the hill, and it began to thunder",
             step1="they counted the seconds between the lightning and the thunder", step2="they made up funny names for each clap of thunder",
             step3="<h> stood at the window and watched the lightning, and it was beautiful"),
        dict(fear="high places", because="When <h.he> looked down, everything seemed to spin.", need="the only way home was across a high bridge",
             step1="they put one foot on the bridge and looked at the other side", step2="they walked to the middle and sang a song", step3="<h> walked the rest of the way without help"),
        dict(fear="dogs", because="A dog had once barked at <h.him> for a whole hour.", need="a big brown dog sat in front of the gate and would not move",
             step1="they looked at the dog from far away and saw that it was wagging its tail", step2="<h> held out one hand so that the dog could smell it",
             step3="<h.he> stroked the soft ears of the dog, and the dog licked <h.his> hand"),
        dict(fear="speaking in front of others", because="Whenever people looked at <h.him>, the words went away.", need="it was time to tell a story to the whole school",
             step1="<h> told the story to the cat", step2="<h.he> told it to <f>, who listened with big eyes", step3="<h.he> stood in front of everyone and told it from the first word to the last"),
    ),
)

LEARNING = Plot(
    "How <h> Learned to <Skill>",
    """
<open>

{More than anything|Most of all}, <h> wanted to learn to <skill>. {Everyone else could do it|<f> could do it very well}, but <h> {could not|did not know how}.
"{It looks so easy|I will learn it today}," <h.he> said.

The first time <h.he> tried, <fail1>. The second time, <fail2>. {"I will never learn it," said <h>.|<h> wanted to give up.|<h> kicked a stone and went home.}

{That evening|The next day}, <h.he> went to see <g>. "{How did you learn to <skill>|Can you teach me to <skill>}?" <h.he> asked. <g> {smiled|laughed}.
"{I will tell you a secret|Listen}," <g.he> said. "<tip>. And {you must practice a little every day|do not stop when it goes wrong}."

So <h> practiced {on Monday, and on Tuesday, and on Wednesday|every morning before breakfast|for <num> days}. {Slowly, it got better.|Each day, it
was a little easier.} {Then, one day,|And one <sky> morning,} <success>!

"<$great>!" {shouted|said} <f>, {who had been watching|who came running}. <h> was {<$very> proud|as proud as a king}. {"It was hard," <h.he> said, "until it was easy."|"I
only had to keep trying," <h.he> said.} <$ending>
""",
    (
        dict(skill="swim", Skill="Swim", fail1="<h.he> went under and swallowed a lot of water", fail2="<h.he> kicked so hard that everyone got wet",
             tip="Do not fight the water. Lie on it, and it will carry you", success="<h> swam all the way across the pond"),
        dict(skill="ride a bicycle", Skill="Ride a Bicycle", fail1="<h.he> fell into a bush", fail2="<h.he> rode straight into the pond",
             tip="Look ahead of you, not at your feet", success="<h> rode around the whole village without falling"),
        dict(skill="whistle", Skill="Whistle", fail1="only air came out", fail2="<h.he> sounded like an old kettle", tip="Make a small round mouth, and blow softly",
             success="a clear, bright note came out, and a bird answered"),
        dict(skill="bake bread", Skill="Bake Bread", fail1="the bread was as hard as a stone", fail2="the bread was black on the outside and wet on the inside",
             tip="Give the dough time to rest. Good bread cannot hurry", success="the bread was round and golden, and the whole house smelled wonderful"),
        dict(skill="play the flute", Skill="Play the Flute", fail1="the cat ran out of the room", fail2="it sounded like a rusty door",
             tip="Play one note until it is beautiful. Then play the next one", success="<h> played a song, and everyone in the street stopped to listen"),
        dict(skill="read", Skill="Read", fail1="the letters looked like little ants", fail2="<h.he> could read only one word, and the word was \"cat\"",
             tip="First learn the sound of each letter, and then put the sounds together", success="<h> read a whole page, and then the whole book"),
        dict(skill="tie a knot", Skill="Tie a Knot", fail1="the rope came apart", fail2="<h.he> tied <h.his> own fingers together",
             tip="Over, under, and through. Say it as you tie it", success="<h> tied a knot so strong that it held a boat in the wind"),
        dict(skill="skate", Skill="Skate", fail1="<h.he> sat down hard on the ice", fail2="<h.he> could not stop and slid into a pile of snow",
             tip="Bend your knees, and lean forward a little", success="<h> skated in a big circle on the ice"),
    ),
)

JOURNEY = Plot(
    "The Long Way",
    """
<open>

<when>, {<h.his> mother|<h.his> father} said, "<^g> is {ill|alone today}. Will you take this <gift> to <g.his> house?" "<$yes>," said <h>.
<h.He> put {everything|it} into a basket and {set out|started to walk}.

{The road went|The path led} {over a hill|through <place>|along the stream}. {On the way, <h> met|After a while, <h.he> met} <f>. "Where are you going?" asked <f>.
"I am taking this <gift> to <g>," said <h>. "{May I come with you|Can I come along}?" asked <f>. "{Of course|Yes, please}!" said <h>. {So they went on together.|"It is more fun with two."}

{But then|<^$soon>, though}, <obstacle>. "{What shall we do|What now}?" asked <f>. <h> <$thought>. "I know," <h.he> said. <solution>

{It was getting dark when|The sun was going down when|It was almost noon when} they {came to|reached} the house of <g>. {They knocked at the door.|They rang the little bell.}
"{Who is there?|Come in!}" said <g>. {When <g.he> saw the <gift>, <g.he> smiled.|<g.His> face lit up when <g.he> saw them.} "{How good of you to come such a long way|What a lovely surprise}!"

They sat by the fire, {ate <treat>|drank hot tea with honey}, and told <g> all about {the road|their adventure}. "{The best part of the gift|What makes me happiest},"
said <g>, "is that you came." <$ending>
""",
    (
        dict(gift="pot of soup", obstacle="they came to a river, and the bridge was gone", solution="They found a fallen tree and crossed the water on it, one careful step after another."),
        dict(gift="warm blanket", obstacle="a thick fog came down, and they could not see the road", solution="They listened for the church bell and walked toward the sound."),
        dict(gift="loaf of bread", obstacle="a goose with an angry face stood in the middle of the road", solution="<h.He> broke off a small piece of the bread and threw it to the side, and while the goose ate, they walked past."),
        dict(gift="jar of honey", obstacle="the road split in two, and there was no sign", solution="They saw the marks of wheels on one of the roads. \"The cart of the miller goes to town every day,\" said <h>, and so they followed the marks."),
        dict(gift="apple pie", obstacle="it began to rain so hard that the road turned into mud", solution="They picked the biggest leaves they could find, held them over their heads, and waited under a tree until the rain stopped."),
        dict(gift="bunch of flowers", obstacle="they heard a deep growl behind a rock", solution="<h.He> looked behind the rock and laughed. It was only an old dog, snoring in the sun."),
    ),
)

LIGHTHOUSE = Plot(
    "The {Lamp|Light} on the Rock",
    """
{Once upon a time, there was a lighthouse on a rock in the sea.|The lighthouse stood on a high cliff above the sea.|On a small island, there was an old lighthouse.|
The lighthouse on the point was {white|red and white}, and its lamp could be seen for {many|twenty} miles.} {<^h> lived there with <g>, who kept the lamp.|
<^g> kept the lamp, and <h>, a@ <desc>, helped.} {Every evening, they climbed the <num> flights of stairs and lit the lamp.|There were ninety-nine steps to the top,
and <h> had counted all of them.}

One {night|evening}, {a storm came in from the sea|the wind began to howl|the sky turned black}. {The waves were as high as houses.|Rain beat against the windows.} <^$suddenly>, <problem>.
{The light went out.|It was dark on the rock.} "{The ships will not see the rocks|There is a ship out there}!" said <g>. {<^h> looked out and saw a small boat, far away.|Out
on the water, a fishing boat was coming closer and closer to the rocks.}

{"What can we do?" asked <h>.|"We must do something!" said <h>.} {<^h.he> <$thought>.|Then <h.he> had an idea.} <fix> {It took all night.|They did not stop, not even once.}

{In the morning|When the sun rose}, the storm was over. The boat came slowly into the harbor, and {not one person was hurt|everyone on it was safe}. {"We saw your light,"
said <f>, who was on the boat. "<^$thanks>."|<^f> jumped off the boat and ran to them. "You saved us!" <f.he> said.}

"{A small light is enough, if someone keeps it burning|It was <h> who saved you}," said <g>. <$ending>
""",
    (
        dict(problem="a stone broke the glass, and the wind blew out the flame", fix="They held a thick blanket in front of the broken window and lit the lamp again."),
        dict(problem="the great wheel that turned the lamp stopped moving", fix="They turned the heavy wheel by hand, around and around."),
        dict(problem="there was no more oil for the lamp", fix="They carried wood to the top and made a fire in an iron basket."),
        dict(problem="lightning struck the roof, and the lamp broke", fix="They put every lantern and every candle in the house behind the big lens."),
    ),
)

MYSTERY = Plot(
    "The Mystery of the <Thing>",
    """
<open> {<h.He> liked a good mystery.|<h.He> always wanted to know why.}

<when>, {something strange happened|there was a mystery in the village}. <puzzle> {Nobody knew why.|"Who could have done it?" asked <f>.} "{We will find out|I
will find out}," said <h>.

<h> and <f> looked for clues. The first clue was <clue1>. {"Interesting," said <h>.|"Hmm," said <f>.} The second clue was <clue2>. {<h> wrote it down in a@ <col> notebook.|<h>
drew a picture of it.}

{That night, they hid behind|The next morning, they waited behind} {the door|a bush|a big barrel} and {did not make a sound|kept very quiet}. {They waited and waited.|An hour passed.}
{Then|<^$suddenly>}, they heard a noise. <reveal>

{<h> laughed|Both of them laughed} {so hard that <h.he> had to sit down|until their sides hurt}. "{So it was you|The mystery is solved}!" {<h.he>|<h>} said. <fix>
{"A good detective looks twice," said <h>.|"Every clue told us the truth," said <f>.} <$ending>
""",
    (
        dict(Thing="Missing Cakes", puzzle="Every morning, one cake was missing from the shop of the baker.", clue1="a trail of crumbs on the floor", clue2="a small hole in the wall",
             reveal="A family of mice came out of the hole, and each of them carried a crumb.", fix="The baker gave the mice a plate of old bread, and no cake was ever missing again."),
        dict(Thing="Night Music", puzzle="Every night, soft music came from the empty house on the corner.", clue1="an open window", clue2="the mark of four little feet on the piano",
             reveal="A cat jumped in through the window and walked up and down on the piano.", fix="They closed the window, and the cat came to live with <h>."),
        dict(Thing="Moving Hat", puzzle="The hat of <g> was never where <g.he> had left it.", clue1="a few gray feathers", clue2="a hat full of straw",
             reveal="A hen came into the room, sat down in the hat, and laid an egg.", fix="They made a nest for the hen, and <g> got the hat back."),
        dict(Thing="Empty Pond", puzzle="The pond had always been full, and now it was almost empty.", clue1="a tree that someone had cut with sharp teeth", clue2="wet tracks that led up the stream",
             reveal="A beaver swam by with a branch, and behind him they saw a new dam.", fix="They asked the beaver to leave a gap in the dam, and the water came back to the pond."),
        dict(Thing="Blue Footprints", puzzle="There were blue footprints all over the street.", clue1="an empty can of paint", clue2="a blue feather",
             reveal="A duck waddled around the corner with blue feet and a proud look on its face.", fix="They washed the feet of the duck, and <f> put a lid on the paint."),
        dict(Thing="Silent Clock", puzzle="The big clock in the tower had stopped at ten past three.", clue1="a piece of straw under the tower", clue2="a soft sound from behind the clock",
             reveal="A pair of owls looked down at them from a nest between the wheels.", fix="They moved the nest to the roof, and the clock began to tick again."),
    ),
)

PLOTS = [LOST, RESCUE, SHARING, FEAR, LEARNING, JOURNEY, LIGHTHOUSE, MYSTERY]
