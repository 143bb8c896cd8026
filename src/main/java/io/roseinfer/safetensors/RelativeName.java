package io.roseinfer.safetensors;

import java.util.Optional;

/**
 * The rule for a file name that an index or a server gives: it must stay inside the directory it is resolved against, on every
 * operating system.
 */
final class RelativeName {
    private RelativeName() {}

    /** Why {@code name} may not be used, if it may not. */
    static Optional<String> fault(String name) {
        if (name.isEmpty()) {
            return Optional.of("is empty");
        }
        if (name.chars().anyMatch(c -> c < ' ' || c == 0x7f)) {
            return Optional.of("holds a control character");
        }
        if (name.indexOf('\\') >= 0 || name.indexOf(':') >= 0) {
            return Optional.of("holds a backslash or colon");
        }
        for (String part : name.split("/", -1)) {
            if (part.isEmpty() || part.equals(".") || part.equals("..")) {
                return Optional.of("escapes its directory or is not a plain relative path");
            }
        }
        return Optional.empty();
    }
}
