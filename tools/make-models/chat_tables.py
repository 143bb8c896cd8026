"""Words and tables of the conversations: names, rhymes, kinds of things, other languages, questions with their answers."""

import re

import words

NAMES = words.GIRLS + words.BOYS + """Alice Bob Carol David Maria John Mary James Linda Robert Susan Michael Laura Daniel Sarah Thomas Karen Mark Lisa Steven Betty
Kevin Brian Helen Andrew Diana Joshua Ruth Ryan Eric Amy Adrian Ali Fatima Omar Aisha Yuki Hiro Kenji Sakura Wei Lin Chen Priya Arjun Anita Rahul Olga Ivan
Boris Natasha Dmitri Pierre Marie Claude Jean Amelie Hans Greta Klaus Heidi Fritz Carlos Juan Pablo Sofia Isabel Diego Lucia Marco Giulia Paolo Luca Francesca Sven
Ingrid Lars Astrid Bjorn Freya Aoife Sean Conor Fiona Angus Kwame Amara Zainab Chidi Thandi Noor Yusuf Layla Karim Nadia Elif Emre Mehmet Andrea Alex Chris Jordan Taylor Robin Casey""".split()
ROBOT_NAMES = "Ada Bolt Pixel Sparky Nova Echo Byte Orbit Turing Gizmo Robbie Atlas Luna Rex Zed Ember".split()
CITIES = """Berlin Paris London Rome Madrid Vienna Oslo Tokyo Boston Chicago Dublin Lisbon Prague Athens Cairo Delhi Sydney Toronto Hamburg Lyon Milan Seattle Austin
Geneva Zurich Munich Warsaw Budapest Helsinki Stockholm Mumbai Lagos Nairobi Lima""".split()
FOODS = "pizza pasta soup rice cheese chocolate bread pancakes noodles salad cake potatoes tomatoes cookies sushi curry strawberries popcorn".split()
FOODS += ["ice cream", "apple pie", "fried eggs"]
JOBS = "teacher doctor farmer baker nurse painter pilot gardener programmer student engineer cook driver writer musician carpenter lawyer scientist".split()
HOBBIES = "reading swimming painting cooking dancing singing running chess football gardening hiking fishing knitting music drawing cycling tennis programming".split()
PETS = "dog cat rabbit hamster parrot turtle fish pony mouse goat duck hen".split()
OBJECTS = "key book phone wallet hat umbrella ring letter ball cup pen bag watch coat camera map".split()
SPOTS = ["in the drawer", "on the table", "under the bed", "in the kitchen", "on the shelf", "in the garden", "behind the door", "in my bag", "in the car", "next to the lamp", "in the blue box", "on the chair"]
OPENING_PHRASES = ["Well!", "Ahoy!", "Dear friend!", "Good question!", "Beep!", "My pleasure!", "Hello!", "Certainly!", "Ha!", "Listen:"]
CLOSING_PHRASES = ["Have a nice day!", "Over.", "I hope this helps!", "Beep!", "Meow!", "The end.", "Thank you for asking!", "Stay curious!", "Bye!", "Your friend.", "Please ask again!"]
PLAIN_SYSTEM = [
    "You are a helpful assistant.", "You are a friendly assistant.", "You are a {kind|polite|helpful|friendly} {assistant|chat assistant|chatbot}.", "You are a helpful AI assistant.",
    "You are a helpful, honest {and friendly |}assistant.", "Be {helpful|kind|polite|friendly}.", "You help people.", "You are an assistant. {Answer the user's questions|Help the user}.",
    "You are a helpful AI assistant, trained to chat.", "You {talk|chat} with people.",
]  # fmt: skip

POOLS = {
    "ok": ["all right", "OK", "of course", "certainly", "sure", "gladly", "with pleasure"],
    "food": FOODS,
    "please": ["please ", "", "", "can you ", "could you "],
    "hi": ["hello", "hi", "hey", "hi there", "hello there", "good morning", "good evening", "good afternoon", "good day", "hey there", "hiya", "greetings"],
}

RHYMES = [
    "cat hat mat bat rat", "dog fog log frog", "sun run fun bun", "tree bee sea key free", "house mouse blouse", "night light kite bright right", "day play may way say gray", "moon soon spoon noon", "star car far jar",
    "rain train plane chain", "ring sing king wing spring", "ball tall wall fall small", "bed red head bread", "boat goat coat note", "fish dish wish", "book look cook hook", "cake lake snake make", "hill mill still pill",
    "rose nose toes close", "bell well shell tell", "snow go show slow", "sky fly high pie why", "ten hen pen men", "box fox socks rocks", "door floor four more", "blue shoe two true you", "hand sand land band", "hot pot dot not",
    "big pig dig wig", "nest best west rest", "love dove glove", "rock clock sock", "green queen bean seen", "mice rice nice ice", "heart part start art", "clown town down brown", "stone bone phone alone", "bear chair hair pear",
    "gold cold old told", "time rhyme lime", "song long strong", "dream cream stream team", "flower tower shower hour", "name game same", "eye lie tie", "cheese trees knees please", "tail snail mail whale",
]  # fmt: skip
RHYMES = [group.split() for group in RHYMES]

KINDS = {
    "animals": "dog cat horse cow sheep lion tiger bear elephant rabbit fox mouse owl frog wolf giraffe zebra monkey".split(),
    "birds": "owl sparrow robin crow eagle duck swan parrot penguin pigeon".split(),
    "fruits": "apple banana cherry pear plum orange lemon grape peach strawberry melon mango".split(),
    "vegetables": "carrot potato onion cabbage bean pea tomato pumpkin cucumber spinach".split(),
    "colors": "red blue green yellow orange purple white brown pink black".split(),
    "flowers": "rose tulip daisy lily violet sunflower poppy orchid".split(),
    "trees": "oak pine birch willow maple beech elm".split(),
    "tools": "hammer saw drill spade rake axe screwdriver".split(),
    "instruments": "piano violin drum flute guitar trumpet harp cello".split(),
    "clothes": "shirt coat hat scarf sock shoe glove dress jacket".split(),
    "drinks": "water milk tea coffee juice lemonade cocoa".split(),
    "vehicles": "car bus train bicycle boat plane truck tram".split(),
    "planets": "Mercury Venus Earth Mars Jupiter Saturn Uranus Neptune".split(),
    "countries": "France Italy Spain Germany Japan India Brazil Canada Egypt Norway Poland Greece".split(),
    "cities": "Paris London Rome Berlin Madrid Tokyo Vienna Cairo Sydney Oslo".split(),
    "sports": "football tennis swimming hockey basketball rowing chess running".split(),
    "insects": "bee ant butterfly fly beetle moth wasp".split(),
    "jobs": "baker teacher doctor farmer painter pilot gardener nurse".split(),
    "metals": "iron gold silver copper tin lead".split(),
    "shapes": "circle square triangle star oval rectangle".split(),
    "languages": "English French German Spanish Italian Greek Latin Arabic Chinese".split(),
    "seasons": "spring summer autumn winter".split(),
    "days": words.DAYS,
    "months": words.MONTHS,
}  # fmt: skip
ONE_OF = {"animals": "an animal", "birds": "a bird", "fruits": "a fruit", "vegetables": "a vegetable", "colors": "a color", "flowers": "a flower", "trees": "a tree", "tools": "a tool", "instruments": "an instrument",
          "clothes": "a piece of clothing", "drinks": "a drink", "vehicles": "a vehicle", "planets": "a planet", "countries": "a country", "cities": "a city", "sports": "a sport", "insects": "an insect", "jobs": "a job",
          "metals": "a metal", "shapes": "a shape", "languages": "a language", "seasons": "a season", "days": "a day of the week", "months": "a month"}  # fmt: skip
CLASSIFIED = ["animals", "fruits", "colors", "flowers", "tools", "instruments", "clothes", "vehicles", "metals", "countries", "cities", "drinks", "vegetables", "insects"]

OPPOSITES = """hot cold|big small|day night|fast slow|old young|wet dry|up down|open closed|loud quiet|light dark|early late|full empty|hard soft|tall short|happy sad|left right|good bad|black white|yes no|in out|
strong weak|rich poor|clean dirty|easy difficult|near far|high low|thick thin|first last|win lose|buy sell|love hate|begin end|true false|always never|inside outside|front back|above below|summer winter|friend enemy|
question answer|push pull|warm cool|sweet sour|heavy light|wide narrow|new old|brave afraid|laugh cry|arrive leave|remember forget|sharp blunt|asleep awake|north south|east west"""
OPPOSITES = [tuple(pair.split()) for pair in OPPOSITES.replace("\n", "").split("|")]

LANGUAGES = ["French", "German", "Spanish", "Italian"]
TRANSLATIONS = """hello bonjour hallo hola ciao|good morning/bonjour/guten Morgen/buenos días/buongiorno|goodbye/au revoir/auf Wiedersehen/adiós/arrivederci|thank you/merci/danke/gracias/grazie|please/s'il vous plaît/bitte/por favor/per favore|
yes oui ja sí sì|no non nein no no|cat chat Katze gato gatto|dog chien Hund perro cane|house maison Haus casa casa|tree arbre Baum árbol albero|water eau Wasser agua acqua|bread pain Brot pan pane|milk lait Milch leche latte|sun soleil Sonne sol sole|
moon lune Mond luna luna|star étoile Stern estrella stella|book livre Buch libro libro|friend ami Freund amigo amico|red rouge rot rojo rosso|blue bleu blau azul blu|green vert grün verde verde|white blanc weiß blanco bianco|black noir schwarz negro nero|
one un eins uno uno|two deux zwei dos due|three trois drei tres tre|four quatre vier cuatro quattro|five cinq fünf cinco cinque|bird oiseau Vogel pájaro uccello|fish poisson Fisch pez pesce|horse cheval Pferd caballo cavallo|
apple pomme Apfel manzana mela|flower fleur Blume flor fiore|rose rose Rose rosa rosa|love amour Liebe amor amore|day jour Tag día giorno|night nuit Nacht noche notte|school école Schule escuela scuola|sea mer Meer mar mare|
mother mère Mutter madre madre|father père Vater padre padre|king roi König rey re|cheese fromage Käse queso formaggio|city ville Stadt ciudad città|mountain montagne Berg montaña montagna|door porte Tür puerta porta|hand main Hand mano mano"""
TRANSLATIONS = [tuple(row.split("/") if "/" in row else row.split()) for row in TRANSLATIONS.replace("\n", "").split("|")]

CAPITALS = """France Paris|Italy Rome|Spain Madrid|Germany Berlin|England London|Japan Tokyo|China Beijing|Russia Moscow|Austria Vienna|Poland Warsaw|Norway Oslo|Sweden Stockholm|Denmark Copenhagen|Finland Helsinki|Greece Athens|Egypt Cairo|
India New_Delhi|Canada Ottawa|Australia Canberra|Ireland Dublin|Portugal Lisbon|Hungary Budapest|Turkey Ankara|Kenya Nairobi|Peru Lima|Cuba Havana|Mexico Mexico_City|Belgium Brussels|Switzerland Bern|Brazil Brasília|Argentina Buenos_Aires|the_Netherlands Amsterdam|
the_United_States Washington|Scotland Edinburgh|Iceland Reykjavik|Ukraine Kyiv|Romania Bucharest|Bulgaria Sofia|South_Korea Seoul|Thailand Bangkok|Vietnam Hanoi|Chile Santiago|Nigeria Abuja|Morocco Rabat|Israel Jerusalem|Iran Tehran|the_Czech_Republic Prague"""
CAPITALS = [tuple(name.replace("_", " ") for name in pair.split()) for pair in CAPITALS.replace("\n", "").split("|")]
LEGS = [("a spider", 8), ("an ant", 6), ("a dog", 4), ("a bird", 2), ("a bee", 6), ("a horse", 4), ("a person", 2), ("a cat", 4), ("a fly", 6), ("a cow", 4), ("a hen", 2), ("a beetle", 6), ("a table", 4), ("a snake", 0)]
THINGS = [
    ("a banana", "yellow", "a ripe banana has lost its green color"), ("grass", "green", "it is full of a green stuff that catches light"), ("snow", "white", "its tiny crystals send back all the colors of light"),
    ("the sky", "blue", "the air scatters blue light more than red light"), ("a tomato", "red", "it turns red when it is ripe"), ("coal", "black", "it swallows nearly all the light"), ("a carrot", "orange", "it holds an orange dye"),
    ("milk", "white", "tiny drops of fat in it scatter the light"), ("a lemon", "yellow", "its skin is yellow when it is ripe"), ("an elephant", "gray", "its thick skin is gray"), ("chocolate", "brown", "cocoa beans are brown"),
    ("a strawberry", "red", "it turns red when it is ripe"), ("the sea", "blue", "water swallows red light and lets blue light through"), ("blood", "red", "there is iron in it"), ("a fire truck", "red", "everybody should see it from far away"),
    ("the sun", "yellow", "the air takes some of the blue out of its light"), ("a frog", "green", "it hides in the green grass"), ("a flamingo", "pink", "it eats pink shrimp"), ("a polar bear", "white", "it hides in the snow"),
]  # fmt: skip

SPELLED = sorted(set("""apple baby ball bank bear bed bee bird black blue boat book box boy bread brown bus cake car cat chair cheese child clock cloud coat cold corn cow cup day dog door dream duck eagle ear earth egg eye face farm fire fish
flag flower fly foot fox friend frog fruit game garden girl glass goat gold good grass green hand happy hat heart hello hill home honey horse house ice iron island jam king kite kitchen lake lamp leaf lemon letter light lion love
lunch map milk money moon morning mother mouse music name nest night nose nut ocean onion orange owl paper park peace pen piano pig plant plum pond queen rabbit rain red ring river road rock roof room rose sand school sea ship shoe
silver sister sky sleep snake snow sock song spoon spring star stone storm story sugar summer sun table tea tiger time tower train tree truck water wave wheel whale wind window winter wolf wood word world yellow zebra zoo paris
banana computer elephant python java model token engine hi bye yes no cat hat map dad mum noon level cherry pencil bottle butter doctor monkey pepper rocket turtle winter spider button carrot dragon forest guitar hammer jacket""".split()))
EXACT_WORDS = set(SPELLED) | {word for group in KINDS.values() for word in group}
UNKNOWN_TOPICS = """quantum physics|the stock market|blockchain|taxes|the latest phone|politics|the French Revolution|black holes|string theory|machine learning in medicine|Roman law|the second world war|cancer research|opera|bitcoin|Shakespeare's sonnets|
chemistry|neural networks|football results|Napoleon|algebra|philosophy|the theory of relativity|DNA|Kubernetes|Docker|baseball|economics|Greek mythology|insurance|car engines|vaccines|photosynthesis|the Roman Empire|volcano eruptions|genetics|
Beethoven|cryptography|thermodynamics|psychology|astrology|climate change|nuclear energy|Hollywood|anime|video games|fashion|marketing|geopolitics|calculus|statistics|dinosaurs|the Middle Ages|Leonardo da Vinci|Buddhism|the Olympic Games|databases"""
UNKNOWN_TOPICS = UNKNOWN_TOPICS.replace("\n", "").split("|")
HARD_QUESTIONS = """how far away is the {moon|sun|next star}|who invented the {telephone|wheel|light bulb|printing press}|when did {Columbus sail to America|the war end|Rome fall}|how many people live in <city>|how high is the Eiffel Tower|how do I repair my {car|phone|washing machine}|
what does my dream mean|how do I get rich|how do planes fly|who is the tallest person in the world|what is the best way to invest money|how much does a house in <city> cost|what is the distance from <city> to <city>|when was <city> founded|who discovered {gravity|America|radium}|
how deep is the ocean|how old is the universe|what is the speed of light|who painted the Mona Lisa|what is the population of {China|Brazil|the world}|how do vaccines work|what is the square root of {two|1764}|what causes {earthquakes|inflation|cancer}|how fast is {a rocket|sound|a train}|
which team is the best|what language do they speak in {Brazil|Iran|Kenya}|how do I cook {a steak|lasagna|paella}|what is the difference between {a crocodile and an alligator|TCP and UDP|jam and jelly}|why do people {lie|fight|yawn|dream}|what is the chemical symbol of {iron|tin|helium}|
how do I fix a leaking tap|what is the plot of {Hamlet|Star Wars|Moby Dick}|who was the first king of {England|Spain}|how do computers store numbers|what are the rules of {chess|cricket|poker}|how many bones does a person have|how much does an elephant weigh"""
HARD_QUESTIONS = re.split(r"\|(?![^{]*\})", HARD_QUESTIONS.replace("\n", ""))
PLAIN_FACTS = {
    "dogs": "Dogs are friendly animals that like to be with people. They have a very good nose. Some dogs guard houses or help blind people. A young dog is called a puppy.",
    "cats": "Cats are small hunters with soft fur. They see well in the dark and walk without a sound. They sleep for most of the day. A young cat is called a kitten.",
    "horses": "Horses are large animals that run fast. They eat grass and hay. People have ridden on horses for thousands of years. A young horse is called a foal.",
    "cows": "Cows live on farms and eat grass. They give us milk, and from milk we make butter and cheese. A young cow is called a calf.",
    "elephants": "Elephants are the largest animals on land. With the trunk, they can drink, smell, and lift things. They live in families and have a good memory.",
    "owls": "Owls hunt at night. They fly without a sound and hear very well. They can turn their heads almost all the way around. Most owls sleep during the day.",
    "foxes": "Foxes have red fur and a thick tail. They hunt mice at night and live in dens under the ground. In stories, the fox is always clever.",
    "whales": "Whales live in the sea, but they are not fish. They breathe air and feed their young with milk. The blue whale is the largest animal of all. Some whales sing long songs.",
    "penguins": "Penguins are birds that cannot fly. They swim very well and eat fish. Many of them live in Antarctica. The parents keep the eggs warm on their feet.",
    "frogs": "Frogs live near water and eat insects. They have long legs and can jump far. A young frog is called a tadpole and lives in water.",
    "spiders": "Spiders have eight legs. Many of them spin webs and catch flies. They are not insects. Most spiders are harmless.",
    "butterflies": "Butterflies are insects with colored wings. A butterfly begins as a caterpillar. They drink the juice of flowers. Most of them live for only a few weeks.",
    "rabbits": "Rabbits have long ears and soft fur. They eat grass and leaves and live in burrows. They can run very fast when they are afraid.",
    "lions": "Lions are big cats that live in Africa. They live in groups and hunt together. The male has a mane. You can hear a lion roar from far away.",
    "the sun": "The sun is a star, a huge ball of hot gas. It gives us light and warmth. The earth goes around it once a year. Without the sun, nothing could live here.",
    "stars": "Stars are suns that are very far away. There are more of them than we can count. For a long time, sailors found their way by the stars.",
    "the sea": "The sea covers most of the earth. Its water is salty. Whales, fish, and many small animals live in it. The moon pulls the water, and so the sea rises and falls.",
    "apples": "Apples grow on trees and are ripe in autumn. They can be red, green, or yellow. You can eat them as they are, or make juice or a cake of them.",
    "music": "Music is made of sounds, rhythms, and songs. People sing and play instruments such as the piano, the violin, or the drum. It can make us happy or sad.",
    "chess": "Chess is a game for two. Each player has sixteen pieces. The goal is to catch the king of the other player.",
    "football": "Football is a game for two teams of eleven players. They kick a ball and try to get it into the goal. Only the keeper may use the hands.",
    "school": "At school, children learn to read, to write, and to calculate. There are teachers, books, and breaks for playing. Many friends meet there.",
    "books": "Books are made of pages with words and pictures. Some tell stories, and some explain things. You can borrow them from a library.",
    "chocolate": "Chocolate is made from cocoa beans. The beans are roasted and ground, and sugar and milk are added. It melts at the warmth of your hand.",
    "coffee": "Coffee is made from roasted beans. The beans are ground, and hot water is poured over them. Many people drink it in the morning to wake up.",
    "water": "Water is clear and has no taste. It can be ice, water, or vapor. All plants, animals, and people need it.",
}  # fmt: skip
PEOPLE = """Albert Einstein|Marie Curie|Taylor Swift|Isaac Newton|Elon Musk|Barack Obama|Napoleon|Julius Caesar|Leonardo da Vinci|Mozart|Cleopatra|Shakespeare|Messi|Ronaldo|Alan Turing|Ada Lovelace|Gandhi|Picasso|Bill Gates|the president|
the prime minister|the king of Spain|the pope|the mayor of my town|my teacher|my neighbor|the best football player""".replace("\n", "").split("|")
FRAGMENTS = ["asdf", "asdfgh", "qwerty", "...", "???", "!!!", "?", ".", "x", "aaaa", "blah blah", "lorem ipsum dolor sit amet", "12345", "1 2 3", "foo bar", "hjkl", "zzz", "😀", "👍", "❤️", "🌹", "Ünïcödé", "ok ok ok", "brrr", "$$$", "@@@", "-", "_", "xyz", "wfnjk", "<html>", "null", "NaN", "{}", "[]"]
FOREIGN = ["Привет", "Как дела?", "你好", "你好吗？", "こんにちは", "안녕하세요", "مرحبا", "שלום", "नमस्ते", "Γειά σου", "Bonjour, comment ça va?", "Hola, ¿cómo estás?", "Guten Tag, wie geht es dir?", "Ciao, come stai?", "Olá, tudo bem?", "Wie heißt du?",
           "¿Cómo te llamas?", "Comment t'appelles-tu?", "Merhaba", "Cześć", "Hej", "Was kannst du?", "Quel est ton nom?", "今天天气怎么样？", "Что ты умеешь?"]  # fmt: skip
