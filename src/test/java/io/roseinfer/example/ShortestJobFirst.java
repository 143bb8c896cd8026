package io.roseinfer.example;

import io.roseinfer.scheduler.AdmissionPolicy;
import io.roseinfer.scheduler.WaitingRequest;

/**
 * A policy as a researcher would write one: the request with the least work left goes first, prompt and completion together, and
 * being passed over counts as work done.
 */
public final class ShortestJobFirst implements AdmissionPolicy {
    @Override
    public int lookahead() {
        return 256;
    }

    @Override
    public long rank(WaitingRequest request, long iteration) {
        return request.remainingTokens() + request.remainingNewTokens() - 32L * request.timesPassedOver();
    }
}
