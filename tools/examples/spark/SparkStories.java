import static org.apache.spark.sql.functions.col;
import static org.apache.spark.sql.functions.concat;
import static org.apache.spark.sql.functions.explode;
import static org.apache.spark.sql.functions.lit;
import static org.apache.spark.sql.functions.size;
import static org.apache.spark.sql.functions.sum;

import io.roseinfer.spark.GenerateTransformer;
import io.roseinfer.spark.RoseinferSpark;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;

/** A notebook's cells as a program: builds prompts from a table, generates a story for each, and summarizes the results. */
public final class SparkStories {
    private SparkStories() {}

    /**
     * Generates the stories on a cluster.
     *
     * @param args the master, {@code local[2]} if there is none
     */
    public static void main(String... args) {
        SparkSession spark = SparkSession.builder()
                .master(args.length > 0 ? args[0] : "local[2]")
                .appName("stories")
                .config("spark.plugins", "io.roseinfer.spark.RoseinferPlugin")
                .config("spark.ui.enabled", false)
                .getOrCreate();
        try {
            generate(spark);
        } finally {
            spark.stop();
            RoseinferSpark.closeEngines();
        }
    }

    private static void generate(SparkSession spark) {
        // Prompts with a key each: a row's seed derives from its key, so that every run generates the same
        // stories.
        Dataset<Row> prompts = spark.sql("SELECT array('a girl', 'a dog', 'a robot') AS heroes")
                .select(explode(col("heroes")).as("hero"))
                .crossJoin(spark.range(4).withColumnRenamed("id", "take"))
                .select(
                        concat(col("hero"), lit(" "), col("take")).as("story"),
                        concat(lit("Once upon a time, there was "), col("hero")).as("prompt"));

        GenerateTransformer generate = new GenerateTransformer()
                .setModelRef("builtin:tiny")
                .setKeyCol("story")
                .setMaxNewTokens(24)
                .setTemperature(0.8f)
                .setTopK(40)
                .setSeed(7);

        // Cached, because each action below would generate again.
        Dataset<Row> stories = generate.transform(prompts).cache();
        for (Row row : stories.orderBy("story")
                .select("story", "prompt", "completion.text")
                .takeAsList(3)) {
            System.out.println(row.getString(0) + ": " + row.getString(1)
                    + row.getString(2).replace('\n', ' '));
        }
        Row all = stories.agg(
                        sum(size(col("completion.ids"))).as("tokens"),
                        sum(col("error").isNotNull().cast("int")).as("failed"))
                .first();
        System.out.println(stories.count() + " stories, " + all.getLong(0) + " tokens, " + all.getLong(1) + " failed");
    }
}
