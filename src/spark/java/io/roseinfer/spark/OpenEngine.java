package io.roseinfer.spark;

import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.base.Printable;
import io.roseinfer.batch.Retries;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.hub.DownloadListener;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * An engine with the related settings of its model.
 *
 * @param room for the rows of all tasks
 * @param retries of the rows of all tasks
 * @param chat the model's chat template
 * @param defaults the model's recommended sampling parameters
 */
record OpenEngine(
        Engine engine, Room room, Retries<Runnable> retries, Optional<ChatTemplate> chat, SamplingDefaults defaults) {
    /** In-flight rows per row of a decode step: one runs, one is queued, and one is being read or written. */
    private static final int ROWS_AHEAD = 3;

    /** Loads a model, warms it up and serves it; closing the engine frees everything. */
    static OpenEngine open(Settings settings) {
        System.Logger log = System.getLogger("io.roseinfer");
        LoadedModel model = Roseinfer.load(settings, DownloadListener.SILENT);
        try {
            model.warnings().forEach(warning -> log.log(Level.WARNING, Printable.line(warning)));
            model.warmUp();
            Engine engine = model.serve(settings.engine()).onClose(model::close);
            return new OpenEngine(
                    engine,
                    room(engine, settings.engine()),
                    new Retries<>(Runnable::run),
                    model.chat(),
                    model.samplingDefaults());
        } catch (RuntimeException | Error e) {
            model.close();
            throw e;
        }
    }

    /** Returns an engine without a chat template and recommendations. */
    static OpenEngine of(Engine engine, EngineOptions options) {
        return new OpenEngine(
                engine, room(engine, options), new Retries<>(Runnable::run), Optional.empty(), SamplingDefaults.NONE);
    }

    private static Room room(Engine engine, EngineOptions options) {
        return new Room(ROWS_AHEAD * options.scheduler().maxBatchSize() * engine.replicas());
    }

    /** Returns whether all of its replicas have failed. */
    boolean hasFailed() {
        return IntStream.range(0, engine.replicas())
                .allMatch(replica -> engine.failure(replica).isPresent());
    }
}
