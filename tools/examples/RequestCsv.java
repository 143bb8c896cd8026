import io.roseinfer.metrics.RequestTimeline;
import io.roseinfer.observe.ObservedRequest;
import io.roseinfer.observe.RequestEvent;
import io.roseinfer.observe.RequestObserver;
import io.roseinfer.scheduler.FinishReason;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes a line of CSV for each request that ends. Several threads end requests, so it is synchronized. A request without a token has
 * no TTFT.
 */
public final class RequestCsv implements RequestObserver, AutoCloseable {
    private final BufferedWriter out;

    public RequestCsv(String file) throws IOException {
        out = Files.newBufferedWriter(Path.of(file));
        out.write("request,priority,prompt_tokens,cached_tokens,generated_tokens,ttft_nanos,nanos,reason\n");
    }

    @Override
    public synchronized void on(RequestEvent event) {
        if (!(event instanceof RequestEvent.Ended(ObservedRequest request, FinishReason reason))) {
            return;
        }
        RequestTimeline timeline = request.timeline();
        long startNanos = timeline.submittedNanos();
        try {
            out.write(request.id() + "," + request.priority() + "," + request.promptTokens() + ","
                    + request.cachedTokens()
                    + "," + request.generatedTokens() + ","
                    + (timeline.tokens() == 0 ? "" : timeline.firstTokenNanos() - startNanos)
                    + "," + (timeline.finishedNanos() - startNanos) + "," + reason + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() throws IOException {
        out.close();
    }
}
