package io.roseinfer.bench.compare;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.StrictJson;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * The results files of {@code bench sweep} and {@code bench ab}: an object {@code roseinfer} with
 *
 * <pre>
 * schema, kind                 2; "sweep" or "ab"
 * command[]                    the arguments of the command
 * shared[]                     those of them that all runs share, as arguments of bench serve
 * goodput                      most milliseconds by metric that make a request good; empty without
 * environments[]               what the runs were measured on, as in a run's file but without the warm-up; more than one where a
 *                              sweep was resumed on another machine
 * of a sweep
 *   attainment                 the share of requests that must be good, 0 to 1
 *   points[]                   in the order they were measured
 *     flags                    what was varied, with the value it had
 *     figures                  as {@link SweepPoint} has them
 *     failed, reasons[]        requests that failed; why the run does not count, empty if it does
 *     meets                    whether it meets the objective
 *   settings[]                 for each setting of what was varied beside the rate
 *     flags                    its flags
 *     highest, knee            rates of {@link Sweep#highest} and {@link Sweep#knee}, null where there is none and where it is not known
 *     highest_below, knee_below
 *                              the next rate that was measured, for which it is not so; null if it is so for all
 *     highest_undecided_by, knee_undecided_by
 *                              index of the point that would decide it and does not count; null where it is known
 *   pareto[]                   indices of the points that no other one beats
 * of a comparison
 *   a, b                       the arguments of the arms
 *   metric, no_worse_than      the figure that decides, and the share by which b may be worse
 *   worse                      whether the interval excludes that b is no worse than that; null if the figure has no ratio
 *   discarded                  pairs that had an invalid run
 *   pairs[]                    {seed, a, b}: figures of either arm
 *   zeros[]                    figures that are 0 in some run, so that there is no ratio
 *   ratios                     by figure, {ratio, low, high, smallest_effect} as {@link PairedRatio} has them
 * </pre>
 */
public final class CompareJson {
    private static final int SCHEMA = 2;

    private CompareJson() {}

    /** The two arms of a comparison and what decides it. */
    public record Arms(List<String> a, List<String> b, String metric, double noWorseThan, int discarded) {
        public Arms {
            a = List.copyOf(a);
            b = List.copyOf(b);
        }
    }

    /**
     * A command line.
     *
     * @param words the command's arguments, its name included
     * @param shared those of them that all of its runs share, as arguments of {@code bench serve}
     */
    public record Command(List<String> words, List<String> shared) {
        public Command {
            words = List.copyOf(words);
            shared = List.copyOf(shared);
        }
    }

    /** A sweep's document. */
    public static ObjectNode of(Sweep sweep, Command command, Map<String, Double> bounds, Set<JsonNode> environments) {
        ObjectNode root = StrictJson.mapper().createObjectNode();
        ObjectNode own = head(root, "sweep", command, bounds, environments).put("attainment", sweep.attainment());
        ArrayNode points = own.putArray("points");
        for (SweepPoint point : sweep.points()) {
            ObjectNode node = points.addObject();
            node.set("flags", value(point.flags()));
            node.set("figures", value(point.figures()));
            node.put("failed", point.failed());
            node.set("reasons", value(point.reasons()));
            node.put("meets", point.meets(sweep.attainment()));
        }
        ArrayNode settings = own.putArray("settings");
        for (Sweep.Settings setting : sweep.bySettings()) {
            ObjectNode node = settings.addObject();
            node.set("flags", value(setting.flags()));
            answer(node, "highest", sweep.highest(setting), sweep);
            answer(node, "knee", sweep.knee(setting), sweep);
        }
        ArrayNode pareto = own.putArray("pareto");
        sweep.pareto().forEach(point -> pareto.add(sweep.points().indexOf(point)));
        return root;
    }

    private static void answer(ObjectNode node, String name, Sweep.Answer answer, Sweep sweep) {
        node.set(
                name,
                value(
                        answer instanceof Sweep.Answer.Between found
                                ? found.point().figures().get(SweepPoint.OFFERED_RATE)
                                : null));
        node.set(
                name + "_below",
                value(
                        answer instanceof Sweep.Answer.Between found
                                ? found.beyond()
                                        .map(point -> point.figures().get(SweepPoint.OFFERED_RATE))
                                        .orElse(null)
                                : null));
        node.set(
                name + "_undecided_by",
                value(
                        answer instanceof Sweep.Answer.NotKnown open
                                ? sweep.points().indexOf(open.undecided())
                                : null));
    }

    /** A comparison's document. */
    public static ObjectNode of(
            Comparison comparison, Arms arms, Command command, Map<String, Double> bounds, Set<JsonNode> environments) {
        ObjectNode root = StrictJson.mapper().createObjectNode();
        ObjectNode own = head(root, "ab", command, bounds, environments);
        own.set("a", value(arms.a()));
        own.set("b", value(arms.b()));
        own.put("metric", arms.metric())
                .put("no_worse_than", arms.noWorseThan())
                .put("worse", worse(comparison.judge(arms.metric(), arms.noWorseThan())))
                .put("discarded", arms.discarded());
        own.set("pairs", value(comparison.pairs()));
        own.set("zeros", value(comparison.withZeros()));
        ObjectNode ratios = own.putObject("ratios");
        comparison
                .ratios()
                .forEach((figure, ratio) -> ratios.putObject(figure)
                        .put("ratio", ratio.ratio())
                        .put("low", ratio.low())
                        .put("high", ratio.high())
                        .put("smallest_effect", ratio.smallestEffect()));
        return root;
    }

    private static @Nullable Boolean worse(Comparison.Outcome outcome) {
        return outcome == Comparison.Outcome.UNDECIDED ? null : outcome == Comparison.Outcome.WORSE;
    }

    private static ObjectNode head(
            ObjectNode root, String kind, Command command, Map<String, Double> bounds, Set<JsonNode> environments) {
        ObjectNode own = root.putObject("roseinfer").put("schema", SCHEMA).put("kind", kind);
        own.set("command", value(command.words()));
        own.set("shared", value(command.shared()));
        own.set("goodput", value(bounds));
        own.putArray("environments").addAll(environments);
        return own;
    }

    private static JsonNode value(@Nullable Object value) {
        return StrictJson.mapper().valueToTree(value);
    }

    /** The command line of a document. */
    public static Command command(JsonNode document) {
        JsonNode own = document.path("roseinfer");
        return new Command(texts(own.path("command")), texts(own.path("shared")));
    }

    /** The lines above a text's table that say where simulated times come from; empty of measurements. */
    public static String simulated(Collection<JsonNode> environments) {
        return environments.stream()
                .map(machine -> machine.path("simulated").asString(""))
                .filter(costs -> !costs.isEmpty())
                .distinct()
                .map(costs -> "Simulated time: " + costs + "\n")
                .collect(Collectors.joining());
    }

    /** What the runs of a document were measured on. */
    public static List<JsonNode> environments(JsonNode document) {
        return document.path("roseinfer").path("environments").valueStream().toList();
    }

    /**
     * The points of a sweep's document.
     *
     * @throws BadInput if it is of another kind
     */
    public static List<SweepPoint> points(JsonNode document) {
        JsonNode own = document.path("roseinfer");
        if (!own.path("kind").asString("").equals("sweep")) {
            throw new BadInput("the file has no points of bench sweep; name another one");
        }
        List<SweepPoint> points = new ArrayList<>();
        for (JsonNode node : own.path("points")) {
            Map<String, String> flags = new LinkedHashMap<>();
            node.path("flags").forEachEntry((name, text) -> flags.put(name, text.asString("")));
            Map<String, Double> figures = new LinkedHashMap<>();
            node.path("figures").forEachEntry((name, number) -> figures.put(name, number.doubleValue()));
            points.add(new SweepPoint(flags, figures, node.path("failed").asInt(0), texts(node.path("reasons"))));
        }
        return points;
    }

    private static List<String> texts(JsonNode list) {
        return list.valueStream().map(text -> text.asString("")).toList();
    }
}
