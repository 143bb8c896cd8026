package io.roseinfer.cli;

import io.roseinfer.base.RoseException;
import io.roseinfer.cli.terminal.Terminal;
import java.util.Formatter;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;

/** The findings of {@code doctor}, one per line, and advice. A check that fails is reported like any other finding. */
final class DoctorReport {
    private final Formatter lines = new Formatter(Locale.ROOT);
    private final Set<String> advice = new LinkedHashSet<>();
    private int exitCode;

    void line(String label, String value) {
        lines.format("%-14s %s%n", label, value);
    }

    /** Adds the result of a check, or the reason why it failed. */
    void find(String label, Supplier<String> value) {
        try {
            line(label, value.get());
        } catch (RoseException refused) {
            line(label, "unknown, see below");
            fail(refused);
        } catch (RuntimeException | LinkageError failure) {
            line(label, "unknown: " + failure);
        }
    }

    void advise(String what) {
        advice.add(what);
    }

    /** Adds a failure that would also stop other commands. The first one determines the exit code. */
    void fail(RoseException refused) {
        advise(Terminal.shown(refused));
        exitCode = exitCode == 0 ? refused.exitCode() : exitCode;
    }

    /** Returns 0, or the exit code of the first failure. */
    int exitCode() {
        return exitCode;
    }

    /** Returns all lines, the advice last. */
    String text() {
        Formatter all = new Formatter(Locale.ROOT).format("%s", lines);
        if (advice.isEmpty()) {
            all.format("%-14s %s%n", "Hint", "none");
        }
        advice.forEach(what -> all.format("%-14s %s%n", "Hint", what));
        return all.toString();
    }
}
