package io.roseinfer.cli;

import io.roseinfer.base.Printable;
import java.io.PrintWriter;

/** Prints stack traces. */
final class StackTraces {
    private StackTraces() {}

    static void print(Throwable failure, PrintWriter out) {
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
