package io.roseinfer.spark;

import io.roseinfer.base.RoseException.BadInput;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructType;

/**
 * A partition's rows with their completions, in order of completion. Before it returns a row, it submits rows until the
 * engine is full.
 */
final class GenerateIterator implements Iterator<Row> {
    private final Iterator<Row> input;
    private final RowRequests requests;
    private final RowResults results;
    private final InFlight<Row> inFlight;

    private GenerateIterator(Iterator<Row> input, RowRequests requests, RowResults results, InFlight<Row> inFlight) {
        this.input = input;
        this.requests = requests;
        this.results = results;
        this.inFlight = inFlight;
    }

    /** Creates the iterator for the task of this thread. */
    static GenerateIterator open(Iterator<Row> input, StructType schema, GenerateSpec spec) {
        TaskWatch task = TaskWatch.current();
        OpenEngine open = ExecutorEngines.get(spec.engine(), task.gpus());
        Room room = spec.maxInFlight() > 0 ? new Room(spec.maxInFlight()) : open.room();
        InFlight<Row> inFlight = new InFlight<>(open.engine(), room, open.retries(), task::check);
        task.guard(inFlight);
        return new GenerateIterator(input, new RowRequests(schema, spec), new RowResults(spec), inFlight);
    }

    @Override
    public boolean hasNext() {
        return !inFlight.isEmpty() || input.hasNext();
    }

    @Override
    public Row next() {
        while (!inFlight.isFull() && input.hasNext()) {
            Optional<Row> refused = submit(input.next());
            if (refused.isPresent()) {
                return refused.get();
            }
        }
        if (inFlight.isEmpty()) {
            throw new NoSuchElementException("the partition has ended");
        }
        InFlight.Ended<Row> ended = inFlight.take();
        return ended.failure().isPresent()
                ? results.failed(ended.row(), ended.failure().get())
                : results.completed(ended.row(), ended.completions().get(0));
    }

    /** Submits a row; if it is rejected, returns it with the reason. */
    private Optional<Row> submit(Row row) {
        try {
            inFlight.submit(row, List.of(requests.request(row)));
            return Optional.empty();
        } catch (BadInput bad) {
            return Optional.of(results.failed(row, bad));
        }
    }
}
