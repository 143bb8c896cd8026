package io.roseinfer.spark;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Models that no attempt can load; Spark would retry a task many times. */
@Timeout(300)
class BadModelTest {
    private static final EngineSpec NOWHERE = EngineSpec.of("/nowhere/model").withDevice("cpu");

    private static SparkSession spark;

    @BeforeAll
    static void start() {
        spark = LocalSpark.builder("local[2, 100000]")
                .config("spark.plugins", RoseinferPlugin.class.getName())
                .config("spark.roseinfer.model", NOWHERE.model())
                .config("spark.roseinfer.device", NOWHERE.device())
                .getOrCreate();
    }

    @AfterAll
    static void stop() {
        spark.stop();
    }

    private static void assertCancelled(EngineSpec engine, String reason) {
        assertThatThrownBy(() -> RoseinferSpark.generate(LocalSpark.prompts(spark, 20, 5), GenerateSpec.of(engine))
                        .collectAsList())
                .hasMessageContaining("cancelled")
                .hasMessageContaining(reason);
    }

    /** The plugin encounters the same failure before, and leaves the report to the task. */
    @Test
    void missing_model_ends_the_job_with_the_reason() {
        assertCancelled(NOWHERE, "model \"/nowhere/model\": no such directory");
    }

    @Test
    void invalid_model_ends_the_job_with_the_reason() {
        assertCancelled(EngineSpec.of("builtin:huge"), "there is no built-in model \"huge\"");
    }
}
