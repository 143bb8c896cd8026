package io.roseinfer.cli.flags;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.SpellingSuggestion;
import io.roseinfer.bench.replay.CostModel;
import io.roseinfer.bench.replay.CostTable;
import io.roseinfer.bench.replay.DeviceRates;
import io.roseinfer.bench.replay.RecordedModel;
import io.roseinfer.bench.replay.RecordedRun;
import io.roseinfer.bench.replay.Roofline;
import io.roseinfer.bench.replay.ShippedCosts;
import io.roseinfer.bench.replay.StepCosts;
import io.roseinfer.model.ModelSpec;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The step costs of a simulation. A flag names them:
 *
 * <pre>
 * NAME                             built-in costs
 * FILE[,FILE...]                   result files of one model on one device, fitted together
 * step:MS[,token:MS][,attended:MS] linear costs, in any order
 * roofline:DEVICE[:int8]           the roofline of the model on a known device, with weights in bf16 or int8
 * CLASS[:ARG], FILE.java[:ARG]     a {@link CostModel}
 * </pre>
 *
 * @param name their name in messages
 * @param model the recorded model, {@link RecordedModel#NONE} if they apply to any
 * @param costs the costs of a model's shape
 */
public record StepCostsChoice(String name, RecordedModel model, Function<ModelSpec, StepCosts> costs) {
    /** The allowed values in words. */
    static final String ALLOWED = "a result file (or several, separated by commas), step:MS,token:MS,attended:MS,"
            + " roofline:DEVICE, a CostModel as FILE.java or CLASS, or one of ";

    private static final List<String> COMPONENTS = List.of("step", "token", "attended");
    private static final String ROOFLINE = "roofline:";
    private static final String INT8 = ":int8";

    /** Maximum milliseconds of a linear cost; longer steps could end beyond the clock's range. */
    private static final double MAX_MILLIS = 1e6;

    /** Returns costs that do not depend on the model's shape. */
    static StepCostsChoice of(String name, StepCosts costs) {
        return new StepCostsChoice(name, costs.model(), model -> costs);
    }

    /**
     * Rejects costs of another model.
     *
     * @param simulated the model whose steps are simulated, as for {@code --model}
     */
    public void requireModel(String simulated, ModelSpec spec) {
        if (!model.matches(simulated, spec)) {
            String shapes = model.shape().isEmpty() ? "" : " (" + model.shape() + ")";
            String own = model.shape().isEmpty() ? "" : " (" + spec.shape() + ")";
            throw new BadInput(name + " was recorded with " + Quoted.value(model.name()) + shapes + ", but --model is "
                    + Quoted.value(simulated) + own + "; give costs of that model, or --model "
                    + Quoted.value(model.name()));
        }
    }

    /** Returns whether a value names result files. */
    static boolean isFiles(String text) {
        return !isLinear(text)
                && !text.startsWith(ROOFLINE)
                && !ShippedCosts.names().contains(text)
                && !isClass(text);
    }

    private static boolean isLinear(String text) {
        return text.matches("(step|token|attended):.*");
    }

    /** Returns whether a value is a source file, or a class name with a package and no such file. */
    private static boolean isClass(String text) {
        return ExtensionChoice.isClass(text) && (ExtensionChoice.isSource(text) || !Files.exists(Path.of(text)));
    }

    /** Reads the result files that a value names; one file may have commas in its name. */
    private static List<RecordedRun> files(String flag, String text) {
        List<String> names = isFile(text) ? List.of(text) : List.of(text.split(",", -1));
        for (String name : names) {
            if (!isFile(name)) {
                throw new BadInput(flag + (names.size() == 1 ? " is " : " has ") + Quoted.value(name)
                        + ": no such file; it must be " + allowed()
                        + SpellingSuggestion.suggestion(name, ShippedCosts.names()));
            }
        }
        return RecordedRun.readAll(names.stream().map(Path::of).toList());
    }

    private static boolean isFile(String name) {
        return !name.isEmpty() && Files.exists(Path.of(name));
    }

    private static String allowed() {
        return ALLOWED + String.join(", ", ShippedCosts.names());
    }

    /**
     * Returns the step costs that a value names. Files are read and classes created at once.
     *
     * @param flag the flag, for messages
     * @throws BadInput if the value is invalid
     */
    static StepCostsChoice of(String flag, String text) {
        String name = flag + " " + text;
        if (isFiles(text)) {
            return of(name, StepCosts.of(files(flag, text)));
        }
        if (isLinear(text)) {
            return of(name, StepCosts.of(text, linear(flag, text), 0));
        }
        if (text.startsWith(ROOFLINE)) {
            return new StepCostsChoice(name, RecordedModel.NONE, roofline(flag, text.substring(ROOFLINE.length())));
        }
        if (isClass(text)) {
            CostModel custom = ExtensionChoice.of(flag, CostModel.class).make(text);
            return of(name, StepCosts.of(text, new NamedCosts(name, custom), 0));
        }
        return of(name, ShippedCosts.load(text));
    }

    private static Function<ModelSpec, StepCosts> roofline(String flag, String text) {
        boolean int8 = text.endsWith(INT8);
        DeviceRates device;
        try {
            device = DeviceRates.named(int8 ? text.substring(0, text.length() - INT8.length()) : text);
        } catch (BadInput unknown) {
            throw new BadInput(flag + " is " + Quoted.value(ROOFLINE + text) + ": " + unknown.jsonMessage(), unknown);
        }
        return model -> new Roofline(model, device, int8 ? 1 : 2).costs();
    }

    private static CostTable linear(String flag, String text) {
        Map<String, Double> nanos = new HashMap<>();
        for (String part : text.split(",", -1)) {
            String[] pair = part.split(":", 2);
            if (pair.length < 2 || !COMPONENTS.contains(pair[0])) {
                throw new BadInput(flag + " is " + Quoted.value(text) + "; it must be " + allowed()
                        + SpellingSuggestion.suggestion(pair[0], COMPONENTS));
            }
            double millis = SimulationFlags.number(flag, pair[1], "milliseconds, as in step:2,token:0.1");
            if (millis > MAX_MILLIS) {
                throw new BadInput(
                        flag + " has " + Quoted.value(pair[1]) + " milliseconds; it must be at most 1000000");
            }
            if (nanos.put(pair[0], millis * 1e6) != null) {
                throw new BadInput(flag + " is " + Quoted.value(text) + ", which has " + pair[0]
                        + " twice; give each at most once");
            }
        }
        if (nanos.values().stream().allMatch(each -> each == 0)) {
            throw new BadInput(flag + " is " + Quoted.value(text)
                    + ", so that no step takes time; one of its numbers must be positive");
        }
        return CostTable.linear(
                nanos.getOrDefault("step", 0.0), nanos.getOrDefault("token", 0.0), nanos.getOrDefault("attended", 0.0));
    }
}
