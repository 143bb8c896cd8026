package io.roseinfer.backend.cuda;

import io.roseinfer.sampling.SamplingParams;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The structs of {@code kernels/contract/structs.h}: what the host writes for the sampling kernel, and what it reads of it. Offsets
 * are in bytes. {@link #requireContract} holds them to {@code structs.def}, to which the compiler of the kernels holds the structs.
 */
final class SampleStructs {
    private static final String FILE = "structs.def";
    private static final ValueLayout INT = ValueLayout.JAVA_INT;
    private static final ValueLayout FLOAT = ValueLayout.JAVA_FLOAT;
    private static final Pattern STRUCT = Pattern.compile("STRUCT\\((\\w+), (\\d+)\\)");
    private static final Pattern FIELD = Pattern.compile("FIELD\\((\\w+), (\\w+), (\\d+), (\\d+)\\)");

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

    /**
     * Refuses to go on where the kernels were compiled for other layouts.
     *
     * @param lines of {@code structs.def}
     * @throws io.roseinfer.base.RoseException.BackendUnavailable if a struct or a field differs: the message names it
     */
    static void requireContract(List<StructLayout> structs, List<String> lines) {
        Set<String> missing = new TreeSet<>();
        for (StructLayout struct : structs) {
            missing.add(name(struct));
            struct.memberLayouts().forEach(field -> missing.add(name(struct) + "." + name(field)));
        }
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (!line.isBlank() && !line.startsWith("//")) {
                missing.remove(requireLine(structs, i + 1, line));
            }
        }
        if (!missing.isEmpty()) {
            throw Contract.refusal(FILE, 0, "lacks " + String.join(", ", missing) + ", which the engine has");
        }
    }

    /** The layouts of this build. */
    public static void requireContract() {
        requireContract(all(), Contract.lines(FILE));
    }

    /** Returns the struct, or struct and field, that the line is about. */
    private static String requireLine(List<StructLayout> structs, int number, String line) {
        Matcher struct = STRUCT.matcher(line);
        if (struct.matches()) {
            StructLayout found = find(structs, number, struct.group(1));
            requireEqual(number, name(found), "size", Long.parseLong(struct.group(2)), found.byteSize());
            return name(found);
        }
        Matcher field = FIELD.matcher(line);
        if (!field.matches()) {
            throw Contract.refusal(
                    FILE,
                    number,
                    "\"" + line + "\"; STRUCT(name, bytes) or FIELD(struct, field, offset," + " bytes) is expected");
        }
        StructLayout in = find(structs, number, field.group(1));
        String name = name(in) + "." + field.group(2);
        MemoryLayout found = in.memberLayouts().stream()
                .filter(member -> name(member).equals(field.group(2)))
                .findFirst()
                .orElseThrow(() -> Contract.refusal(FILE, number, "the engine knows no " + name));
        requireEqual(number, name, "offset", Long.parseLong(field.group(3)), offset(in, field.group(2)));
        requireEqual(number, name, "size", Long.parseLong(field.group(4)), found.byteSize());
        return name;
    }

    private static StructLayout find(List<StructLayout> structs, int number, String name) {
        return structs.stream()
                .filter(struct -> name(struct).equals(name))
                .findFirst()
                .orElseThrow(() -> Contract.refusal(FILE, number, "the engine knows no struct " + name));
    }

    private static void requireEqual(int line, String name, String what, long kernels, long engine) {
        if (kernels != engine) {
            throw Contract.refusal(
                    FILE,
                    line,
                    "the " + what + " of " + name + " is " + kernels + " bytes in the kernels and " + engine
                            + " in the engine");
        }
    }

    private static String name(MemoryLayout layout) {
        return layout.name().orElseThrow();
    }
}
