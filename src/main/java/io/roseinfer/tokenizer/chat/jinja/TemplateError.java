package io.roseinfer.tokenizer.chat.jinja;

/**
 * An error of a template: an unsupported construct when it is parsed, or an unsupported operation when it is rendered.
 */
final class TemplateError extends RuntimeException {
    /** The line of the template, from 1; 0 if only the caller knows it. */
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
