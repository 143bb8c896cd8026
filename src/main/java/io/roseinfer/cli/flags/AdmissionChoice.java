package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import java.lang.reflect.InvocationTargetException;

/** An admission policy as the flag spells it: one of ours by name, or anybody's by class name. */
final class AdmissionChoice {
    static final String FIFO = "fifo";
    static final String PACK = "pack";

    private static final String NOT_FOUND =
            "; there is no such class there, so name the folder or jar that it is in:" + " ROSEINFER_CLASSPATH=FOLDER";

    private AdmissionChoice() {}

    /**
     * Makes a policy.
     *
     * @param text {@code fifo}, {@code pack}, or the name of a class on the class path; behind the name there may be a colon and a
     *     text that its constructor is given, {@code CLASS:ARGUMENT}
     */
    static AdmissionPolicy policy(String text, int lookahead, int forceFifoEvery) {
        return switch (text) {
            case FIFO -> AdmissionPolicy.fifo();
            case PACK -> AdmissionPolicy.pack(lookahead, forceFifoEvery);
            default -> byClassName(text);
        };
    }

    private static AdmissionPolicy byClassName(String text) {
        int colon = text.indexOf(':');
        try {
            if (colon < 0) {
                return type(text).getDeclaredConstructor().newInstance();
            }
            String argument = text.substring(colon + 1);
            return type(text.substring(0, colon))
                    .getDeclaredConstructor(String.class)
                    .newInstance(argument);
        } catch (InvocationTargetException e) {
            throw new BadInput(
                    "--prefill-admission-policy is '" + text + "', whose constructor failed: " + e.getCause(), e);
        } catch (ReflectiveOperationException | LinkageError | ClassCastException e) {
            throw new BadInput(
                    "--prefill-admission-policy is '" + text + "'; it must be " + FIFO + ", " + PACK
                            + " or a public class on the class path that implements " + AdmissionPolicy.class.getName()
                            + " and has a public constructor without parameters, or as CLASS:ARGUMENT one with a String"
                            + (e instanceof ClassNotFoundException ? NOT_FOUND : ""),
                    e);
        }
    }

    private static Class<? extends AdmissionPolicy> type(String name) throws ClassNotFoundException {
        return Class.forName(name).asSubclass(AdmissionPolicy.class);
    }
}
