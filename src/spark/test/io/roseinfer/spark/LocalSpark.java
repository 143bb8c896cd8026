package io.roseinfer.spark;

import org.apache.spark.api.java.function.MapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Sessions and data frames for tests. */
final class LocalSpark {
    static final StructType PROMPTS =
            new StructType().add("id", DataTypes.LongType, false).add("prompt", DataTypes.StringType, true);

    private LocalSpark() {}

    /** A session without a user interface, with its files in the build folder. */
    static SparkSession.Builder builder(String master) {
        return SparkSession.builder()
                .master(master)
                .appName("roseinfer")
                .config("spark.ui.enabled", false)
                .config("spark.driver.host", "localhost")
                .config("spark.driver.bindAddress", "127.0.0.1")
                .config("spark.sql.shuffle.partitions", 3)
                .config("spark.sql.warehouse.dir", "target/spark-warehouse");
    }

    /** Rows of an id and a prompt, generated in the executors. */
    static Dataset<Row> prompts(SparkSession spark, int rows, int partitions) {
        return spark.range(0, rows, 1, partitions)
                .map(
                        (MapFunction<Long, Row>) id -> RowFactory.create(id, prompt(id.intValue())),
                        Encoders.row(PROMPTS));
    }

    /** Distinct prompts of one to seven words. */
    static String prompt(int i) {
        return "Once upon a time there lived".split(" ")[i % 6] + " " + i + " little bears".repeat(i % 3);
    }
}
