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

/** A Markdown document of the project, taken apart as far as tests look at it. */
public record Document(Path path, String text) {
    private static final Set<String> NOT_OURS = Set.of("target", ".git");

    private static final Pattern FENCE = Pattern.compile("(?ms)^```(\\w*)\n(.*?)^```$");
    private static final Pattern CODE = Pattern.compile("`([^`\n]+)`");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} +(.+?) *$");

    /**
     * A block of code.
     *
     * @param language as the fence names it, or nothing
     * @param body its lines
     */
    public record Fence(String language, String body) {}

    /** The document at a path relative to the root of the project. */
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

    /** Every document of the project, in the order of their paths. */
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

    /** The blocks of code. */
    public List<Fence> fences() {
        return FENCE.matcher(text)
                .results()
                .map(fence -> new Fence(fence.group(1), fence.group(2)))
                .toList();
    }

    /** The text without blocks of code. */
    private String prose() {
        return FENCE.matcher(text).replaceAll("");
    }

    /** What stands in code font within the text. */
    public List<String> code() {
        return CODE.matcher(prose()).results().map(code -> code.group(1)).toList();
    }

    /** Where links and pictures lead, as they are written. */
    public List<String> links() {
        return LINK.matcher(CODE.matcher(prose()).replaceAll(""))
                .results()
                .map(link -> link.group(1))
                .toList();
    }

    /** The names by which links reach the headings, as GitHub makes them. */
    public Set<String> anchors() {
        return HEADING.matcher(prose())
                .results()
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                        .replace(' ', '-'))
                .collect(Collectors.toSet());
    }

    /** The commands of the blocks that a shell runs: one string each, without prompt, continuation and comment. */
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

    /** The words of a command up to the end of what a shell calls a simple command, quotes taken off. */
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
