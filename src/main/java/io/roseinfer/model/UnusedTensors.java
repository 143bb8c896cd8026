package io.roseinfer.model;

import io.roseinfer.format.Quoted;
import io.roseinfer.format.WeightSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Tensors of a checkpoint that no slot reads: more layers than config.json has, another model's, a classifier. */
final class UnusedTensors {
    /** The causal mask, which older versions of transformers saved with every layer. */
    private static final Pattern MASK_BUFFER = Pattern.compile("(transformer\\.)?h\\.\\d+\\.attn\\.(masked_)?bias");

    private UnusedTensors() {}

    /** One line for all of them, with up to five of their names. */
    static Optional<String> warning(WeightSource source, Set<String> used) {
        List<String> unused = source.names().stream()
                .filter(name ->
                        !used.contains(name) && !MASK_BUFFER.matcher(name).matches())
                .toList();
        if (unused.isEmpty()) {
            return Optional.empty();
        }
        String count = unused.size() == 1 ? "1 tensor is" : unused.size() + " tensors are";
        return Optional.of(source.description() + ": " + count + " not used: " + Quoted.names(unused)
                + "; is config.json of the same model?");
    }
}
