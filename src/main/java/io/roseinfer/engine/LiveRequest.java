package io.roseinfer.engine;

import io.roseinfer.backend.StepOutputs;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.engine.routing.ReplicaView;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.sampling.LogitConstraints;
import io.roseinfer.sampling.StopStrings;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.WaitingQueue;
import io.roseinfer.tokenizer.Detokenizer;
import io.roseinfer.tokenizer.Tokenizer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The engine's state of a request, from its acceptance to its outcome, which {@link InFlight} sets. After its admission
 * only the loop's thread writes it. The prompt is in its {@link Sequence}; its tokens are in a {@link TokenBuffer},
 * which only its {@link RequestStream} reads.
 */
final class LiveRequest implements ObservedRequest {
    private static final int[] NO_TOKENS = {};

    /** The stages of a request, in order. */
    private enum Stage {
        TOKENIZING,
        /** The request has a sequence, and waits or runs. */
        READY,
        ENDED
    }

    /**
     * The action of a stream that is closed or collected while its request runs. The cleaner keeps this object as long
     * as the stream exists. It drops its reference at the end of the request, so that it cannot keep an engine and its
     * observers reachable.
     */
    private static final class CloseAction implements Runnable {
        private volatile @Nullable Runnable action;

        CloseAction(Runnable action) {
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

    private static final int UNLIMITED = Integer.MAX_VALUE;
    private static final long[] NO_PREFIXES = {};

    private final long id;
    private final GenerationRequest request;
    private final long seed;
    private final long expiryNanos;
    private final TokenBuffer tokens;
    private final @Nullable StopStrings stops;
    private final @Nullable Detokenizer detokenizer;

    private final AtomicReference<Stage> stage = new AtomicReference<>(Stage.TOKENIZING);
    private final AtomicBoolean cancelled = new AtomicBoolean();
    private LogitConstraints constraints = LogitConstraints.NONE;
    private @Nullable GrammarMasks masks;
    /** Set with the sequence, if requested. */
    private @Nullable PromptLogprobs promptLogprobs;

    private @Nullable CloseAction streamAction;
    private volatile @Nullable Sequence sequence;
    private int promptTokens;
    private long submittedNanos;
    private long tokenizedNanos;
    private boolean admitted;
    /** Whether a replica failed while it ran the request. */
    private boolean lostReplica;

    private long admittedNanos;
    private int cachedTokens;

    private long[] prefixes = NO_PREFIXES;
    /** The load that includes this request. */
    private @Nullable ReplicaLoad load;

    private long loadTokens;
    private long loadPredictedTokens;
    private int loadPromptTokens;
    /** Tokens so far that {@code min_tokens} exempted from the search for stop strings. */
    private int exempted;

    /** Whether a token has been written, or scanned for stop strings. */
    private boolean hasOutput;
    /** The status of its last sample, if that had no token. */
    private StepOutputs.Status failedSample = StepOutputs.Status.NON_FINITE;
    /** The message for a token id outside of the vocabulary. */
    private String wrongSample = "";
    /**
     * For each token that was scanned for stop strings and not yet written: the text to deliver with it, and the text after
     * it if it is the last one.
     */
    private final ArrayDeque<String> scannedTexts;
    /** Tokens until the request ends, apart from its maximum; counted by the engine's thread. */
    private int remainingTokens = UNLIMITED;

    LiveRequest(long id, GenerationRequest request, long seed, int contextLength, Optional<Tokenizer> tokenizer) {
        this.id = id;
        this.request = request;
        this.seed = seed;
        this.expiryNanos = request.options().deadlineNanos().orElse(Long.MAX_VALUE);
        boolean watched = !request.stop().isEmpty() && tokenizer.isPresent();
        this.tokens = new TokenBuffer(Math.min(request.maxNewTokens(), contextLength), request.sampling(), watched);
        this.stops = watched ? new StopStrings(request.stop()) : null;
        this.detokenizer = watched ? tokenizer.get().continuation(true) : null;
        this.scannedTexts = new ArrayDeque<>(watched ? 2 : 0);
    }

    @Override
    public long id() {
        return id;
    }

    /** Sets the constraints of its samples; called before it is submitted. Returns this request. */
    LiveRequest setConstraints(LogitConstraints own) {
        constraints = own;
        return this;
    }

    LogitConstraints constraints() {
        return constraints;
    }

    /** Sets the masks of its samples; called before it is submitted. */
    void setMasks(GrammarMasks source) {
        masks = source;
    }

    /** Returns the masks of the current attempt; empty without a grammar. */
    Optional<GrammarMasks> masks() {
        return Optional.ofNullable(masks);
    }

    GenerationRequest request() {
        return request;
    }

    long seed() {
        return seed;
    }

    /** Returns when it is ended by the engine's clock, or {@link Long#MAX_VALUE} if it has no deadline. */
    long expiryNanos() {
        return expiryNanos;
    }

    boolean hasDeadline() {
        return expiryNanos != Long.MAX_VALUE;
    }

    @Override
    public Optional<Object> tag() {
        return request.options().tag();
    }

    @Override
    public String tenant() {
        return request.options().tenant();
    }

    @Override
    public int priority() {
        return request.options().priority();
    }

    @Override
    public long deadlineNanos() {
        return request.options().dueNanos(submittedNanos);
    }

    /** Returns the buffer from which the stream reads. */
    TokenBuffer tokens() {
        return tokens;
    }

    @Override
    public int promptTokens() {
        return promptTokens;
    }

    /**
     * Returns a copy of the prompt's ids, once the stream has ended or delivered a token; empty if the request ended
     * before it was tokenized.
     */
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
                // A caller may have ended it just before this timestamp was taken.
                admitted ? tokenizedNanos : Math.min(tokenizedNanos, finishedNanos),
                admitted ? admittedNanos : finishedNanos,
                tokens.stamps(),
                finishedNanos,
                tokens.steps(),
                Math.max(0, replica()));
    }

    /** Marks it as cancelled. */
    void cancel() {
        cancelled.set(true);
    }

    boolean isCancelled() {
        return cancelled.get();
    }

    /** Records when the submit call was entered; called before the request is visible to other threads. */
    void submitted(long nanos) {
        submittedNanos = nanos;
    }

    /** Records the number of prompt tokens; called by the thread that submits it to the queue. */
    void tokenized(int count, long nanos) {
        promptTokens = count;
        tokenizedNanos = nanos;
    }

    /** Returns the hashes of the prompt's prefixes; not to be modified. */
    long[] prefixes() {
        return prefixes;
    }

    /** Sets the hashes of the prompt's prefixes, before routing. */
    void prefixes(long[] hashes) {
        prefixes = hashes;
    }

    /** Returns when it was submitted. */
    long arrivalNanos() {
        return submittedNanos;
    }

    /** Returns when its prompt was tokenized and its grammar compiled. */
    long tokenizedNanos() {
        return tokenizedNanos;
    }

    /** Adds the request to the load of a replica: before it waits for that replica, or by the loop that admits it. */
    synchronized void addLoad(ReplicaLoad to, Sequence own) {
        load = to;
        loadTokens = own.maxLength();
        loadPredictedTokens = own.predictedLength();
        loadPromptTokens = uncomputedPromptTokens(to, own);
        to.add(loadTokens, loadPredictedTokens, loadPromptTokens);
    }

    /** Returns the prompt tokens that a replica has to compute, as far as a view of it shows. */
    int uncomputedPromptTokens(ReplicaView replica, Sequence own) {
        return own.isPromptComputed() ? 0 : own.promptLength() - replica.cachedTokens(new RoutedView(this));
    }

    synchronized boolean hasLoad() {
        return load != null;
    }

    /** Records that the prompt is computed; called by the loop that runs it. */
    void promptComputed() {
        if (loadPromptTokens > 0) {
            removePromptLoad();
        }
    }

    private synchronized void removePromptLoad() {
        if (load != null) {
            load.promptComputed(loadPromptTokens);
        }
        loadPromptTokens = 0;
    }

    /** Removes the request from the load that includes it, if any. */
    synchronized void removeLoad() {
        if (load != null) {
            load.remove(loadTokens, loadPredictedTokens, loadPromptTokens);
            load = null;
        }
    }

    /** Creates the sequence of a prompt. */
    Sequence newSequence(int[] prompt, ModelSpec spec) {
        Sequence made = new Sequence(
                id,
                this,
                prompt,
                EngineLimits.maxLength(prompt.length, request.maxNewTokens(), spec),
                request.sampling(),
                seed,
                endTokens(spec));
        int tops = request.options().promptLogprobs();
        if (tops >= 0) {
            int servable = Math.min(tops, spec.vocabularySize());
            promptLogprobs = new PromptLogprobs(prompt, servable);
            made.setPromptLogprobs(servable);
        }
        if (masks != null) {
            made.setMasks(masks);
        }
        return made.setTraits(request.options().traits(submittedNanos)).setConstraints(constraints);
    }

    /** Returns the tokens that end the completion: the model's, unless they are ignored, and the request's own. */
    int[] endTokens(ModelSpec spec) {
        if (request.ignoreEndOfText() && request.stopTokens().isEmpty()) {
            return NO_TOKENS;
        }
        int[] model = request.ignoreEndOfText() ? NO_TOKENS : ids(spec.endOfText());
        int[] own = ids(request.stopTokens());
        return IntStream.concat(Arrays.stream(model), Arrays.stream(own)).toArray();
    }

    /** Returns whether the log-probabilities of the prompt are requested, so that no cached prefix is used. */
    boolean reportsPrompt() {
        return request.options().promptLogprobs() >= 0;
    }

    /**
     * Returns the prompt's tokens with log-probabilities, once the stream has ended or delivered a token; empty if they
     * were not requested.
     */
    List<PromptToken> promptLogprobs() {
        return promptLogprobs == null ? List.of() : promptLogprobs.tokens();
    }

    private static int[] ids(Collection<Integer> tokens) {
        return tokens.stream().mapToInt(Integer::intValue).toArray();
    }

    /**
     * Sets the sequence that waits for admission; called under the waiting queue's lock.
     *
     * @return false if the request has already ended
     */
    boolean setReady(Sequence own) {
        sequence = own;
        return stage.compareAndSet(Stage.TOKENIZING, Stage.READY);
    }

    /**
     * Replaces the sequence by a new one, never admitted, and returns it; called under the waiting queue's
     * lock.
     */
    Sequence restart() {
        Sequence again = Objects.requireNonNull(sequence).newAttempt();
        if (masks != null) {
            masks = masks.restart();
            again.setMasks(masks);
        }
        lostReplica |= admitted;
        admitted = false;
        sequence = again;
        return again;
    }

    /** Returns the replica that it is bound to or admitted by, or {@link WaitingQueue#ANY}. */
    int replica() {
        Sequence own = sequence;
        return own == null ? WaitingQueue.ANY : own.scheduler();
    }

    /** Returns whether a replica failed while it ran the request, before the current one. */
    boolean hasLostReplica() {
        return lostReplica;
    }

    /**
     * Returns whether it may restart: no token has been written or scanned, so that the restart is transparent, and at most
     * one replica has failed while it ran the request. So a request that makes replicas fail stops no more than two.
     */
    boolean isRestartable() {
        return !hasOutput && !hasEnded() && !(lostReplica && admitted);
    }

    /**
     * Claims the outcome; the caller must then notify the reader, if there is one.
     *
     * @return false if the outcome was already claimed
     */
    boolean claimOutcome() {
        return stage.getAndSet(Stage.ENDED) != Stage.ENDED;
    }

    /** Claims the outcome like {@link #claimOutcome}, but only before the prompt has been tokenized. */
    boolean claimWhileTokenizing() {
        return stage.compareAndSet(Stage.TOKENIZING, Stage.ENDED);
    }

    /** Returns whether the prompt has not been tokenized yet. */
    boolean isTokenizing() {
        return stage.get() == Stage.TOKENIZING;
    }

    boolean hasEnded() {
        return stage.get() == Stage.ENDED;
    }

    /** Sets the outcome; called by the thread that claimed it, before {@link #end}. */
    void finish(RequestOutcome outcome, long nanos) {
        tokens.finish(outcome, nanos);
    }

    /** Ends the request for its reader; called by the thread that claimed the outcome. */
    void end() {
        tokens.end();
        CloseAction ended = streamAction;
        if (ended != null) {
            ended.action = null;
        }
    }

    /**
     * Returns an action that has no effect and holds no reference after the request has ended; called before the
     * request is visible to other threads.
     */
    Runnable closeAction(Runnable action) {
        CloseAction guarded = new CloseAction(action);
        streamAction = guarded;
        return guarded;
    }

    /** Returns the outcome that the reader sees; empty while the request runs. */
    Optional<RequestOutcome> outcome() {
        return tokens.outcome();
    }

    Optional<Sequence> sequence() {
        return Optional.ofNullable(sequence);
    }

    /**
     * Records the first admission by a loop.
     *
     * @param nanos start of the loop's iteration, during which it may have been tokenized
     * @param fromCache prompt tokens found in the prefix cache
     */
    void admitted(long nanos, int fromCache) {
        admitted = true;
        cachedTokens = fromCache;
        admittedNanos = Math.max(nanos, tokenizedNanos);
    }

    /**
     * Returns the outcome of its sequence; a stop string completed by the last allowed token takes precedence over the
     * length.
     */
    RequestOutcome outcomeOf(Sequence ended) {
        if (stops != null && stops.matched()) {
            return RequestOutcome.stoppedBy(stops.match().orElseThrow());
        }
        return switch (ended.finishReason().orElseThrow()) {
            case STOP -> RequestOutcome.STOP;
            case LENGTH -> RequestOutcome.LENGTH;
            case CANCELLED -> RequestOutcome.CANCELLED;
            case DEADLINE -> RequestOutcome.DEADLINE;
            case ERROR -> RequestOutcome.failed(noToken());
        };
    }

    private RoseException noToken() {
        if (failedSample == StepOutputs.Status.NO_ALLOWED_TOKEN) {
            return new BadInput(
                    "no token is allowed: the request's constraints forbid every token with a finite logit");
        }
        return new DeviceFailure(
                failedSample == StepOutputs.Status.OK
                        ? wrongSample
                        : "the model's logits were not finite for this request; check the weights for NaN or infinity",
                true);
    }

    /**
     * Records why its last sample has no token.
     *
     * @param device the device in words
     */
    void sampledNothing(StepOutputs outputs, int sample, String device) {
        failedSample = outputs.status(sample);
        if (failedSample == StepOutputs.Status.OK) {
            wrongSample = device + " sampled token id " + outputs.token(sample)
                    + ", which is outside of the model's vocabulary, for this request; fix the device";
        }
    }

    /** Records that its reader has a token already, so that no restart is transparent. */
    void setHasOutput() {
        hasOutput = true;
    }

    /** Ends the request after a number of tokens, as a stop string does: in virtual time, for requests without stop strings. */
    void endAfter(int count) {
        remainingTokens = count;
    }

    /** Returns whether the text including this token contains a stop string. Free for requests without stop strings. */
    boolean stopsAt(int token) {
        if (stops == null || detokenizer == null) {
            return remainingTokens != UNLIMITED && --remainingTokens == 0;
        }
        hasOutput = true;
        boolean isSearched = exempted >= request.constraints().minTokens();
        exempted += isSearched ? 0 : 1;
        // A stop token has no text, but text held back before it stays held back.
        boolean hasText = !isStopToken(token);
        String text = hasText ? detokenizer.push(token) : "";
        scannedTexts.add(isSearched && hasText ? stops.push(text) : text);
        scannedTexts.add(stops.remainderWith(detokenizer.unfinished()));
        return isSearched && stops.matched();
    }

    /** Returns whether a token is one of the request's own stop tokens. */
    boolean isStopToken(int token) {
        return !request.stopTokens().isEmpty() && request.stopTokens().contains(token);
    }

    /** Writes the next token, which {@link #stopsAt} has scanned, with the outputs of its sample. */
    void write(int token, long nanos, long step, StepOutputs outputs, int sample) {
        hasOutput = true;
        if (stops != null) {
            tokens.writeText(scannedTexts.remove(), scannedTexts.remove());
        }
        tokens.write(token, nanos, step, outputs, sample);
    }

    /**
     * Writes the log-probabilities of consecutive prompt tokens.
     *
     * @param first index of the first one in the prompt
     * @param firstSample the sample that reports it
     */
    void writeReports(int first, int count, StepOutputs outputs, int firstSample) {
        PromptLogprobs to = Objects.requireNonNull(promptLogprobs);
        for (int i = 0; i < count; i++) {
            to.write(first + i, outputs, firstSample + i);
        }
    }

    /** Delivers the written tokens if they are the first or at least {@code interval}. */
    void publish(int interval) {
        tokens.publish(interval);
    }
}
