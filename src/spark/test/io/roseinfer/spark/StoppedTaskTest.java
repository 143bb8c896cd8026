package io.roseinfer.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.sim.SimFaults;
import io.roseinfer.backend.sim.SimFaults.Fault;
import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.backend.sim.SimRunner;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineLimits;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.EngineStats;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.model.ModelSpec;
import io.roseinfer.model.family.Families;
import io.roseinfer.scheduler.FinishReason;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tasks that end before their rows, and engines that end before their tasks, on the simulated device, which is paused
 * if necessary.
 */
@Timeout(300)
class StoppedTaskTest {
    private static final EngineSpec SIM =
            EngineSpec.of("random:gpt2").withDevice("sim").withMaxBatchSize(4);
    private static final GenerateSpec SPEC =
            GenerateSpec.of(SIM).withMaxNewTokens(40).withMaxInFlight(4);
    private static final ModelSpec SHAPE = Families.shape("gpt2").orElseThrow();
    private static final StructType IDS = new StructType()
            .add("id", DataTypes.IntegerType, false)
            .add("prompt", DataTypes.createArrayType(DataTypes.IntegerType));

    private static final ExecutorService BESIDE = Executors.newCachedThreadPool();

    private static SparkSession spark;

    @BeforeAll
    static void start() {
        spark = LocalSpark.builder("local[2, 3]")
                .config("spark.job.interruptOnCancel", false)
                .getOrCreate();
    }

    @AfterAll
    static void stop() {
        spark.stop();
        BESIDE.shutdown();
    }

    @AfterEach
    void closeEngines() {
        RoseinferSpark.closeEngines();
    }

    /** Lets tasks use an engine on a simulated device that runs an action at the start of each step. */
    private static Engine engine(LongConsumer onStep, int maxInflight) {
        EngineOptions options = EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder().maxBatchSize(4).build())
                .withMaxInflightRequests(maxInflight)
                .withStreamInterval(Integer.MAX_VALUE);
        return engine(SimOptions.defaults().withOnStep(onStep), options);
    }

    private static Engine engine(SimOptions device, EngineOptions options) {
        SimRunner runner = new SimRunner(SHAPE, EngineLimits.runnerLimits(options, SHAPE), device);
        Engine engine = Engine.open(runner, Optional.empty(), options, Clock.system());
        ExecutorEngines.put(SIM, engine);
        return engine;
    }

    /** Rows of one partition; the first has a prompt that leaves room for one token in the context. */
    private static Dataset<Row> rows(int count) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add(RowFactory.create(i, i == 0 ? new int[SHAPE.contextLength() - 1] : new int[] {i}));
        }
        return spark.createDataset(rows, Encoders.row(IDS)).coalesce(1);
    }

    private static Set<Integer> ids(Dataset<Row> generated) {
        Set<Integer> ids = new HashSet<>();
        for (Row row : generated.collectAsList()) {
            assertThat(ids.add(row.getInt(0))).as("row %s once", row.get(0)).isTrue();
            assertThat(row.getString(3)).as("error of row %s", row.get(0)).isNull();
        }
        return ids;
    }

    /** Waits until the engine is idle and has counted every request as ended. */
    private static EngineStats idle(Engine engine) {
        EngineStats stats = engine.stats();
        while (stats.active() + stats.waiting() > 0 || stats.requests().accepted() > ended(stats)) {
            Thread.onSpinWait();
            stats = engine.stats();
        }
        return stats;
    }

    private static long ended(EngineStats stats) {
        return stats.requests().ended().values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    private static long ended(EngineStats stats, FinishReason reason) {
        return stats.requests().ended().getOrDefault(reason, 0L);
    }

    @Test
    void rows_are_in_order_of_completion() {
        Semaphore steps = new Semaphore(0);
        Engine engine = engine(step -> steps.acquireUninterruptibly(), 100);
        Dataset<Row> four = rows(4).selectExpr("3 - id AS id", "prompt").coalesce(1);
        CompletableFuture<List<Row>> job = CompletableFuture.supplyAsync(
                () -> RoseinferSpark.generate(four, SPEC).collectAsList(), BESIDE);
        while (engine.stats().requests().accepted() < 4) {
            Thread.onSpinWait();
        }
        steps.release(1_000_000);
        assertThat(job.join())
                .extracting(row -> row.getInt(0))
                .hasSize(4)
                .first()
                .isEqualTo(3);
    }

    @Test
    void task_ended_by_limit_releases_its_blocks() {
        Semaphore steps = new Semaphore(0);
        Engine engine = engine(step -> steps.acquireUninterruptibly(), 100);
        CompletableFuture<Row> job = CompletableFuture.supplyAsync(
                () -> RoseinferSpark.generate(rows(20), SPEC)
                        .limit(1)
                        .collectAsList()
                        .get(0),
                BESIDE);
        while (engine.stats().requests().accepted() < 4) {
            Thread.onSpinWait();
        }
        steps.release(3);
        Row first = job.join();
        assertThat(first.getInt(0)).isZero();
        steps.release(1_000_000);
        EngineStats stats = idle(engine);
        assertThat(stats.blocksInUse()).isZero();
        assertThat(ended(stats, FinishReason.CANCELLED)).isEqualTo(3);
        assertThat(ended(stats, FinishReason.LENGTH)).isEqualTo(1);
    }

    @Test
    void killed_task_releases_its_blocks_while_waiting_for_a_token() {
        CountDownLatch inStep = new CountDownLatch(1);
        Semaphore steps = new Semaphore(0);
        Engine engine = engine(
                step -> {
                    inStep.countDown();
                    steps.acquireUninterruptibly();
                },
                100);
        CompletableFuture<List<Row>> job = CompletableFuture.supplyAsync(
                () -> {
                    spark.sparkContext().setJobGroup("doomed", "is cancelled", false);
                    return RoseinferSpark.generate(rows(20), SPEC).collectAsList();
                },
                BESIDE);
        await(inStep);
        while (engine.stats().requests().accepted() < 4) {
            Thread.onSpinWait();
        }
        spark.sparkContext().cancelJobGroup("doomed");
        assertThatThrownBy(job::join).hasStackTraceContaining("cancelled");
        while (Stream.of(spark.sparkContext().statusTracker().getExecutorInfos())
                .anyMatch(executor -> executor.numRunningTasks() > 0)) {
            Thread.onSpinWait();
        }
        steps.release(1_000_000);
        EngineStats stats = idle(engine);
        assertThat(stats.blocksInUse()).isZero();
        assertThat(ended(stats, FinishReason.CANCELLED)).isGreaterThanOrEqualTo(3);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void dead_engine_fails_the_task_and_the_next_attempt_opens_another() {
        Engine doomed = engine(
                step -> {
                    if (step == 20) {
                        throw new DeviceFailure("the device is lost", false);
                    }
                },
                100);
        assertThat(ids(RoseinferSpark.generate(rows(20), SPEC))).hasSize(20);
        assertThat(doomed.failure(0)).isPresent();
        assertThat(ExecutorEngines.all()).hasSize(1).doesNotContain(doomed);
    }

    @Test
    void closed_engine_fails_the_task_and_does_not_truncate_its_rows() {
        CountDownLatch inStep = new CountDownLatch(1);
        Semaphore steps = new Semaphore(3);
        Engine closed = engine(
                step -> {
                    if (!steps.tryAcquire()) {
                        inStep.countDown();
                        steps.acquireUninterruptibly();
                    }
                },
                100);
        CompletableFuture<Set<Integer>> job =
                CompletableFuture.supplyAsync(() -> ids(RoseinferSpark.generate(rows(20), SPEC)), BESIDE);
        await(inStep);
        CompletableFuture<Void> closing = CompletableFuture.runAsync(RoseinferSpark::closeEngines, BESIDE);
        while (ExecutorEngines.all().contains(closed)) {
            Thread.onSpinWait();
        }
        steps.release(1_000_000);
        closing.join();
        assertThat(job.join()).hasSize(20);
    }

    @Test
    void row_whose_step_fails_is_retried_without_its_task() {
        Engine engine = engine(
                step -> {
                    if (step == 10) {
                        throw new DeviceFailure("a step has failed", true);
                    }
                },
                100);
        assertThat(ids(RoseinferSpark.generate(rows(20), SPEC))).hasSize(20);
        assertThat(ended(engine.stats(), FinishReason.ERROR)).isPositive();
        assertThat(ExecutorEngines.all()).containsExactly(engine);
    }

    @Test
    void row_with_repeated_step_failures_gets_the_reason() {
        engine(
                step -> {
                    throw new DeviceFailure("a step has failed", true);
                },
                100);
        assertThat(RoseinferSpark.generate(rows(3), SPEC)
                        .select("error")
                        .as(Encoders.STRING())
                        .collectAsList())
                .hasSize(3)
                .allSatisfy(error -> assertThat(error).contains("a step has failed"));
    }

    @Test
    void full_engine_slows_its_tasks() {
        Engine engine = engine(step -> {}, 2);
        assertThat(ids(RoseinferSpark.generate(rows(40).repartition(4), SPEC))).hasSize(40);
        assertThat(engine.stats().requests().rejected()).isPositive();
    }

    @Test
    void row_gets_the_tokens_of_its_solo_run() {
        GenerationRequest alone = GenerationRequest.ofTokens(5).withMaxNewTokens(40);
        Engine engine = engine(step -> {}, 100);
        List<Integer> tokens = RoseinferSpark.generate(rows(20), SPEC)
                .where("id = 5")
                .select("completion.ids")
                .first()
                .getList(0);
        assertThat(tokens)
                .containsExactlyElementsOf(
                        IntStream.of(engine.generate(alone).ids()).boxed().toList());
    }

    /** A prompt that makes its step fail each time; rows of two tasks share its steps. */
    @Test
    void only_the_row_that_fails_steps_gets_an_error() {
        EngineOptions options = EngineOptions.defaults()
                .withScheduler(SchedulerOptions.builder().maxBatchSize(64).build())
                .withStreamInterval(Integer.MAX_VALUE);
        int guilty = 111;
        Engine unused = engine(SimOptions.defaults().withFaults(new SimFaults(Map.of(guilty, Fault.ERROR))), options);
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < 300; i++) {
            rows.add(RowFactory.create(i, new int[] {i == 150 ? guilty : 200 + i}));
        }
        Dataset<Row> frame = spark.createDataset(rows, Encoders.row(IDS)).repartition(4);
        GenerateSpec spec = GenerateSpec.of(SIM).withMaxNewTokens(2);
        assertThat(RoseinferSpark.generate(frame, spec)
                        .filter("error IS NOT NULL")
                        .collectAsList())
                .extracting(row -> row.getInt(0))
                .containsExactly(150);
    }
}
