package io.roseinfer.backend.cuda;

import io.roseinfer.sampling.SamplingParams;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * The structs of {@code kernels/contract/structs.h}: what the host writes for the sampling kernel, and what it reads of it. Offsets
 * are in bytes. A test compares them with {@code structs.def}, against which the kernels' compiler checks the structs.
 */
final class SampleStructs {
    private static final ValueLayout INT = ValueLayout.JAVA_INT;
    private static final ValueLayout FLOAT = ValueLayout.JAVA_FLOAT;

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
                        MemoryLayout.sequenceLayout(2, INT).withName("reserved"))
                .withName("SampleRequest");

        public static final int BYTES = (int) LAYOUT.byteSize();
        public static final long SEED = offset(LAYOUT, "seed");
        public static final long TEMPERATURE = offset(LAYOUT, "temperature");
        public static final long TOP_K = offset(LAYOUT, "topK");
        public static final long TOP_P = offset(LAYOUT, "topP");
        public static final long MIN_P = offset(LAYOUT, "minP");
        public static final long REPETITION_PENALTY = offset(LAYOUT, "repetitionPenalty");
        public static final long PRESENCE_PENALTY = offset(LAYOUT, "presencePenalty");
        public static final long FREQUENCY_PENALTY = offset(LAYOUT, "frequencyPenalty");
        public static final long POSITION = offset(LAYOUT, "position");
        public static final long HISTORY_START = offset(LAYOUT, "historyStart");
        public static final long HISTORY_LENGTH = offset(LAYOUT, "historyLength");
        public static final long PROMPT_LENGTH = offset(LAYOUT, "promptLength");
        public static final long LOGPROBS = offset(LAYOUT, "logprobs");

        private Request() {}
    }

    /** The log-probabilities of one sample. */
    public static final class Report {
        static final StructLayout LAYOUT = MemoryLayout.structLayout(
                        FLOAT.withName("logprob"),
                        MemoryLayout.sequenceLayout(SamplingParams.MAX_LOGPROBS, INT)
                                .withName("tokens"),
                        MemoryLayout.sequenceLayout(SamplingParams.MAX_LOGPROBS, FLOAT)
                                .withName("logprobs"),
                        MemoryLayout.sequenceLayout(3, INT).withName("reserved"))
                .withName("SampleReport");

        public static final int BYTES = (int) LAYOUT.byteSize();
        public static final long LOGPROB = offset(LAYOUT, "logprob");
        public static final long TOKENS = offset(LAYOUT, "tokens");
        public static final long LOGPROBS = offset(LAYOUT, "logprobs");

        private Report() {}
    }

    /** All structs. A method, since a constant here and those of the nested classes would each wait for the other. */
    static List<StructLayout> all() {
        return List.of(Request.LAYOUT, Report.LAYOUT);
    }

    private static long offset(StructLayout struct, String field) {
        return struct.byteOffset(PathElement.groupElement(field));
    }
}
