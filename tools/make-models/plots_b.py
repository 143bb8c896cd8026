"""Plots, second half: gardens, gifts, truth, races, rain, wishes, newcomers, fables, dreams, work."""

from plot import Plot

GARDEN = Plot(
    "The {Little|Tiny} Seed",
    """
<open>

<when>, <g> gave <h> a {tiny|small} {brown|black} seed. "{Put it in the ground|Plant it}, {give it water|look after it}, and wait," <g.he> said. "{That is all|Waiting is the
hardest part}." <h> {made a hole in the ground|found a sunny place by the wall}, {put the seed in|laid the seed in it}, and covered it with {soft|dark} earth.

The next day, {nothing had happened|there was nothing to see}. {The day after that, there was still nothing.|A week went by, and still there was nothing.} "{Maybe it is asleep|Perhaps
it is a bad seed}," said <h>. <impatient> "{Be patient|Give it time}," said <g>. "{It is busy under the ground|A seed does not look at the clock}."

{Then it rained for <num> days.|The sun shone, and the rain fell.} And one morning, {there was a small green tip|something green looked out of the earth}! <h> {danced around it|called everyone to come
and look}. It grew {and grew|a little more every day}. {First it had two leaves, then four, then too many to count.|Soon it was as tall as <h.his> knee, and then as tall as <h.his> nose.}
{In the end|By the end of the summer}, it was <plant>.

<after> "{Look what came out of one seed|And to think that it was so small}," said <h>. "{Good things take time|Now you know what waiting is for}," said <g>. <$ending>
""",
    (
        dict(impatient="<h.He> wanted to dig it up and look.", plant="a sunflower, taller than the fence", after="In autumn, <h> gave half of the seeds to the birds and kept the other half for the next year."),
        dict(impatient="<h.He> sang to it, just in case.", plant="a pumpkin so big that <h> could sit on it", after="<h> made soup for the whole street."),
        dict(impatient="<h.He> looked at it <num> times a day.", plant="a bean plant with red flowers", after="The beans were long and green, and <h> shared them with <f>."),
        dict(impatient="<h.He> asked it politely to hurry.", plant="a rose bush with <col> roses", after="<h> cut the first rose and gave it to <g>."),
        dict(impatient="<h.He> gave it so much water that it nearly floated away.", plant="a small apple tree", after="It took years until the first apple was ripe, but no apple ever tasted as sweet."),
    ),
)

GIFT = Plot(
    "A {Present|Gift} for <f>",
    """
<open>

<day> was {the birthday of <f>|<f>'s birthday}, and <h> wanted to give <f.him> {something special|a present}. {But <h.he> had no money.|But there were only <num> small coins in
<h.his> pocket.} "What can I give to <f>?" <h.he> asked <g>. "{The best presents are made, not bought|What does <f> like}," said <g>.
<h> <$thought>. {Then|<^$finally>}, <h.he> had an idea. "I will make <a>!"

{First|To begin with}, <h.he> <make1>. Then <h.he> <make2>. {It was not perfect|It looked a little crooked}, but {it was made with love|<h> was proud of it}. {<h.He> wrapped it in <col>
paper.|<h.He> tied a@ <col> ribbon around it.}

On <day>, <h> {knocked at <f>'s door|gave <f> the present}. "{Happy birthday|This is for you}!" said <h>. <f> {opened it|took off the paper} <$carefully>. {For a moment, <f.he> said nothing.
<h> was <$afraid>. Did <f.he> not like it?|<f.His> eyes grew big.} Then <f> {smiled from ear to ear|laughed out loud|gave <h> a big hug}. "{You made this|Did you make this for me}?" <f.he> asked. "It
is the best present of all!"

<use> <$ending>
""",
    (
        dict(a="a lantern", make1="found an old glass jar and washed it", make2="painted yellow stars on it and put a candle inside", use="That evening, they lit the candle, and little stars danced on the walls."),
        dict(a="a@ <col> kite", make1="cut a big piece of paper and two thin sticks", make2="glued them together and added a tail of ribbons", use="That very afternoon, they flew the kite from the top of the hill."),
        dict(a="a book about the two of them", make1="wrote down everything they had done together", make2="drew a picture for every page", use="They sat under a tree and read it aloud, and laughed at every page."),
        dict(a="a cake", make1="mixed flour, eggs, butter, and sugar in a big bowl", make2="baked it until it was golden and put berries on the top", use="They ate it together, down to the last crumb."),
        dict(a="a necklace", make1="went to the beach and looked for the prettiest shells", make2="put them on a strong thread, one after another", use="<f> wore it every day that <season>."),
        dict(a="a warm scarf", make1="asked <g> for some wool and two needles", make2="knitted until <h.his> fingers were tired", use="The scarf was so long that it was warm enough for both of them."),
    ),
)

TRUTH = Plot(
    "The Broken <Thing>",
    """
<open>

<when>, <h> was {alone in the house|playing inside}. {<g> had said|<g> always said}, "{Please do not play near|Be careful with} the <thing>." But <h> {forgot|was not thinking about that}. <how>
{Crash!|Bang!|There was a terrible noise.} The <thing> {was broken|lay in pieces on the floor}.

<h> {felt cold all over|did not know what to do}. {<h.He> hid the pieces under a blanket.|<h.He> pushed the pieces under the chair.} {"Maybe nobody will notice," <h.he> thought.|When <g> came home,
<h> said nothing.} But <h.he> could not {eat|sleep|play}. {There was a heavy feeling in <h.his> stomach.|All <h.he> could think about was the <thing>.}

{At last, <h.he> could not bear it any longer.|In the end, <h.he> went to <g>.} "I have to tell you something," <h.he> said {in a small voice|with tears in <h.his> eyes}. "I broke the <thing>, and I hid it. I am
very sorry."

<g> {was quiet for a moment|looked at <h.him> for a long time}. "I am sad about the <thing>," <g.he> said, "but I am {glad|proud} that you told me the truth. {That was not easy|That took courage}." {Then
they swept up the pieces together.|Then <g.he> got the glue, and they mended it together.} <after>

The heavy feeling was gone. {<h> had learned that the truth is lighter to carry than a lie.|"I will always tell you the truth," said <h>.} <$ending>
""",
    (
        dict(Thing="Vase", thing="blue vase", how="<h.He> threw a ball, and the ball hit the shelf.", after="Flowers look nice in a jar, too."),
        dict(Thing="Cup", thing="white cup", how="<h.He> ran around the table and bumped into it.", after="You could still see the cracks, but it held tea as well as before."),
        dict(Thing="Clock", thing="old clock", how="<h.He> wanted to see what was inside, and it slipped out of <h.his> hands.", after="The clock was always <num> minutes late from then on, but nobody minded."),
        dict(Thing="Window", thing="kitchen window", how="<h.He> kicked a stone, and the stone flew much too far.", after="<h> helped to pay for the new glass by washing dishes for <num> weeks."),
        dict(Thing="Lamp", thing="green lamp", how="<h.He> danced with a broom, and the broom hit the lamp.", after="They made a new lamp out of paper, and it gave a soft, warm light."),
    ),
)

RACE = Plot(
    "The Great Race",
    """
<open>

Every {year|<season>}, there was a {big|great} race in {<home>|the village}. {The path went|They had to run} <course>. {"I will win, of course," said <f>, who was the fastest of all.|Everyone thought
that <f> would win.} "{You are too slow|Do not even try}," {<f.he>|<f>} said to <h>. <h> {did not answer|only smiled}. <h.He> {had practiced every day|wanted to do <h.his> best}.

"{Ready, steady, go|One, two, three, go}!" {called|shouted} <g>. {<f> ran off like the wind.|<f> was far ahead at once.} <h> {did not hurry|ran at <h.his> own speed}. {Step by step, <h.he> went on.|"One step, and then another,"
<h.he> told <h.himself>.}

<turn>

<result> {"It is not always the fastest who wins," said <g>.|"{A good heart|A steady step} is worth more than a gold cup," said <g>.} "{I am sorry that I laughed at you|You are a real friend}," said <f>.
"{Shall we run together tomorrow?|Next year, let us practice together.}" <$ending>
""",
    (
        dict(course="around the lake and back", turn="Halfway around the lake, <f> looked back and saw nobody. \"I have plenty of time,\" <f.he> thought, and <f.he> lay down in the grass and fell asleep. <h> ran past, quietly, one step after another.",
             result="When <f> woke up, <h> had already crossed the line."),
        dict(course="up the hill and down the other side", turn="At the top of the hill, <f> stepped into a hole and fell. \"My foot!\" <f.he> cried. <h> could have run past and won. But <h.he> stopped, helped <f.him> up, and the two of them walked on, arm in arm.",
             result="They crossed the line last, but everyone cheered for them the loudest."),
        dict(course="through the wood to the old mill", turn="In the wood, <f> took a short cut and got lost between the trees. <h> stayed on the path. When <h.he> heard <f> calling, <h.he> called back, again and again, until <f.he> found the way.",
             result="They came out of the wood together and crossed the line at the same moment."),
    ),
)

RAIN = Plot(
    "A {Rainy|Wet} Day",
    """
<open>

<h> and <f> had a plan. On <day>, they wanted to <plan>. {They had packed <treat> and a blanket.|They had talked about it all week.} But when <day> came, it was raining. {It rained and rained.|The rain ran down
the windows.} "{Now we cannot <plan>|Our day is spoiled}," said <f>.

{They sat by the window and looked at the rain.|For a while, they did nothing at all.} {Then|<^$finally>}, <h> {had an idea|jumped up}. "{We do not need the sun|Rain is only water}!" <h.he> said. "Let us <idea>!"

So they <did>. {Soon they had forgotten about the rain.|They laughed so much that they did not hear the rain.} <g> {looked in|came to see what all the noise was about} and {brought them <treat>|joined
them}. {"May I come in, too?" <g.he> asked.|"What a fine idea," <g.he> said.}

{When they looked outside again|Late in the afternoon}, the rain had stopped, and there was a rainbow over {<place>|the roofs}. {"Red, orange, yellow, green, blue, and violet," said <f>.|<h> tried to count the colors.}
"{It was a good day after all|I hope that it rains tomorrow, too}," said <h>. <$ending>
""",
    (
        dict(plan="have a picnic at the lake", idea="have our picnic under the table", did="hung a cloth over the table, crawled under it, and ate their picnic there"),
        dict(plan="go to the beach", idea="build a ship out of chairs", did="put all the chairs in a row, hung up a sheet for a sail, and sailed around the world"),
        dict(plan="climb the hill", idea="put on a play", did="dressed up as kings and queens and put on a play for the cat"),
        dict(plan="fly their kites", idea="put on our boots and jump in the puddles", did="ran outside in their boots and jumped into every puddle, from the smallest to the biggest"),
        dict(plan="go to the fair", idea="make our own fair", did="painted signs, threw balls into buckets, and gave each other prizes made of paper"),
    ),
)

WISH = Plot(
    "The Three Wishes",
    """
<open>

<when>, <h> {was walking near <place>|was fishing} when <h.he> {found|saw} <magic>. "{Thank you for letting me out|You have found me}," {it|a voice} said. "{For that, I will give you|You may have} three wishes. {Choose well|Think
before you speak}."

{<h> did not think for long.|"Three wishes!" said <h>.} "I wish {for|that I had} <wish1>," <h.he> said. Whoosh! <result1> "{That is too much|Oh, that was foolish}," said <h>.

For the second wish, <h.he> {thought a little longer|tried to be clever}. "I wish <wish2>." <result2> {<h> shook <h.his> head.|"Oh no," said <h>, "not like that!"}

Now there was only one wish left. <h> {walked up and down|sat under a tree} and thought {for a long time|until the sun went down}. {<h.He> thought of <f>, who was at home, and of <g>.|<h.He> thought about all the things <h.he> already had.}
"I wish," <h.he> said {slowly|at last}, "that <wish3>."

{And so it was.|And that is what happened.} {"That was the wisest wish I ever heard," said the voice, and it was gone.|When <h> looked around, the magic was gone.} <$ending>
""",
    (
        dict(magic="an old bottle in the sand", wish1="a mountain of <treat>", result1="There was so much of it that <h.he> could not get to <h.his> own door.", wish2="that it would all go away",
             result2="It all went away, and so did the door, the table, and the chairs.", wish3="everything is as it was this morning"),
        dict(magic="a golden fish in a net", wish1="a palace with a hundred rooms", result1="There was a palace, and it took <h.him> an hour to find the kitchen.", wish2="that somebody would keep me company",
             result2="A hundred guests came in with muddy shoes, and all of them were hungry.", wish3="I may go home to my little house, and that my friends may visit me there"),
        dict(magic="a small <col> stone that glowed", wish1="wings to fly with", result1="Two big wings grew on <h.his> back, and <h.he> could not fit through the door.", wish2="that I were very small",
             result2="<h.He> became as small as a beetle, and a hen looked at <h.him> with one round eye.", wish3="I were just myself again"),
    ),
)

NEWCOMER = Plot(
    "The New Neighbor",
    """
<open>

<when>, somebody new came to live {next door|near <place>}. It was a@ <fdesc> named <f>. {<f> did not talk much.|<f> looked at the ground and said nothing.} {"<f> is not very friendly," said the others.|"Who is that?" asked the others.} {But <h> thought, "Perhaps
<f.he> is only shy."|But <h> remembered how it felt to be new.}

So <h> {went over|knocked at the door} and said, "Hello! My name is <h>. {What is your name|Would you like to play with me}?" {"My name is <f>," said a quiet voice.|<f> looked up, just a little.} {For a while|At first},
they {only sat side by side|did not know what to say}. Then <h> saw <sign>. "{Do you like <topic>|Is that yours}?" {<h.he>|<h>} asked. <f> {smiled for the first time|nodded}. "I love <topic>," <f.he> said. And then <f.he> {began to talk|told <h> all about it},
and {hardly stopped|did not stop until it was dark}.

{The next day|From then on}, <h> and <f> <together>. {Soon the others came, too.|"May we join you?" asked the others.} "{We did not know that you were so nice|You should have told us}," they said {to <f>|}. {"You did not ask," said <f>.|<f> laughed. "<h> asked," <f.he> said.}
<$ending>
""",
    (
        dict(sign="a box full of paints by the door", topic="painting", together="painted a picture on the wall of the shed"),
        dict(sign="a telescope at the window", topic="the stars", together="sat on the roof and looked for shooting stars"),
        dict(sign="a row of tiny boats on the shelf", topic="ships", together="built a ship and sailed it on the pond"),
        dict(sign="a stack of old books", topic="stories", together="read to each other under the big tree"),
        dict(sign="a flute on the table", topic="music", together="played music together until the birds joined in"),
        dict(sign="little pots with green leaves", topic="plants", together="planted a garden between their two houses"),
    ),
)

FABLE = Plot(
    "The <A> and the <B>",
    """
{Once, |Long ago, |One <sky> day, |}a@ <a> {met|came upon} a@ <b> {near|at} <place>. <start>

"<line1>," said the <a>. "<line2>," said the <b>. {The <a> laughed.|The <a> did not listen.|The <a> shook <his> head and went away.} {"We will see," said the <b>.|The <b> said nothing more and went back to work.}

<turn> {Now the <a> was sorry.|The <a> felt very foolish.} "{You were right|I should have listened to you}," <he> said. "{Will you help me|What should I do}?" {The <b> could have laughed, but did not.|The <b> was wise and
kind.} <end>

{The moral of the story|What this story tells us} is this: <moral>.
""",
    (
        dict(A="Grasshopper", B="Ant", a="grasshopper", b="ant", he="he", his="his", start="The ant was carrying a seed that was bigger than herself.", line1="Why do you work on such a lovely day? Come and sing with me", line2="I am saving food for the winter, and you should do the same",
             turn="Then winter came. Snow lay on the fields, and there was nothing to eat.", end="\"Come in and get warm,\" said the ant. \"You can sing for us, and in spring you can help us.\"", moral="work first, and then the song will be sweeter"),
        dict(A="Fox", B="Crow", a="fox", b="crow", he="he", his="his", start="The crow was dropping stones into a tall jar, one by one.", line1="What are you doing? You cannot eat stones", line2="The water in the jar is too low, so I am making it rise",
             turn="All day, the fox tried to push his nose into the jar, but his nose was too short.", end="She dropped in one last stone, the water came up to the edge, and they both drank.", moral="a good idea can do what strength cannot"),
        dict(A="Lion", B="Mouse", a="lion", b="mouse", he="he", his="his", start="The mouse had run over the paw of the lion while he was sleeping.", line1="You are so small that I will let you go", line2="Then one day I will help you",
             turn="Not long after that, hunters caught the lion in a strong net.", end="The mouse chewed the ropes with her little teeth until the lion was free.", moral="no one is too small to be a friend"),
        dict(A="Wolf", B="Goose", a="wolf", b="goose", he="he", his="his", start="The goose was building a house of stone.", line1="That takes much too long. My house of straw was ready in a day", line2="A house that is built in a day may be gone in a day",
             turn="That night, a great wind came and blew the house of straw into the river.", end="\"There are plenty of stones,\" said the goose, \"and I will show you how to begin.\"", moral="what is worth having is worth the time"),
        dict(A="Frog", B="Owl", a="frog", b="owl", he="he", his="his", start="The frog was sitting in a puddle and was very proud of it.", line1="I am the king of the biggest water in the world", line2="There is a lake behind the hill that is bigger than a thousand puddles",
             turn="The summer was hot, and every day the puddle was a little smaller, until only mud was left.", end="She showed him the way to the lake, and he sat at the edge of it and was silent for a long time.", moral="the world is bigger than your own puddle"),
        dict(A="Donkey", B="Bee", a="donkey", b="bee", he="he", his="his", start="The bee was flying from flower to flower.", line1="You are so tiny. Nothing that you do can matter", line2="Every apple that you eat began with a visit from me",
             turn="The next year, the bees stayed away, and there was not one apple on the tree.", end="\"I will come back,\" she said, \"if you do not step on the flowers.\"", moral="small work can have great results"),
    ),
)

DREAM = Plot(
    "<h>'s Dream",
    """
<open>

{One night|Late in the evening}, <h> {could not sleep|lay in bed and looked at the moon}. {The house was quiet.|The clock ticked.} <^$suddenly>, <begin>. {<h> rubbed <h.his> eyes.|<h> sat up.} "{Come with me|Hurry up}," said a voice. "The night is short."

So <h> {put on <h.his> shoes|climbed out of the window} and {followed|went along}. They {went|flew|sailed} over {the roofs|the dark fields} to <land>. {Everything there was <col>.|The air was sweet and warm.} <wonder> <h> {laughed with joy|had never seen anything like it}. "{May I stay here|Can I stay forever}?"
<h.he> asked. "{Only until the morning|Not forever}," was the answer, "but take this, so that you do not forget." And <h> was given <gift>.

{Then a cock crowed.|Then the sun came through the curtains.} <h> {opened <h.his> eyes|woke up}. {It was morning, and <h.he> was in <h.his> own bed.|The dream was over.} "{It was only a dream|What a dream}," said <h>. But {when <h.he> looked down|under the pillow}, there was <gift>.

{<h> showed it to <f>, and <f> believed every word.|"I wonder," said <h>, and smiled.} <$ending>
""",
    (
        dict(begin="a silver fox looked in through the window", land="a forest where the leaves were made of glass", wonder="When the wind blew, all the trees began to ring.", gift="a leaf of clear green glass"),
        dict(begin="the moon came down and sat on the roof", land="a lake as smooth as a mirror", wonder="In the water swam all the stars, like little fish.", gift="a small, bright star in a cup"),
        dict(begin="a small ship with white sails stopped in front of the house", land="an island where it is always <season>", wonder="Friendly bears were baking <baked> on the beach.", gift="a white shell that sang"),
        dict(begin="the shadow on the wall began to dance", land="a town where everyone was made of paper", wonder="The paper people folded themselves into birds and flew.", gift="a paper bird"),
    ),
)

WORK = Plot(
    "<h> Helps <g>",
    """
<open>

<g> {needed help|had too much to do}. "{I cannot do all of this alone|How will I ever finish}?" <g.he> said. "{I can help you|Let me help}," said <h>. "{You are still small|It is hard work}," said <g>, "but {you may try|why not}?"

{So on <day>, they began early in the morning.|They started before the sun was up.} First, <task1>. {It was harder than it looked.|<h> {was slow at first, but careful|worked as fast as <h.he> could}.} Next, <task2>. "{Well done|Very good}," said <g>. {They stopped for a while and ate <treat>.|At noon, they rested in the shade.}

After lunch, {there was a problem|something went wrong}. <problem> "{Oh no|What now}," said <g>. "{We will never be ready in time|That has never happened before}." But <h> had {been watching closely|an idea}. <fix> {<g> was amazed.|"Why did I not think of that?" said <g>.}

By evening, {everything was done|the work was finished}. <g> gave <h> {a shiny coin|a big piece of cake|a warm hug} and said, "{You are small, but you are a great help|I could not have done it without you}." {<h.His> arms were tired, but <h.his> heart was light.|<h> walked home and sang all the way.} <$ending>
""",
    (
        dict(task1="they picked the apples from the low branches", task2="they carried the baskets to the cart", problem="The ladder broke, and the best apples were still at the top of the tree.", fix="<h.He> tied a little bag to a long stick and picked the apples with it, one by one."),
        dict(task1="they fed the hens and counted the eggs", task2="they gave fresh hay to the cows", problem="The gate was open, and all the sheep were gone.", fix="<h.He> rang the bell that the sheep heard every day at dinner time, and they came running back."),
        dict(task1="they mixed the dough in a big bowl", task2="they made it into <num> round loaves", problem="The oven was cold because the wood was wet.", fix="<h.He> ran to the neighbors and asked each of them for one dry log, and soon there was a good fire."),
        dict(task1="they sorted the letters by street", task2="they put them into a big bag", problem="The wind took one letter and carried it over the wall.", fix="<h.He> climbed over the wall, looked under every bush, and found it in a bird bath. It was still dry enough to read."),
        dict(task1="they swept the floor and washed the windows", task2="they put the books back on the shelves", problem="One shelf was so full that it fell down.", fix="<h.He> put the biggest books at the bottom and the smallest at the top, and the shelf stood firm."),
        dict(task1="they painted the boat on the outside", task2="they mended the holes in the net", problem="When they put the boat into the water, it began to sink.", fix="<h.He> found the little hole and stopped it with wax and a piece of cloth."),
    ),
)

MARKET = Plot(
    "{Market Day|At the Market}",
    """
<open>

{On <day>|Every <day>}, there was a market {in the square|by the river}. {<h>'s mother gave <h.him> <num> coins and a list.|<h> went there with <num> coins in <h.his> pocket.} {The list said: <list>.|"Bring home <list>," <g> had said.}

{The market was full of people.|What a noise there was!} One man was selling {fish|cheese|brooms}, and a woman was selling {flowers|eggs|hats}. {There was a smell of <treat>.|Somebody was playing a fiddle.} And then <h> saw <want>. {<h.He> stopped.|<h.He> could not look away.} It cost <num> coins, which was all the money
<h.he> had.

<h> {looked at the coins in <h.his> hand|<$thought>}. {"If I buy it, there will be no supper," <h.he> thought.|"What about the list?" said a little voice in <h.his> head.} {It was very hard to walk away, but <h.he> did.|So <h.he> turned around and bought everything on the list.} On the way home, <h.he> {met <f>, who was carrying a heavy bag|saw <f> with a cart that
was stuck}. "{Wait, I will help you|Let me help}," said <h>{, and together they pushed and pulled|}. {It was hard work.|Soon it was done.}

"<$thanks>," said <f>. "{I have no money, but I have something that you may like|Take this, please}." And <f.he> gave <h> <reward>! <h> could not believe it. {"How did you know?" <h.he> asked.|It was just what <h.he> had wanted.} <$ending>
""",
    (
        dict(list="bread, milk, and three onions", want="a little wooden bird that could move its wings", reward="a little wooden bird, just like the one at the market"),
        dict(list="eggs, butter, and salt", want="a paint box with twelve colors", reward="a box of paints"),
        dict(list="potatoes, carrots, and cheese", want="a shiny brass trumpet", reward="an old trumpet that still had a fine sound"),
        dict(list="flour, honey, and six apples", want="a kite like a dragon", reward="a red kite with a dragon on it"),
        dict(list="candles, rope, and soap", want="a small round mirror", reward="a small round mirror in a silver frame"),
    ),
)

PLOTS = [GARDEN, GIFT, TRUTH, RACE, RAIN, WISH, NEWCOMER, FABLE, DREAM, WORK, MARKET]
