package io.roseinfer.cli.flags;

import io.roseinfer.Settings;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.routing.RoutingPolicy;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Flags for the number of replicas and the routing of requests. */
@Heading("Device")
final class ReplicaFlags {
    @Option(
            names = {"--replicas", "--engines"},
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = {
                "Number of replicas, each with its own KV pool (default: one per --device).",
                "On cpu they share the weights and --threads; on cuda each has its own GPU."
            },
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1, max = Settings.MAX_REPLICAS)
    private Optional<Integer> replicas = Optional.empty();

    @Option(
            names = "--routing",
            paramLabel = "<POLICY|CLASS|FILE.java[:ARG]>",
            description =
                    "How to choose a replica for a request: pull (the first one with room), least-tokens, prefix, round-robin, vllm, sglang,"
                            + " dynamo, or a RoutingPolicy by class name or source file; ARG goes to its constructor.")
    private String routing = "pull";

    /**
     * Returns the number of replicas.
     *
     * @param gpus the GPUs named by {@code --device}
     */
    int count(List<Integer> gpus) {
        int count = replicas.orElse(Math.max(1, gpus.size()));
        if (gpus.size() > 1 && count != gpus.size()) {
            throw new BadInput(
                    "--replicas is " + count + " and --device names " + gpus.size() + " GPUs; give one of the two");
        }
        return count;
    }

    /** Returns whether the routing policy may depend on the state of replicas. */
    boolean routesByState() {
        return !routing.equals("pull") && !routing.equals("round-robin");
    }

    /** Returns a new routing policy. */
    RoutingPolicy policy() {
        return PolicyChoice.of("--routing", RoutingPolicy.class)
                .or("pull", RoutingPolicy::pull)
                .or("least-tokens", RoutingPolicy::leastTokens)
                .or("prefix", RoutingPolicy::prefix)
                .or("round-robin", RoutingPolicy::roundRobin)
                .or("vllm", RoutingPolicy::vllm)
                .or("sglang", RoutingPolicy::sglang)
                .or("dynamo", RoutingPolicy::dynamo)
                .make(routing);
    }
}
