package io.roseinfer.golden;

import io.roseinfer.backend.ModelRunner;
import io.roseinfer.backend.RunnerLimits;
import io.roseinfer.backend.StepDriver;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.tensor.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;

/** Computes with a runner every logits tensor that a golden holds. */
public final class GoldenLogits {
    /** The way a runner reaches the position of the wanted logits. */
    public enum Way {
        /** All tokens up to it in one step. */
        PREFILL,
        /** One token per step. */
        DECODE
    }

    /** A row of logits a golden holds: after how many of a prompt's and its continuation's tokens, and in which tensor. */
    private record Row(int prompt, int length, String tensor) {}

    private final Golden golden;
    private final StepDriver driver;
    private final BiFunction<ModelRunner, Integer, float[]> logits;

    /**
     * A golden and the runner that is held against it.
     *
     * @param logits reads the logits of a sample of the runner's last step, a whole vocabulary
     */
    public GoldenLogits(Golden golden, StepDriver driver, BiFunction<ModelRunner, Integer, float[]> logits) {
        this.golden = golden;
        this.driver = driver;
        this.logits = logits;
    }

    /** Limits that {@link #compute} needs of the runner: its sequences never give blocks back. */
    public static RunnerLimits limits(ModelSpec spec) {
        return new RunnerLimits(4, spec.contextLength(), 16, 2048);
    }

    /** Every logits tensor by its name, in the tensor's own order. */
    public Map<String, float[]> compute(Way way) {
        Map<String, List<float[]>> rows = new LinkedHashMap<>();
        for (int prompt = 0; prompt < golden.prompts(); prompt++) {
            List<Row> wanted = rows(prompt);
            StepDriver.Sequence sequence = new StepDriver.Sequence(tokens(prompt));
            for (Row row : wanted) {
                float[] vocabulary = way == Way.PREFILL ? prefill(row) : decode(sequence, row);
                rows.computeIfAbsent(row.tensor(), name -> new ArrayList<>()).add(select(vocabulary));
            }
        }
        Map<String, float[]> tensors = new LinkedHashMap<>();
        rows.forEach((name, list) -> tensors.put(name, join(list)));
        return tensors;
    }

    private int[] tokens(int prompt) {
        int[] ids = golden.ids(prompt);
        int[] greedy = golden.greedy(prompt);
        int[] all = Arrays.copyOf(ids, ids.length + greedy.length);
        System.arraycopy(greedy, 0, all, ids.length, greedy.length);
        return all;
    }

    private float[] prefill(Row row) {
        int[] tokens = Arrays.copyOf(tokens(row.prompt()), row.length());
        driver.add(new StepDriver.Sequence(tokens), row.length(), true).step();
        return logits.apply(driver.runner, 0);
    }

    private float[] decode(StepDriver.Sequence sequence, Row row) {
        while (sequence.computed < row.length()) {
            driver.add(sequence, 1, true).step();
        }
        return logits.apply(driver.runner, 0);
    }

    private List<Row> rows(int prompt) {
        int length = golden.ids(prompt).length;
        String prefix = "prompt." + prompt + ".";
        List<Row> rows = new ArrayList<>();
        if (golden.expected().has("vocab_subset")) {
            rows.add(new Row(prompt, length, prefix + "prompt_end.logits"));
            rows.add(new Row(prompt, length + golden.greedy(prompt).length - 1, prefix + "generated_end.logits"));
        } else if (golden.expected().has("logits_of_steps")) {
            for (int step : Golden.ints(golden.expected().get("logits_of_steps"))) {
                rows.add(new Row(prompt, length + step, prefix + "step." + step + ".logits"));
            }
        } else {
            for (int position = 0; position < length; position++) {
                rows.add(new Row(prompt, position + 1, prefix + "logits"));
            }
        }
        return rows;
    }

    private float[] select(float[] vocabulary) {
        if (!golden.expected().has("vocab_subset")) {
            return vocabulary;
        }
        int[] subset = Golden.ints(golden.expected().get("vocab_subset"));
        float[] selected = new float[subset.length];
        for (int i = 0; i < subset.length; i++) {
            selected[i] = vocabulary[subset[i]];
        }
        return selected;
    }

    private static float[] join(List<float[]> rows) {
        int total = rows.stream().mapToInt(row -> row.length).sum();
        float[] all = new float[total];
        int next = 0;
        for (float[] row : rows) {
            System.arraycopy(row, 0, all, next, row.length);
            next += row.length;
        }
        return all;
    }

    /** A stored tensor as an array. */
    public static float[] values(Tensor tensor) {
        float[] values = new float[Math.toIntExact(tensor.elements())];
        tensor.copyTo(0, values, 0, values.length);
        return values;
    }
}
