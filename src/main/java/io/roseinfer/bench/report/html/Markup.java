package io.roseinfer.bench.report.html;

import io.roseinfer.base.Printable;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Escaping of text and formatting of numbers for HTML. */
final class Markup {
    private static final Set<String> ABBREVIATIONS = Set.of("ttft", "tpot", "itl", "e2el");
    private static final Map<String, String> WORDS = Map.of("jain", "Jain", "normalized", "normalized latency");
    private static final Pattern GROUP = Pattern.compile("\\{(tenant|slo)=(.*)}");

    /** An absolute path in a word, also of a flag's value or after an engine's number, but not of a URL. */
    private static final Pattern ABSOLUTE =
            Pattern.compile("(?:(?<![\\w.:/~-])|(?<=\\d:))/(?:[^\\s/,:=]+/)+[^\\s/,:=]+");

    private static final Pattern PATH = Pattern.compile("[^\\s,:=]+");

    private Markup() {}

    /**
     * Returns words with file names instead of absolute paths, after as many directories as separate them from other paths.
     *
     * @param all words with the other paths
     */
    static List<String> withoutDirectories(List<String> words, List<String> all) {
        Set<String> paths = all.stream()
                .flatMap(word -> PATH.matcher(word).results().map(MatchResult::group))
                .collect(Collectors.toSet());
        return words.stream()
                .map(word -> ABSOLUTE.matcher(word)
                        .replaceAll(path -> Matcher.quoteReplacement(shortest(path.group(), paths))))
                .toList();
    }

    /** Returns the end of an absolute path with the fewest directories that no other path ends with. */
    static String shortest(String path, Set<String> paths) {
        for (int slash = path.lastIndexOf('/'); slash >= 0; slash = path.lastIndexOf('/', slash - 1)) {
            String end = path.substring(slash + 1);
            if (paths.stream()
                    .noneMatch(other -> !other.equals(path) && (other.equals(end) || other.endsWith("/" + end)))) {
                return end;
            }
        }
        return path;
    }

    /** Escapes text for the content of an element or an attribute. */
    static String text(String text) {
        return Printable.escape(text)
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }

    /** Formats words as a shell command line, with quotes where needed. */
    static String command(List<String> words) {
        return words.stream()
                .map(word -> word.matches("[\\w./:=,@%+-]+") ? word : "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
    }

    /** Returns the words of a metric's name, as in "p99 TTFT of tenant a" for {@code p99_ttft_ms{tenant=a}}. */
    static String metric(String name) {
        String words = Stream.of(
                        name.replaceFirst("\\{.*", "").replaceFirst("_ms$", "").split("_"))
                .map(word ->
                        ABBREVIATIONS.contains(word) ? word.toUpperCase(Locale.ROOT) : WORDS.getOrDefault(word, word))
                .collect(Collectors.joining(" "));
        Matcher group = GROUP.matcher(name);
        return group.find() ? words + " of " + group.group(1) + " " + group.group(2) : words;
    }

    /** Returns the words of a metric's name and its unit, as in "p99 TTFT, ms". */
    static String metricWithUnit(String name) {
        String bare = name.replaceFirst("\\{.*", "");
        String unit = bare.endsWith("_ms")
                ? bare.endsWith("_normalized_ms") ? ", ms/token" : ", ms"
                : bare.matches("request_(throughput|goodput)|completion_rate|offered_rate")
                        ? ", requests/s"
                        : bare.equals("output_throughput") ? ", tokens/s" : "";
        return metric(name) + unit;
    }

    /** Formats a number with three significant digits, without an exponent. */
    static String number(double value) {
        double size = Math.abs(value);
        if (value == Math.rint(value) && size < 1e15) {
            return String.format(Locale.ROOT, "%,d", (long) value);
        }
        return String.format(
                Locale.ROOT, size >= 100 ? "%,.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f", value);
    }

    /** Formats a tick value, without trailing zeros. */
    static String tick(double value) {
        String text = number(value);
        return text.contains(".") ? text.replaceFirst("0+$", "").replaceFirst("\\.$", "") : text;
    }

    /** Formats a coordinate. */
    static String at(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
