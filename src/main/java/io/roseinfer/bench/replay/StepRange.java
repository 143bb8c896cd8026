package io.roseinfer.bench.replay;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The range of measured steps, apart for steps that only decode, steps of prompts, and mixed steps. A step is within the range if a measured
 * step of its kind had a like number of tokens, and at least as many KV tokens: many short rows do not measure few long ones.
 *
 * @param decode steps that only decode; a draft counts as a token
 * @param prompts steps of prompts alone, whose KV tokens are not counted
 * @param mixed steps of prompts and decode rows, with the KV tokens of the decode rows
 * @param maxContext maximum of {@link StepShape#context} in tokens, {@link #UNKNOWN} if it was not recorded
 */
public record StepRange(Kind decode, Kind prompts, Kind mixed, long maxContext) {
    /** A number that is unknown, and so contains all steps. */
    public static final long UNKNOWN = Long.MAX_VALUE;

    /** All steps, for costs that were not measured. */
    public static final StepRange ALL = new StepRange(Kind.ALL, Kind.ALL, Kind.ALL, UNKNOWN);

    /**
     * A measured step.
     *
     * @param kvTokens positions that it attends to, {@link #UNKNOWN} if they were not recorded
     */
    public record Measured(int tokens, long kvTokens) {
        private Measured max(Measured other) {
            return new Measured(Math.max(tokens, other.tokens), Math.max(kvTokens, other.kvTokens));
        }
    }

    /**
     * The measured steps of a kind.
     *
     * @param minTokens minimum tokens of a step
     * @param largest maximum tokens and maximum KV tokens of each octave of tokens, by descending tokens; empty if none was measured
     */
    public record Kind(int minTokens, List<Measured> largest) {
        private static final Kind ALL = new Kind(0, List.of(new Measured(Integer.MAX_VALUE, UNKNOWN)));

        public Kind {
            largest = List.copyOf(largest);
        }

        private static Kind of(List<Measured> steps) {
            Map<Integer, Measured> byOctave = new TreeMap<>(Comparator.reverseOrder());
            for (Measured step : steps) {
                int octave = Integer.SIZE - Integer.numberOfLeadingZeros(step.tokens() - 1);
                byOctave.merge(octave, step, Measured::max);
            }
            return new Kind(steps.stream().mapToInt(Measured::tokens).min().orElse(0), List.copyOf(byOctave.values()));
        }

        /** Returns the maximum tokens of a step, 0 if none was measured. */
        public int maxTokens() {
            return largest.isEmpty() ? 0 : largest.getFirst().tokens();
        }

        private long maxKvTokens() {
            return largest.stream().mapToLong(Measured::kvTokens).max().orElse(0);
        }

        private boolean contains(int tokens, long kvTokens) {
            long most = -1;
            for (int i = 0; i < largest.size() && tokens <= largest.get(i).tokens(); i++) {
                most = largest.get(i).kvTokens();
            }
            return tokens >= minTokens && kvTokens <= most;
        }

        private String words(String unit) {
            if (largest.isEmpty()) {
                return "none";
            }
            return minTokens + " to " + maxTokens() + " " + unit
                    + (maxKvTokens() == UNKNOWN ? "" : " and up to " + maxKvTokens() + " KV tokens");
        }
    }

    static StepRange of(List<StepShape> steps) {
        // Without the longest rows, only means of contexts are known, which are below their maximum.
        boolean hasLongest = steps.stream().anyMatch(step -> step.longest() > 0);
        boolean hasAttended = steps.stream().anyMatch(step -> step.attended() > 0);
        return new StepRange(
                kind(steps.stream().filter(StepShape::isDecode).toList(), hasAttended),
                kind(
                        steps.stream()
                                .filter(step -> !step.isDecode() && !step.isMixed())
                                .toList(),
                        false),
                kind(steps.stream().filter(StepShape::isMixed).toList(), hasAttended),
                hasLongest ? steps.stream().mapToLong(StepShape::context).max().orElse(0) : UNKNOWN);
    }

    private static Kind kind(List<StepShape> steps, boolean countsKv) {
        return Kind.of(steps.stream()
                .map(step -> new Measured(step.tokens(), countsKv ? step.decodeAttended() : UNKNOWN))
                .toList());
    }

    /** Returns the range without mixed steps, if too few were measured. */
    StepRange withoutMixed() {
        return new StepRange(decode, prompts, new Kind(0, List.of()), maxContext);
    }

    /** Returns whether any mixed step is within the range. */
    boolean hasMixed() {
        return !mixed.largest().isEmpty();
    }

    /** Returns whether a step is within the range. */
    public boolean contains(StepShape step) {
        Kind kind = step.isDecode() ? decode : step.isMixed() ? mixed : prompts;
        return kind.contains(step.tokens(), step.isDecode() || step.isMixed() ? step.decodeAttended() : 0)
                && step.context() <= maxContext;
    }

    /** Returns the range in words, without unknown maxima. */
    String words() {
        return "decode of " + decode.words("rows") + "; prompts of " + prompts.words("tokens") + "; both together: "
                + mixed.words("tokens")
                + (maxContext == UNKNOWN ? "" : "; contexts up to " + maxContext + " tokens");
    }
}
