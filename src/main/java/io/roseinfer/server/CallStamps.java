package io.roseinfer.server;

import io.roseinfer.base.Clock;
import io.roseinfer.base.MachineClock;
import io.roseinfer.engine.Completion;
import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.http.HttpCall;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The timestamps of one call, from its first byte to the write of its last token, for clients that send the header
 * {@code X-Roseinfer-Stamps: 1}. They are nanoseconds of the server's clock, which a client on the same machine (with
 * the same boot id) can read as well.
 */
final class CallStamps {
    private static final String HEADER = "x-roseinfer-stamps";
    private static final int FIRST_TOKENS = 64;

    private final boolean asked;
    private final Clock clock;
    private final HttpCall.Arrival arrival;
    private final long begunNanos;
    private final List<Choice> choices = new ArrayList<>();
    private long parsedNanos;
    private long tokenizedNanos;

    /** Creates the timestamps of a call whose thread has just started. */
    CallStamps(Exchange exchange, Clock clock) {
        this.asked = asked(exchange.call());
        this.clock = clock;
        this.arrival = exchange.call().arrival();
        this.begunNanos = exchange.startNanos();
    }

    private static boolean asked(HttpCall call) {
        String value = call.header(HEADER).orElse("0");
        if (!value.equals("0") && !value.equals("1")) {
            throw ApiError.badField(HEADER, "the header X-Roseinfer-Stamps must be 1 for timestamps, or 0");
        }
        return value.equals("1");
    }

    /** Returns whether the client requested timestamps. */
    boolean asked() {
        return asked;
    }

    /** Records that the body is parsed. */
    void parsed() {
        parsedNanos = clock.nanos();
    }

    /** Records that the fields are checked and the prompts encoded. */
    void tokenized() {
        tokenizedNanos = clock.nanos();
    }

    /** Returns the timestamps of the next choice. */
    Choice addChoice() {
        Choice choice = new Choice();
        choices.add(choice);
        return choice;
    }

    /** Adds the timestamps of a call whose completions have ended to its response. */
    void addTo(ObjectNode response, List<Completion> completions) {
        ObjectNode stamps = response.putObject("stamps")
                .put("boot_id", MachineClock.bootId().orElse(null))
                .put("first_byte_ns", arrival.firstByteNanos())
                .put("head_ns", arrival.headNanos())
                .put("body_ns", arrival.bodyNanos())
                .put("begun_ns", begunNanos)
                .put("parsed_ns", parsedNanos)
                .put("tokenized_ns", tokenizedNanos);
        ArrayNode all = stamps.putArray("choices");
        for (int index = 0; index < completions.size(); index++) {
            describe(all.addObject().put("index", index), completions.get(index), choices.get(index));
        }
    }

    private static void describe(ObjectNode node, Completion completion, Choice choice) {
        RequestTimeline timeline = completion.timeline();
        node.put("submitted_ns", timeline.submittedNanos())
                .put("queued_ns", timeline.tokenizedNanos())
                .put("admitted_ns", timeline.admittedNanos())
                .put("engine", timeline.replica())
                .put("cached_tokens", completion.cachedTokens());
        put(node, "steps", timeline.tokenSteps());
        put(node, "sampled_ns", timeline.tokenNanos());
        put(node, "read_ns", choice.read());
        put(node, "written_ns", choice.written());
        node.put("finished_ns", timeline.finishedNanos());
    }

    private static void put(ObjectNode node, String name, long... values) {
        ArrayNode list = node.putArray(name);
        for (long value : values) {
            list.add(value);
        }
    }

    /** The timestamps of one choice that the server takes; the engine's come with the completion. */
    final class Choice {
        private long[] readNanos = {};
        private long[] writtenNanos = {};
        private int read;
        private int written;

        /** Records that the next token was read from the engine. */
        void tokenRead() {
            if (asked) {
                if (read == readNanos.length) {
                    readNanos = Arrays.copyOf(readNanos, 2 * read + FIRST_TOKENS);
                }
                readNanos[read++] = clock.nanos();
            }
        }

        /** Records that the socket was given the events of all tokens read so far. */
        void tokensWritten() {
            if (written < read) {
                if (writtenNanos.length < read) {
                    writtenNanos = Arrays.copyOf(writtenNanos, readNanos.length);
                }
                Arrays.fill(writtenNanos, written, read, clock.nanos());
                written = read;
            }
        }

        private long[] read() {
            return Arrays.copyOf(readNanos, read);
        }

        private long[] written() {
            return Arrays.copyOf(writtenNanos, written);
        }
    }
}
