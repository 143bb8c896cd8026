package io.roseinfer.model;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.format.WeightSource;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A checkpoint whose names and shapes have been held against a {@link ModelSpec}: every slot can be read. Names may carry the
 * {@code transformer.} prefix or not; anything the spec does not need (mask buffers, a head that is tied) is left alone.
 */
public final class Gpt2Weights {
    private static final String PREFIX = "transformer.";
    private static final int NAMED_PROBLEMS = 5;

    private final ModelSpec spec;
    private final WeightSource source;

    private Gpt2Weights(ModelSpec spec, WeightSource source) {
        this.spec = spec;
        this.source = source;
    }

    /**
     * Binds a source to a spec.
     *
     * @throws BadModel naming up to five tensors that are missing or have the wrong shape or type
     */
    public static Gpt2Weights bind(ModelSpec spec, WeightSource source) {
        List<String> problems = new ArrayList<>();
        for (WeightSlot slot : WeightSlot.values()) {
            if (slot == WeightSlot.HEAD && spec.tiedHead()) {
                continue;
            }
            for (int layer = 0; layer < (slot.perLayer() ? spec.layers() : 1); layer++) {
                problem(spec, source, slot, layer, problems);
            }
        }
        if (!problems.isEmpty()) {
            int more = problems.size() - NAMED_PROBLEMS;
            String named = String.join("; ", problems.subList(0, Math.min(NAMED_PROBLEMS, problems.size())));
            throw new BadModel(source.description() + ": does not fit its config.json: " + named
                    + (more > 0 ? "; and " + more + " more" : "")
                    + "; config.json and the weights must come from the same model");
        }
        return new Gpt2Weights(spec, source);
    }

    private static void problem(
            ModelSpec spec, WeightSource source, WeightSlot slot, int layer, List<String> problems) {
        String bare = slot.tensorName(layer);
        String name = storedName(source, bare);
        long[] expected = slot.shape(spec);
        source.info(name)
                .ifPresentOrElse(
                        info -> {
                            if (!Arrays.equals(info.shape(), expected)) {
                                problems.add("tensor " + name + " has shape " + Arrays.toString(info.shape()) + ", "
                                        + Arrays.toString(expected) + " is needed");
                            } else if (!info.dtype().isWeightType()) {
                                problems.add("tensor " + name + " is " + info.dtype()
                                        + ", supported weight types are F32, F16 and BF16");
                            }
                        },
                        () -> problems.add("tensor " + bare + " " + Arrays.toString(expected) + " is missing"));
    }

    private static String storedName(WeightSource source, String bare) {
        return source.info(bare).isPresent() ? bare : PREFIX + bare;
    }

    public ModelSpec spec() {
        return spec;
    }

    /** What messages call the checkpoint. */
    public String description() {
        return source.description();
    }

    /** The type a slot there is one of is stored in. */
    public DType dtype(WeightSlot slot) {
        return source.info(storedName(source, slot.tensorName(0))).orElseThrow().dtype();
    }

    /** Reads a slot there is one of; a tied head reads the token embedding. */
    public Tensor read(WeightSlot slot, Arena arena) {
        return read(slot, 0, arena);
    }

    /** Reads a slot of one layer, counted from zero; the tensor lives as long as the arena. */
    public Tensor read(WeightSlot slot, int layer, Arena arena) {
        WeightSlot stored = slot == WeightSlot.HEAD && spec.tiedHead() ? WeightSlot.TOKEN_EMBEDDING : slot;
        return source.read(storedName(source, stored.tensorName(layer)), arena);
    }
}
