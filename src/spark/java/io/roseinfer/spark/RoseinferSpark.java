package io.roseinfer.spark;

import java.util.Objects;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * Generates text for the rows of a data frame, in the executors.
 *
 * {@snippet :
 * Dataset<Row> stories = RoseinferSpark.generate(prompts, GenerateSpec.of("builtin:tiny").withMaxNewTokens(32));
 * stories.select("prompt", "completion.text", "error").show();
 * }
 */
public final class RoseinferSpark {
    private RoseinferSpark() {}

    /**
     * Returns the same rows with two or three more columns: the completion, the error of a row that has none, and its
     * timings. Nothing runs until the result is used. The rows of a partition are in order of completion.
     *
     * <p>A model that cannot be loaded ends the job at the first task.
     *
     * @throws io.roseinfer.base.RoseException.BadInput if a column is missing or of a wrong type, or a number of the
     *     spec is out of range
     */
    public static Dataset<Row> generate(Dataset<?> rows, GenerateSpec spec) {
        JavaVersion.require();
        Objects.requireNonNull(rows, "rows");
        Objects.requireNonNull(spec, "spec");
        Dataset<Row> input = rows.toDF();
        StructType result = GenerateSchema.result(input.schema(), spec);
        DeterministicFailures.watchOnce(input.sparkSession().sparkContext());
        return input.mapPartitions(new GenerateRows(input.schema(), spec), Encoders.row(result));
    }

    /**
     * Closes the engines of this JVM, which in local mode are those of the executor; the next job opens them again.
     * Otherwise an executor closes its engines when it ends.
     */
    public static void closeEngines() {
        ExecutorEngines.closeAll();
    }
}
