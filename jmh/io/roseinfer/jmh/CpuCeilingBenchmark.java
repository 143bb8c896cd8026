package io.roseinfer.jmh;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.VectorSpecies;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Question: what are this machine's ceilings, against which the kernels' {@code gflop} and {@code gbyte} are to be held?
 * {@code arithmetic} multiplies and adds in registers, with the widest vectors this JVM uses; {@code reading} sums memory far
 * beyond the caches. Run it in one go with the kernels, on as many threads ({@code -t 2}).
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Fork(value = 1, jvmArgsAppend = "--add-modules=jdk.incubator.vector")
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
public class CpuCeilingBenchmark {
    private static final VectorSpecies<Float> F = FloatVector.SPECIES_PREFERRED;
    private static final int L = F.length();
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();
    private static final int ROUNDS = 100_000;
    private static final long BYTES = 256L << 20;

    private Arena arena;
    private MemorySegment memory;
    private final float[] x = new float[2 * L];
    private final float[] sums = new float[12 * L];

    @Setup
    public void allocate() {
        arena = Arena.ofShared();
        memory = arena.allocate(BYTES, 64);
    }

    @TearDown
    public void free() {
        arena.close();
    }

    /** Twelve chains: more than any processor needs to be busy, and few enough for 16 registers. */
    @Benchmark
    public float[] arithmetic(Work work) {
        FloatVector a = FloatVector.fromArray(F, x, 0);
        FloatVector b = FloatVector.fromArray(F, x, L);
        FloatVector s0 = FloatVector.fromArray(F, sums, 0);
        FloatVector s1 = FloatVector.fromArray(F, sums, L);
        FloatVector s2 = FloatVector.fromArray(F, sums, 2 * L);
        FloatVector s3 = FloatVector.fromArray(F, sums, 3 * L);
        FloatVector s4 = FloatVector.fromArray(F, sums, 4 * L);
        FloatVector s5 = FloatVector.fromArray(F, sums, 5 * L);
        FloatVector s6 = FloatVector.fromArray(F, sums, 6 * L);
        FloatVector s7 = FloatVector.fromArray(F, sums, 7 * L);
        FloatVector s8 = FloatVector.fromArray(F, sums, 8 * L);
        FloatVector s9 = FloatVector.fromArray(F, sums, 9 * L);
        FloatVector s10 = FloatVector.fromArray(F, sums, 10 * L);
        FloatVector s11 = FloatVector.fromArray(F, sums, 11 * L);
        for (int i = 0; i < ROUNDS; i++) {
            s0 = a.fma(b, s0);
            s1 = a.fma(b, s1);
            s2 = a.fma(b, s2);
            s3 = a.fma(b, s3);
            s4 = a.fma(b, s4);
            s5 = a.fma(b, s5);
            s6 = a.fma(b, s6);
            s7 = a.fma(b, s7);
            s8 = a.fma(b, s8);
            s9 = a.fma(b, s9);
            s10 = a.fma(b, s10);
            s11 = a.fma(b, s11);
        }
        s0.intoArray(sums, 0);
        s1.intoArray(sums, L);
        s2.intoArray(sums, 2 * L);
        s3.intoArray(sums, 3 * L);
        s4.intoArray(sums, 4 * L);
        s5.intoArray(sums, 5 * L);
        s6.intoArray(sums, 6 * L);
        s7.intoArray(sums, 7 * L);
        s8.intoArray(sums, 8 * L);
        s9.intoArray(sums, 9 * L);
        s10.intoArray(sums, 10 * L);
        s11.intoArray(sums, 11 * L);
        work.gflop += 1e-9 * 2 * 12 * L * ROUNDS;
        return sums;
    }

    @Benchmark
    public float[] reading(Work work) {
        FloatVector s0 = FloatVector.fromArray(F, sums, 0);
        FloatVector s1 = FloatVector.fromArray(F, sums, L);
        FloatVector s2 = FloatVector.fromArray(F, sums, 2 * L);
        FloatVector s3 = FloatVector.fromArray(F, sums, 3 * L);
        long step = 16L * L;
        for (long at = 0; at < BYTES; at += step) {
            s0 = FloatVector.fromMemorySegment(F, memory, at, ORDER).add(s0);
            s1 = FloatVector.fromMemorySegment(F, memory, at + 4L * L, ORDER).add(s1);
            s2 = FloatVector.fromMemorySegment(F, memory, at + 8L * L, ORDER).add(s2);
            s3 = FloatVector.fromMemorySegment(F, memory, at + 12L * L, ORDER).add(s3);
        }
        s0.intoArray(sums, 0);
        s1.intoArray(sums, L);
        s2.intoArray(sums, 2 * L);
        s3.intoArray(sums, 3 * L);
        work.gbyte += 1e-9 * BYTES;
        return sums;
    }
}
