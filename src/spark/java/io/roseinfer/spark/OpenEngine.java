package io.roseinfer.spark;

import io.roseinfer.LoadedModel;
import io.roseinfer.Roseinfer;
import io.roseinfer.Settings;
import io.roseinfer.base.Clock;
import io.roseinfer.base.Printable;
import io.roseinfer.engine.Engine;
import io.roseinfer.hub.download.DownloadListener;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.tokenizer.chat.ChatTemplate;
import java.lang.System.Logger.Level;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * An engine with what else its model says.
 *
 * @param chat how the model wants conversations written
 * @param defaults how its authors want tokens chosen where nobody says otherwise
 */
record OpenEngine(Engine engine, Optional<ChatTemplate> chat, SamplingDefaults defaults) {

    /** Loads a model, warms it up and serves it; closing the engine frees everything. */
    static OpenEngine open(Settings settings) {
        System.Logger log = System.getLogger("io.roseinfer");
        LoadedModel model = Roseinfer.load(settings, DownloadListener.SILENT);
        try {
            model.warnings().forEach(warning -> log.log(Level.WARNING, Printable.line(warning)));
            model.warmUp(Clock.system());
            Engine engine = model.serve(settings.engine()).closingAfterwards(model::close);
            return new OpenEngine(engine, model.chat(), model.samplingDefaults());
        } catch (RuntimeException | Error e) {
            model.close();
            throw e;
        }
    }

    /** Whether none of its replicas serves any more. */
    boolean hasFailed() {
        return IntStream.range(0, engine.replicas())
                .allMatch(replica -> engine.failure(replica).isPresent());
    }
}
