package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.scheduler.AdmissionPolicy;
import java.lang.reflect.InvocationTargetException;

/** An admission policy as the flag spells it: one of ours by name, or anybody's by class name. */
final class AdmissionChoice {
    static final String FIFO = "fifo";
    static final String PACK = "pack";

    private AdmissionChoice() {}

    /**
     * Makes a policy.
     *
     * @param text {@code fifo}, {@code pack}, or the name of a class on the class path with a constructor without parameters
     */
    static AdmissionPolicy policy(String text, int lookahead, int forceFifoEvery) {
        return switch (text) {
            case FIFO -> AdmissionPolicy.fifo();
            case PACK -> AdmissionPolicy.pack(lookahead, forceFifoEvery);
            default -> byClassName(text);
        };
    }

    private static AdmissionPolicy byClassName(String name) {
        try {
            return Class.forName(name)
                    .asSubclass(AdmissionPolicy.class)
                    .getDeclaredConstructor()
                    .newInstance();
        } catch (InvocationTargetException e) {
            throw new BadInput(
                    "--prefill-admission-policy is '" + name + "', whose constructor failed: " + e.getCause(), e);
        } catch (ReflectiveOperationException | LinkageError | ClassCastException e) {
            throw new BadInput(
                    "--prefill-admission-policy is '" + name + "'; it must be " + FIFO + ", " + PACK
                            + " or a public class on the class path that implements " + AdmissionPolicy.class.getName()
                            + " and has a constructor without parameters",
                    e);
        }
    }
}
