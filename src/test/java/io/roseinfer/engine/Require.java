package io.roseinfer.engine;

/** Checks of the simulations. */
final class Require {
    private Require() {}

    @SuppressWarnings("AnnotateFormatMethod") // its annotation is in a library that nothing else needs
    static void that(boolean condition, String format, Object... values) {
        if (!condition) {
            throw new AssertionError(String.format(format, values));
        }
    }
}
