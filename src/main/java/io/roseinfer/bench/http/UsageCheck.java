package io.roseinfer.bench.http;

import io.roseinfer.bench.http.CallResult.Counted;
import io.roseinfer.bench.http.CallResult.Usage;
import java.util.Optional;

/** Holds a server's {@code usage} against what was sent, what was asked for and what came. */
final class UsageCheck {
    private UsageCheck() {}

    /**
     * The first contradiction of a request that was answered to its end.
     *
     * @param ignoresEos whether it must have as many tokens as were asked for
     */
    static Optional<String> contradiction(CallResult call, boolean ignoresEos) {
        Usage usage = call.usage();
        boolean byIds = call.arrivals().counted() == Counted.IDS;
        if (usage.completionTokens() < 0) {
            return byIds
                    ? length(call, ignoresEos)
                    : wrong(call, "it sent neither usage nor token ids, so nobody knows how many tokens there were");
        }
        if (byIds && call.arrivals().sum() != usage.completionTokens()) {
            return wrong(
                    call,
                    "usage says " + usage.completionTokens() + " tokens and it sent "
                            + call.arrivals().sum() + " ids");
        }
        if (call.arrivals().counted() == Counted.RUNNING_USAGE
                && call.arrivals().sum() != usage.completionTokens()) {
            return wrong(
                    call,
                    "usage ended at " + usage.completionTokens() + " tokens and had grown by "
                            + call.arrivals().sum());
        }
        if (call.promptTokens() >= 0 && usage.promptTokens() >= 0 && usage.promptTokens() != call.promptTokens()) {
            return wrong(
                    call,
                    "usage says the prompt has " + usage.promptTokens() + " tokens and " + call.promptTokens()
                            + " were sent");
        }
        if (usage.totalTokens() >= 0
                && usage.promptTokens() >= 0
                && usage.totalTokens() != usage.promptTokens() + usage.completionTokens()) {
            return wrong(
                    call,
                    "usage adds " + usage.promptTokens() + " and " + usage.completionTokens() + " up to "
                            + usage.totalTokens());
        }
        if (call.arrivals().nanos().size() > usage.completionTokens()) {
            return wrong(
                    call,
                    "usage says " + usage.completionTokens() + " tokens and "
                            + call.arrivals().nanos().size() + " events brought some");
        }
        return length(call, ignoresEos);
    }

    private static Optional<String> length(CallResult call, boolean ignoresEos) {
        if (call.tokens() > call.askedTokens()) {
            return wrong(
                    call, "it sent " + call.tokens() + " tokens and at most " + call.askedTokens() + " were asked for");
        }
        if (ignoresEos && call.tokens() < call.askedTokens()) {
            return wrong(
                    call,
                    "it sent " + call.tokens() + " tokens, and " + call.askedTokens()
                            + " were asked for whatever the end of text");
        }
        return Optional.empty();
    }

    private static Optional<String> wrong(CallResult call, String what) {
        return Optional.of("request " + call.id() + ": " + what);
    }
}
