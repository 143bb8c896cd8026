package io.roseinfer.bench.http;

import io.roseinfer.bench.http.CallResult.Counted;
import io.roseinfer.bench.http.CallResult.Usage;
import java.util.Optional;

/** Verifies a server's {@code usage} against the request and the received tokens. */
final class UsageCheck {
    private UsageCheck() {}

    /**
     * Returns the first contradiction in a completed request.
     *
     * @param ignoresEos whether it must have exactly the requested number of tokens
     */
    static Optional<String> contradiction(CallResult call, boolean ignoresEos) {
        Usage usage = call.usage();
        boolean byIds = call.arrivals().counted() == Counted.IDS;
        if (usage.completionTokens() < 0) {
            return byIds
                    ? length(call, ignoresEos)
                    : wrong(call, "it sent neither usage nor token ids, so its tokens cannot be counted");
        }
        if (byIds && call.arrivals().sum() != usage.completionTokens()) {
            return wrong(
                    call,
                    "usage is " + usage.completionTokens() + " tokens, but it sent "
                            + call.arrivals().sum() + " ids");
        }
        if (call.arrivals().counted() == Counted.RUNNING_USAGE
                && call.arrivals().sum() != usage.completionTokens()) {
            return wrong(
                    call,
                    "usage ended at " + usage.completionTokens() + " tokens, but its increments add up to "
                            + call.arrivals().sum());
        }
        if (call.promptTokens() >= 0 && usage.promptTokens() >= 0 && usage.promptTokens() != call.promptTokens()) {
            return wrong(
                    call,
                    "usage is " + usage.promptTokens() + " prompt tokens, but " + call.promptTokens() + " were sent");
        }
        if (usage.totalTokens() >= 0
                && usage.promptTokens() >= 0
                && usage.totalTokens() != usage.promptTokens() + usage.completionTokens()) {
            return wrong(
                    call,
                    "usage is " + usage.promptTokens() + " and " + usage.completionTokens() + " tokens, but a total of "
                            + usage.totalTokens());
        }
        if (call.arrivals().nanos().length > usage.completionTokens()) {
            return wrong(
                    call,
                    "usage is " + usage.completionTokens() + " tokens, but "
                            + call.arrivals().nanos().length + " events had some");
        }
        return length(call, ignoresEos);
    }

    private static Optional<String> length(CallResult call, boolean ignoresEos) {
        if (call.tokens() > call.askedTokens()) {
            return wrong(
                    call,
                    "it sent " + call.tokens() + " tokens, but at most " + call.askedTokens() + " were requested");
        }
        if (ignoresEos && call.tokens() < call.askedTokens()) {
            return wrong(
                    call,
                    "it sent " + call.tokens() + " tokens, but " + call.askedTokens()
                            + " were requested, ignoring end-of-text");
        }
        return Optional.empty();
    }

    private static Optional<String> wrong(CallResult call, String what) {
        return Optional.of("request " + call.id() + ": " + what);
    }
}
