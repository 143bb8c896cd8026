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
 * One request's tokens and its ending on their way from the engine's thread to one reader, and nothing else of the request, so that
 * what two threads share without a lock is in one short class. Writing never blocks; the engine wakes the reader only if it is
 * parked. A reader with better things to do than to park leaves an action here.
 *
 * <p>There is room for {@value #FIRST} tokens at first, and for twice as many whenever that is full: requests that may take a whole
 * context of 100,000 tokens mostly take some hundred. So writing allocates a few times in the life of a long request, and in that of
 * others never.
 *
 * <p>The engine writes a token's fields, then {@code published}; the reader reads {@code published} first. Everything written
 * before is visible by that, and columns that grow are copied before they can be seen.
 */
final class TokenBuffer {
    /** Tokens that there is room for at first. */
    static final int FIRST = 512;

    private final int capacity;
    private final int alternatives;
    private volatile Columns columns;

    private int written;
    private long firstStep;
    private int last = -1;
    private long finishedNanos;
    private String rest = "";
    private @Nullable Ending ending;

    private volatile int published;
    private volatile boolean ended;
    private volatile @Nullable Thread reader;
    private volatile @Nullable Runnable listener;

    /**
     * A buffer for at most {@code capacity} tokens.
     *
     * @param params with log-probabilities if they ask for them
     * @param withText whether the engine makes the text, by {@link #writeText}; the reader does otherwise
     */
    TokenBuffer(int capacity, SamplingParams params, boolean withText) {
        this.capacity = capacity;
        alternatives = Math.max(0, params.logprobs());
        int first = Math.min(FIRST, capacity);
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
     * The fields of each token, all of one length, or of none if they were not asked for.
     *
     * @param stepsLater for each token how many steps after the first token's its own was
     * @param topIds the likeliest tokens of the first token, then those of the second, as many for each
     * @param topLogprobs as {@code topIds}
     */
    @SuppressWarnings("ArrayRecordComponent") // written in place; nobody compares them
    private record Columns(
            int[] ids,
            long[] stamps,
            int[] stepsLater,
            float[] logprobs,
            int[] topIds,
            float[] topLogprobs,
            String[] texts) {

        /** A copy with room for so many tokens. */
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

    // The engine's side.

    /** Writes the next token, of which there are at most as many as the buffer was made for. */
    void write(int token, long nanos, long step, StepOutputs outputs, int sample) {
        Columns to = withRoom();
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

    /** Hands over text with the token that is written next: {@code text} in any case, {@code ifLast} too if no token follows. */
    void writeText(String text, String ifLast) {
        withRoom().texts[written] = text;
        rest = ifLast;
    }

    /** Returns the columns, grown if they are full. */
    private Columns withRoom() {
        Columns now = columns;
        if (written == now.ids.length) {
            now = now.grown((int) Math.min(capacity, 2L * written));
            columns = now;
        }
        return now;
    }

    /** Delivers what has been written if it is the first token, or {@code interval} tokens since the last delivery. */
    void publish(int interval) {
        if (written == 1 || written - published >= interval) {
            published = written;
            wakeReader();
        }
    }

    /**
     * Ends the stream; what has been written is delivered with it.
     *
     * @return whether this was the first ending; only that one counts
     */
    boolean end(Ending how, long nanos) {
        if (ended) {
            return false;
        }
        ending = how;
        finishedNanos = nanos;
        // In this order: a reader that sees the last token knows that it is the last; no other token looks like it.
        last = written - 1;
        published = written;
        ended = true;
        wakeReader();
        // It may lead to the stream, which is to be collected once nobody reads it.
        listener = null;
        return true;
    }

    private void wakeReader() {
        Thread waiting = reader;
        if (waiting != null) {
            LockSupport.unpark(waiting);
        }
        Runnable told = listener;
        if (told != null) {
            tell(told);
        }
    }

    /** Runs an action. What it throws, declared or not, is dropped: other requests must not fail with it. */
    private static void tell(Runnable listener) {
        try {
            DeliveryThread.run(listener);
        } catch (Throwable dropped) {
            // As TokenStream.onDelivery says.
        }
    }

    // The reader's side.

    /** Has an action run by the thread that delivers, after each delivery and the ending; at once, too, if there were any. */
    void onDelivery(Runnable action) {
        listener = action;
        if (published > 0 || ended) {
            tell(action);
        }
        if (ended) {
            listener = null;
        }
    }

    /** Makes the calling thread the one that waits, which only one can be, and not one that delivers: it would wait for itself. */
    private void enter() {
        Thread current = Thread.currentThread();
        if (DeliveryThread.isCurrent()) {
            throw new IllegalStateException(
                    "an action of onDelivery waits for a token, on a thread that delivers tokens;"
                            + " have it wake a reader, or read by poll(Duration.ZERO)");
        }
        Thread other = reader;
        if (other != null && !other.equals(current)) {
            throw new IllegalStateException(
                    (other.getName().isEmpty() ? "thread " + other.threadId() : "the thread " + other.getName())
                            + " waits for this stream's next token already; one thread reads a stream");
        }
        reader = current;
    }

    /**
     * Waits for a token or the end.
     *
     * @return whether there is a token of this index
     * @throws InterruptedException if the reading thread is interrupted
     */
    boolean await(int index) throws InterruptedException {
        if (index < published) {
            return true;
        }
        enter();
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
     * As {@link #await(int)}, for a limited time.
     *
     * @param limitNanos how long; zero or less looks without waiting
     */
    boolean await(int index, long limitNanos, Clock clock) throws InterruptedException {
        if (index < published) {
            return true;
        }
        if (limitNanos <= 0) {
            return false;
        }
        long untilNanos = clock.nanos() + limitNanos;
        enter();
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

    /** Tokens delivered so far. */
    int delivered() {
        return published;
    }

    /** Whether a token has been delivered. */
    boolean isPublished(int index) {
        return index < published;
    }

    boolean isEnded() {
        return ended;
    }

    /** Whether a delivered token is the last. One that was delivered before the ending is not known to be until then. */
    boolean isLast(int index) {
        return index == last;
    }

    int id(int index) {
        return columns.ids[index];
    }

    /** Whether the tokens come with their text. */
    boolean hasText() {
        return columns.texts.length > 0;
    }

    /** The text that a token makes certain. */
    String text(int index) {
        return columns.texts[index];
    }

    /** Returns the text after that of the last token; only once the stream has ended. */
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
     * The tokens that were read, as objects only while somebody looks at them.
     *
     * @param text of all of them
     * @param ends for each where its text ends in {@code text}
     */
    List<GeneratedToken> tokens(String text, int... ends) {
        Columns from = columns;
        int[] read = Arrays.copyOf(from.ids, ends.length);
        float[] probabilities = Arrays.copyOf(from.logprobs, from.logprobs.length == 0 ? 0 : ends.length);
        int[] candidates = Arrays.copyOf(from.topIds, ends.length * alternatives);
        float[] theirs = Arrays.copyOf(from.topLogprobs, ends.length * alternatives);
        return new ReadTokens(read, text, ends, probabilities, candidates, theirs);
    }

    /** How the request ended; empty while it runs. */
    Optional<Ending> ending() {
        return ended ? Optional.ofNullable(ending) : Optional.empty();
    }

    /** When the tokens delivered so far were there. */
    long[] stamps() {
        int count = published;
        return Arrays.copyOf(columns.stamps, count);
    }

    /** The numbers of the steps that the tokens delivered so far are of. */
    long[] steps() {
        int count = published;
        int[] stepsLater = columns.stepsLater;
        return IntStream.range(0, count)
                .mapToLong(index -> firstStep + stepsLater[index])
                .toArray();
    }

    /** When the request ended; of a stream that has. */
    long finishedNanos() {
        return finishedNanos;
    }

    /** The likeliest tokens that belong to one, out of those of all. */
    private static List<TopToken> top(int[] ids, float[] logprobs, int each, int index) {
        return each == 0
                ? List.of()
                : IntStream.range(index * each, (index + 1) * each)
                        .mapToObj(i -> new TopToken(ids[i], logprobs[i]))
                        .toList();
    }

    /** The tokens of a completion in arrays. One becomes an object when somebody looks at it, which few do. */
    private static final class ReadTokens extends AbstractList<GeneratedToken> implements RandomAccess {
        private final int[] ids;
        private final String text;
        private final int[] ends;
        private final float[] logprobs;
        private final int[] topIds;
        private final float[] topLogprobs;

        /**
         * Tokens of arrays that nobody else writes.
         *
         * @param text of all of them
         * @param ends for each where its text ends in {@code text}
         * @param logprobs one for each token; empty if none were asked for
         * @param topIds the likeliest tokens of the first, then those of the second: as many for each; empty if none were asked for
         * @param topLogprobs as {@code topIds}
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
