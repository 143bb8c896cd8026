package io.roseinfer.cli.terminal;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;

/**
 * Counterparts of vLLM's flags. By spelling alone, {@code --enable-chunked-prefill} would match
 * {@code --no-chunked-prefill}, its opposite.
 */
final class VllmFlags {
    private static final String MEMORY = "is --kv-blocks here: the number of KV blocks in the pool";
    private static final String ADDRESS = "is part of --base-url here, as in --base-url http://127.0.0.1:8000";

    private static final String SAMPLING = "is a field of --extra-body here, as in --extra-body '{\"top_p\": 0.9}'";

    /** The counterpart of each flag; used only by commands that have the flags it requires. */
    private static final Map<String, Counterpart> COUNTERPARTS = Map.ofEntries(
            counterpart(
                    "--max-num-seqs",
                    "is --max-batch-size (rows of a decode step) or --max-active-requests (requests that run) here",
                    "--max-batch-size",
                    "--max-active-requests"),
            counterpart("--max-num-batched-tokens", "is --prefill-max-tokens here", "--prefill-max-tokens"),
            counterpart("--enable-chunked-prefill", "is --chunked-prefill here", "--chunked-prefill"),
            counterpart("--no-enable-chunked-prefill", "is --no-chunked-prefill here", "--no-chunked-prefill"),
            counterpart("--gpu-memory-utilization", MEMORY, "--kv-blocks"),
            counterpart("--num-gpu-blocks-override", MEMORY, "--kv-blocks"),
            counterpart("--enforce-eager", "is --no-cuda-graph here", "--no-cuda-graph"),
            counterpart(
                    "--tensor-parallel-size",
                    "is not supported: models are not split; --replicas runs several copies",
                    "--replicas"),
            counterpart(
                    "--enable-prefix-caching", "is on by default; --no-prefix-cache disables it", "--no-prefix-cache"),
            counterpart("--no-enable-prefix-caching", "is --no-prefix-cache here", "--no-prefix-cache"),
            counterpart("--host", ADDRESS, "--base-url"),
            counterpart("--port", ADDRESS, "--base-url"),
            counterpart("--endpoint", "is --endpoint-type here: completions or chat", "--endpoint-type"),
            counterpart(
                    "--disable-tqdm",
                    "is not needed: a progress bar appears on a terminal only; leave it out",
                    "--base-url"),
            counterpart(
                    "--tokenizer",
                    "is not needed: random prompts are token ids, and the server counts tokens; leave it out",
                    "--base-url"),
            counterpart(
                    "--result-dir",
                    "is part of --result-filename (or --json) here, which takes a path",
                    "--result-filename"),
            counterpart("--top-p", SAMPLING, "--extra-body"),
            counterpart("--top-k", SAMPLING, "--extra-body"),
            counterpart("--min-p", SAMPLING, "--extra-body"),
            counterpart("--save-detailed", "is not needed: the --json file has every request", "--json", "--base-url"));

    private record Counterpart(String text, List<String> needed) {}

    private VllmFlags() {}

    private static Map.Entry<String, Counterpart> counterpart(String flag, String text, String... needed) {
        return Map.entry(flag, new Counterpart(text, List.of(needed)));
    }

    /** Returns the end of the message for a flag of vLLM; empty for other flags, or if the command has no counterpart. */
    static Optional<String> suggestion(String flag, CommandSpec command) {
        return Optional.ofNullable(COUNTERPARTS.get(flag))
                .filter(counterpart -> counterpart.needed().stream().allMatch(needed -> has(command, needed)))
                .map(counterpart -> "; vLLM's " + flag + " " + counterpart.text());
    }

    private static boolean has(CommandSpec command, String option) {
        return command.optionsMap().containsKey(option)
                || command.negatedOptionsMap().containsKey(option);
    }
}
