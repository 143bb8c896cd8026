package io.roseinfer.spark;

import io.roseinfer.base.RoseException;
import io.roseinfer.engine.Completion;
import io.roseinfer.metrics.RequestTimeline;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.jspecify.annotations.Nullable;

/** Combines rows with their completions or errors, in the columns of {@link GenerateSchema#result}. */
final class RowResults {
    private final boolean metrics;

    RowResults(GenerateSpec spec) {
        this.metrics = !spec.columns().metrics().isEmpty();
    }

    Row completed(Row row, Completion completion) {
        long ttftNanos = completion.ttft().orElseThrow().toNanos();
        Row usage = RowFactory.create(
                completion.promptIds().length, completion.tokens().size(), completion.cachedTokens());
        Row output = RowFactory.create(
                completion.text().orElse(null),
                completion.ids(),
                completion.finishReason().text(),
                usage,
                ttftNanos);
        RequestTimeline times = completion.timeline();
        Row took = RowFactory.create(
                times.admittedNanos() - times.submittedNanos(),
                ttftNanos,
                times.finishedNanos() - times.submittedNanos());
        return joined(row, output, null, took);
    }

    Row failed(Row row, RoseException failure) {
        return joined(row, null, failure.getMessage(), null);
    }

    private Row joined(Row row, @Nullable Row output, @Nullable String error, @Nullable Row took) {
        int own = row.size();
        @Nullable Object[] values = new @Nullable Object[own + (metrics ? 3 : 2)];
        for (int i = 0; i < own; i++) {
            values[i] = row.get(i);
        }
        values[own] = output;
        values[own + 1] = error;
        if (metrics) {
            values[own + 2] = took;
        }
        return RowFactory.create(values);
    }
}
