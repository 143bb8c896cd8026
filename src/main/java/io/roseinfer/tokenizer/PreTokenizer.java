package io.roseinfer.tokenizer;

import io.roseinfer.base.Quoted;
import java.util.List;

/**
 * The {@code pre_tokenizer} of {@code tokenizer.json}, which splits normalized text into words.
 *
 * @param byteLevel whether the symbols of a word are its bytes, rather than its code points
 * @param space the character that replaces spaces, or a space if they are kept
 * @param prefix which texts get a {@code space} before them unless they begin with one
 */
record PreTokenizer(boolean byteLevel, char space, Prefix prefix, WordSplitter splitter) {
    private static final String SUPPORTED =
            "ByteLevel; Split by the expression of GPT-2, Qwen2 or Llama 3, then ByteLevel; Digits, then ByteLevel;"
                    + " Metaspace; none with code points as symbols";

    /** Which texts get a space before them. */
    enum Prefix {
        NEVER,
        /** The beginning of the whole text. */
        FIRST,
        /** The beginning of the whole text, and text after an added token. */
        ALWAYS
    }

    static PreTokenizer ofGpt2(boolean prefixSpace) {
        return byteLevel(prefixSpace, WordRules.GPT2);
    }

    private static PreTokenizer byteLevel(boolean prefixSpace, WordSplitter splitter) {
        return new PreTokenizer(true, ' ', prefixSpace ? Prefix.ALWAYS : Prefix.NEVER, splitter);
    }

    private static PreTokenizer wholeText() {
        return new PreTokenizer(false, ' ', Prefix.NEVER, WordSplitter.WHOLE_TEXT);
    }

    /** Returns GPT-2's pre-tokenizer, which ignores {@code tokenizer.json}; differences are warnings. */
    PreTokenizer asGpt2(boolean prefixSpace, String file, List<String> warnings) {
        boolean inFile = prefix == Prefix.ALWAYS;
        if (inFile != prefixSpace) {
            warnings.add(file + ": add_prefix_space is " + inFile + ", but " + prefixSpace
                    + " by tokenizer_config.json, which GPT2Tokenizer uses");
        }
        if (splitter.equals(WordSplitter.WHOLE_TEXT)) {
            warnings.add(file + ": use_regex is false, but GPT2Tokenizer always splits text into words");
        } else if (!splitter.equals(WordRules.GPT2)) {
            warnings.add(
                    file + ": pre_tokenizer splits text differently than GPT-2, but GPT2Tokenizer splits like GPT-2");
        }
        return ofGpt2(prefixSpace);
    }

    /**
     * Reads the component.
     *
     * @param normalizer the normalizer applied before
     */
    static PreTokenizer read(JsonView preTokenizer, Normalizer normalizer) {
        List<JsonView> steps = preTokenizer.steps("pretokenizers").toList();
        if (steps.isEmpty()) {
            return wholeText();
        }
        JsonView last = steps.getLast();
        PreTokenizer read =
                switch (last.type()) {
                    case "ByteLevel" -> steps.size() <= 2 ? byteLevel(steps) : refuse(preTokenizer, steps);
                    case "Metaspace" -> metaspace(last);
                    case "Split" -> withoutEffect(last, normalizer);
                    default -> throw last.unsupported("pre_tokenizer", SUPPORTED);
                };
        return read.byteLevel || steps.size() == 1 ? read : refuse(preTokenizer, steps);
    }

    private static PreTokenizer refuse(JsonView preTokenizer, List<JsonView> steps) {
        throw preTokenizer.refused("has " + steps.size() + " steps "
                + steps.stream().map(JsonView::type).toList() + "; supported: " + SUPPORTED);
    }

    private static PreTokenizer byteLevel(List<JsonView> steps) {
        JsonView last = steps.getLast();
        boolean addPrefixSpace = last.field("add_prefix_space").flag(true);
        boolean useRegex = last.field("use_regex").flag(true);
        if (steps.size() == 1) {
            return byteLevel(addPrefixSpace, useRegex ? WordRules.GPT2 : WordSplitter.WHOLE_TEXT);
        }
        JsonView first = steps.getFirst();
        boolean digits = first.type().equals("Digits");
        WordSplitter splitter = digits ? digits(first) : split(first);
        if (addPrefixSpace || useRegex != digits) {
            throw last.refused("follows " + (digits ? "Digits" : "a Split") + " with add_prefix_space "
                    + addPrefixSpace + " and use_regex " + useRegex + "; only false and " + digits
                    + " are supported");
        }
        return byteLevel(false, splitter);
    }

    private static WordSplitter digits(JsonView step) {
        return step.field("individual_digits").flag(false) ? WordRules.GPT2_SINGLE_DIGITS : WordRules.GPT2_DIGIT_RUNS;
    }

    /** Reads a Split whose matches cover the text, so that isolating them equals removing what is between them. */
    private static WordSplitter split(JsonView step) {
        if (!step.type().equals("Split")) {
            throw step.unsupported("pre_tokenizer", SUPPORTED);
        }
        JsonView regex = step.field("pattern").field("Regex");
        String behavior = step.field("behavior").text();
        boolean invert = step.field("invert").flag(false);
        if (!(behavior.equals("Isolated") && !invert) && !(behavior.equals("Removed") && invert)) {
            throw step.refused("is a Split with behavior " + behavior + " and invert " + invert
                    + "; supported are Isolated with false and Removed with true");
        }
        if (regex.isAbsent()) {
            throw step.refused("is a Split by a String before ByteLevel; supported: " + SUPPORTED);
        }
        return WordRules.ofPattern(regex.text())
                .orElseThrow(() -> step.refused("is a Split by " + Quoted.name(regex.text())
                        + ", which is not the expression of GPT-2, Qwen2 or Llama 3"));
    }

    /** Reads a Split by a string that normalized text never contains. */
    private static PreTokenizer withoutEffect(JsonView step, Normalizer normalizer) {
        JsonView string = step.field("pattern").field("String");
        if (string.isAbsent() || !normalizer.removes(string.text())) {
            throw step.refused("is a Split without a following ByteLevel, which is supported only by a String that the"
                    + " normalizer replaces; supported: " + SUPPORTED);
        }
        return wholeText();
    }

    private static PreTokenizer metaspace(JsonView step) {
        char mark = mark(step);
        Prefix prefix = prefix(step);
        boolean split = step.field("split").flag(true);
        return new PreTokenizer(false, mark, prefix, split ? WordSplitter.before(mark) : WordSplitter.WHOLE_TEXT);
    }

    /** Returns the replacement for spaces of a {@code Metaspace}. */
    static char mark(JsonView metaspace) {
        JsonView replacement = metaspace.field("replacement");
        if (replacement.text().length() != 1) {
            throw replacement.refused("is \"" + replacement.text() + "\"; it must be one character below U+10000");
        }
        return replacement.text().charAt(0);
    }

    /** Returns the texts that a {@code Metaspace} prepends a space to. */
    static Prefix prefix(JsonView metaspace) {
        JsonView scheme = metaspace.field("prepend_scheme");
        Prefix prefix =
                switch (scheme.optionalText().orElse("always")) {
                    case "always" -> Prefix.ALWAYS;
                    case "first" -> Prefix.FIRST;
                    case "never" -> Prefix.NEVER;
                    default -> throw scheme.refused("is \"" + scheme.text() + "\"; it must be always, first or never");
                };
        JsonView older = metaspace.field("add_prefix_space");
        if (!older.flag(true) && prefix != Prefix.NEVER) {
            throw older.refused("is false, but prepend_scheme is not never; the two must agree");
        }
        return prefix;
    }

    /** Returns whether a text is unchanged. */
    boolean keeps(String text, int from, boolean first) {
        return space == ' ' && !isPrefixed(text.charAt(from), first);
    }

    /** Returns a text, which is not empty, with its spaces replaced. */
    String prepared(String text, boolean first) {
        String spaced = text.replace(' ', space);
        return isPrefixed(spaced.charAt(0), first) ? space + spaced : spaced;
    }

    private boolean isPrefixed(char begin, boolean first) {
        return begin != space && (prefix == Prefix.ALWAYS || (prefix == Prefix.FIRST && first));
    }
}
