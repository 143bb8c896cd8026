package io.roseinfer.cli.flags;

import io.roseinfer.Settings;
import io.roseinfer.Settings.Placement;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.routing.RoutingPolicy;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** On how many devices a model runs, and which of them serves a request. */
final class ReplicaFlags {
    @Option(
            names = "--replicas",
            paramLabel = "<N>",
            preprocessor = Within.Check.class,
            description = {
                "Engines that serve together, each with a KV pool of its own (default: one for each --device).",
                "On cpu they share the weights and --threads; on cuda each has a GPU."
            },
            showDefaultValue = Visibility.NEVER)
    @Within(min = 1, max = Settings.MAX_REPLICAS)
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
        return new Placement(device, threads, count, gpus.size() > 1 ? gpus : List.of(), policy());
    }

    /** A routing policy that has served no run yet. */
    RoutingPolicy policy() {
        return RoutingChoice.policy(routing);
    }

    /** A routing policy as the flag spells it: one of ours by name, or anybody's by class name. */
    private static final class RoutingChoice {
        static final String PULL = "pull";

        private static final String NAMES = "pull, least-tokens, prefix, round-robin, vllm, sglang or dynamo";

        private RoutingChoice() {}

        /** Makes a policy. */
        static RoutingPolicy policy(String text) {
            return switch (text) {
                case PULL -> RoutingPolicy.pull();
                case "least-tokens" -> RoutingPolicy.leastTokens();
                case "prefix" -> RoutingPolicy.prefix();
                case "round-robin" -> RoutingPolicy.roundRobin();
                case "vllm" -> RoutingPolicy.vllm();
                case "sglang" -> RoutingPolicy.sglang();
                case "dynamo" -> RoutingPolicy.dynamo();
                default -> byClassName(text);
            };
        }

        private static RoutingPolicy byClassName(String text) {
            try {
                return Class.forName(text)
                        .asSubclass(RoutingPolicy.class)
                        .getDeclaredConstructor()
                        .newInstance();
            } catch (InvocationTargetException e) {
                throw new BadInput("--routing is '" + text + "', whose constructor failed: " + e.getCause(), e);
            } catch (ReflectiveOperationException | LinkageError | ClassCastException e) {
                throw new BadInput(
                        "--routing is '" + text + "'; it must be " + NAMES + ", or a public class on the class path"
                                + " (ROSEINFER_CLASSPATH=FOLDER) that implements " + RoutingPolicy.class.getName()
                                + " and has a public constructor without parameters",
                        e);
            }
        }
    }
}
