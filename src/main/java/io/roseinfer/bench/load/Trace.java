package io.roseinfer.bench.load;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SplitMix64;
import io.roseinfer.engine.Prompt;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A recorded or generated load.
 *
 * @param entries the requests in order of their times; the first time is 0
 * @param hasTimes whether the times are meaningful
 * @param leftOut recorded requests that cannot be repeated, because they failed or have no prompt
 */
public record Trace(List<TraceEntry> entries, boolean hasTimes, int leftOut) {
    private static final long UNIQUE = 5;
    private static final long BLOCK = 6;

    public Trace {
        entries = List.copyOf(entries);
    }

    /** Creates a trace from entries in any order and with any time origin. */
    static Trace of(List<TraceEntry> entries, boolean hasTimes, int leftOut) {
        List<TraceEntry> sorted = new ArrayList<>(entries);
        sorted.sort(Comparator.comparingLong(TraceEntry::offsetNanos));
        long first = sorted.isEmpty() ? 0 : sorted.getFirst().offsetNanos();
        return new Trace(
                sorted.stream()
                        .map(entry -> entry.withOffsetNanos(entry.offsetNanos() - first))
                        .toList(),
                hasTimes,
                leftOut);
    }

    /**
     * The parameters of a replay.
     *
     * @param outputTokens output length of requests that specify none
     * @param context maximum tokens of prompt plus completion; longer requests are clipped, prompts at their end
     * @param vocabularySize exclusive upper bound of generated ids
     * @param seed seed of generated ids; equal blocks stay equal under any seed
     */
    public record Terms(int outputTokens, int context, int vocabularySize, long seed) {
        public Terms {
            if (context < 2) {
                throw new BadInput("--clip-to is " + context + "; it must be 2 or more, for a prompt and a completion");
            }
        }
    }

    /**
     * The requests of a trace, and counts of changes.
     *
     * @param requests the requests at the trace's times
     * @param counts counts by name: {@code requests}, {@code left_out}, {@code clipped_prompts}, {@code clipped_prompt_tokens},
     *     {@code clipped_outputs}, {@code clipped_output_tokens}
     */
    public record Replay(List<OfferedRequest> requests, Map<String, Long> counts) {
        public Replay {
            requests = List.copyOf(requests);
            counts = Collections.unmodifiableMap(new LinkedHashMap<>(counts));
        }

        /** Returns one line about clipped and omitted requests; empty if there are none. */
        public String changes() {
            List<String> parts = new ArrayList<>();
            add(parts, "left_out", " recorded requests are left out: they had failed or were empty");
            add(
                    parts,
                    "clipped_prompts",
                    " prompts are clipped, by " + count("clipped_prompt_tokens") + " tokens in total");
            add(
                    parts,
                    "clipped_outputs",
                    " completions are clipped, by " + count("clipped_output_tokens") + " tokens in total");
            return String.join("; ", parts);
        }

        private void add(List<String> parts, String name, String text) {
            if (count(name) > 0) {
                parts.add(count(name) + text);
            }
        }

        private long count(String name) {
            return counts.getOrDefault(name, 0L);
        }
    }

    /** Creates the requests. Token ids are derived from block hashes, so that shared prefixes are preserved. */
    public Replay replay(Terms terms) {
        Map<String, Long> counts = new LinkedHashMap<>();
        counts.put("requests", (long) entries.size());
        counts.put("left_out", (long) leftOut);
        List<OfferedRequest> requests = new ArrayList<>();
        for (int i = 0; i < entries.size(); i++) {
            TraceEntry entry = entries.get(i);
            int input = Math.min(entry.inputTokens(), terms.context() - 1);
            clipped(counts, "prompt", entry.inputTokens() - input);
            int asked = entry.outputTokens() > 0 ? entry.outputTokens() : terms.outputTokens();
            int output = Math.min(asked, terms.context() - input);
            clipped(counts, "output", asked - output);
            requests.add(OfferedRequest.of(entry.offsetNanos(), source(entry, i, input, terms), output));
        }
        return new Replay(requests, counts);
    }

    private static void clipped(Map<String, Long> counts, String what, int tokens) {
        if (tokens > 0) {
            counts.merge("clipped_" + what + "s", 1L, Long::sum);
            counts.merge("clipped_" + what + "_tokens", (long) tokens, Long::sum);
        }
    }

    private static PromptSource source(TraceEntry entry, int index, int tokens, Terms terms) {
        return entry.text().isPresent()
                ? PromptSource.of(new Prompt.Text(entry.text().get()))
                : new Source(entry, index, tokens, terms);
    }

    /** The prompt of entry {@code index} as token ids. */
    private record Source(TraceEntry entry, int index, int tokens, Terms terms) implements PromptSource {
        @Override
        public Prompt prompt() {
            long unique = SplitMix64.at(SplitMix64.at(terms.seed(), UNIQUE), index);
            long blocks = SplitMix64.at(terms.seed(), BLOCK);
            int[] ids = new int[tokens];
            int known = Math.min(tokens, entry.blockHashes().size() * entry.blockSize());
            for (int from = 0; from < known; from += entry.blockSize()) {
                long key = SplitMix64.at(blocks, entry.blockHashes().get(from / entry.blockSize()));
                int to = Math.min(known, from + entry.blockSize());
                for (int i = from; i < to; i++) {
                    ids[i] = RandomPrompts.id(key, i - from, terms.vocabularySize());
                }
            }
            for (int i = known; i < tokens; i++) {
                ids[i] = RandomPrompts.id(unique, i, terms.vocabularySize());
            }
            return new Prompt.Tokens(ids);
        }
    }
}
