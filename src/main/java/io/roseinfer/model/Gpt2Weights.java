package io.roseinfer.model;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.format.WeightSource;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A checkpoint whose names and shapes have been held against a {@link ModelSpec}: every slot can be read. Names may carry the
 * {@code transformer.} prefix or not; what the spec does not need is left alone, with a warning unless it is a mask buffer.
 */
public final class Gpt2Weights {
    private static final String PREFIX = "transformer.";
    private static final int NAMED_PROBLEMS = 5;

    private final ModelSpec spec;
    private final WeightSource source;
    private final List<String> warnings;

    private Gpt2Weights(ModelSpec spec, WeightSource source, List<String> warnings) {
        this.spec = spec;
        this.source = source;
        this.warnings = List.copyOf(warnings);
    }

    /**
     * Binds a source to a spec. A checkpoint that has a head of its own, other than the token embedding, keeps it though the
     * spec ties the two, as in transformers: {@link #spec} then says that they are not tied.
     *
     * @throws BadModel naming up to five tensors that are missing or have the wrong shape or type
     */
    public static Gpt2Weights bind(ModelSpec spec, WeightSource source) {
        requireShapes(spec, source);
        List<String> warnings = new ArrayList<>();
        ModelSpec actual = spec;
        if (spec.tiedHead() && hasHead(source) && OwnHead.differs(source, embeddingName(source), headName(source))) {
            actual = spec.withTiedHead(false);
            warnings.add(source.description() + ": " + headName(source) + " is there and differs from "
                    + embeddingName(source) + ", though config.json ties the two (tie_word_embeddings); "
                    + headName(source) + " is used");
        }
        UnusedTensors.warning(source, usedNames(spec, source)).ifPresent(warnings::add);
        return new Gpt2Weights(actual, source, warnings);
    }

    private static void requireShapes(ModelSpec spec, WeightSource source) {
        List<String> problems = new ArrayList<>();
        for (WeightSlot slot : WeightSlot.values()) {
            if (slot == WeightSlot.HEAD && spec.tiedHead() && !hasHead(source)) {
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
    }

    /** The stored name of every slot, a head that is there though it is tied included. */
    private static Set<String> usedNames(ModelSpec spec, WeightSource source) {
        Set<String> names = new HashSet<>();
        for (WeightSlot slot : WeightSlot.values()) {
            for (int layer = 0; layer < (slot.perLayer() ? spec.layers() : 1); layer++) {
                names.add(storedName(source, slot.tensorName(layer)));
            }
        }
        return names;
    }

    private static boolean hasHead(WeightSource source) {
        return source.info(headName(source)).isPresent();
    }

    private static String headName(WeightSource source) {
        return storedName(source, WeightSlot.HEAD.tensorName(0));
    }

    private static String embeddingName(WeightSource source) {
        return storedName(source, WeightSlot.TOKEN_EMBEDDING.tensorName(0));
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

    /** What was odd, but not wrong, about the checkpoint; one line each, usually none. */
    public List<String> warnings() {
        return warnings;
    }

    /** The type all matrices are stored in, or F32, which holds every other, where they are of different types. */
    public DType matrixType() {
        Set<DType> types = EnumSet.noneOf(DType.class);
        for (WeightSlot slot : WeightSlot.values()) {
            if (slot.isMatrix() && !(slot == WeightSlot.HEAD && spec.tiedHead())) {
                for (int layer = 0; layer < (slot.perLayer() ? spec.layers() : 1); layer++) {
                    types.add(source.info(storedName(source, slot.tensorName(layer)))
                            .orElseThrow()
                            .dtype());
                }
            }
        }
        return types.size() == 1 ? types.iterator().next() : DType.F32;
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
