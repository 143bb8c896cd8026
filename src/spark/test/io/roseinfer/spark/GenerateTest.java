package io.roseinfer.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.Roseinfer;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.batch.RequestKey;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.spark.GenerateSpec.Columns;
import io.roseinfer.spark.GenerateSpec.Sampling;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.spark.ml.Pipeline;
import org.apache.spark.ml.PipelineModel;
import org.apache.spark.ml.PipelineStage;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.functions;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The result columns of rows, with the built-in model in one JVM. */
class GenerateTest {
    private static final EngineSpec TINY =
            EngineSpec.of("builtin:tiny").withDevice("cpu").withThreads(1).withMaxBatchSize(4);
    private static final GenerateSpec GREEDY = GenerateSpec.of(TINY).withMaxNewTokens(8);
    private static final GenerateSpec RANDOM = GREEDY.withSampling(new Sampling(1, 0, 1))
            .withColumns(Columns.defaults().withKey("id"))
            .withSeed(7);

    private static SparkSession spark;

    @BeforeAll
    static void start() {
        spark = LocalSpark.builder("local[2]").getOrCreate();
    }

    @AfterAll
    static void stop() {
        spark.stop();
        RoseinferSpark.closeEngines();
    }

    private static Map<Long, List<Integer>> idsByRow(Dataset<Row> generated) {
        Map<Long, List<Integer>> ids = new HashMap<>();
        for (Row row : generated.selectExpr("id", "completion.ids").collectAsList()) {
            assertThat(ids.put(row.getLong(0), row.getList(1)))
                    .as("row %s before", row.get(0))
                    .isNull();
        }
        return ids;
    }

    @Test
    void row_gets_the_tokens_of_a_separate_engine() {
        Dataset<Row> generated = RoseinferSpark.generate(
                LocalSpark.prompts(spark, 20, 3),
                RANDOM.withColumns(RANDOM.columns().withMetrics("took")));
        try (Engine engine = Roseinfer.open("builtin:tiny")) {
            for (Row row : generated.collectAsList()) {
                String prompt = LocalSpark.prompt((int) row.getLong(0));
                Completion alone = engine.generate(GenerationRequest.of(prompt)
                        .withMaxNewTokens(8)
                        .withSampling(SamplingParams.random())
                        .withSeed(RequestKey.of(Long.toString(row.getLong(0))).seed(7)));
                Row completion = row.getStruct(2);
                assertThat(row.getString(1)).isEqualTo(prompt);
                assertThat(completion.getString(0)).isEqualTo(alone.text().orElseThrow());
                assertThat(completion.<Integer>getList(1))
                        .containsExactlyElementsOf(
                                IntStream.of(alone.ids()).boxed().toList());
                assertThat(completion.getString(2))
                        .isEqualTo(alone.finishReason().text());
                assertThat(completion.getStruct(3).getInt(0)).isEqualTo(alone.promptIds().length);
                assertThat(completion.getStruct(3).getInt(1)).isEqualTo(alone.ids().length);
                assertThat(completion.getLong(4)).isPositive();
                assertThat(row.isNullAt(3)).as("error of row %s", row).isTrue();
                assertThat(row.getStruct(4).getLong(2))
                        .isGreaterThanOrEqualTo(row.getStruct(4).getLong(1));
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 7})
    void tokens_do_not_depend_on_the_number_of_partitions(int partitions) {
        Map<Long, List<Integer>> ids =
                idsByRow(RoseinferSpark.generate(LocalSpark.prompts(spark, 30, partitions), RANDOM));
        assertThat(ids)
                .hasSize(30)
                .isEqualTo(idsByRow(RoseinferSpark.generate(LocalSpark.prompts(spark, 30, 2), RANDOM)));
    }

    @Test
    void rows_with_equal_prompts_sample_by_key_and_equally_without() {
        Dataset<Row> same = spark.range(8).withColumn("prompt", functions.lit("Once upon a time"));
        Set<List<Integer>> byKey =
                new HashSet<>(idsByRow(RoseinferSpark.generate(same, RANDOM)).values());
        Set<List<Integer>> alike =
                new HashSet<>(idsByRow(RoseinferSpark.generate(same, RANDOM.withColumns(Columns.defaults())))
                        .values());
        assertThat(byKey).hasSizeGreaterThan(4);
        assertThat(alike).hasSize(1);
        assertThat(idsByRow(RoseinferSpark.generate(same, RANDOM.withSeed(8))).values())
                .isNotEqualTo(byKey);
    }

    @Test
    void prompt_of_token_ids_is_continued_like_its_text() {
        Engine engine = ExecutorEngines.get(TINY, List.of()).engine();
        int[] ids = engine.tokenizer().orElseThrow().encodePrompt("Once upon a time");
        StructType schema = new StructType()
                .add("id", DataTypes.IntegerType)
                .add("prompt", DataTypes.createArrayType(DataTypes.IntegerType));
        Dataset<Row> rows = spark.createDataset(List.of(RowFactory.create(0, ids)), Encoders.row(schema));
        Row completion = RoseinferSpark.generate(rows, GREEDY).first().getStruct(2);
        assertThat(completion.getString(0))
                .isEqualTo(
                        engine.generate(GenerationRequest.of("Once upon a time").withMaxNewTokens(8))
                                .text()
                                .orElseThrow());
    }

    @Test
    void invalid_row_gets_an_error_and_other_rows_complete() {
        List<Row> rows = List.of(
                RowFactory.create(0L, null),
                RowFactory.create(1L, "Once upon a time"),
                RowFactory.create(2L, ""),
                RowFactory.create(3L, "word ".repeat(2000)));
        Dataset<Row> frame =
                spark.createDataset(rows, Encoders.row(LocalSpark.PROMPTS)).coalesce(1);
        Map<Long, String> errors = new HashMap<>();
        for (Row row : RoseinferSpark.generate(frame, GREEDY).collectAsList()) {
            assertThat(row.isNullAt(2)).as("either output or error in %s", row).isNotEqualTo(row.isNullAt(3));
            errors.put(row.getLong(0), row.getString(3));
        }
        assertThat(errors).hasSize(4);
        assertThat(errors.get(0L)).startsWith("the prompt is null");
        assertThat(errors.get(1L)).isNull();
        assertThat(errors.get(2L)).startsWith("the prompt is empty");
        assertThat(errors.get(3L)).contains("the context of 512 leaves room for at most 511");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nothing | completion | error | id | the input column is \"nothing\", of which the data frame has none; its columns are \"id\", \"prompt\"",
                "id | completion | error | id | the input column \"id\" is of type bigint; it must be a string, or token ids as array<int>",
                "prompt | PROMPT | error | id | the output column would be \"PROMPT\", which already exists",
                "prompt | completion | completion | id | the error column would be \"completion\", which already exists",
                "prompt | completion | error | half | the key column \"half\" is of type double; it must be a string or an integer, so cast it"
            })
    void invalid_columns_are_rejected_before_a_job_runs(
            String input, String output, String error, String key, String message) {
        Dataset<Row> frame = LocalSpark.prompts(spark, 2, 1)
                .withColumn("half", functions.lit(0.5))
                .drop(key.equals("half") ? "" : "half");
        GenerateSpec spec = GREEDY.withColumns(new Columns(input, output, error, "", key));
        assertThatThrownBy(() -> RoseinferSpark.generate(frame, spec))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining(message);
    }

    @Test
    void transformer_without_a_model_is_rejected_with_the_setter_name() {
        assertThatThrownBy(() -> new GenerateTransformer().transformSchema(LocalSpark.PROMPTS))
                .isInstanceOf(BadInput.class)
                .hasMessage("modelRef is not set; call setModelRef with a model");
    }

    @Test
    void strings_of_any_collation_are_prompts_and_keys() {
        Dataset<Row> collated = LocalSpark.prompts(spark, 4, 1)
                .selectExpr("id", "collate(prompt, 'UTF8_LCASE') AS prompt", "collate(string(id), 'UNICODE') AS name");
        assertThat(idsByRow(RoseinferSpark.generate(
                        collated, RANDOM.withColumns(Columns.defaults().withKey("name")))))
                .isEqualTo(idsByRow(RoseinferSpark.generate(LocalSpark.prompts(spark, 4, 1), RANDOM)));
    }

    @Test
    void invalid_values_are_rejected_before_a_job_runs() {
        StructType schema = LocalSpark.PROMPTS;
        GenerateTransformer stage = new GenerateTransformer().setModelRef("builtin:tiny");
        assertThatThrownBy(() -> stage.setTopP(2).transformSchema(schema)).hasMessageStartingWith("topP is 2.0");
        stage.setTopP(1);
        assertThatThrownBy(() -> stage.setMaxNewTokens(-1).transformSchema(schema))
                .hasMessageStartingWith("maxNewTokens is -1");
        stage.setMaxNewTokens(1);
        assertThatThrownBy(() -> stage.setDevice("gpu").transformSchema(schema))
                .hasMessage("device is \"gpu\"; it must be one of auto, cpu, cuda, sim");
        stage.setDevice("cpu");
        assertThatThrownBy(() -> stage.setMaxInFlight(-1).transformSchema(schema))
                .hasMessageStartingWith("max_in_flight is -1");
        stage.setMaxInFlight(0);
        assertThat(stage.transformSchema(schema).fieldNames()).containsExactly("id", "prompt", "completion", "error");
    }

    @Test
    void transformer_is_saved_and_loaded_with_and_without_a_pipeline(@TempDir Path folder) throws Exception {
        GenerateTransformer stage = new GenerateTransformer()
                .setModelRef("builtin:tiny")
                .setDevice("cpu")
                .setThreads(1)
                .setMaxBatchSize(4)
                .setMaxNewTokens(8)
                .setTemperature(1)
                .setKeyCol("id")
                .setSeed(7);
        assertThat(stage.spec()).isEqualTo(RANDOM);

        stage.write().save(folder.resolve("stage").toString());
        GenerateTransformer loaded =
                GenerateTransformer.load(folder.resolve("stage").toString());
        assertThat(loaded.uid()).isEqualTo(stage.uid());
        assertThat(loaded.spec()).isEqualTo(RANDOM);

        Dataset<Row> rows = LocalSpark.prompts(spark, 6, 2);
        new Pipeline()
                .setStages(new PipelineStage[] {stage})
                .fit(rows)
                .save(folder.resolve("pipeline").toString());
        PipelineModel pipeline = PipelineModel.load(folder.resolve("pipeline").toString());
        assertThat(idsByRow(pipeline.transform(rows)))
                .hasSize(6)
                .isEqualTo(idsByRow(RoseinferSpark.generate(rows, RANDOM)));
    }

    @Test
    void all_tasks_share_one_engine() {
        assertThat(idsByRow(RoseinferSpark.generate(LocalSpark.prompts(spark, 24, 6), GREEDY)))
                .hasSize(24);
        Engine engine = ExecutorEngines.get(TINY, List.of()).engine();
        assertThat(ExecutorEngines.all()).containsExactly(engine);
        assertThat(engine.stats().requests().accepted()).isGreaterThanOrEqualTo(24);
    }
}
