package io.roseinfer.safetensors;

import java.util.Optional;

/**
 * Checks a file name from an index or a server: it must stay inside the directory it is resolved against, on every
 * operating system.
 */
final class RelativeName {
    private RelativeName() {}

    /** Returns the reason why {@code name} must not be used, if there is one. */
    static Optional<String> fault(String name) {
        if (name.isEmpty()) {
            return Optional.of("is empty");
        }
        if (name.chars().anyMatch(c -> c < ' ' || c == 0x7f)) {
            return Optional.of("has a control character");
        }
        if (name.indexOf('\\') >= 0 || name.indexOf(':') >= 0) {
            return Optional.of("has a backslash or colon");
        }
        for (String part : name.split("/", -1)) {
            if (part.isEmpty() || part.equals(".") || part.equals("..")) {
                return Optional.of("escapes its directory or is not a plain relative path");
            }
        }
        return Optional.empty();
    }
}
