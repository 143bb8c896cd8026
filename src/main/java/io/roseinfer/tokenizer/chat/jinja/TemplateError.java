package io.roseinfer.tokenizer.chat.jinja;

/** Something that a template does not do: at load an unknown construct, later an operation that its values do not have. */
final class TemplateError extends RuntimeException {
    /** The line of the template, from 1; 0 where only the caller knows it. */
    private final int line;

    TemplateError(String message) {
        this(0, message);
    }

    TemplateError(int line, String message) {
        super(message, null, false, false);
        this.line = line;
    }

    int line() {
        return line;
    }

    String message() {
        return String.valueOf(getMessage());
    }
}
