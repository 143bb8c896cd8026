package io.roseinfer.base;

/** Describes where a thread is, for messages about a thread that hangs. */
public final class ThreadLocation {
    private ThreadLocation() {}

    /** Returns a thread's innermost frame outside of the JDK, which may be of a user's class. */
    public static String frame(Thread thread) {
        return innermost(thread.getStackTrace());
    }

    static String innermost(StackTraceElement... stack) {
        for (StackTraceElement frame : stack) {
            if (!frame.getClassName().startsWith("java.")
                    && !frame.getClassName().startsWith("jdk.")) {
                return frame.toString();
            }
        }
        return "no code";
    }

    /** Returns the thread's name and its innermost frame in this project, or its innermost frame if there is none. */
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
