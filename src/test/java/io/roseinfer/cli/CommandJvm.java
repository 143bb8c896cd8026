package io.roseinfer.cli;

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
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(QUICK_START);
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        command.addAll(List.of(arguments));
        return command;
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
