package io.roseinfer.backend.cuda;

import io.roseinfer.backend.StepInputs;
import io.roseinfer.sampling.SampleRequest;
import io.roseinfer.sampling.SamplingParams;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * The structs of {@code kernels/contract/structs.h}, exchanged with the sampling kernel; offsets in bytes. A test compares them with
 * the table in that file, against which the kernels' compiler checks the C structs.
 */
final class SampleStructs {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT;

    private SampleStructs() {}

    /** One sample's parameters. */
    public static final class Request {
        static final StructLayout LAYOUT = MemoryLayout.structLayout(
                        ValueLayout.JAVA_LONG.withName("seed"),
                        FLOAT.withName("temperature"),
                        INT.withName("topK"),
                        FLOAT.withName("topP"),
                        FLOAT.withName("minP"),
                        FLOAT.withName("repetitionPenalty"),
                        FLOAT.withName("presencePenalty"),
                        FLOAT.withName("frequencyPenalty"),
                        INT.withName("position"),
                        INT.withName("historyStart"),
                        INT.withName("historyLength"),
                        INT.withName("promptLength"),
                        INT.withName("logprobs"),
                        INT.withName("maskStart"),
                        INT.withName("biasStart"),
                        INT.withName("reported"),
                        INT.withName("reserved"))
                .withName("SampleRequest");

        public static final int BYTES = (int) LAYOUT.byteSize();
        private static final long SEED = offset(LAYOUT, "seed");
        private static final long TEMPERATURE = offset(LAYOUT, "temperature");
        private static final long TOP_K = offset(LAYOUT, "topK");
        private static final long TOP_P = offset(LAYOUT, "topP");
        private static final long MIN_P = offset(LAYOUT, "minP");
        private static final long REPETITION_PENALTY = offset(LAYOUT, "repetitionPenalty");
        private static final long PRESENCE_PENALTY = offset(LAYOUT, "presencePenalty");
        private static final long FREQUENCY_PENALTY = offset(LAYOUT, "frequencyPenalty");
        private static final long POSITION = offset(LAYOUT, "position");
        private static final long HISTORY_START = offset(LAYOUT, "historyStart");
        private static final long HISTORY_LENGTH = offset(LAYOUT, "historyLength");
        private static final long PROMPT_LENGTH = offset(LAYOUT, "promptLength");
        private static final long LOGPROBS = offset(LAYOUT, "logprobs");
        private static final long MASK_START = offset(LAYOUT, "maskStart");
        private static final long BIAS_START = offset(LAYOUT, "biasStart");
        private static final long REPORTED = offset(LAYOUT, "reported");

        /** A start without a mask, or without biases. */
        static final int NONE = -1;

        private Request() {}

        /**
         * Writes a request without its history, mask and biases.
         *
         * @param reported the token to report, or {@link StepInputs#DRAWN}
         */
        static void write(SampleRequest request, int contextLength, int reported, MemorySegment to, long at) {
            SamplingParams params = request.params();
            to.set(ValueLayout.JAVA_LONG, at + SEED, request.seed());
            to.set(FLOAT, at + TEMPERATURE, params.temperature());
            to.set(INT, at + TOP_K, params.topK());
            to.set(FLOAT, at + TOP_P, params.topP());
            to.set(FLOAT, at + MIN_P, params.minP());
            to.set(FLOAT, at + REPETITION_PENALTY, params.repetitionPenalty());
            to.set(FLOAT, at + PRESENCE_PENALTY, params.presencePenalty());
            to.set(FLOAT, at + FREQUENCY_PENALTY, params.frequencyPenalty());
            to.set(INT, at + POSITION, contextLength);
            to.set(INT, at + LOGPROBS, params.logprobs());
            to.set(INT, at + MASK_START, NONE);
            to.set(INT, at + BIAS_START, NONE);
            to.set(INT, at + REPORTED, reported);
        }

        static void writeMask(MemorySegment to, long at, int start) {
            to.set(INT, at + MASK_START, start);
        }

        static int maskStart(MemorySegment from, long at) {
            return from.get(INT, at + MASK_START);
        }

        static void writeBiases(MemorySegment to, long at, int start) {
            to.set(INT, at + BIAS_START, start);
        }

        /** Writes the start and length of a request's tokens. */
        static void writeHistory(MemorySegment to, long at, int start, int length, int promptLength) {
            to.set(INT, at + HISTORY_START, start);
            to.set(INT, at + HISTORY_LENGTH, length);
            to.set(INT, at + PROMPT_LENGTH, promptLength);
        }
    }

    /** The log-probabilities of one sample. */
    public static final class Report {
        static final StructLayout LAYOUT = MemoryLayout.structLayout(
                        FLOAT.withName("logprob"),
                        MemoryLayout.sequenceLayout(SamplingParams.MAX_LOGPROBS, INT)
                                .withName("tokens"),
                        MemoryLayout.sequenceLayout(SamplingParams.MAX_LOGPROBS, FLOAT)
                                .withName("logprobs"),
                        INT.withName("rank"),
                        MemoryLayout.sequenceLayout(2, INT).withName("reserved"))
                .withName("SampleReport");

        public static final int BYTES = (int) LAYOUT.byteSize();
        public static final long LOGPROB = offset(LAYOUT, "logprob");
        public static final long TOKENS = offset(LAYOUT, "tokens");
        public static final long LOGPROBS = offset(LAYOUT, "logprobs");
        public static final long RANK = offset(LAYOUT, "rank");

        private Report() {}
    }

    /** Returns all structs; a constant would be a cyclic class initialization. */
    static List<StructLayout> all() {
        return List.of(Request.LAYOUT, Report.LAYOUT);
    }

    private static long offset(StructLayout struct, String field) {
        return struct.byteOffset(PathElement.groupElement(field));
    }
}
