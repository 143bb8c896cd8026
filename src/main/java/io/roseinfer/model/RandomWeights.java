package io.roseinfer.model;

import io.roseinfer.base.SplitMix64;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * Weights of a given shape made from a seed, to measure speed and compare results without a download. Values are
 * near-normal with the usual initial scales: 0.02, output projections 0.02/√(2·layers), norm weights around 1. Biases
 * are not zero, so that a missing bias is noticed.
 *
 * <p>Element i of a tensor is a function of (seed, tensor name, i) in integer arithmetic and two float roundings, so
 * any language can reproduce the same bits: the four 16-bit lanes of SplitMix64 output i of the tensor's stream are
 * summed (Irwin–Hall), centered, and scaled.
 */
public final class RandomWeights implements Checkpoint {
    private static final double INITIAL_DEVIATION = 0.02;
    /** Standard deviation of the sum of four uniform 16-bit integers. */
    private static final double LANE_SUM_DEVIATION = 37837.2;

    private static final int LANE_SUM_MEAN = 4 * 0xffff / 2;

    private final String description;
    private final long seed;
    private final Map<String, Info> tensors = new LinkedHashMap<>();
    private final Set<String> normWeights = new HashSet<>();
    /** Matrices whose outputs are added to the residual stream. */
    private final Set<String> residuals = new HashSet<>();

    private final double residualDeviation;

    /**
     * Makes every tensor that a family looks up.
     *
     * @param name the model's name
     * @param layout looks up the tensors of one model; a tied head has no tensor
     */
    public RandomWeights(String name, long seed, Function<TensorFinder, Weights> layout) {
        this.description = "random:" + name + " (seed " + seed + ")";
        this.seed = seed;
        Weights weights = layout.apply(new Declaration());
        residualDeviation = INITIAL_DEVIATION / Math.sqrt(2.0 * weights.blocks().size());
        for (Weights.Block block : weights.blocks()) {
            norms(block).forEach(this::addNormWeight);
            Stream.of(block.output(), block.down())
                    .flatMap(matrix -> matrix.parts().stream())
                    .forEach(part -> residuals.add(part.tensor().name()));
        }
        addNormWeight(weights.norm());
    }

    private static Stream<Weights.Norm> norms(Weights.Block block) {
        return Stream.of(
                        Stream.of(block.attentionNorm(), block.mlpNorm()),
                        block.qkNorms().stream().flatMap(norms -> Stream.of(norms.queries(), norms.keys())),
                        block.postNorms().stream().flatMap(norms -> Stream.of(norms.attention(), norms.mlp())))
                .flatMap(norms -> norms);
    }

    private void addNormWeight(Weights.Norm norm) {
        if (norm.weight().offset() == 0) {
            norm.weight().parts().forEach(part -> normWeights.add(part.tensor().name()));
        }
    }

    /** Records the tensors that are looked up. */
    private final class Declaration implements TensorFinder {
        @Override
        public boolean has(String name) {
            return tensors.containsKey(name);
        }

        @Override
        public StoredTensor find(String name, long... shape) {
            tensors.put(name, new Info(DType.F32, shape));
            return new StoredTensor(RandomWeights.this, name);
        }

        @Override
        public String description() {
            return description;
        }
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public Set<String> names() {
        return tensors.keySet();
    }

    @Override
    public Optional<Info> info(String name) {
        return Optional.ofNullable(tensors.get(name));
    }

    @Override
    public Tensor read(String name, Arena arena) {
        Info info = tensors.get(name);
        if (info == null) {
            throw new NoSuchElementException(name);
        }
        long elements = Tensor.elementCount(info.shape());
        MemorySegment memory = arena.allocate(4 * elements, 64);
        double deviation = residuals.contains(name) ? residualDeviation : INITIAL_DEVIATION;
        fill(memory, elements, key(name), normWeights.contains(name) ? 1 : 0, (float) (deviation / LANE_SUM_DEVIATION));
        return new Tensor(DType.F32, info.shape(), memory);
    }

    private static void fill(MemorySegment memory, long elements, long key, float mean, float scale) {
        for (long i = 0; i < elements; i++) {
            long bits = SplitMix64.at(key, i);
            int sum = (int) ((bits & 0xffff) + (bits >>> 16 & 0xffff) + (bits >>> 32 & 0xffff) + (bits >>> 48));
            memory.set(ValueLayout.JAVA_FLOAT, 4 * i, mean + (sum - LANE_SUM_MEAN) * scale);
        }
    }

    private long key(String name) {
        long hash = 0xcbf29ce484222325L;
        for (byte octet : name.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (octet & 0xff)) * 0x100000001b3L;
        }
        return SplitMix64.mix(seed + hash);
    }

    @Override
    public void close() {}
}
