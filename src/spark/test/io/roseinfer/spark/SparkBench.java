package io.roseinfer.spark;

import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.TokenStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * Tokens per second through Spark compared with the closed batch of {@code bench}, interleaved (ABBA) on one engine in
 * one process: all requests submitted at once, and as many rows in partitions. No two prompts have a common prefix, so
 * the prefix cache has no hits.
 *
 * <p>{@code tools/spark --class io.roseinfer.spark.SparkBench [MODEL DEVICE ROWS PROMPT_TOKENS NEW_TOKENS BATCH PARTITIONS ROUNDS]}
 */
final class SparkBench {
    private static final StructType IDS =
            new StructType().add("prompt", DataTypes.createArrayType(DataTypes.IntegerType, false), false);

    private final SparkSession spark;
    private final GenerateSpec spec;
    private final int partitions;

    private SparkBench(SparkSession spark, GenerateSpec spec, int partitions) {
        this.spark = spark;
        this.spec = spec;
        this.partitions = partitions;
    }

    private static int number(List<String> args, int index, int otherwise) {
        return args.size() > index ? Integer.parseInt(args.get(index)) : otherwise;
    }

    public static void main(String... arguments) {
        List<String> args = Arrays.asList(arguments);
        int rows = number(args, 2, 1024);
        int promptTokens = number(args, 3, 16);
        int rounds = number(args, 7, 4);
        EngineSpec engine = EngineSpec.of(args.isEmpty() ? "builtin:tiny" : args.get(0))
                .withDevice(args.size() > 1 ? args.get(1) : "auto")
                .withMaxBatchSize(number(args, 5, 64));
        GenerateSpec spec = GenerateSpec.of(engine).withMaxNewTokens(number(args, 4, 32));
        SparkSession spark = LocalSpark.builder("local[*]").getOrCreate();
        SparkBench bench = new SparkBench(spark, spec, number(args, 6, 8));
        bench.run(rows, promptTokens, rounds);
        spark.stop();
        RoseinferSpark.closeEngines();
    }

    private void run(int rows, int promptTokens, int rounds) {
        Engine engine = ExecutorEngines.get(spec.engine(), List.of()).engine();
        Random random = new Random(1);
        double[] ratios = new double[rounds];
        for (int round = -1; round < rounds; round++) {
            boolean sparkFirst = round % 2 == 0;
            double first = throughput(sparkFirst, prompts(engine, random, rows, promptTokens), engine);
            double second = throughput(!sparkFirst, prompts(engine, random, rows, promptTokens), engine);
            double direct = sparkFirst ? second : first;
            double through = sparkFirst ? first : second;
            System.out.printf(
                    "%s: closed batch %.0f tokens/s, Spark with %d partitions %.0f tokens/s, ratio %.3f%n",
                    round < 0 ? "warm-up" : "round " + round, direct, partitions, through, through / direct);
            if (round >= 0) {
                ratios[round] = through / direct;
            }
        }
        Arrays.sort(ratios);
        System.out.printf(
                "median ratio %.3f (%.3f to %.3f) of %d rounds%n",
                (ratios[(rounds - 1) / 2] + ratios[rounds / 2]) / 2, ratios[0], ratios[rounds - 1], rounds);
    }

    private static List<int[]> prompts(Engine engine, Random random, int rows, int tokens) {
        return IntStream.range(0, rows)
                .mapToObj(i ->
                        random.ints(tokens, 0, engine.spec().vocabularySize()).toArray())
                .toList();
    }

    private double throughput(boolean throughSpark, List<int[]> prompts, Engine engine) {
        Dataset<Row> frame = spark.createDataset(
                        prompts.stream()
                                .map(ids -> RowFactory.create((Object) ids))
                                .toList(),
                        Encoders.row(IDS))
                .repartition(partitions)
                .cache();
        frame.count();
        long before = engine.stats().requests().generatedTokens();
        long startNanos = System.nanoTime();
        if (throughSpark) {
            RoseinferSpark.generate(frame, spec)
                    .write()
                    .format("noop")
                    .mode("overwrite")
                    .save();
        } else {
            closedBatch(prompts, engine);
        }
        double seconds = (System.nanoTime() - startNanos) / 1e9;
        frame.unpersist();
        return (engine.stats().requests().generatedTokens() - before) / seconds;
    }

    private void closedBatch(List<int[]> prompts, Engine engine) {
        List<TokenStream> streams = new ArrayList<>();
        for (int[] ids : prompts) {
            streams.add(engine.submit(GenerationRequest.ofTokens(ids).withMaxNewTokens(spec.maxNewTokens())));
        }
        streams.forEach(TokenStream::completion);
    }
}
