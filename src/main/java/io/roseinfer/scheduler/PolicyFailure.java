package io.roseinfer.scheduler;

import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.EngineStopped;
import java.util.Arrays;

/**
 * What becomes of an exception that a policy throws: a message that names the policy and the line, since the policy may be
 * anybody's. Built-in policies are ours, so theirs stay as they are, as do a failed {@link Check} and a {@link RoseException}.
 */
final class PolicyFailure {
    private static final String OURS = "io.roseinfer.scheduler.policy.";

    private PolicyFailure() {}

    static RuntimeException ofAdmission(Object policy, RuntimeException thrown) {
        return of("admission", policy, thrown, "--prefill-admission-policy");
    }

    static RuntimeException ofPreemption(Object policy, RuntimeException thrown) {
        return of("preemption", policy, thrown, "--preemption-policy");
    }

    static RuntimeException ofStep(Object policy, RuntimeException thrown) {
        return of("step", policy, thrown, "--step-policy");
    }

    private static RuntimeException of(String kind, Object policy, RuntimeException thrown, String another) {
        String name = policy.getClass().getName();
        if (thrown instanceof RoseException || thrown instanceof Check.Failure || name.startsWith(OURS)) {
            return thrown;
        }
        return new EngineStopped(
                "the " + kind + " policy " + name + " threw " + thrown + where(name, thrown.getStackTrace())
                        + "; mend it, or take another with " + another,
                thrown);
    }

    /** The innermost line of the policy itself, for what it calls may be the JDK's; else the innermost of all. */
    private static String where(String policy, StackTraceElement[] stack) {
        return Arrays.stream(stack)
                .filter(frame -> frame.getClassName().equals(policy))
                .findFirst()
                .or(() -> Arrays.stream(stack).findFirst())
                .map(PolicyFailure::line)
                .orElse("");
    }

    /** Without the module and the class loader that a frame's own text begins with. */
    private static String line(StackTraceElement frame) {
        String file = frame.getFileName() == null ? "Unknown Source" : frame.getFileName();
        String line = frame.getLineNumber() < 0 ? "" : ":" + frame.getLineNumber();
        return " at " + frame.getClassName() + "." + frame.getMethodName() + "(" + file + line + ")";
    }
}
