package io.roseinfer.jmh;

import io.roseinfer.tokenizer.Detokenizer;
import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.infra.Blackhole;

/**
 * Question: what does the text of a streamed token cost, as a separate string and appended to a builder? Ids are drawn
 * over the whole vocabulary, so every push misses a small cache, as decoding many streams does.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class DetokenizerBenchmark {
    private static final int TOKENS = 4096;

    private final Tokenizer tokenizer = Tokenizers.gpt2();
    private final int[] ids =
            new Random(1).ints(TOKENS, 0, tokenizer.vocabularySize()).toArray();
    private final StringBuilder text = new StringBuilder();

    @Benchmark
    @OperationsPerInvocation(TOKENS)
    public void strings(Blackhole sink) {
        Detokenizer detokenizer = tokenizer.detokenizer(true);
        for (int id : ids) {
            sink.consume(detokenizer.push(id));
        }
    }

    @Benchmark
    @OperationsPerInvocation(TOKENS)
    public StringBuilder builder() {
        Detokenizer detokenizer = tokenizer.detokenizer(true);
        text.setLength(0);
        for (int id : ids) {
            detokenizer.push(id, text);
        }
        return text;
    }
}
