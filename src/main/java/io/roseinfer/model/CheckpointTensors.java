package io.roseinfer.model;

import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.DType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/** Looks up tensors in a checkpoint, and records which were requested and which are unsuitable. */
public final class CheckpointTensors implements TensorFinder {
    private static final int NAMED_PROBLEMS = 5;

    private final Checkpoint source;
    private final List<String> problems = new ArrayList<>();
    private final Set<DType> otherTypes = EnumSet.noneOf(DType.class);
    private final Set<String> used = new HashSet<>();

    public CheckpointTensors(Checkpoint source) {
        this.source = source;
    }

    @Override
    public boolean has(String name) {
        return source.info(name).isPresent();
    }

    @Override
    public StoredTensor find(String name, long... shape) {
        used.add(name);
        problem(name, shape).ifPresent(problems::add);
        return new StoredTensor(source, name);
    }

    @Override
    public String description() {
        return source.description();
    }

    private Optional<String> problem(String name, long... expected) {
        Optional<Checkpoint.Info> found = source.info(name);
        if (found.isEmpty()) {
            return Optional.of("tensor " + name + " " + Arrays.toString(expected) + " is missing");
        }
        Checkpoint.Info info = found.get();
        if (!info.dtype().isWeightType()) {
            otherTypes.add(info.dtype());
            return Optional.of(
                    "tensor " + name + " is " + info.dtype() + ", supported weight types are F32, F16 and BF16");
        }
        if (!Arrays.equals(info.shape(), expected)) {
            return Optional.of("tensor " + name + " has shape " + Arrays.toString(info.shape()) + ", "
                    + Arrays.toString(expected) + " is expected");
        }
        return Optional.empty();
    }

    private String remedy() {
        if (otherTypes.isEmpty()) {
            return "config.json and the weights must come from the same model";
        }
        return otherTypes.equals(EnumSet.of(DType.F64))
                ? "convert the weights to F32"
                : "quantized checkpoints are not supported: use the original weights with dtype int8";
    }

    /**
     * Throws unless every tensor looked up so far can be read.
     *
     * @throws BadModel naming up to five tensors that are missing or have the wrong shape or type
     */
    public void requireSound() {
        if (problems.isEmpty()) {
            return;
        }
        int more = problems.size() - NAMED_PROBLEMS;
        String named = String.join("; ", problems.subList(0, Math.min(NAMED_PROBLEMS, problems.size())));
        throw new BadModel(source.description() + ": does not fit its config.json: " + named
                + (more > 0 ? "; and " + more + " more" : "") + "; " + remedy());
    }

    /**
     * Returns a warning with the names of up to five tensors that were not looked up: surplus layers, another model's,
     * a classifier.
     *
     * @param ignored the tensors that need no warning
     */
    public Optional<String> unused(Predicate<String> ignored) {
        List<String> unused = source.names().stream()
                .filter(name -> !used.contains(name) && !ignored.test(name))
                .toList();
        if (unused.isEmpty()) {
            return Optional.empty();
        }
        String count = unused.size() == 1 ? "1 tensor is" : unused.size() + " tensors are";
        return Optional.of(source.description() + ": " + count + " not used: " + Quoted.names(unused)
                + "; is config.json of the same model?");
    }
}
