package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Writes an answer's body into a file as it arrives, and no more of it than was announced. */
final class BlobSubscriber implements HttpResponse.BodySubscriber<Void> {
    private final RemoteFile file;
    private final PartialFile out;
    private final LongConsumer progress;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private long position;
    private Flow.@Nullable Subscription subscription;

    /**
     * @param position where the body's first byte goes
     * @param progress hears the position after each piece
     */
    BlobSubscriber(RemoteFile file, PartialFile out, long position, LongConsumer progress) {
        this.file = file;
        this.out = out;
        this.position = position;
        this.progress = progress;
    }

    @Override
    public CompletionStage<Void> getBody() {
        return done;
    }

    @Override
    public void onSubscribe(Flow.Subscription subscription) {
        this.subscription = subscription;
        subscription.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> pieces) {
        Flow.Subscription source = subscription;
        if (source == null || done.isDone()) {
            return;
        }
        try {
            for (ByteBuffer piece : pieces) {
                write(piece);
            }
            progress.accept(position);
            source.request(1);
        } catch (IOException e) {
            source.cancel();
            done.completeExceptionally(FileFailure.writing(out.path(), e));
        } catch (RuntimeException e) {
            source.cancel();
            done.completeExceptionally(e);
        }
    }

    private void write(ByteBuffer piece) throws IOException {
        int bytes = piece.remaining();
        if (bytes > file.maxBytes() - position) {
            out.startOver();
            throw tooMuch();
        }
        out.write(piece, position);
        position += bytes;
    }

    private BadModel tooMuch() {
        return file.bytes() < 0
                ? file.tooLarge("the server sends more than " + file.maxBytes())
                : new BadModel("download of " + Quoted.name(file.name()) + ": the server sends more than the "
                        + file.bytes() + " bytes it announced; try again or check HF_ENDPOINT");
    }

    @Override
    public void onError(Throwable failure) {
        done.completeExceptionally(failure);
    }

    @Override
    public void onComplete() {
        done.complete(null);
    }

    /** Takes nothing of a body that is not wanted: an error page or a redirect's note may be endless. */
    static HttpResponse.BodySubscriber<Void> refusing() {
        return new HttpResponse.BodySubscriber<>() {
            @Override
            public CompletionStage<Void> getBody() {
                return CompletableFuture.completedStage(null);
            }

            @Override
            public void onSubscribe(Flow.Subscription subscription) {
                subscription.cancel();
            }

            @Override
            public void onNext(List<ByteBuffer> pieces) {}

            @Override
            public void onError(Throwable failure) {}

            @Override
            public void onComplete() {}
        };
    }
}
