package io.roseinfer.base;

/** Where a thread is, for messages about one that does not come back. */
public final class Whereabouts {
    private Whereabouts() {}

    /** A thread's name and the method it is in: of this project's if any is on its stack, else the innermost. */
    public static String of(Thread thread) {
        StackTraceElement[] stack = thread.getStackTrace();
        for (StackTraceElement frame : stack) {
            if (frame.getClassName().startsWith("io.roseinfer.")) {
                return thread.getName() + " is in " + frame;
            }
        }
        return thread.getName() + (stack.length == 0 ? " runs no code" : " is in " + stack[0]);
    }
}
