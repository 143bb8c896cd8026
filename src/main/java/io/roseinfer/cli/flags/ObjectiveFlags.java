package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.load.OfferedLoad;
import io.roseinfer.bench.report.Objectives;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.Stack;
import java.util.TreeSet;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.IParameterConsumer;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Flags for the latency objective and the validity of a run. */
@Heading("Objective and validity")
public final class ObjectiveFlags {
    private static final List<String> BOUNDED = List.of("ttft", "tpot", "e2el");

    /** Consumes at least one word, and all further words that look like bounds. */
    static final class Bounds implements IParameterConsumer {
        @Override
        public void consumeParameters(Stack<String> words, ArgSpec flag, CommandSpec command) {
            if (words.isEmpty()) {
                throw new ParameterException(command.commandLine(), "--goodput has no value; give METRIC:MS");
            }
            List<String> bounds = new ArrayList<>(List.of(words.pop()));
            while (!words.isEmpty() && words.peek().matches("\\w+:\\S*")) {
                bounds.add(words.pop());
            }
            flag.setValue(bounds);
        }
    }

    @Option(
            names = "--goodput",
            paramLabel = "<METRIC:MS>",
            parameterConsumer = Bounds.class,
            description =
                    "Also count the requests within all of these bounds on ttft, tpot and e2el, as in ttft:200 tpot:50.",
            showDefaultValue = Visibility.NEVER)
    private List<String> goodput = List.of();

    @Option(
            names = "--slo",
            paramLabel = "<NAME=METRIC:MS,...>",
            description =
                    "Bounds of the requests of a class instead of --goodput, as in chat=ttft:200,tpot:50; repeat it for further classes.",
            showDefaultValue = Visibility.NEVER)
    private List<String> slos = List.of();

    @Option(
            names = "--max-dispatch-lag-ms",
            paramLabel = "<MS>",
            preprocessor = Within.Check.class,
            description = "A run is invalid if its p99 dispatch lag exceeds both this and 1 %% of the median TTFT.")
    @Within(above = 0)
    private double maxLagMillis = 2;

    @Option(
            names = "--max-failed",
            paramLabel = "<PERCENT>",
            preprocessor = Within.Check.class,
            description =
                    "A run is invalid if more of its requests fail; 100 accepts any number. In a sweep, failed requests only miss the objective.")
    @Within(min = 0, max = 100)
    private double maxFailedPercent = 1;

    /** Returns the maximum share of failed requests, 0 to 1. */
    public double maxFailed() {
        return maxFailedPercent / 100;
    }

    public double maxLagMillis() {
        return maxLagMillis;
    }

    /**
     * Returns the bounds of good requests.
     *
     * @throws BadInput if a bound is wrong, or two are for the same class
     */
    public Objectives objectives() {
        Map<String, Map<String, Double>> classes = new LinkedHashMap<>();
        for (String slo : slos) {
            String[] parts = slo.split("=", 2);
            if (parts.length < 2 || parts[0].isEmpty()) {
                throw new BadInput("--slo is '" + slo + "'; it must be NAME=METRIC:MS, as in chat=ttft:200,tpot:50");
            }
            if (classes.put(parts[0], bounds("--slo " + parts[0], List.of(parts[1].split(",", -1)))) != null) {
                throw new BadInput("--slo defines '" + parts[0] + "' twice; leave one out");
            }
        }
        return new Objectives(bounds("--goodput", goodput), classes);
    }

    private static Map<String, Double> bounds(String flag, List<String> texts) {
        Map<String, Double> bounds = new LinkedHashMap<>();
        for (String bound : texts) {
            String[] parts = bound.split(":", -1);
            try {
                if (parts.length == 2 && BOUNDED.contains(parts[0]) && Double.parseDouble(parts[1]) >= 0) {
                    bounds.put(parts[0], Double.valueOf(parts[1]));
                    continue;
                }
            } catch (NumberFormatException notNumber) {
                // Reported below.
            }
            throw new BadInput(flag + " is '" + bound + "'; it must be ttft:MS, tpot:MS or e2el:MS, as in ttft:200");
        }
        return bounds;
    }

    /**
     * Rejects a load whose classes have no bounds, and bounds of classes for a load without any. The bounds of {@code --goodput} are those of
     * every class without its own.
     *
     * @throws BadInput if a request is of a class without bounds, or no request has a class but a flag defines one
     */
    public void requireBounds(OfferedLoad load) {
        Set<String> defined = objectives().slos().keySet();
        load.turns()
                .filter(request -> request.traits().slo().isPresent())
                .flatMap(request -> request.traits().slo().stream())
                .filter(name -> goodput.isEmpty() && !defined.contains(name))
                .findFirst()
                .ifPresent(name -> {
                    throw new BadInput("the load has requests of class " + name
                            + ", which has no bounds; add --goodput or --slo " + name + "=ttft:MS,tpot:MS");
                });
        if (!defined.isEmpty()
                && load.turns().noneMatch(request -> request.traits().slo().isPresent())) {
            throw new BadInput(
                    "--slo has bounds of class " + String.join(", ", defined) + ", but no request has a class;"
                            + " add slo to --tenant or to the lines of a jsonl file, or use --goodput");
        }
    }

    /** Returns a note on each class with bounds that no request of a load has. */
    public List<String> notes(OfferedLoad load) {
        Set<String> unused = new TreeSet<>(objectives().slos().keySet());
        load.turns().forEach(request -> request.traits().slo().ifPresent(unused::remove));
        return unused.stream()
                .map(name -> "--slo " + name + " has no effect: no request of the load has this class")
                .toList();
    }
}
