package io.roseinfer.engine;

import io.roseinfer.backend.StepOutputs;
import io.roseinfer.base.Clock;
import io.roseinfer.engine.GeneratedToken.TopToken;
import io.roseinfer.sampling.SamplingParams;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.RandomAccess;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Transfers the tokens and the outcome of one request from the engine's thread to one reader, without locks. Writing
 * never blocks; the reader is unparked only if it is parked. A reader that does not want to park sets an action
 * instead.
 *
 * <p>The buffer starts with {@value #INITIAL_CAPACITY} tokens and doubles when it is full: requests that may use a
 * context of 100,000 tokens mostly need a few hundred. So only long requests allocate while writing, and only a few
 * times.
 *
 * <p>The engine writes a token's fields, then {@code published}; the reader reads {@code published} first. This makes
 * all earlier writes visible. Arrays are copied before the grown ones become visible.
 */
final class TokenBuffer {
    /** Initial capacity in tokens. */
    static final int INITIAL_CAPACITY = 512;

    private final int capacity;
    private final int alternatives;
    private volatile Columns columns;

    private int written;
    private long firstStep;
    private int last = -1;
    private long finishedNanos;
    private String rest = "";
    private @Nullable RequestOutcome outcome;

    private volatile int published;
    private volatile boolean ended;
    private volatile @Nullable Thread reader;
    private volatile @Nullable Runnable listener;

    /**
     * Creates a buffer for at most {@code capacity} tokens.
     *
     * @param params determine whether log-probabilities are stored
     * @param withText whether the engine decodes the text, by {@link #writeText}; otherwise the reader does
     */
    TokenBuffer(int capacity, SamplingParams params, boolean withText) {
        this.capacity = capacity;
        alternatives = Math.max(0, params.logprobs());
        int first = Math.min(INITIAL_CAPACITY, capacity);
        boolean wanted = params.logprobs() >= 0;
        columns = new Columns(
                new int[first],
                new long[first],
                new int[first],
                new float[wanted ? first : 0],
                new int[first * alternatives],
                new float[first * alternatives],
                new String[withText ? first : 0]);
    }

    /**
     * The fields of the tokens; arrays of unrequested fields are empty.
     *
     * @param stepsLater each token's step, relative to the step of the first token
     * @param topIds the most likely tokens of the first token, then of the second and so on, the same number for each
     * @param topLogprobs their log-probabilities
     */
    @SuppressWarnings("ArrayRecordComponent") // written in place, never compared
    private record Columns(
            int[] ids,
            long[] stamps,
            int[] stepsLater,
            float[] logprobs,
            int[] topIds,
            float[] topLogprobs,
            String[] texts) {

        /** Returns a copy with a larger capacity. */
        Columns grown(int to) {
            int each = topIds.length / ids.length;
            return new Columns(
                    Arrays.copyOf(ids, to),
                    Arrays.copyOf(stamps, to),
                    Arrays.copyOf(stepsLater, to),
                    Arrays.copyOf(logprobs, logprobs.length == 0 ? 0 : to),
                    Arrays.copyOf(topIds, to * each),
                    Arrays.copyOf(topLogprobs, to * each),
                    Arrays.copyOf(texts, texts.length == 0 ? 0 : to));
        }
    }

    // Called by the engine's thread.

    /** Writes the next token; at most {@code capacity} in total. */
    void write(int token, long nanos, long step, StepOutputs outputs, int sample) {
        Columns to = ensureCapacity();
        int index = written++;
        firstStep = index == 0 ? step : firstStep;
        to.ids[index] = token;
        to.stamps[index] = nanos;
        to.stepsLater[index] = (int) (step - firstStep);
        if (to.logprobs.length > 0) {
            to.logprobs[index] = outputs.logprob(sample);
            for (int rank = 0; rank < alternatives; rank++) {
                to.topIds[index * alternatives + rank] = outputs.topToken(sample, rank);
                to.topLogprobs[index * alternatives + rank] = outputs.topLogprob(sample, rank);
            }
        }
    }

    /** Sets the text of the token written next, and the text {@code ifLast} that follows it if it is the last one. */
    void writeText(String text, String ifLast) {
        ensureCapacity().texts[written] = text;
        rest = ifLast;
    }

    /** Returns the columns, enlarged if they are full. */
    private Columns ensureCapacity() {
        Columns now = columns;
        if (written == now.ids.length) {
            now = now.grown((int) Math.min(capacity, 2L * written));
            columns = now;
        }
        return now;
    }

    /** Delivers the written tokens if they are the first or at least {@code interval}. */
    void publish(int interval) {
        if (written == 1 || written - published >= interval) {
            published = written;
            wakeReader();
        }
    }

    /** Sets the outcome and delivers all written tokens, without notifying the reader; {@link #end} must follow. */
    void finish(RequestOutcome result, long nanos) {
        outcome = result;
        finishedNanos = nanos;
        // In this order: a reader that sees the last token must also see that it is the last.
        last = written - 1;
        published = written;
    }

    /** Ends the stream and notifies the reader. */
    void end() {
        ended = true;
        wakeReader();
        // The action may refer to the stream, which must become collectable.
        listener = null;
    }

    private void wakeReader() {
        Thread waiting = reader;
        if (waiting != null) {
            LockSupport.unpark(waiting);
        }
        Runnable action = listener;
        if (action != null) {
            runAction(action);
        }
    }

    /** Runs an action. Exceptions are dropped, so that other requests do not fail. */
    private static void runAction(Runnable listener) {
        try {
            DeliveryThread.run(listener);
        } catch (Throwable dropped) {
            // See TokenStream.onDelivery.
        }
    }

    // Called by the reader.

    /**
     * Sets an action that the delivering thread runs after each delivery and at the end; runs it now if there were any.
     */
    void onDelivery(Runnable action) {
        listener = action;
        if (published > 0 || ended) {
            runAction(action);
        }
        if (ended) {
            listener = null;
        }
    }

    /**
     * Sets the calling thread as the reader. Throws if another thread waits, or if this one delivers tokens and would
     * wait for itself.
     */
    private void setReader() {
        Thread current = Thread.currentThread();
        if (DeliveryThread.isCurrent()) {
            throw new IllegalStateException("the onDelivery action blocks a thread that delivers tokens;"
                    + " wake a reader, or use poll(Duration.ZERO)");
        }
        Thread other = reader;
        if (other != null && !other.equals(current)) {
            throw new IllegalStateException(
                    (other.getName().isEmpty() ? "thread " + other.threadId() : "the thread " + other.getName())
                            + " already waits for this stream's next token; only one thread may read a stream");
        }
        reader = current;
    }

    /**
     * Waits for a token or the end.
     *
     * @return whether the token with this index is available
     * @throws InterruptedException if the calling thread is interrupted
     */
    boolean await(int index) throws InterruptedException {
        if (index < published) {
            return true;
        }
        setReader();
        try {
            while (true) {
                boolean over = ended;
                if (index < published) {
                    return true;
                }
                if (over) {
                    return false;
                }
                LockSupport.park(this);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
        } finally {
            reader = null;
        }
    }

    /**
     * Waits like {@link #await(int)}, for a limited time.
     *
     * @param limitNanos maximum time; zero or less does not wait
     */
    boolean await(int index, long limitNanos, Clock clock) throws InterruptedException {
        if (index < published) {
            return true;
        }
        if (limitNanos <= 0) {
            return false;
        }
        long untilNanos = clock.nanos() + limitNanos;
        setReader();
        try {
            while (true) {
                boolean over = ended;
                if (index < published) {
                    return true;
                }
                long leftNanos = untilNanos - clock.nanos();
                if (over || leftNanos <= 0) {
                    return false;
                }
                LockSupport.parkNanos(this, leftNanos);
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
            }
        } finally {
            reader = null;
        }
    }

    /** Returns the number of tokens delivered. */
    int delivered() {
        return published;
    }

    /** Returns whether a token has been delivered. */
    boolean isPublished(int index) {
        return index < published;
    }

    boolean isEnded() {
        return ended;
    }

    /**
     * Returns whether a delivered token is the last; for a token delivered before the end, this is known only at the
     * end.
     */
    boolean isLast(int index) {
        return index == last;
    }

    int id(int index) {
        return columns.ids[index];
    }

    /** Returns whether tokens have text. */
    boolean hasText() {
        return columns.texts.length > 0;
    }

    /** Returns the text delivered with a token. */
    String text(int index) {
        return columns.texts[index];
    }

    /** Returns the text after the last token's; call it only after the end. */
    String rest() {
        return rest;
    }

    float logprob(int index) {
        float[] logprobs = columns.logprobs;
        return logprobs.length > 0 ? logprobs[index] : Float.NaN;
    }

    List<TopToken> top(int index) {
        Columns from = columns;
        return top(from.topIds, from.topLogprobs, alternatives, index);
    }

    /**
     * Returns the read tokens as a list that creates token objects on access.
     *
     * @param text the text of all tokens
     * @param ends the end of each token's text in {@code text}
     */
    List<GeneratedToken> tokens(String text, int... ends) {
        Columns from = columns;
        int[] read = Arrays.copyOf(from.ids, ends.length);
        float[] probabilities = Arrays.copyOf(from.logprobs, from.logprobs.length == 0 ? 0 : ends.length);
        int[] candidates = Arrays.copyOf(from.topIds, ends.length * alternatives);
        float[] topLogprobs = Arrays.copyOf(from.topLogprobs, ends.length * alternatives);
        return new ReadTokens(read, text, ends, probabilities, candidates, topLogprobs);
    }

    /** Returns the outcome; empty while the request runs. */
    Optional<RequestOutcome> outcome() {
        return ended ? Optional.ofNullable(outcome) : Optional.empty();
    }

    /** Returns the timestamps of the tokens delivered so far. */
    long[] stamps() {
        int count = published;
        return Arrays.copyOf(columns.stamps, count);
    }

    /** Returns the step numbers of the tokens delivered so far. */
    long[] steps() {
        int count = published;
        int[] stepsLater = columns.stepsLater;
        long[] steps = new long[count];
        for (int index = 0; index < count; index++) {
            steps[index] = firstStep + stepsLater[index];
        }
        return steps;
    }

    /** Returns when the request ended; call it only after {@link #finish}. */
    long finishedNanos() {
        return finishedNanos;
    }

    /** Returns the most likely tokens at one index. */
    private static List<TopToken> top(int[] ids, float[] logprobs, int each, int index) {
        return each == 0
                ? List.of()
                : IntStream.range(index * each, (index + 1) * each)
                        .mapToObj(i -> new TopToken(ids[i], logprobs[i]))
                        .toList();
    }

    /** The tokens of a completion, in arrays. Token objects are created on access, which is rare. */
    static final class ReadTokens extends AbstractList<GeneratedToken> implements RandomAccess {
        private final int[] ids;
        private final String text;
        private final int[] ends;
        private final float[] logprobs;
        private final int[] topIds;
        private final float[] topLogprobs;

        /**
         * Creates a list over arrays that are not modified elsewhere.
         *
         * @param text the text of all tokens
         * @param ends the end of each token's text in {@code text}
         * @param logprobs one per token; empty if not requested
         * @param topIds the most likely tokens of the first token, then of the second and so on; empty if not requested
         * @param topLogprobs their log-probabilities
         */
        ReadTokens(int[] ids, String text, int[] ends, float[] logprobs, int[] topIds, float[] topLogprobs) {
            this.ids = ids;
            this.text = text;
            this.ends = ends;
            this.logprobs = logprobs;
            this.topIds = topIds;
            this.topLogprobs = topLogprobs;
        }

        @Override
        public GeneratedToken get(int index) {
            Objects.checkIndex(index, ids.length);
            return new GeneratedToken(
                    ids[index],
                    text.substring(index == 0 ? 0 : ends[index - 1], ends[index]),
                    logprobs.length == 0 ? Float.NaN : logprobs[index],
                    top(topIds, topLogprobs, topIds.length / ids.length, index));
        }

        @Override
        public int size() {
            return ids.length;
        }
    }
}
