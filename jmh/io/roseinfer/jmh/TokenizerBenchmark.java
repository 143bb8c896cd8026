package io.roseinfer.jmh;

import io.roseinfer.tokenizer.Tokenizer;
import io.roseinfer.tokenizer.Tokenizers;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.AuxCounters;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Question: how many tokens a second does one thread encode with GPT-2's vocabulary, in prose, in a script that falls apart
 * into bytes, and in the worst case of one long word? The counter {@code tokens} is tokens per second.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.Throughput)
@OutputTimeUnit(TimeUnit.SECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class TokenizerBenchmark {
    private static final String PROSE =
            "The engine's step is short: it admits what fits, prefills it in one ragged batch, "
                    + "decodes a token for each running row, and doesn't wait for anyone. In 2019, 1.5 billion parameters were many.\n";
    private static final String HANGUL = "토크나이저는 글을 조각으로 나누고, 조각마다 번호를 붙인다. ";

    @Param({"prose", "hangul", "one word"})
    public String text = "prose";

    private final Tokenizer tokenizer = Tokenizers.gpt2();
    private String input = "";

    /** Tokens per second, reported in addition to texts per second. */
    @State(Scope.Thread)
    @AuxCounters(AuxCounters.Type.OPERATIONS)
    public static class Made {
        public long tokens;
    }

    @Setup
    public void build() {
        input = switch (text) {
            case "prose" -> PROSE.repeat(20);
            case "hangul" -> HANGUL.repeat(40);
            default -> "abcdefgh".repeat(512);
        };
    }

    @Benchmark
    public int[] encode(Made made) {
        int[] ids = tokenizer.encode(input);
        made.tokens += ids.length;
        return ids;
    }
}
