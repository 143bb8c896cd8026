import io.roseinfer.metrics.StepRecord;
import io.roseinfer.metrics.StepRecord.Fact;
import io.roseinfer.observe.StepEvent;
import io.roseinfer.observe.StepObserver;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes a line of CSV for each step. Replicas share it and run their steps on separate threads, so it is synchronized. */
public final class StepCsv implements StepObserver, AutoCloseable {
    private final BufferedWriter out;

    public StepCsv(String file) throws IOException {
        out = Files.newBufferedWriter(Path.of(file));
        out.write("engine,step,start_nanos,rows,tokens,nanos\n");
    }

    @Override
    public synchronized void on(StepEvent event, StepRecord step) {
        if (event != StepEvent.APPLIED) {
            return;
        }
        long startNanos = step.get(Fact.START_NANOS);
        try {
            out.write(step.get(Fact.ENGINE) + "," + step.get(Fact.STEP) + "," + startNanos + "," + step.get(Fact.ROWS)
                    + "," + step.get(Fact.TOKENS) + "," + (step.endNanos() - startNanos) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
