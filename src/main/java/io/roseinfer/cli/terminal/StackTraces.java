package io.roseinfer.cli.terminal;

import io.roseinfer.base.Printable;
import java.io.PrintWriter;

/** Prints stack traces. */
public final class StackTraces {
    private StackTraces() {}

    /** Prints a failure and its causes. */
    public static void print(Throwable failure, PrintWriter out) {
        out.println(Printable.line(failure.toString()));
        for (StackTraceElement frame : failure.getStackTrace()) {
            out.println("    at " + frame);
        }
        Throwable cause = failure.getCause();
        if (cause != null) {
            out.print("caused by ");
            print(cause, out);
        }
    }
}
