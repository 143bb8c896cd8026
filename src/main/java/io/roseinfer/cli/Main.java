package io.roseinfer.cli;

import io.roseinfer.base.Clock;
import io.roseinfer.cli.terminal.StackTraces;
import io.roseinfer.cli.terminal.Terminal;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.lang.reflect.Constructor;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The entry point: connects a command to the process's streams, environment and exit code. */
public final class Main {
    private static final int NOT_USABLE = 4;

    private Main() {}

    public static void main(String[] args) {
        FileOutputStream errors = new FileOutputStream(standardError(System.getProperty("roseinfer.stderr")));
        Terminal terminal = process(errors);
        Runnable full = endingWithoutMemory(errors, "Java heap space");
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            if (failure instanceof OutOfMemoryError) {
                full.run();
            }
            StackTraces.print(failure, terminal.err());
            terminal.err().flush();
        });
        String collecting = "the heap is full, and garbage collection takes 80 % of the time or more";
        HeapWatch.start(terminal, HeapWatch.WINDOW, endingWithoutMemory(errors, collecting));
        System.exit(run(terminal, args));
    }

    /**
     * Returns an action that reports a full heap and halts. The message is created in advance, and the action does not exit normally,
     * because shutdown hooks would need memory.
     */
    private static Runnable endingWithoutMemory(FileOutputStream errors, String seen) {
        byte[] line = ("roseinfer: " + Failures.outOfMemory(seen) + "\n").getBytes(StandardCharsets.UTF_8);
        return () -> {
            try {
                errors.write(line);
            } catch (IOException gone) {
                // The exit code reports it too.
            } finally {
                Runtime.getRuntime().halt(Failures.OUT_OF_MEMORY);
            }
        };
    }

    /** Runs a command, or explains missing libraries: {@code java -jar} starts without them, as a library's jar does not contain them. */
    private static int run(Terminal terminal, String... args) {
        try {
            return Cli.run(terminal, args);
        } catch (NoClassDefFoundError missing) {
            terminal.note("a library is not on the class path (" + missing.getMessage() + "); " + startedRightly());
            return NOT_USABLE;
        }
    }

    private static String startedRightly() {
        String ours = System.getProperty("java.class.path");
        return "start it with tools/roseinfer, or with java --add-modules=jdk.incubator.vector --enable-native-access=ALL-UNNAMED"
                + " -cp '" + ours + ":" + Path.of(ours).resolveSibling("lib") + "/*' " + Main.class.getName();
    }

    private static Terminal process(FileOutputStream errors) {
        Map<String, String> properties = System.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith("roseinfer.") || name.equals(Terminal.ENCODING))
                .collect(Collectors.toMap(name -> name, System::getProperty));
        System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
        return new Terminal(
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)),
                writer(new FileOutputStream(FileDescriptor.out)),
                writer(errors),
                Boolean.parseBoolean(properties.get("roseinfer.interactive")),
                System.getenv(),
                properties,
                Clock.system());
    }

    private static PrintWriter writer(FileOutputStream stream) {
        return new PrintWriter(new OutputStreamWriter(stream, StandardCharsets.UTF_8));
    }

    /**
     * Returns the descriptor for messages. The launcher filters the JVM's own output on standard error and passes the real one under
     * another number. Opening {@code /dev/fd/N} instead would truncate a file it is redirected to.
     */
    private static FileDescriptor standardError(@Nullable String number) {
        if (number == null) {
            return FileDescriptor.err;
        }
        try {
            Constructor<FileDescriptor> constructor = FileDescriptor.class.getDeclaredConstructor(int.class);
            constructor.setAccessible(true);
            return constructor.newInstance(Integer.parseInt(number));
        } catch (ReflectiveOperationException | RuntimeException closed) {
            return FileDescriptor.err;
        }
    }
}
