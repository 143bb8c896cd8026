package io.roseinfer.engine;

/** What a simulation's checkers fail with. */
final class Require {
    private Require() {}

    static void that(boolean condition, String format, Object... values) {
        if (!condition) {
            throw new AssertionError(String.format(format, values));
        }
    }
}
