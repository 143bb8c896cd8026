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
     * The same rows with two or three more columns: what was generated, why not, and how long it took. Nothing runs until the result is
     * used. Within a partition rows are in the order in which they end.
     *
     * @throws io.roseinfer.base.RoseException.BadInput if the columns or the numbers of the spec cannot be
     */
    public static Dataset<Row> generate(Dataset<?> rows, GenerateSpec spec) {
        JavaVersion.require();
        Objects.requireNonNull(rows, "rows");
        Objects.requireNonNull(spec, "spec");
        Dataset<Row> input = rows.toDF();
        StructType result = GenerateSchema.result(input.schema(), spec);
        return input.mapPartitions(new GenerateRows(input.schema(), spec), Encoders.row(result));
    }

    /**
     * Closes the engines of this JVM, which are those of the executor in local mode; the next job opens them again. Elsewhere an executor
     * closes its own when it ends.
     */
    public static void closeEngines() {
        ExecutorEngines.closeAll();
    }
}
