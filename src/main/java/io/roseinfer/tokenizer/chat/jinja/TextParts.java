package io.roseinfer.tokenizer.chat.jinja;

import io.roseinfer.tokenizer.chat.jinja.Value.Given;
import io.roseinfer.tokenizer.chat.jinja.Value.Items;
import io.roseinfer.tokenizer.chat.jinja.Value.None;
import io.roseinfer.tokenizer.chat.jinja.Value.Text;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Splits and joins strings like Python. */
final class TextParts {
    private TextParts() {}

    /** Evaluates {@code split}, or from the right {@code rsplit}: at a separator, or at runs of whitespace. */
    static Value split(String self, Given given, boolean fromRight, Budget budget) {
        budget.spend(self.length());
        List<Optional<Value>> bound = given.bind("sep", "maxsplit");
        int max = bound.get(1).map(value -> Numbers.bounded(value, "maxsplit")).orElse(-1);
        if (max < 0) {
            max = Integer.MAX_VALUE;
        }
        Optional<Value> separator = bound.get(0).filter(value -> !(value instanceof None));
        if (separator.isEmpty()) {
            return texts(fromRight ? wordsFromRight(self, max) : words(self, max));
        }
        String at = Methods.text(separator.get(), "the separator");
        if (at.isEmpty()) {
            throw new TemplateError("the separator of split is empty");
        }
        return texts(fromRight ? partsFromRight(self, at, max) : parts(self, at, max));
    }

    private static Value texts(List<String> parts) {
        return Items.list(parts.stream().<Value>map(Text::new).toList());
    }

    private static List<String> parts(String self, String separator, int max) {
        List<String> parts = new ArrayList<>();
        int from = 0;
        int at = self.indexOf(separator);
        while (at >= 0 && parts.size() < max) {
            parts.add(self.substring(from, at));
            from = at + separator.length();
            at = self.indexOf(separator, from);
        }
        parts.add(self.substring(from));
        return parts;
    }

    private static List<String> partsFromRight(String self, String separator, int max) {
        List<String> parts = new ArrayList<>();
        int to = self.length();
        int at = self.lastIndexOf(separator);
        while (at >= 0 && parts.size() < max) {
            parts.add(self.substring(at + separator.length(), to));
            to = at;
            at = self.lastIndexOf(separator, at - separator.length());
        }
        parts.add(self.substring(0, to));
        return parts.reversed();
    }

    private static List<String> words(String self, int max) {
        List<String> words = new ArrayList<>();
        int from = run(self, 0, true);
        while (from < self.length()) {
            int end = words.size() == max ? self.length() : run(self, from, false);
            words.add(self.substring(from, end));
            from = run(self, end, true);
        }
        return words;
    }

    /** Returns the end of a run of whitespace, or of other characters. */
    private static int run(String self, int from, boolean space) {
        int end = from;
        while (end < self.length() && PythonText.isSpace(self.charAt(end)) == space) {
            end++;
        }
        return end;
    }

    private static List<String> wordsFromRight(String self, int max) {
        List<String> words = new ArrayList<>();
        int to = runBefore(self, self.length(), true);
        while (to > 0) {
            int begin = words.size() == max ? 0 : runBefore(self, to, false);
            words.add(self.substring(begin, to));
            to = runBefore(self, begin, true);
        }
        return words.reversed();
    }

    /** Returns the beginning of a run of whitespace, or of other characters. */
    private static int runBefore(String self, int to, boolean space) {
        int begin = to;
        while (begin > 0 && PythonText.isSpace(self.charAt(begin - 1)) == space) {
            begin--;
        }
        return begin;
    }

    static Value splitLines(String self, Given given, Budget budget) {
        budget.spend(self.length());
        boolean keepEnds =
                given.bind("keepends").getFirst().map(Operators::truth).orElse(false);
        return texts(lines(self, keepEnds));
    }

    /** Returns the lines of a string; an empty last one is omitted. */
    static List<String> lines(String self, boolean keepEnds) {
        List<String> lines = new ArrayList<>();
        int from = 0;
        while (from < self.length()) {
            int end = from;
            while (end < self.length() && !PythonText.isLineEnd(self.charAt(end))) {
                end++;
            }
            int next = self.startsWith("\r\n", end) ? end + 2 : Math.min(end + 1, self.length());
            lines.add(self.substring(from, keepEnds ? next : end));
            from = next;
        }
        return lines;
    }

    static Value partition(String self, Given given, boolean fromRight) {
        String separator = Methods.text(given.one("sep"), "the separator");
        int at = fromRight ? self.lastIndexOf(separator) : self.indexOf(separator);
        if (separator.isEmpty()) {
            throw new TemplateError("the separator of partition is empty");
        }
        Text empty = new Text("");
        if (at < 0) {
            return fromRight ? Items.tuple(empty, empty, new Text(self)) : Items.tuple(new Text(self), empty, empty);
        }
        return Items.tuple(
                new Text(self.substring(0, at)),
                new Text(separator),
                new Text(self.substring(at + separator.length())));
    }

    /** Evaluates {@code replace}, with a maximum number of replacements; a negative one is unlimited. */
    static String replace(String self, String old, String by, int max, Budget budget) {
        StringBuilder out = new StringBuilder();
        int from = 0;
        int count = 0;
        while (max < 0 || count < max) {
            int at = old.isEmpty() ? nextGap(self, from, count) : self.indexOf(old, from);
            if (at < 0) {
                break;
            }
            budget.append(out.length(), (long) at - from + by.length());
            out.append(self, from, at).append(by);
            from = at + old.length();
            count++;
        }
        return out.append(self, from, self.length()).toString();
    }

    /** Returns the next match of an empty string: before every character and after the last. */
    private static int nextGap(String self, int from, int count) {
        if (count == 0) {
            return 0;
        }
        return from == self.length() ? -1 : from + Character.charCount(self.codePointAt(from));
    }

    /** Evaluates {@code self.join(items)}, whose items must be strings. */
    static Value join(String self, Value items, Budget budget) {
        return new Text(join(
                self,
                Operators.iterate(items).stream()
                        .map(item -> Methods.text(item, "an item to join"))
                        .toList(),
                budget));
    }

    static String join(String separator, List<String> parts, Budget budget) {
        long chars = (long) separator.length() * Math.max(0, parts.size() - 1);
        for (String part : parts) {
            chars += part.length();
        }
        budget.text(chars);
        return String.join(separator, parts);
    }

    /** Evaluates the method {@code title}, which capitalizes every run of letters. */
    static String title(String self) {
        StringBuilder out = new StringBuilder();
        boolean[] inWord = {false};
        self.codePoints().forEach(point -> {
            out.append(inWord[0] ? Character.toString(Character.toLowerCase(point)) : PythonText.titleCase(point));
            inWord[0] = Character.isLetter(point);
        });
        return out.toString();
    }

    /** Evaluates {@code isupper} or {@code islower}: there are cased letters, and all have that case. */
    static boolean isCased(String self, boolean upper) {
        boolean some = self.codePoints()
                .anyMatch(point -> upper ? Character.isUpperCase(point) : Character.isLowerCase(point));
        return some
                && self.codePoints()
                        .noneMatch(point -> Character.isTitleCase(point)
                                || (upper ? Character.isLowerCase(point) : Character.isUpperCase(point)));
    }

    /** Evaluates the filter {@code indent}. */
    static String indent(String text, String by, boolean first, boolean blank, Budget budget) {
        List<String> lines = lines(text + "\n", false);
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < lines.size(); i++) {
            boolean indented = i == 0 ? first : blank || !lines.get(i).isEmpty();
            budget.append(out.length(), (long) by.length() + lines.get(i).length());
            out.append(i == 0 ? "" : "\n").append(indented ? by : "").append(lines.get(i));
        }
        return out.toString();
    }
}
