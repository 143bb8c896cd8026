package io.roseinfer.spark;

import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.base.Clock;
import io.roseinfer.base.Printable;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.hub.download.DownloadListener;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * An engine with what else its model says.
 *
 * @param room for the rows of all tasks
 * @param chat how the model wants conversations written
 * @param defaults how its authors want tokens chosen where nobody says otherwise
 */
record OpenEngine(Engine engine, Room room, Optional<ChatTemplate> chat, SamplingDefaults defaults) {
    /** Rows for each row of a decode step: those in it, those that the next one needs, and those being read and handed on. */
    private static final int ROWS_AHEAD = 3;

    /** Loads a model, warms it up and serves it; closing the engine frees everything. */
    static OpenEngine open(Settings settings) {
        System.Logger log = System.getLogger("io.roseinfer");
        LoadedModel model = Roseinfer.load(settings, DownloadListener.SILENT);
        try {
            model.warnings().forEach(warning -> log.log(Level.WARNING, Printable.line(warning)));
            model.warmUp(Clock.system());
            Engine engine = model.serve(settings.engine()).closingAfterwards(model::close);
            return new OpenEngine(engine, room(engine, settings.engine()), model.chat(), model.samplingDefaults());
        } catch (RuntimeException | Error e) {
            model.close();
            throw e;
        }
    }

    /** An engine of which nothing else is known. */
    static OpenEngine of(Engine engine, EngineOptions options) {
        return new OpenEngine(engine, room(engine, options), Optional.empty(), SamplingDefaults.NONE);
    }

    private static Room room(Engine engine, EngineOptions options) {
        return new Room(ROWS_AHEAD * options.scheduler().maxBatchSize() * engine.replicas());
    }

    /** Whether none of its replicas serves any more. */
    boolean hasFailed() {
        return IntStream.range(0, engine.replicas())
                .allMatch(replica -> engine.failure(replica).isPresent());
    }
}
