package io.roseinfer.backend.sim;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.DeviceFailure;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Injected faults by prompt: a step that computes a prompt's first token has the fault of that token id. So a client can make a server
 * fail at a chosen request.
 *
 * @param byFirstToken faults by token id
 */
public record SimFaults(Map<Integer, Fault> byFirstToken) {
    /** Kinds of faults. */
    public enum Fault {
        /** The step fails; the device survives. */
        ERROR,
        /** The row's logits are not finite. */
        NAN,
        /** The step takes a second longer. */
        SLOW,
        /** The device is lost. */
        DEATH
    }

    /** No faults. */
    public static final SimFaults NONE = new SimFaults(Map.of());

    private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(1);

    public SimFaults {
        byFirstToken = Map.copyOf(byFirstToken);
    }

    /**
     * Parses faults such as {@code error=11,nan=12,slow=13,death=14}; blank is none.
     *
     * @param where name of the option in messages
     */
    public static SimFaults parse(String where, String text) {
        Map<Integer, Fault> faults = new HashMap<>();
        for (String part : text.isBlank() ? new String[0] : text.split(",", -1)) {
            String[] pair = part.split("=", 2);
            try {
                Fault fault = Fault.valueOf(pair[0].strip().toUpperCase(Locale.ROOT));
                faults.put(Integer.parseUnsignedInt(pair[1].strip()), fault);
            } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
                throw new BadInput(
                        where + " is " + Quoted.value(text)
                                + "; it must be faults and the token ids that bring them, as error=11,nan=12,slow=13,death=14",
                        e);
            }
        }
        return new SimFaults(faults);
    }

    /** Fails or delays a step whose prompts have a fault. */
    void strike(StepInputs in) {
        if (byFirstToken.isEmpty()) {
            return;
        }
        for (int row = 0; row < in.rows(); row++) {
            int token = in.rowStart(row);
            Fault fault = in.position(token) == 0 ? byFirstToken.get(in.tokenId(token)) : null;
            if (fault == Fault.ERROR || fault == Fault.DEATH) {
                throw new DeviceFailure(
                        "the simulated device " + (fault == Fault.DEATH ? "is lost" : "has failed")
                                + " at a prompt that begins with token " + in.tokenId(token),
                        fault == Fault.ERROR);
            }
            if (fault == Fault.SLOW) {
                delay();
            }
        }
    }

    /** Sleeps, unaffected by an unpark permit of the engine. */
    private static void delay() {
        try {
            TimeUnit.NANOSECONDS.sleep(SLOW_NANOS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether a row has the fault of non-finite logits. */
    boolean spoils(StepInputs in, int row) {
        int token = in.rowStart(row);
        return !byFirstToken.isEmpty() && in.position(token) == 0 && byFirstToken.get(in.tokenId(token)) == Fault.NAN;
    }
}
