package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.PreemptionPolicy;
import io.roseinfer.scheduler.policy.StepPolicy;
import java.lang.reflect.InvocationTargetException;
import java.util.Optional;

/**
 * The scheduler's policies as flags spell them: one of ours by name, or anybody's by class name. Behind a class name there may be a
 * colon and a text that its constructor is given, {@code CLASS:ARGUMENT}.
 */
final class PolicyChoice {
    static final String FIFO = "fifo";
    static final String PACK = "pack";
    static final String YOUNGEST = "youngest";
    static final String DEFAULT = "default";

    private static final String NOT_FOUND =
            "; there is no such class there, so name the folder or jar that it is in:" + " ROSEINFER_CLASSPATH=FOLDER";

    private PolicyChoice() {}

    static AdmissionPolicy admission(String text, int lookahead, int forceFifoEvery) {
        return switch (text) {
            case FIFO -> AdmissionPolicy.fifo();
            case PACK -> AdmissionPolicy.pack(lookahead, forceFifoEvery);
            default -> byClassName("--prefill-admission-policy", FIFO + ", " + PACK, AdmissionPolicy.class, text);
        };
    }

    static PreemptionPolicy preemption(String text) {
        return text.equals(YOUNGEST)
                ? PreemptionPolicy.youngest()
                : byClassName("--preemption-policy", YOUNGEST, PreemptionPolicy.class, text);
    }

    /** Empty where other flags decide. */
    static Optional<StepPolicy> step(String text) {
        return text.equals(DEFAULT)
                ? Optional.empty()
                : Optional.of(byClassName("--step-policy", DEFAULT, StepPolicy.class, text));
    }

    private static <T> T byClassName(String flag, String ours, Class<T> type, String text) {
        int colon = text.indexOf(':');
        try {
            if (colon < 0) {
                return named(text, type).getDeclaredConstructor().newInstance();
            }
            String argument = text.substring(colon + 1);
            return named(text.substring(0, colon), type)
                    .getDeclaredConstructor(String.class)
                    .newInstance(argument);
        } catch (InvocationTargetException e) {
            throw new BadInput(flag + " is '" + text + "', whose constructor failed: " + e.getCause(), e);
        } catch (ReflectiveOperationException | LinkageError | ClassCastException e) {
            throw new BadInput(
                    flag + " is '" + text + "'; it must be " + ours
                            + " or a public class on the class path that implements "
                            + type.getName() + " and has a public constructor without parameters, or as CLASS:ARGUMENT"
                            + " one with a String" + (e instanceof ClassNotFoundException ? NOT_FOUND : ""),
                    e);
        }
    }

    private static <T> Class<? extends T> named(String name, Class<T> type) throws ClassNotFoundException {
        return Class.forName(name).asSubclass(type);
    }
}
