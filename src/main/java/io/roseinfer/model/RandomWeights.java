package io.roseinfer.model;

import io.roseinfer.base.SplitMix64;
import io.roseinfer.format.WeightSource;
import io.roseinfer.tensor.DType;
import io.roseinfer.tensor.Tensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.Set;

/**
 * Weights of a given shape made from a seed: for speed and parity work without a download. Near-normal values with GPT-2's
 * initial scales (0.02; output projections 0.02/√(2·layers); norm gains around 1), except that biases are not zero, so that
 * a forgotten bias shows.
 *
 * <p>Element i of a tensor is a function of (seed, tensor name, i) in integer arithmetic and two float roundings, so any
 * language can make the same bits: the four 16-bit lanes of SplitMix64 output i of the tensor's stream are summed
 * (Irwin–Hall), centred, and scaled.
 */
public final class RandomWeights implements WeightSource {
    private static final double INITIAL_DEVIATION = 0.02;
    /** Standard deviation of the sum of four uniform 16-bit integers. */
    private static final double LANE_SUM_DEVIATION = 37837.2;

    private static final int LANE_SUM_MEAN = 4 * 0xffff / 2;

    private final ModelSpec spec;
    private final long seed;
    private final Map<String, WeightSlot> slots = new LinkedHashMap<>();

    public RandomWeights(ModelSpec spec, long seed) {
        this.spec = spec;
        this.seed = seed;
        for (WeightSlot slot : WeightSlot.values()) {
            if (slot == WeightSlot.HEAD && spec.tiedHead()) {
                continue;
            }
            for (int layer = 0; layer < (slot.perLayer() ? spec.layers() : 1); layer++) {
                slots.put(slot.tensorName(layer), slot);
            }
        }
    }

    @Override
    public String description() {
        return "random:" + spec.name() + " (seed " + seed + ")";
    }

    @Override
    public Set<String> names() {
        return slots.keySet();
    }

    @Override
    public Optional<Info> info(String name) {
        return Optional.ofNullable(slots.get(name)).map(slot -> new Info(DType.F32, slot.shape(spec)));
    }

    @Override
    public Tensor read(String name, Arena arena) {
        WeightSlot slot = slots.get(name);
        if (slot == null) {
            throw new NoSuchElementException(name);
        }
        long elements = slot.elements(spec);
        MemorySegment memory = arena.allocate(4 * elements, 64);
        fill(memory, elements, key(name), mean(slot), (float) (deviation(slot) / LANE_SUM_DEVIATION));
        return new Tensor(DType.F32, slot.shape(spec), memory);
    }

    private static void fill(MemorySegment memory, long elements, long key, float mean, float scale) {
        for (long i = 0; i < elements; i++) {
            long bits = SplitMix64.at(key, i);
            int sum = (int) ((bits & 0xffff) + (bits >>> 16 & 0xffff) + (bits >>> 32 & 0xffff) + (bits >>> 48));
            memory.set(ValueLayout.JAVA_FLOAT, 4 * i, mean + (sum - LANE_SUM_MEAN) * scale);
        }
    }

    private static float mean(WeightSlot slot) {
        return switch (slot) {
            case ATTENTION_NORM_GAIN, MLP_NORM_GAIN, FINAL_NORM_GAIN -> 1;
            default -> 0;
        };
    }

    private double deviation(WeightSlot slot) {
        return switch (slot) {
            case ATTENTION_OUTPUT, MLP_OUTPUT -> INITIAL_DEVIATION / Math.sqrt(2.0 * spec.layers());
            default -> INITIAL_DEVIATION;
        };
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
