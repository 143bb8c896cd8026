package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.routing.RoutingPolicy;
import java.lang.reflect.InvocationTargetException;

/** A routing policy as the flag spells it: one of ours by name, or anybody's by class name. */
final class RoutingChoice {
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
