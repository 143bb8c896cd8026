package io.roseinfer.tokenizer.chat.reply;

import java.util.Optional;

/** A call written in Python, such as {@code f(x=1, y=["a"])}. Its arguments are known once it is complete. */
final class PythonCall implements CallReader {
    private final StringBuilder function = new StringBuilder();
    private final StringBuilder text = new StringBuilder();
    private boolean inArguments;
    /** The quote of the open string, or 0. */
    private char quote;

    private boolean escaped;
    /** The number of open brackets within the arguments. */
    private int depth;

    private Optional<String> arguments = Optional.empty();

    @Override
    public Optional<String> name() {
        return inArguments ? Optional.of(function.toString()) : Optional.empty();
    }

    @Override
    public String takeArguments() {
        String taken = arguments.orElse("");
        arguments = Optional.empty();
        return taken;
    }

    @Override
    public Status accept(char next) {
        if (!inArguments) {
            return inName(next);
        }
        if (quote != 0) {
            inString(next);
        } else if (next == '"' || next == '\'') {
            quote = next;
        } else if (next == '(' || next == '[' || next == '{') {
            depth++;
        } else if (next == ']' || next == '}' || (next == ')' && depth > 0)) {
            if (--depth < 0) {
                return Status.MALFORMED;
            }
        } else if (next == ')') {
            arguments = PythonArguments.json(text.toString());
            return arguments.isPresent() ? Status.COMPLETE : Status.MALFORMED;
        }
        text.append(next);
        return Status.INCOMPLETE;
    }

    private Status inName(char next) {
        if (next == '(' && !function.isEmpty()) {
            inArguments = true;
            return Status.INCOMPLETE;
        }
        boolean inName = next == '_'
                || (next < 0x7f && Character.isLetter(next))
                || (!function.isEmpty() && (next == '.' || next == '-' || Character.isDigit(next)));
        function.append(next);
        return inName ? Status.INCOMPLETE : Status.MALFORMED;
    }

    private void inString(char next) {
        if (escaped) {
            escaped = false;
        } else if (next == '\\') {
            escaped = true;
        } else if (next == quote) {
            quote = 0;
        }
    }
}
