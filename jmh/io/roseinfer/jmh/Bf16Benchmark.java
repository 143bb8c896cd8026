package io.roseinfer.jmh;

import io.roseinfer.tensor.Tensor;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Question: what does narrowing a float to bfloat16 cost in scalar Java? */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class Bf16Benchmark {
    private float value = 0.123f;

    @Benchmark
    public short narrow() {
        return Tensor.floatToBf16(value);
    }
}
