package io.roseinfer.spark;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.batch.BatchInput;
import io.roseinfer.batch.BatchLine;
import io.roseinfer.batch.BatchModel;
import io.roseinfer.batch.RequestKey;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.server.api.ApiError;
import io.roseinfer.server.api.CompletionCall;
import io.roseinfer.spark.BatchTask.Counts;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.sql.Row;

/** Processes the lines of a partition, which are sorted by key, and writes their responses as they finish. */
final class BatchLines {
    /** A line in flight. */
    record Call(BatchLine.Request line, CompletionCall call) {}

    private final BatchModel model;
    private final InFlight<Call> inFlight;
    private final PartFile part;
    private String keyBefore = "";
    private Counts counts = Counts.NONE;

    BatchLines(BatchModel model, InFlight<Call> inFlight, PartFile part) {
        this.model = model;
        this.inFlight = inFlight;
        this.part = part;
    }

    /** Processes all lines: rows of {@link SparkBatch#LINES}. */
    Counts answer(Iterator<Row> rows) throws IOException {
        while (rows.hasNext()) {
            BatchLine line = line(rows.next());
            if (line instanceof BatchLine.Request request) {
                submit(request);
            } else {
                refuse(line, ((BatchLine.Bad) line).error());
            }
            while (inFlight.isFull()) {
                writeNext();
            }
        }
        while (!inFlight.isEmpty()) {
            writeNext();
        }
        return counts;
    }

    /** Parses a line. A repeated custom id is rejected, as without a cluster. */
    private BatchLine line(Row row) {
        long number = row.getLong(1);
        BatchLine line = BatchInput.line(row.getAs(2), number);
        boolean repeated = keyBefore.equals(row.getString(0));
        keyBefore = row.getString(0);
        return repeated
                ? new BatchLine.Bad(
                        RequestKey.ofLine(number),
                        number,
                        line.customId(),
                        ApiError.badField("custom_id", "custom_id is used by an earlier line; it must be unique"))
                : line;
    }

    private void submit(BatchLine.Request line) throws IOException {
        try {
            CompletionCall call = model.call(line);
            List<GenerationRequest> requests =
                    IntStream.range(0, call.choices()).mapToObj(call::request).toList();
            inFlight.submit(new Call(line, call), requests);
        } catch (ApiError error) {
            refuse(line, error);
        } catch (BadInput bad) {
            refuse(line, model.refused(line, bad));
        }
    }

    private void writeNext() throws IOException {
        InFlight.Ended<Call> ended = inFlight.take();
        BatchLine.Request line = ended.row().line();
        CompletionCall call = ended.row().call();
        if (ended.failure().isPresent()) {
            refuse(line, ApiError.of(ended.failure().get()));
            return;
        }
        List<Completion> done = ended.completions();
        part.write(model.response(line, call, done));
        int tokens =
                done.stream().mapToInt(completion -> completion.tokens().size()).sum();
        counts = counts.plus(new Counts(1, 0, call.promptTokens(), tokens));
    }

    private void refuse(BatchLine line, ApiError error) throws IOException {
        part.write(BatchModel.refusal(line, error));
        counts = counts.plus(new Counts(0, 1, 0, 0));
    }
}
