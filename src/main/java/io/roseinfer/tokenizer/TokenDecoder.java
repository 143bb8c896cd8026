package io.roseinfer.tokenizer;

import io.roseinfer.tokenizer.Normalizer.Replace;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The {@code decoder} of {@code tokenizer.json}: the bytes of each token, and the characters removed from a text's
 * beginning.
 *
 * @param byteLevel whether tokens are in the byte alphabet
 * @param replacements the replacements in every token
 * @param byteFallback whether {@code <0xE4>} is the byte E4
 */
record TokenDecoder(boolean byteLevel, List<Replace> replacements, boolean byteFallback, TextStart start) {
    private static final Pattern BYTE = Pattern.compile("<0x([0-9A-Fa-f]{2})>");
    private static final String SUPPORTED =
            "ByteLevel, Metaspace, or a Sequence of Replace, then ByteFallback, then Fuse, then Strip";

    static final TokenDecoder BYTE_LEVEL = new TokenDecoder(true, List.of(), false, TextStart.KEPT);

    /**
     * The characters removed from a text's beginning.
     *
     * @param dropped the character
     * @param atMost maximum number of leading occurrences to remove
     * @param firstToken whether all spaces of the first token are removed instead, as with {@code Metaspace}
     */
    record TextStart(char dropped, int atMost, boolean firstToken) {
        static final TextStart KEPT = new TextStart(' ', 0, false);

        boolean isKept() {
            return atMost == 0 && !firstToken;
        }
    }

    /**
     * Reads the component.
     *
     * @param byteLevel whether text is encoded as bytes, which a decoder has to reverse
     */
    static TokenDecoder read(JsonView decoder, boolean byteLevel, List<String> warnings) {
        List<JsonView> steps = new ArrayList<>(decoder.steps("decoders").toList());
        if (steps.isEmpty() && byteLevel) {
            warnings.add(decoder.where() + " is missing; ByteLevel is used");
            return BYTE_LEVEL;
        }
        boolean takesBytes = steps.size() == 1 && steps.getFirst().type().equals("ByteLevel");
        if (takesBytes != byteLevel) {
            throw steps.isEmpty()
                    ? decoder.refused(
                            "is missing; it is required without ByteLevel in pre_tokenizer; supported: " + SUPPORTED)
                    : mismatch(decoder, steps, byteLevel);
        }
        if (byteLevel) {
            return BYTE_LEVEL;
        }
        return steps.size() == 1 && steps.getFirst().type().equals("Metaspace")
                ? metaspace(steps.getFirst())
                : sequence(steps);
    }

    private static RuntimeException mismatch(JsonView decoder, List<JsonView> steps, boolean byteLevel) {
        for (JsonView step : steps) {
            if (!step.type().equals("ByteLevel") && byteLevel) {
                return step.unsupported("decoder", "one ByteLevel after a ByteLevel pre_tokenizer");
            }
        }
        return decoder.refused("has the steps "
                + steps.stream().map(JsonView::type).toList()
                + (byteLevel ? "; one ByteLevel is supported" : ", but ByteLevel is missing in pre_tokenizer"));
    }

    private static TokenDecoder metaspace(JsonView step) {
        String mark = String.valueOf(PreTokenizer.mark(step));
        boolean drops = PreTokenizer.prefix(step) != PreTokenizer.Prefix.NEVER;
        return new TokenDecoder(
                false, List.of(new Replace(mark, " ")), false, drops ? new TextStart(' ', 0, true) : TextStart.KEPT);
    }

    /** Consumes the steps in the only supported order. */
    private static TokenDecoder sequence(List<JsonView> steps) {
        List<Replace> replacements = new ArrayList<>();
        while (begins(steps, "Replace")) {
            replacements.add(Replace.read(steps.removeFirst()));
        }
        boolean byteFallback = begins(steps, "ByteFallback");
        if (byteFallback) {
            steps.removeFirst();
        }
        boolean fuse = begins(steps, "Fuse");
        if (fuse) {
            steps.removeFirst();
        }
        TextStart start = fuse && begins(steps, "Strip") ? strip(steps.removeFirst()) : TextStart.KEPT;
        if (!steps.isEmpty()) {
            throw steps.getFirst().unsupported("decoder", SUPPORTED);
        }
        return new TokenDecoder(false, List.copyOf(replacements), byteFallback, start);
    }

    private static boolean begins(List<JsonView> steps, String type) {
        return !steps.isEmpty() && steps.getFirst().type().equals(type);
    }

    private static TextStart strip(JsonView step) {
        JsonView content = step.field("content");
        if (content.text().length() != 1) {
            throw content.refused("is \"" + content.text() + "\"; it must be one character below U+10000");
        }
        if (step.field("stop").integer() != 0) {
            throw step.field("stop").refused("is not 0; only stripping the beginning of a text is supported");
        }
        int atMost = step.field("start").integer();
        if (atMost < 0) {
            throw step.field("start").refused("is " + atMost + "; it must not be negative");
        }
        return new TextStart(content.text().charAt(0), atMost, false);
    }

    /** Returns the byte of a byte-fallback token. */
    OptionalInt fallbackByte(String token) {
        Matcher matcher = BYTE.matcher(byteFallback ? replaced(token) : "");
        return matcher.matches() ? OptionalInt.of(Integer.parseInt(matcher.group(1), 16)) : OptionalInt.empty();
    }

    /** Returns the bytes of a token of the model. */
    byte[] bytes(String token) {
        return byteLevel ? ByteAlphabet.bytes(token) : addedBytes(token);
    }

    /**
     * Returns the bytes of an added token, which is text. (Hugging Face decodes such a token with the byte alphabet if
     * all its characters happen to be in it: {@code é} becomes the single byte E9.)
     */
    byte[] addedBytes(String token) {
        OptionalInt single = fallbackByte(token);
        return single.isPresent()
                ? new byte[] {(byte) single.getAsInt()}
                : replaced(token).getBytes(StandardCharsets.UTF_8);
    }

    private String replaced(String token) {
        String text = token;
        for (Replace replacement : replacements) {
            text = replacement.apply(text);
        }
        return text;
    }
}
