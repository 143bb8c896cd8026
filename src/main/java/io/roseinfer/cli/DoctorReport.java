package io.roseinfer.cli;

import io.roseinfer.base.RoseException;
import io.roseinfer.cli.terminal.Terminal;
import java.util.Formatter;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Set;
import java.util.function.Supplier;

/** The findings of {@code doctor}, a line each, and what to do about them. A finding that fails is a line like any other. */
final class DoctorReport {
    private final Formatter lines = new Formatter(Locale.ROOT);
    private final Set<String> advice = new LinkedHashSet<>();
    private int exitCode;

    void line(String label, String value) {
        lines.format("%-14s %s%n", label, value);
    }

    /** Finds something out; where that fails, the line says so and the report goes on. */
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

    /** Takes in what every command that needs it would be refused for. The first such refusal decides the exit code. */
    void fail(RoseException refused) {
        advise(Terminal.shown(refused));
        exitCode = exitCode == 0 ? refused.exitCode() : exitCode;
    }

    /** 0, or the code that a command would end with. */
    int exitCode() {
        return exitCode;
    }

    /** All lines, the advice last. */
    String text() {
        Formatter all = new Formatter(Locale.ROOT).format("%s", lines);
        if (advice.isEmpty()) {
            all.format("%-14s %s%n", "To do", "nothing");
        }
        advice.forEach(what -> all.format("%-14s %s%n", "To do", what));
        return all.toString();
    }
}
