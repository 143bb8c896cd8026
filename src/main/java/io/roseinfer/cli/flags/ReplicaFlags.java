package io.roseinfer.cli.flags;

import io.roseinfer.Settings;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.routing.RoutingPolicy;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Flags for the number of replicas and the routing of requests. */
@Heading("Device")
final class ReplicaFlags {
    /**
     * A built-in routing policy.
     *
     * @param usesState whether it depends on the state of replicas
     * @param argument its argument, if it has one, which may be omitted
     */
    private record BuiltIn(
            String name, boolean usesState, Supplier<RoutingPolicy> policy, Optional<Argument> argument) {
        BuiltIn(String name, boolean usesState, Supplier<RoutingPolicy> policy) {
            this(name, usesState, policy, Optional.empty());
        }

        String form() {
            return name + argument.map(known -> "[:" + known.label + "]").orElse("");
        }
    }

    private record Argument(String label, Function<String, RoutingPolicy> policy) {}

    private static final List<BuiltIn> BUILT_IN = List.of(
            new BuiltIn("pull", false, RoutingPolicy::pull),
            new BuiltIn("least-tokens", true, RoutingPolicy::leastTokens),
            new BuiltIn("prefix", true, RoutingPolicy::prefix),
            new BuiltIn("round-robin", false, RoutingPolicy::roundRobin),
            new BuiltIn("vllm", true, RoutingPolicy::vllm),
            new BuiltIn("sglang", true, RoutingPolicy::sglang),
            new BuiltIn(
                    "dynamo",
                    true,
                    RoutingPolicy::dynamo,
                    Optional.of(new Argument("W", weight -> RoutingPolicy.dynamo(Double.parseDouble(weight))))));

    /** The names of the built-in policies with their arguments, for the help. */
    static final class Forms implements Iterable<String> {
        @Override
        public Iterator<String> iterator() {
            return BUILT_IN.stream().map(BuiltIn::form).iterator();
        }
    }

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
            completionCandidates = Forms.class,
            description =
                    "How to choose a replica for a request: ${COMPLETION-CANDIDATES}, or a RoutingPolicy by class name or source file;"
                            + " ARG goes to its constructor. pull takes the first one with room; W is the weight of the prompt tokens to compute (default: 1).")
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
        return BUILT_IN.stream().noneMatch(known -> known.name.equals(routing) && !known.usesState);
    }

    /** Returns a new routing policy. */
    RoutingPolicy policy() {
        ExtensionChoice<RoutingPolicy> choice = ExtensionChoice.of("--routing", RoutingPolicy.class);
        for (BuiltIn known : BUILT_IN) {
            choice.or(known.name, known.policy);
            known.argument.ifPresent(argument -> choice.orWithArgument(known.name, argument.label, argument.policy));
        }
        return choice.make(routing);
    }
}
