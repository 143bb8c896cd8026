package io.roseinfer;

import static java.util.function.Predicate.not;
import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.sampling.SamplingParams;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.reflect.Member;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Checks that the classes, files, headings and Java code in documents exist or compile. */
class DocumentsTest {
    private static final int README_WORDS = 700;
    private static final int README_LINKS = 20;
    private static final int WORDS_BEFORE_THE_FIRST_COMMAND = 110;

    /**
     * A word that begins like a type and is not an acronym, perhaps followed by a dot and a member or a nested type.
     */
    private static final Pattern NAME = Pattern.compile("(?<![\\w./:-])([A-Z]\\w*[a-z]\\w*)(?:\\.(\\w+))?");

    /** A name that must be a type: it has at least two words, or a member. */
    private static final Pattern SURELY = Pattern.compile("[A-Z]\\w*[a-z]\\w*[A-Z]\\w*|[A-Z]\\w*[a-z]\\w*\\.\\w+");

    private static final Pattern FILE = Pattern.compile(
            "(?:tools|src|kernels|jmh|native|bin|\\.github|\\.ci|\\.mvn)/[\\w./-]*|[\\w-]+\\.(?:md|xml|py|sh)");

    /** The folders of the files that a bundle has in its bin. */
    private static final List<String> BUNDLED = List.of("tools/bundled", "tools");

    /** Words in code font that look like types of this project but belong to the JDK, PyTorch or Hugging Face. */
    private static final Set<String> NOT_OURS = Set.of(
            "System.nanoTime",
            "MemorySegment",
            "System.Logger",
            "Duration.ZERO",
            "IllegalStateException",
            "NullPointerException",
            "CancellationException");

    private static final Pattern OTHER_LANGUAGES = Pattern.compile("\\.(cuh?|h|py)$");
    private static final Pattern ROW_OF_TOOLS = Pattern.compile("(?m)^\\| `([^`/]+)/?` \\|");

    private static List<Document> documents;
    /** The compiled types by simple name, with those of the tests. */
    private static Map<String, List<String>> types;

    private static Set<String> sources;
    private static Set<String> tools;
    private static String kernels;

    @BeforeAll
    static void readDocumentsAndClasses() throws IOException {
        documents = Document.all();
        types = Stream.of(Roseinfer.class, DocumentsTest.class)
                .flatMap(DocumentsTest::compiledWith)
                .collect(Collectors.groupingBy(
                        type -> type.substring(type.lastIndexOf('.') + 1).replaceFirst(".*\\$", "")));
        sources = files("src", "jmh", "tools")
                .map(file -> file.getFileName().toString())
                .filter(name -> name.endsWith(".java"))
                .map(name -> name.replace(".java", ""))
                .collect(Collectors.toSet());
        tools = files("tools").map(file -> file.getFileName().toString()).collect(Collectors.toSet());
        kernels = files("kernels", "tools/golden")
                .filter(file -> OTHER_LANGUAGES.matcher(file.toString()).find())
                .map(DocumentsTest::read)
                .collect(Collectors.joining());
    }

    /** Returns the binary names of the types in the same folder of classes. */
    private static Stream<String> compiledWith(Class<?> type) {
        Path root = Path.of(URI.create(
                type.getProtectionDomain().getCodeSource().getLocation().toString()));
        return files(root.toString())
                .map(file -> root.relativize(file).toString())
                .filter(file -> file.endsWith(".class"))
                .map(file -> file.replace(".class", "").replace('/', '.'));
    }

    private static Stream<Path> files(String... folders) {
        return Stream.of(folders).flatMap(folder -> {
            try (Stream<Path> files = Files.walk(Path.of(folder))) {
                return files.toList().stream();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Document readme() {
        return Document.at("README.md");
    }

    /** The words of a text, without link targets. */
    private static int words(String text) {
        return text.replaceAll("\\]\\([^)]*\\)", "]").strip().split("\\s+").length;
    }

    @Test
    void readme_is_short_outside_code_and_tables() {
        String prose = readme().text().replaceAll("(?ms)^```.*?^```$", "").replaceAll("(?m)^\\|.*$", "");
        assertThat(words(prose)).isLessThanOrEqualTo(README_WORDS);
    }

    @Test
    void readme_has_few_links() {
        assertThat(readme().links()).hasSizeLessThanOrEqualTo(README_LINKS);
    }

    @Test
    void first_command_of_the_readme_comes_early() {
        assertThat(words(readme().text().split("```", 2)[0])).isLessThanOrEqualTo(WORDS_BEFORE_THE_FIRST_COMMAND);
    }

    /** Returns whether a type has a nested type with this name, or it or a supertype declares such a field or method. */
    private static boolean has(String typeName, String member) {
        try {
            Class<?> type = Class.forName(typeName, false, DocumentsTest.class.getClassLoader());
            return Stream.of(type.getDeclaredClasses())
                            .map(Class::getSimpleName)
                            .anyMatch(member::equals)
                    || declares(type, member);
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean declares(Class<?> type, String member) {
        return Stream.of(type.getDeclaredFields(), type.getDeclaredMethods())
                        .flatMap(Stream::of)
                        .map(Member::getName)
                        .anyMatch(member::equals)
                || Stream.concat(Stream.ofNullable(type.getSuperclass()), Stream.of(type.getInterfaces()))
                        .anyMatch(parent -> declares(parent, member));
    }

    private static boolean exists(String name) {
        Matcher parts = NAME.matcher(name);
        assertThat(parts.matches()).as("%s is a name", name).isTrue();
        List<String> meant = types.getOrDefault(parts.group(1), List.of());
        String member = parts.group(2);
        if (member == null || member.equals("java")) {
            return !meant.isEmpty() || sources.contains(parts.group(1));
        }
        return meant.stream().anyMatch(type -> has(type, member));
    }

    /** Returns whether the CUDA kernels, or the scripts for goldens, have a type with this name. */
    private static boolean isOfAnotherLanguage(String name) {
        return Pattern.compile("\\b" + Pattern.quote(name) + "\\b")
                .matcher(kernels)
                .find();
    }

    private static Stream<String> names(Stream<String> code) {
        return code.flatMap(each -> NAME.matcher(each)
                .results()
                .map(MatchResult::group)
                .filter(name -> name.equals(each) || SURELY.matcher(name).matches()));
    }

    /** The types in a document: each a name, or a name and that of a member. */
    private static Set<String> names(Document document) {
        boolean isDrawn = document.path().endsWith("architecture.md");
        Stream<String> drawn = document.fences().stream()
                .filter(fence -> isDrawn && fence.language().isEmpty())
                .flatMap(fence -> NAME.matcher(fence.body()).results().map(MatchResult::group));
        return Stream.concat(drawn, names(document.code().stream()))
                .filter(not(NOT_OURS::contains))
                .collect(Collectors.toSet());
    }

    @Test
    void license_is_in_the_jar() throws IOException {
        List<String> licenses = new ArrayList<>();
        for (URL license : Collections.list(DocumentsTest.class.getClassLoader().getResources("META-INF/LICENSE"))) {
            try (InputStream in = license.openStream()) {
                licenses.add(new String(in.readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        assertThat(licenses).contains(Files.readString(Path.of("LICENSE")));
    }

    @Test
    void first_group_of_packages_in_the_javadoc_is_the_api() {
        Matcher api = Pattern.compile("(?s)The API is what is public in (.*?), with ")
                .matcher(read(Path.of("src/main/java/io/roseinfer/package-info.java")));
        assertThat(api.find()).isTrue();
        Matcher links = Pattern.compile("\\{@link ([\\w.]+)}").matcher(api.group(1));
        String packages = Stream.concat(
                        Stream.of("io.roseinfer"), links.results().map(link -> link.group(1)))
                .collect(Collectors.joining(":"));
        // Pages of a module list its packages by name alone.
        assertThat(read(Path.of("pom.xml")))
                .containsSubsequence(
                        "<legacyMode>true</legacyMode>", "<groups>", "<packages>" + packages + "</packages>");
    }

    @Test
    void every_type_and_member_that_a_document_names_exists() {
        assertThat(names(Document.at("src/site/markdown/explanation/architecture.md")))
                .hasSizeGreaterThan(80)
                .contains("EngineLoop.begin", "Flight");
        List<String> wrong = documents.stream()
                .flatMap(document -> names(document).stream()
                        .filter(not(DocumentsTest::exists))
                        .filter(not(DocumentsTest::isOfAnotherLanguage))
                        .map(name -> document.path() + ": " + name))
                .toList();
        assertThat(wrong).as("names that are types of ours").isEmpty();
    }

    private static boolean isThere(Document document, String file) {
        if (file.startsWith("bin/")) {
            return BUNDLED.stream().anyMatch(folder -> Files.exists(Path.of(folder, file.substring("bin/".length()))));
        }
        return Files.exists(Path.of(file)) || Files.exists(beside(document, file)) || tools.contains(file);
    }

    private static Path beside(Document document, String file) {
        Path folder = document.path().getParent();
        return folder == null ? Path.of(file) : folder.resolve(file).normalize();
    }

    @Test
    void every_file_that_a_document_names_exists() {
        List<String> wrong = documents.stream()
                .flatMap(document -> document.code().stream()
                        .flatMap(code -> Stream.of(code.split("[ =]")))
                        .filter(code -> FILE.matcher(code).matches())
                        .filter(file -> !isThere(document, file))
                        .map(file -> document.path() + ": " + file))
                .toList();
        assertThat(wrong).as("files that are not there").isEmpty();
    }

    private static boolean leadsSomewhere(Document document, String link) {
        String[] parts = link.split("#", 2);
        Path target = parts[0].isEmpty() ? document.path() : beside(document, parts[0]);
        if (parts.length == 1 || !target.toString().endsWith(".md")) {
            return Files.exists(target);
        }
        return Files.exists(target) && Document.at(target.toString()).anchors().contains(parts[1]);
    }

    @Test
    void every_link_within_the_project_leads_to_a_file_and_a_heading() {
        List<String> wrong = documents.stream()
                .flatMap(document -> document.links().stream()
                        .filter(link -> !link.matches("[a-z]+:.*"))
                        .filter(link -> !leadsSomewhere(document, link))
                        .map(link -> document.path() + ": " + link))
                .toList();
        assertThat(wrong).as("links that lead nowhere").isEmpty();
    }

    /** A piece of Java in a document, as a source file with a name of its own. */
    private static final class Piece extends SimpleJavaFileObject {
        private static final Pattern PROGRAM = Pattern.compile("(?m)^void main\\(");
        private static final Pattern TYPE =
                Pattern.compile("(?m)^((public |final |sealed )*(class|record|interface|enum) )");

        private final Path document;
        private final String source;

        Piece(Path document, String java, int number) {
            super(URI.create("string:///Piece" + number + ".java"), Kind.SOURCE);
            this.document = document;
            this.source = unit(java, "piece" + number);
        }

        /**
         * Wraps a piece of Java in a source file: unchanged if it declares a type or a program, otherwise in a method that
         * may throw. Only a program has no package.
         */
        private static String unit(String java, String packageName) {
            String imports = Stream.of(
                            "",
                            ".engine",
                            ".sampling",
                            ".scheduler",
                            ".scheduler.policy",
                            ".metrics",
                            ".observe",
                            ".base")
                    .map(name -> "import io.roseinfer" + name + ".*;\n")
                    .collect(Collectors.joining("", "import java.time.Duration;\nimport java.util.*;\n", ""));
            if (PROGRAM.matcher(java).find()) {
                return imports + java;
            }
            String head = "package " + packageName + ";\n" + imports;
            return TYPE.matcher(java).find()
                    ? head + java.replaceFirst("(?m)^public ", "")
                    : head + "class Snippet { void run() throws Exception {\n" + java + "} }";
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return source;
        }
    }

    @Test
    void every_piece_of_java_compiles(@TempDir Path output) {
        List<Piece> pieces = new ArrayList<>();
        for (Document document : documents) {
            document.fences().stream()
                    .filter(fence -> fence.language().equals("java"))
                    .forEach(fence -> pieces.add(new Piece(document.path(), fence.body(), pieces.size())));
        }
        assertThat(pieces).anyMatch(piece -> piece.document.equals(readme().path()));
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        boolean compiles = ToolProvider.getSystemJavaCompiler()
                .getTask(
                        null,
                        null,
                        diagnostics,
                        List.of("-d", output.toString(), "-proc:none", "-cp", System.getProperty("java.class.path")),
                        null,
                        pieces)
                .call();
        assertThat(diagnostics.getDiagnostics().stream()
                        .filter(diagnostic -> diagnostic.getKind() == Diagnostic.Kind.ERROR)
                        .map(error -> (error.getSource() instanceof Piece piece ? piece.document + ": " : "") + error))
                .isEmpty();
        assertThat(compiles).isTrue();
    }

    @Test
    void every_tool_has_a_line() throws IOException {
        Document page = Document.at("tools/README.md");
        List<String> listed = ROW_OF_TOOLS
                .matcher(page.text())
                .results()
                .map(row -> row.group(1))
                .toList();
        try (Stream<Path> tools = Files.list(Path.of("tools"))) {
            assertThat(listed)
                    .containsExactlyInAnyOrderElementsOf(
                            tools.map(tool -> tool.getFileName().toString())
                                    .filter(not("README.md"::equals))
                                    .filter(not("__pycache__"::equals))
                                    .toList());
        }
    }

    @ParameterizedTest
    @EnumSource
    void page_of_the_http_api_has_every_sampling_parameter(SamplingParams.Parameter parameter) {
        assertThat(Document.at("src/site/markdown/reference/http-api.md").text())
                .containsPattern("(?m)^\\|[^|]*`" + parameter.field() + "`[^|]*\\|");
    }
}
