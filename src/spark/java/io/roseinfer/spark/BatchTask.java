package io.roseinfer.spark;

import io.roseinfer.batch.BatchModel;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.server.api.ServedModel;
import java.io.IOException;
import java.io.Serializable;
import java.time.Instant;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Row;
import org.apache.spark.util.SerializableConfiguration;

/**
 * A task of a batch, which writes the responses to a partition's lines to a file.
 *
 * @param folder the folder of that file
 * @param run part of the names of all files of this run
 * @param conf of the file system
 * @param created the date of all responses, in milliseconds since 1970
 */
record BatchTask(
        String folder,
        String run,
        SerializableConfiguration conf,
        EngineSpec engine,
        String servedName,
        boolean modelDefaults,
        long seed,
        long created)
        implements FlatMapFunction<Iterator<Row>, BatchTask.Counts> {
    /** Lines and tokens of a partition. */
    record Counts(long answered, long refused, long promptTokens, long completionTokens) implements Serializable {
        static final Counts NONE = new Counts(0, 0, 0, 0);

        Counts plus(Counts other) {
            return new Counts(
                    answered + other.answered,
                    refused + other.refused,
                    promptTokens + other.promptTokens,
                    completionTokens + other.completionTokens);
        }
    }

    @Override
    public Iterator<Counts> call(Iterator<Row> rows) throws IOException {
        JavaVersion.require();
        if (!rows.hasNext()) {
            return Collections.emptyIterator();
        }
        TaskWatch task = TaskWatch.current();
        OpenEngine open = ExecutorEngines.get(engine, task.gpus());
        ServedModel served = ServedModel.named(servedName)
                .withChat(open.chat())
                .withDefaults(modelDefaults ? open.defaults() : SamplingDefaults.NONE);
        BatchModel model = new BatchModel(
                served,
                open.engine().spec(),
                open.engine().tokenizer(),
                open.engine().maxRequestTokens(),
                seed,
                Instant.ofEpochMilli(created));
        InFlight<BatchLines.Call> inFlight = new InFlight<>(open.engine(), open.room(), open.retries(), task::check);
        task.guard(inFlight);
        TaskContext context = TaskContext.get();
        try (PartFile part =
                PartFile.create(new Path(folder), run, context.partitionId(), context.taskAttemptId(), conf.value())) {
            Counts counts = new BatchLines(model, inFlight, part).answer(rows);
            part.commit();
            return List.of(counts).iterator();
        }
    }
}
