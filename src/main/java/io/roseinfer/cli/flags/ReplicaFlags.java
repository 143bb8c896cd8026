package io.roseinfer.cli.flags;

import io.roseinfer.Settings;
import io.roseinfer.Settings.Placement;
import io.roseinfer.base.RoseException.BadInput;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** On how many devices a model runs, and which of them serves a request. */
final class ReplicaFlags {
    @Option(
            names = "--replicas",
            paramLabel = "<N>",
            converter = Ranges.Replicas.class,
            description = {
                "Engines that serve together, each with a KV pool of its own (default: one for each --device).",
                "On cpu they share the weights and --threads; on cuda each has a GPU."
            },
            showDefaultValue = Visibility.NEVER)
    private Optional<Integer> replicas = Optional.empty();

    @Option(
            names = "--routing",
            paramLabel = "<POLICY>",
            description = {
                "Which of several engines serves a request: pull (whichever has room first), least-tokens, prefix,",
                "round-robin, vllm, sglang, dynamo, or the name of a class that implements RoutingPolicy."
            })
    private String routing = RoutingChoice.PULL;

    /** Where a model runs. */
    Placement placement(Settings.Device device, int threads, List<Integer> gpus) {
        int count = replicas.orElse(Math.max(1, gpus.size()));
        if (gpus.size() > 1 && count != gpus.size()) {
            throw new BadInput("--replicas is " + count + " and --device names " + gpus.size()
                    + " GPUs; leave one of the two out");
        }
        return new Placement(device, threads, count, gpus.size() > 1 ? gpus : List.of(), RoutingChoice.policy(routing));
    }
}
