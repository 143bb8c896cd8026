package io.roseinfer;

import static java.util.function.Predicate.not;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A Markdown document of the project, parsed as far as tests need it. */
public record Document(Path path, String text) {
    private static final Set<String> NOT_OURS = Set.of("target", ".git");

    private static final Pattern FENCE = Pattern.compile("(?ms)^```(\\w*)\n(.*?)^```$");
    private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern INDENTED_FENCE = Pattern.compile("(?ms)^ *```.*?^ *```$");
    private static final Pattern LINE_WITHOUT_SENTENCE = Pattern.compile("(?m)^(#| *\\||!\\[).*$");
    private static final Pattern LINK_WITH_TEXT = Pattern.compile("\\[([^\\]]*)]\\([^)]*\\)");
    private static final Pattern BLOCK = Pattern.compile("\n\\s*\n|\n?(?m:^)\\s*(?:[*-]|\\d+\\.)\\s+");
    private static final Pattern SENTENCE = Pattern.compile("(?<=[.!?][\"”)*_]{0,3})\\s+(?=[\\p{Lu}*_(\\[\"“])");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.+?) *$");

    /**
     * A block of code.
     *
     * @param language as the fence names it, or nothing
     * @param body its lines
     */
    public record Fence(String language, String body) {}

    /** Returns the document at a path relative to the root of the project. */
    public static Document at(String path) {
        return at(Path.of(path));
    }

    private static Document at(Path path) {
        try {
            return new Document(path, Files.readString(path));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns all documents of the project, sorted by path. */
    public static List<Document> all() {
        try (Stream<Path> files = Files.walk(Path.of(""))) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .filter(file -> !NOT_OURS.contains(file.getName(0).toString()))
                    .sorted()
                    .map(Document::at)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the code blocks. */
    public List<Fence> fences() {
        return FENCE.matcher(text)
                .results()
                .map(fence -> new Fence(fence.group(1), fence.group(2)))
                .toList();
    }

    /** Returns the text without code blocks. */
    private String prose() {
        return FENCE.matcher(text).replaceAll("");
    }

    /**
     * Returns the text below a heading, up to the next heading of the same or a higher level. Headings in code blocks end nothing.
     *
     * @param heading the whole heading without its marks
     */
    public String section(String heading) {
        StringBuilder section = new StringBuilder();
        int level = 0;
        boolean isCode = false;
        for (String line : text.lines().toList()) {
            isCode ^= line.startsWith("```");
            int marks = isCode
                    ? 0
                    : line.length() - line.replaceFirst("^#{1,6} ", " ").length();
            if (level > 0 && marks > 0 && marks <= level) {
                return section.toString();
            }
            if (level > 0) {
                section.append(line).append('\n');
            } else if (marks > 0 && line.substring(marks).strip().equals(heading)) {
                level = marks;
            }
        }
        if (level == 0) {
            throw new IllegalArgumentException(path + " has no heading " + heading);
        }
        return section.toString();
    }

    /** Returns the sentences of paragraphs and list items, without tables and headings; inline code is one word. */
    public List<String> sentences() {
        String plain = INDENTED_FENCE.matcher(text).replaceAll("");
        plain = LINE_WITHOUT_SENTENCE.matcher(plain).replaceAll("");
        plain = CODE.matcher(plain).replaceAll("CODE");
        plain = LINK_WITH_TEXT.matcher(plain).replaceAll("$1");
        return Stream.of(BLOCK.split(plain))
                .flatMap(block -> Stream.of(SENTENCE.split(block.strip())))
                .map(sentence -> sentence.replaceAll("\\s+", " ").strip())
                .filter(not(String::isEmpty))
                .toList();
    }

    /** Returns the inline code. */
    public List<String> code() {
        return CODE.matcher(prose()).results().map(code -> code.group(1)).toList();
    }

    /** Returns the targets of links and images. */
    public List<String> links() {
        return LINK.matcher(CODE.matcher(prose()).replaceAll(""))
                .results()
                .map(link -> link.group(1))
                .toList();
    }

    /** Returns the anchors of the headings, in GitHub's format. */
    public Set<String> anchors() {
        return HEADING.matcher(prose())
                .results()
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                        .replace(' ', '-'))
                .collect(Collectors.toSet());
    }

    /** Returns the commands of shell blocks: one string each, without prompt, continuation and comment. */
    public List<String> commands() {
        List<String> commands = new ArrayList<>();
        for (Fence fence : fences()) {
            String joined = fence.body().replaceAll("\\\\\n\\s*", "");
            Stream<String> lines =
                    switch (fence.language()) {
                        case "bash" -> joined.lines();
                        case "console" ->
                            joined.lines().filter(line -> line.startsWith("$ ")).map(line -> line.substring(2));
                        default -> Stream.empty();
                    };
            lines.map(line -> line.replaceAll("(^|\\s+)#.*", "").strip())
                    .filter(not(String::isEmpty))
                    .forEach(commands::add);
        }
        return commands;
    }

    /** Returns the words of a command up to the end of the simple command, without quotes. */
    public static List<String> words(String command) {
        List<String> words = new ArrayList<>();
        Matcher word = Pattern.compile("\"([^\"]*)\"|'([^']*)'|([;|&)])|[^\\s\"';|&)]+")
                .matcher(command);
        StringBuilder current = new StringBuilder();
        int end = 0;
        while (word.find() && word.group(3) == null) {
            if (word.start() > end && !current.isEmpty()) {
                words.add(current.toString());
                current.setLength(0);
            }
            String quoted = word.group(1) != null ? word.group(1) : word.group(2);
            current.append(quoted != null ? quoted : word.group());
            end = word.end();
        }
        if (!current.isEmpty()) {
            words.add(current.toString());
        }
        return words;
    }
}
