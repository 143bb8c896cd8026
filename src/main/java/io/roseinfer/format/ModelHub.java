package io.roseinfer.format;

import io.roseinfer.base.RoseException.BadModel;
import java.nio.file.Path;
import java.util.Optional;

/** Turns a hub id into a local directory: from the cache if it is there, else by download, if that is allowed. */
public final class ModelHub {
    private final HubSettings settings;
    private final DownloadListener listener;
    private final Pause pause;

    /** Creates nothing and connects to nothing yet. */
    public ModelHub(HubSettings settings, DownloadListener listener, Pause pause) {
        this.settings = settings;
        this.listener = listener;
        this.pause = pause;
    }

    /**
     * The directory of a model, in Hugging Face layout. A complete snapshot in the cache is taken as it is; the hub is not asked
     * for a newer one.
     *
     * @throws BadModel if it is not in the cache and cannot be downloaded
     */
    public Path directory(HubId id) {
        HubCache cache = new HubCache(settings.cacheDirectory());
        Optional<Path> cached = cache.find(id);
        if (cached.isPresent()) {
            return cached.get();
        }
        if (settings.offline()) {
            throw new BadModel("model " + cache.whatIsMissing(id)
                    + ", and downloads are off (HF_HUB_OFFLINE or --offline); allow them, run `hf download " + id
                    + "` where there is a network and copy the cache, or give --model a local directory");
        }
        try (HubClient client = new HubClient(settings, listener, pause)) {
            return client.download(id);
        }
    }
}
