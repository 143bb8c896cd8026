package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests of the project's language: vague or private words, long sentences, and long pages. */
class WritingTest {
    /** Folders and files with text. */
    private static final List<String> ROOTS =
            List.of(".ci", ".github", "README.md", "jmh", "kernels", "native", "pom.xml", "src", "tools");

    /** Outputs, stories, vocabularies, and this test. */
    private static final Pattern EXEMPT = Pattern.compile("src/test/resources/(?!.*\\.md$).*"
            + "|src/main/resources/io/roseinfer/(builtin|tokenizer)/.*"
            + "|.*/__pycache__/.*"
            + "|tools/make-models/(?!README).*"
            + "|src/site/markdown/reference/renames\\.md"
            + "|.*/WritingTest\\.java");

    private static final int MAX_SENTENCE = 35;
    private static final double SENTENCES_WITHIN = 0.99;

    /** Maximum words of all pages, without code, tables and the generated reference. */
    private static final int ALL_PAGES = 20_000;

    /** Maximum words of a page, without code and tables; of other pages 700. */
    private static final Map<String, Integer> BUDGETS = Map.ofEntries(
            Map.entry("kernels/README.md", 2800),
            Map.entry("kernels/NOTES.md", 2500),
            Map.entry("src/site/markdown/explanation/architecture.md", 1700),
            Map.entry("src/site/markdown/explanation/decisions.md", 1100),
            Map.entry("src/site/markdown/explanation/numbers.md", 1900),
            Map.entry("src/site/markdown/reference/http-api.md", 1500),
            Map.entry("src/site/markdown/reference/metrics.md", 1200),
            Map.entry("src/site/markdown/reference/models.md", 1400),
            Map.entry("src/site/markdown/learn/first-policy.md", 1000));

    private static final int BUDGET = 800;

    /** Words that describe nothing, or mean something else to a reader from the field. */
    enum Habit {
        PERSONS("\\b([Nn]obody|[Ss]omebody|[Ww]hoever|[Aa]nybody|[Ee]verybody)\\b", 0),
        TALKING("\\b(told|tells?|hears?|heard)\\b", 0),
        MOST_AS_MAXIMUM("\\b(MOST|FEWEST|LARGEST|LONGEST|SHORTEST|SMALLEST)_|\\bLEAST_(?!TOKENS)", 0),
        MOST_IN_JAVADOC(
                "@param \\w+ (the )?[Mm]ost\\b(?! likely)|\"Most |/\\*\\* ([Tt]he )?[Mm]ost (?!likely|events)", 0),
        QUESTIONS_IN_JAVADOC("/\\*\\* (What|Who|Whom|Whose|How|So|Of|As|Likewise|Such|Has)\\b", 0),
        SO_MANY("\\bso (many|much|often)\\b|\\bso long\\b(?! as)", 3),
        AS_IT_IS("\\bas it (stands|was|is)\\b|\\bas they (are|were|come|lie)\\b", 10),
        OF_ITS_OWN("\\bof (one's|its|their|our|his) own\\b", 20),
        GIVES_WAY("\\bgives? (way|back)\\b|\\bstart(s|ed|ing)? over\\b", 0),
        THAT_OF("\\bone that (has|is|was|does)\\b|\\b(that|those) of\\b", 40),
        OF_WHICH("\\bof (which|whom|whose)\\b", 10),
        BEHIND("\\bbehind\\b|\\bbesides?\\b", 20),
        IS_NO("(?<![Tt]here )\\b(is|are) no (?!longer)[a-z]+", 10),
        WHO_HAS("\\bwho (has|asks|closes|claimed|hands?|puts?|reads?|waits?|learns?|sees?)\\b", 0),
        RARE_WORDS("\\b(kin|anew|likewise|spelt|mend|knobs?|(?<!java\\.)instruments?)\\b", 0),
        HEADS_AND_GAINS("\\b(heads? of (keys|queries)|[Gg]ains|singles|mails?)\\b", 0),
        BRITISH("\\bhonour|\\bcolour|\\bneighbour|\\bcentre|[Nn]ormalis|[Ll]icence", 0),
        COUNTING("\\b(does|do|did) not count\\b", 0);

        private final Pattern pattern;
        private final int limit;

        Habit(String pattern, int limit) {
            this.pattern = Pattern.compile(pattern);
            this.limit = limit;
        }
    }

    /** A line of a text file. */
    private record Line(Path file, int number, String text) {
        @Override
        public String toString() {
            return file + ":" + number + ": " + text.strip();
        }
    }

    private static List<Line> lines;
    private static List<Document> documents;

    @BeforeAll
    static void readTexts() {
        lines = ROOTS.stream()
                .flatMap(root -> files(Path.of(root)))
                .filter(file -> !EXEMPT.matcher(file.toString()).matches())
                .flatMap(WritingTest::lines)
                .toList();
        documents = Document.all();
    }

    private static Stream<Path> files(Path root) {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(Files::isRegularFile).sorted().toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the lines of a text file; none for other files. */
    private static Stream<Line> lines(Path file) {
        try {
            List<String> text = Files.readAllLines(file);
            return Stream.iterate(0, i -> i < text.size(), i -> i + 1).map(i -> new Line(file, i + 1, text.get(i)));
        } catch (MalformedInputException binary) {
            return Stream.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<Line> hits(Pattern pattern, Predicate<Path> scope) {
        return lines.stream()
                .filter(line -> scope.test(line.file()))
                .filter(line -> pattern.matcher(line.text()).find())
                .toList();
    }

    @ParameterizedTest
    @EnumSource
    void habit_stays_within_its_limit(Habit habit) {
        assertThat(hits(habit.pattern, file -> true)).hasSizeLessThanOrEqualTo(habit.limit);
    }

    /** RoPE rotates, threads wait at a barrier, a request has an outcome. */
    @Test
    void engine_and_kernels_do_not_turn_meet_or_have_endings() {
        Pattern words = Pattern.compile("\\b(turns?|turned|turning|meets?|meeting|endings)\\b");
        Pattern folders = Pattern.compile(
                "kernels/.*|native/.*|src/(main|test)/java/io/roseinfer/(backend|engine|kv|model|scheduler)/.*");
        assertThat(hits(words, file -> folders.matcher(file.toString()).matches()))
                .hasSizeLessThanOrEqualTo(5);
    }

    @Test
    void whether_opens_the_javadoc_of_fields_only() {
        assertThat(hits(Pattern.compile("/\\*\\* Whether\\b.*\\("), file -> true))
                .isEmpty();
    }

    @Test
    void code_names_no_processors_or_graphics_cards() {
        Pattern hardware = Pattern.compile("Zen [45]|\\bXeon\\b|\\bH200\\b");
        assertThat(hits(hardware, file -> file.startsWith("src/main/java"))).hasSizeLessThanOrEqualTo(3);
    }

    @Test
    void sentences_of_documents_are_short() {
        List<String> sentences = documents.stream()
                .flatMap(document -> document.sentences().stream().map(text -> document.path() + ": " + text))
                .sorted(Comparator.comparingInt(WritingTest::words))
                .toList();
        assertThat(sentences).hasSizeGreaterThan(500);
        List<String> longest = sentences.subList((int) (SENTENCES_WITHIN * sentences.size()), sentences.size());
        assertThat(words(longest.getFirst()) - 1).as("words; %s", longest).isLessThanOrEqualTo(MAX_SENTENCE);
    }

    private static int words(String text) {
        return text.isBlank() ? 0 : text.strip().split("\\s+").length;
    }

    @Test
    void pages_stay_within_their_budgets() {
        Map<String, String> wrong = new TreeMap<>();
        for (Document document : documents) {
            String page = document.path().toString();
            int limit = BUDGETS.getOrDefault(page, BUDGET);
            int words =
                    document.sentences().stream().mapToInt(WritingTest::words).sum();
            if (words > limit) {
                wrong.put(page, words + " words, at most " + limit);
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void all_pages_together_stay_within_their_budget() {
        int words = documents.stream()
                .filter(document -> !document.path().endsWith("cli.md"))
                .flatMap(document -> document.sentences().stream())
                .mapToInt(WritingTest::words)
                .sum();
        assertThat(words).isBetween(10_000, ALL_PAGES);
    }
}
