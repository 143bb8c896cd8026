package io.roseinfer.engine;

import io.roseinfer.backend.StepOutputs;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.engine.routing.ReplicaLoad;
import io.roseinfer.engine.routing.RoutedRequest;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.sampling.StopStrings;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.WaitingQueue;
import io.roseinfer.tokenizer.Detokenizer;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.Collection;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A request from the moment it is accepted to its one ending, which {@link InFlight} gives it. Once a loop has admitted it only that
 * loop's thread writes. Its prompt's ids are those of its {@link Sequence}; its tokens are in a {@link TokenBuffer}, which only its
 * {@link RequestStream} reads.
 */
final class LiveRequest implements ObservedRequest, RoutedRequest {
    /** How far a request is; it only moves down this list. */
    private enum Stage {
        TOKENIZING,
        /** Has its sequence, and waits or runs. */
        READY,
        ENDED
    }

    /**
     * What a stream has done when it is closed or collected, as long as its request runs. The cleaner keeps it for as long as there is the
     * stream, so after the ending it refers to nothing: an engine may lead back to a stream, by way of those who watch it.
     */
    private static final class UntilEnded implements Runnable {
        private volatile @Nullable Runnable action;

        UntilEnded(Runnable action) {
            this.action = action;
        }

        @Override
        public void run() {
            Runnable wanted = action;
            if (wanted != null) {
                wanted.run();
            }
        }
    }

    private static final long[] NO_PREFIXES = {};

    private final long id;
    private final GenerationRequest request;
    private final long seed;
    private final long deadlineNanos;
    private final TokenBuffer tokens;
    private final @Nullable StopStrings stops;
    private final @Nullable Detokenizer detokenizer;

    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.TOKENIZING);
    private final AtomicBoolean cancelled = new AtomicBoolean();
    private @Nullable UntilEnded streamAction;
    private volatile @Nullable Sequence sequence;
    private int promptTokens;
    private long submittedNanos;
    private long tokenizedNanos;
    private boolean admitted;
    private long admittedNanos;
    private int cachedTokens;

    private long[] prefixes = NO_PREFIXES;
    /** The load in which it counts. */
    private @Nullable ReplicaLoad load;

    private long chargedTokens;
    private int chargedPromptTokens;
    /** Whether a token of it has been written, or looked at for stop strings. */
    private boolean touched;
    /** The text that the token {@link #stopsAt} was asked about last has made certain. */
    private String certainText = "";

    LiveRequest(long id, GenerationRequest request, long seed, int contextLength, Optional<Tokenizer> tokenizer) {
        this.id = id;
        this.request = request;
        this.seed = seed;
        this.deadlineNanos = request.terms().deadlineNanos().orElse(Long.MAX_VALUE);
        boolean watched = !request.stop().isEmpty() && tokenizer.isPresent();
        this.tokens = new TokenBuffer(Math.min(request.maxNewTokens(), contextLength), request.sampling(), watched);
        this.stops = watched ? new StopStrings(request.stop()) : null;
        this.detokenizer = watched ? tokenizer.get().continuation(true) : null;
    }

    @Override
    public long id() {
        return id;
    }

    GenerationRequest request() {
        return request;
    }

    long seed() {
        return seed;
    }

    /** When it is to be ended, by the engine's clock; {@link Long#MAX_VALUE} without a deadline. */
    long deadlineNanos() {
        return deadlineNanos;
    }

    boolean hasDeadline() {
        return deadlineNanos != Long.MAX_VALUE;
    }

    @Override
    public Optional<Object> tag() {
        return request.terms().tag();
    }

    /** The tokens delivered, for its reader. */
    TokenBuffer tokens() {
        return tokens;
    }

    @Override
    public int promptTokens() {
        return promptTokens;
    }

    /** The prompt's ids, a copy; of a stream that has ended or delivered a token. None if it ended before it had any. */
    int[] promptIds() {
        return sequence().map(Sequence::promptIds).orElseGet(() -> new int[0]);
    }

    @Override
    public int generatedTokens() {
        return tokens.delivered();
    }

    @Override
    public int cachedTokens() {
        return cachedTokens;
    }

    @Override
    public RequestTimeline timeline() {
        long finishedNanos = tokens.finishedNanos();
        return new RequestTimeline(
                submittedNanos,
                // A caller may have ended it a moment before the stamp was read.
                admitted ? tokenizedNanos : Math.min(tokenizedNanos, finishedNanos),
                admitted ? admittedNanos : finishedNanos,
                tokens.stamps(),
                finishedNanos,
                tokens.steps(),
                Math.max(0, engine()));
    }

    /** Marks it as cancelled. */
    void cancel() {
        cancelled.set(true);
    }

    boolean isCancelled() {
        return cancelled.get();
    }

    /** Notes when its submit call was entered; before anybody else knows of it. */
    void submitted(long nanos) {
        submittedNanos = nanos;
    }

    /** Notes that the prompt has become so many ids; for who hands it over. */
    void tokenized(int count, long nanos) {
        promptTokens = count;
        tokenizedNanos = nanos;
    }

    @Override
    public long[] prefixes() {
        return prefixes;
    }

    /** Notes hashes of what its prompt begins with, before it is routed. */
    void prefixes(long[] hashes) {
        prefixes = hashes;
    }

    @Override
    public int maxNewTokens() {
        return request.maxNewTokens();
    }

    @Override
    public int priority() {
        return request.terms().priority();
    }

    /** Counts it in the load of the engine that is to serve it; before it waits for that one, or by that one's loop. */
    synchronized void charge(ReplicaLoad to, Sequence own) {
        load = to;
        chargedTokens = own.maxLength();
        chargedPromptTokens = own.promptLength() - to.cachedTokens(this);
        to.add(chargedTokens, chargedPromptTokens);
    }

    synchronized boolean isCharged() {
        return load != null;
    }

    /** Its prompt is computed; for the loop that has it. */
    void promptComputed() {
        if (chargedPromptTokens > 0) {
            computePrompt();
        }
    }

    private synchronized void computePrompt() {
        if (load != null) {
            load.compute(chargedPromptTokens);
        }
        chargedPromptTokens = 0;
    }

    /** Counts it in no load any more; harmless if it is in none. */
    synchronized void discharge() {
        if (load != null) {
            load.remove(chargedTokens, chargedPromptTokens);
            load = null;
        }
    }

    /** The sequence of its prompt. */
    Sequence newSequence(int[] prompt, ModelSpec spec) {
        int[] model = request.ignoreEndOfText() ? new int[0] : ids(spec.endOfText());
        int[] own = ids(request.stopTokens());
        Sequence made = new Sequence(
                id,
                this,
                prompt,
                EngineLimits.maxLength(prompt.length, request.maxNewTokens(), spec),
                request.sampling(),
                seed,
                IntStream.concat(Arrays.stream(model), Arrays.stream(own)).toArray());
        return made.setPriorityAndTag(priority(), tag());
    }

    private static int[] ids(Collection<Integer> tokens) {
        return tokens.stream().mapToInt(Integer::intValue).toArray();
    }

    /**
     * Gives it the sequence that waits for it; under the waiting queue's lock.
     *
     * @return false if it has ended before; nothing may be done with it then
     */
    boolean ready(Sequence own) {
        sequence = own;
        return stage.compareAndSet(Stage.TOKENIZING, Stage.READY);
    }

    /** Gives it a new sequence, as if it had never been admitted, and returns that; under the waiting queue's lock. */
    Sequence readyAgain() {
        Sequence again = Objects.requireNonNull(sequence).newAttempt();
        admitted = false;
        sequence = again;
        return again;
    }

    /** The engine that it is bound to, or that has admitted it; {@link WaitingQueue#ANY} if there is none. */
    int engine() {
        Sequence own = sequence;
        return own == null ? WaitingQueue.ANY : own.scheduler();
    }

    /** Returns whether a restart is transparent: no token has been written or scanned. */
    boolean isUntouched() {
        return !touched && !hasEnded();
    }

    /**
     * Makes its ending the caller's, who must tell its reader if it has one.
     *
     * @return false if it is somebody else's already
     */
    boolean claimEnding() {
        return stage.getAndSet(Stage.ENDED) != Stage.ENDED;
    }

    /** As {@link #claimEnding}, but only while its prompt is being made ids, or waits for that. */
    boolean claimWhileTokenizing() {
        return stage.compareAndSet(Stage.TOKENIZING, Stage.ENDED);
    }

    /** Whether its prompt is being made ids, or waits for that. */
    boolean isTokenizing() {
        return stage.get() == Stage.TOKENIZING;
    }

    boolean hasEnded() {
        return stage.get() == Stage.ENDED;
    }

    /**
     * Ends the request for its reader; for who claimed the ending.
     *
     * @return whether this was the first ending
     */
    boolean end(Ending ending, long nanos) {
        boolean first = tokens.end(ending, nanos);
        UntilEnded ended = streamAction;
        if (ended != null) {
            ended.action = null;
        }
        return first;
    }

    /** An action that does nothing and refers to nothing any more once the request has ended; before anybody else knows of the request. */
    Runnable untilEnded(Runnable action) {
        UntilEnded guarded = new UntilEnded(action);
        streamAction = guarded;
        return guarded;
    }

    /** How it ended, as its reader knows it; empty while it runs. */
    Optional<Ending> ending() {
        return tokens.ending();
    }

    Optional<Sequence> sequence() {
        return Optional.ofNullable(sequence);
    }

    /**
     * Notes that a loop has admitted it.
     *
     * @param nanos the beginning of the loop's turn, within which it may have been tokenized
     * @param fromCache how much of its prompt the prefix cache had by then
     */
    void admitted(long nanos, int fromCache) {
        admitted = true;
        cachedTokens = fromCache;
        admittedNanos = Math.max(nanos, tokenizedNanos);
    }

    /** How its sequence ended: a stop string that the last of the allowed tokens completes is what ended it. */
    Ending endingOf(Sequence ended) {
        if (stops != null && stops.matched()) {
            return Ending.stoppedBy(stops.match().orElseThrow());
        }
        return switch (ended.finishReason().orElseThrow()) {
            case STOP -> Ending.STOP;
            case LENGTH -> Ending.LENGTH;
            case CANCELLED -> Ending.CANCELLED;
            case DEADLINE -> Ending.DEADLINE;
            case ERROR -> Ending.failed(unusableLogits());
        };
    }

    private static RoseException unusableLogits() {
        return new DeviceFailure(
                "the model's logits were not finite for this request; check the weights with NaN or infinity in mind",
                true);
    }

    /** Whether the text with this token holds a stop string. Costs nothing for requests without any. */
    boolean stopsAt(int token) {
        if (stops == null || detokenizer == null) {
            return false;
        }
        touched = true;
        // A stop token has no text, but what was held back before it is held back still.
        certainText = isStopToken(token) ? "" : stops.push(detokenizer.push(token));
        return stops.matched();
    }

    /** Whether a token ends the completion because the request says so. */
    boolean isStopToken(int token) {
        return !request.stopTokens().isEmpty() && request.stopTokens().contains(token);
    }

    /** Writes the token that {@link #stopsAt} was asked about last for the reader; it is that of a sample of a step. */
    void write(int token, long nanos, long step, StepOutputs outputs, int sample) {
        touched = true;
        if (stops != null && detokenizer != null) {
            tokens.writeText(certainText, stops.remainderWith(detokenizer.unfinished()));
        }
        tokens.write(token, nanos, step, outputs, sample);
    }

    /** Delivers what has been written if it is the first token, or {@code interval} tokens since the last delivery. */
    void publish(int interval) {
        tokens.publish(interval);
    }
}
