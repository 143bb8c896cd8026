package io.roseinfer.cli;

import io.roseinfer.cli.CliRunner.Outcome;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Separate JVMs for tests of signals and exit codes. They optimize little, because such a process ends after a second. */
final class CommandJvm {
    private static final List<String> QUICK_START = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private CommandJvm() {}

    /** Returns the command line of a JVM that runs {@code roseinfer}. */
    static List<String> command(String... arguments) {
        return command(List.of(), arguments);
    }

    /**
     * Returns the command line of a JVM that runs {@code roseinfer}.
     *
     * @param flags further flags of the JVM
     */
    static List<String> command(List<String> flags, String... arguments) {
        return command(Main.class, flags, arguments);
    }

    private static List<String> command(Class<?> main, List<String> flags, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(QUICK_START);
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    /** Runs a command to its end. It must print little to standard error. */
    static Outcome run(String... arguments) throws IOException, InterruptedException {
        return run(Main.class, arguments);
    }

    /** Runs a program that uses commands to its end. It must print little to standard error. */
    static Outcome run(Class<?> main, String... arguments) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command(main, List.of(), arguments)).start();
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
                BufferedReader errors = process.errorReader(StandardCharsets.UTF_8)) {
            String printed = out.readAllAsString();
            return new Outcome(process.waitFor(), printed, errors.readAllAsString());
        } finally {
            process.destroyForcibly();
        }
    }

    /**
     * Returns the command line of a JVM that runs {@code roseinfer} with the default actions of signals, which a parent shell may
     * ignore.
     *
     * @param signals names separated by commas
     */
    static List<String> withDefaultSignals(String signals, String... arguments) {
        List<String> command = new ArrayList<>(List.of("env", "--default-signal=" + signals));
        command.addAll(command(arguments));
        return command;
    }
}
