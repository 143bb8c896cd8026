package io.roseinfer.example;

import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.scheduler.policy.QueueView;
import io.roseinfer.scheduler.policy.WaitingRequest;

/**
 * A policy as a researcher would write one: the request with the least work left goes first, prompt and completion together, and
 * each time it is skipped counts as eight tokens less.
 */
public final class ShortestJobFirst implements AdmissionPolicy {
    @Override
    public int lookahead() {
        return 256;
    }

    @Override
    public long rank(WaitingRequest request, QueueView queue) {
        return request.remainingTokens() + request.remainingNewTokens() - 8L * request.timesPassedOver();
    }
}
