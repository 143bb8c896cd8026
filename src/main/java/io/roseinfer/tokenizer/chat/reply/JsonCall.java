package io.roseinfer.tokenizer.chat.reply;

import io.roseinfer.base.StrictJson;
import java.nio.charset.StandardCharsets;
import java.util.BitSet;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A call written as a JSON object with {@code name} and {@code arguments} (or {@code parameters}), in any order. The
 * arguments are passed on as they are written. The syntax is checked strictly, so that a malformed call is noticed at
 * the first wrong character.
 */
final class JsonCall implements CallReader {
    private static final Pattern SCALAR =
            Pattern.compile("true|false|null|-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]+)?");

    private static final int HEX_DIGITS = 4;

    /** The element that the next character belongs to. */
    private enum Expected {
        OBJECT,
        VALUE,
        VALUE_OR_END,
        KEY,
        KEY_OR_END,
        COLON,
        COMMA_OR_END,
        STRING,
        ESCAPE,
        HEX,
        SCALAR
    }

    private Expected expected = Expected.OBJECT;
    /** Whether each open container is an object. */
    private final BitSet objects = new BitSet();

    private int depth;
    private boolean stringIsKey;
    private int hexDigits;
    /** The raw text of a scalar, or of a string of the outermost object. */
    private final StringBuilder token = new StringBuilder();

    /** The last key of the outermost object. */
    private String key = "";

    private Optional<String> name = Optional.empty();
    private final StringBuilder arguments = new StringBuilder();
    private boolean inArguments;
    private boolean hasArguments;

    @Override
    public Optional<String> name() {
        return name;
    }

    @Override
    public String takeArguments() {
        String text = arguments.toString();
        arguments.setLength(0);
        return text;
    }

    /** Returns whether the arguments are complete. */
    boolean hasAllArguments() {
        return hasArguments && !inArguments;
    }

    @Override
    public Status accept(char next) {
        Status status =
                switch (expected) {
                    case STRING -> inString(next);
                    case ESCAPE -> escape(next);
                    case HEX -> hex(next);
                    case SCALAR -> scalar(next);
                    default -> structure(next);
                };
        if (inArguments && status != Status.MALFORMED) {
            arguments.append(next);
            inArguments = depth > 1;
        }
        return status == Status.COMPLETE && (name.isEmpty() || !hasArguments) ? Status.MALFORMED : status;
    }

    private Status inString(char next) {
        if (next == '"') {
            return endString();
        }
        if (next < ' ') {
            return Status.MALFORMED;
        }
        keep(next);
        return expect(next == '\\' ? Expected.ESCAPE : Expected.STRING);
    }

    private void keep(char next) {
        if (depth == 1) {
            token.append(next);
        }
    }

    private Status escape(char next) {
        keep(next);
        if (next == 'u') {
            hexDigits = 0;
            return expect(Expected.HEX);
        }
        return "\"\\/bfnrt".indexOf(next) >= 0 ? expect(Expected.STRING) : Status.MALFORMED;
    }

    private Status hex(char next) {
        keep(next);
        if (Character.digit(next, 16) < 0 || next > 'f') {
            return Status.MALFORMED;
        }
        return ++hexDigits == HEX_DIGITS ? expect(Expected.STRING) : Status.INCOMPLETE;
    }

    private Status endString() {
        if (depth == 1) {
            String text = StrictJson.parse(("\"" + token + "\"").getBytes(StandardCharsets.UTF_8))
                    .stringValue();
            if (stringIsKey) {
                key = text;
            } else if (key.equals("name")) {
                if (name.isPresent() || text.isEmpty()) {
                    return Status.MALFORMED;
                }
                name = Optional.of(text);
            }
        }
        return expect(stringIsKey ? Expected.COLON : Expected.COMMA_OR_END);
    }

    private Status scalar(char next) {
        if (next == '.' || next == '+' || next == '-' || (next < 0x7f && Character.isLetterOrDigit(next))) {
            token.append(next);
            return Status.INCOMPLETE;
        }
        if (!SCALAR.matcher(token).matches()) {
            return Status.MALFORMED;
        }
        expected = Expected.COMMA_OR_END;
        return structure(next);
    }

    private Status structure(char next) {
        if (next == ' ' || next == '\n' || next == '\r' || next == '\t') {
            return Status.INCOMPLETE;
        }
        return switch (expected) {
            case OBJECT -> next == '{' ? open(true) : Status.MALFORMED;
            case KEY -> next == '"' ? string(true) : Status.MALFORMED;
            case KEY_OR_END -> next == '"' ? string(true) : close(next);
            case COLON -> next == ':' ? expect(Expected.VALUE) : Status.MALFORMED;
            case COMMA_OR_END -> next == ',' ? expect(objects.get(depth) ? Expected.KEY : Expected.VALUE) : close(next);
            case VALUE_OR_END -> next == ']' ? close(next) : value(next);
            default -> value(next);
        };
    }

    private Status expect(Expected next) {
        expected = next;
        return Status.INCOMPLETE;
    }

    private Status open(boolean object) {
        objects.set(++depth, object);
        return expect(object ? Expected.KEY_OR_END : Expected.VALUE_OR_END);
    }

    private Status close(char next) {
        if (next != (objects.get(depth) ? '}' : ']')) {
            return Status.MALFORMED;
        }
        depth--;
        expected = Expected.COMMA_OR_END;
        return depth == 0 ? Status.COMPLETE : Status.INCOMPLETE;
    }

    private Status string(boolean isKey) {
        stringIsKey = isKey;
        token.setLength(0);
        return expect(Expected.STRING);
    }

    private Status value(char first) {
        if (depth == 1) {
            boolean isName = key.equals("name");
            boolean isArguments = key.equals("arguments") || key.equals("parameters");
            if ((isName && first != '"') || (isArguments && (first != '{' || hasArguments))) {
                return Status.MALFORMED;
            }
            inArguments = isArguments;
            hasArguments |= isArguments;
        }
        return switch (first) {
            case '"' -> string(false);
            case '{' -> open(true);
            case '[' -> open(false);
            default -> {
                token.setLength(0);
                expected = Expected.SCALAR;
                yield "-0123456789tfn".indexOf(first) >= 0 ? scalar(first) : Status.MALFORMED;
            }
        };
    }
}
