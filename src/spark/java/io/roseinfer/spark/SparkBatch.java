package io.roseinfer.spark;

import io.roseinfer.Settings;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.batch.BatchCluster;
import io.roseinfer.batch.BatchInput;
import io.roseinfer.batch.BatchTotals;
import io.roseinfer.spark.BatchTask.Counts;
import java.io.IOException;
import java.util.Locale;
import java.util.UUID;
import java.util.stream.Collectors;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Encoders;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.util.SerializableConfiguration;

/**
 * {@code roseinfer batch --spark}: processes a file of requests on Spark, and writes the responses to a folder. Lines
 * are partitioned by key, and each task renames its file when it is complete ({@link PartFile}), so every key is
 * answered once, even if executors are killed. A resumed run skips the keys in the folder.
 */
public final class SparkBatch implements BatchCluster {
    /** A line, the key of its response, and its number from 1. */
    static final StructType LINES = new StructType()
            .add("key", DataTypes.StringType, false)
            .add("number", DataTypes.LongType, false)
            .add("line", DataTypes.BinaryType, false);

    /** Partitions per task that can run at once, so that the last ones are short. */
    private static final int PARTITIONS_PER_SLOT = 4;

    /** Maximum lines of a partition, which a task repeats if its executor is killed. */
    private static final long PARTITION_LINES = 20_000;

    /** The files of responses in the folder. */
    private static final String PARTS = "part-*";

    /** The prefix of a response's id, before its key. */
    private static final String ID = "batch_req_";

    /** Called by the service loader. */
    public SparkBatch() {}

    @Override
    public String name() {
        return "spark";
    }

    @Override
    public BatchTotals run(Job job) {
        JavaVersion.require();
        if (job.input().equals("-")
                || job.output().equals("-")
                || job.input().endsWith(".zst")
                || job.output().endsWith(".zst")) {
            throw new BadInput("--spark needs an uncompressed input file and an output folder; --input is "
                    + Quoted.name(job.input()) + " and --output " + Quoted.name(job.output()));
        }
        SparkSession spark = session(job.master());
        DeterministicFailures failures = DeterministicFailures.watch(spark.sparkContext());
        try {
            return run(job, spark);
        } catch (RoseException known) {
            throw known;
        } catch (IOException e) {
            throw new BadInput("the batch's files cannot be used: " + e.getMessage(), e);
        } catch (Exception e) {
            // Spark throws checked exceptions that it does not declare.
            throw failures.reason().orElseGet(() -> reason(e));
        } finally {
            spark.stop();
        }
    }

    private static SparkSession session(String master) {
        try {
            return SparkSession.builder()
                    .master(master)
                    .appName("roseinfer batch")
                    .config("spark.ui.showConsoleProgress", false)
                    .getOrCreate();
        } catch (Exception e) {
            throw new BadInput(
                    "--spark is " + Quoted.name(master) + ", but Spark cannot start there: " + summary(e), e);
        }
    }

    /** Returns the exception that made tasks fail, if it is one of this project. */
    private static RoseException reason(Exception e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof RoseException known) {
                return known;
            }
        }
        return new EngineStopped("Spark has failed; continue the batch with --resume: " + summary(e), e);
    }

    /** Returns a message without the stack traces that Spark appends to it. */
    private static String summary(Exception e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse("");
    }

    private static BatchTotals run(Job job, SparkSession spark) throws IOException {
        Configuration conf = spark.sparkContext().hadoopConfiguration();
        Path input = new Path(job.input());
        long created = input.getFileSystem(conf).getFileStatus(input).getModificationTime();
        Path folder = new Path(job.output());
        FileSystem files = folder.getFileSystem(conf);
        if (files.exists(folder) && !job.resume()) {
            throw new BadInput("--output " + Quoted.name(job.output())
                    + " already exists; continue it with --resume, or choose another folder");
        }
        boolean unused = files.mkdirs(folder);
        PartFile.clean(files, folder);

        Dataset<Row> lines = lines(job.input(), spark).cache();
        long count = lines.count();
        BatchTask task = new BatchTask(
                folder.toString(),
                UUID.randomUUID().toString().substring(0, 8),
                new SerializableConfiguration(conf),
                engine(job.settings()),
                job.servedName(),
                job.modelDefaults(),
                job.seed(),
                created);
        Counts counts = lines
                .join(written(folder, files, spark), "key", "left_anti")
                .repartition(partitions(count, spark), lines.col("key"))
                .sortWithinPartitions("key", "number")
                .javaRDD()
                .mapPartitions(task)
                .collect()
                .stream()
                .reduce(Counts.NONE, Counts::plus);
        return new BatchTotals(
                count,
                count - counts.answered() - counts.refused(),
                counts.answered(),
                counts.refused(),
                counts.promptTokens(),
                counts.completionTokens());
    }

    private static int partitions(long lines, SparkSession spark) {
        long slots = spark.sparkContext().defaultParallelism();
        return (int) Math.max(PARTITIONS_PER_SLOT * slots, lines / PARTITION_LINES + 1);
    }

    /**
     * Returns the input's lines as bytes, delimited by newlines only; invalid UTF-8 is rejected as without a cluster.
     */
    private static Dataset<Row> lines(String input, SparkSession spark) {
        Configuration conf = new Configuration(spark.sparkContext().hadoopConfiguration());
        conf.set("textinputformat.record.delimiter", "\n");
        JavaRDD<Row> rows = JavaSparkContext.fromSparkContext(spark.sparkContext())
                .newAPIHadoopFile(input, TextInputFormat.class, LongWritable.class, Text.class, conf)
                .map(record -> record._2().copyBytes())
                .zipWithIndex()
                .filter(line -> !BatchInput.isBlank(line._1()))
                .map(line -> row(line._1(), line._2() + 1));
        return spark.createDataset(rows.rdd(), Encoders.row(LINES));
    }

    private static Row row(byte[] line, long number) {
        String key = BatchInput.line(line, number).key().toString();
        return RowFactory.create(key, number, line);
    }

    /** Returns the keys of the responses in the folder. */
    private static Dataset<Row> written(Path folder, FileSystem files, SparkSession spark) throws IOException {
        return files.globStatus(new Path(folder, PARTS)).length == 0
                ? spark.emptyDataFrame().selectExpr("'' AS key")
                : spark.read()
                        .option("pathGlobFilter", PARTS)
                        .text(folder.toString())
                        .selectExpr("substring(get_json_object(value, '$.id'), " + (ID.length() + 1) + ") AS key");
    }

    private static EngineSpec engine(Settings settings) {
        if (settings.deviceOptions().kvCache() != KvPrecision.AUTO) {
            throw new BadInput("--kv-cache-dtype is not supported with --spark; remove one of them");
        }
        String device = settings.device().name().toLowerCase(Locale.ROOT);
        String gpus = settings.deviceOptions().gpus().stream()
                .map(gpu -> "cuda:" + gpu)
                .collect(Collectors.joining(","));
        return new EngineSpec(
                settings.model(),
                gpus.isEmpty() ? device : gpus,
                settings.deviceOptions().precision().name().toLowerCase(Locale.ROOT),
                settings.deviceOptions().threads(),
                settings.engine().scheduler().maxBatchSize(),
                settings.engine().kvBlocks(),
                settings.deviceOptions().batchInvariant().orElse(false),
                settings.offline());
    }
}
