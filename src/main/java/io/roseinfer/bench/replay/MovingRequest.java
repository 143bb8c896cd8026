package io.roseinfer.bench.replay;

import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.VirtualEngine;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.observe.ObservedRequest;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * A request that moves from a prefill engine to a decode engine after its first token: one stay on each, and a transfer
 * between them.
 */
final class MovingRequest implements ObservedRequest {
    private final ObservedRequest prefill;
    private final GenerationRequest asked;
    private final long submittedNanos;
    private final int tokens;
    private final int prefillEngines;

    private Optional<ObservedRequest> decode = Optional.empty();
    private int firstToken;
    private long arrivalNanos;
    private boolean hasArrived;
    /** When it ended, if that was between its stays. */
    private OptionalLong lostNanos = OptionalLong.empty();

    /**
     * Creates a request that a prefill engine has.
     *
     * @param prefill its stay there
     * @param tokens length of its completion, unless its maximum is lower
     */
    MovingRequest(
            ObservedRequest prefill, GenerationRequest asked, long submittedNanos, int tokens, int prefillEngines) {
        this.prefill = prefill;
        this.asked = asked;
        this.submittedNanos = submittedNanos;
        this.tokens = Math.min(tokens, asked.maxNewTokens());
        this.prefillEngines = prefillEngines;
    }

    void setDecode(ObservedRequest stay) {
        decode = Optional.of(stay);
    }

    void setLost(long nanos) {
        lostNanos = OptionalLong.of(nanos);
    }

    /** Sets the token with which it leaves its prefill engine, and when its keys and values will have arrived. */
    void send(int token, long arrival) {
        firstToken = token;
        arrivalNanos = arrival;
    }

    /** Returns the request to submit to a decode engine at its arrival: its target is the rest of the time. */
    GenerationRequest arrive() {
        hasArrived = true;
        return asked.options()
                .target()
                .map(target -> asked.withTarget(
                        Duration.ofNanos(Math.max(1, target.toNanos() - (arrivalNanos - submittedNanos)))))
                .orElse(asked);
    }

    /** Returns the length of its completion. */
    int tokens() {
        return tokens;
    }

    int firstToken() {
        return firstToken;
    }

    /** Returns when its keys and values have arrived. */
    long arrivalNanos() {
        return arrivalNanos;
    }

    /** Returns the prefill engine that had it last. */
    int prefillEngine() {
        return prefill.timeline().replica();
    }

    /** Returns the prefill engine that it has left for a decode engine, if there is one. */
    OptionalInt movedFrom() {
        return hasArrived ? OptionalInt.of(prefillEngine()) : OptionalInt.empty();
    }

    /** Returns the ids of the tokens that it has generated so far, on engines of each role. */
    int[] generatedIds(VirtualEngine ofPrefill, VirtualEngine ofDecode) {
        return IntStream.concat(
                        IntStream.of(ofPrefill.generatedIds(prefill)),
                        decode.stream().flatMapToInt(stay -> IntStream.of(ofDecode.generatedIds(stay))))
                .toArray();
    }

    @Override
    public long id() {
        return prefill.id();
    }

    @Override
    public Optional<Object> tag() {
        return asked.options().tag();
    }

    @Override
    public String tenant() {
        return prefill.tenant();
    }

    @Override
    public int priority() {
        return prefill.priority();
    }

    @Override
    public long deadlineNanos() {
        return prefill.deadlineNanos();
    }

    @Override
    public int promptTokens() {
        return prefill.promptTokens();
    }

    @Override
    public int cachedTokens() {
        return prefill.cachedTokens();
    }

    @Override
    public int generatedTokens() {
        return prefill.generatedTokens()
                + decode.map(ObservedRequest::generatedTokens).orElse(0);
    }

    /** Returns the timestamps of both stays, with the replica of the last. */
    @Override
    public RequestTimeline timeline() {
        RequestTimeline start = prefill.timeline();
        Optional<RequestTimeline> end = decode.map(ObservedRequest::timeline);
        return new RequestTimeline(
                start.submittedNanos(),
                start.tokenizedNanos(),
                start.admittedNanos(),
                concat(start.tokenNanos(), end.map(RequestTimeline::tokenNanos)),
                lostNanos.orElse(end.orElse(start).finishedNanos()),
                concat(start.tokenSteps(), end.map(RequestTimeline::tokenSteps)),
                end.map(stay -> prefillEngines + stay.replica()).orElse(start.replica()));
    }

    private static long[] concat(long[] some, Optional<long[]> others) {
        return LongStream.concat(LongStream.of(some), others.stream().flatMapToLong(LongStream::of))
                .toArray();
    }
}
