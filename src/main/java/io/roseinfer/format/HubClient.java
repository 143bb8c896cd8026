package io.roseinfer.format;

import java.util.List;
import java.util.Set;

/** A connection to the hub, from which repositories are downloaded into the cache that all Hugging Face tools share. */
final class HubClient implements AutoCloseable {
    static final String CONFIG = "config.json";
    static final String TOKENIZER = "tokenizer.json";

    /** All that a tokenizer is read from, or refused for; a file left out here would tokenize otherwise than the same model in a directory. */
    static final List<String> TOKENIZER_FILES = List.of(
            "tokenizer_config.json",
            TOKENIZER,
            "vocab.json",
            "merges.txt",
            "added_tokens.json",
            "special_tokens_map.json",
            "vocab.txt",
            "tekken.json");

    static final String GENERATION_CONFIG = "generation_config.json";

    private final HubSettings settings;
    private final DownloadListener listener;
    private final Pause pause;
    private final HubHttp http;
    private final CacheVolume volume;

    HubClient(HubSettings settings, DownloadListener listener, Pause pause) {
        this(settings, listener, pause, HubTimeouts.DEFAULT, CacheVolume.REAL);
    }

    HubClient(HubSettings settings, DownloadListener listener, Pause pause, HubTimeouts timeouts, CacheVolume volume) {
        this.settings = settings;
        this.listener = listener;
        this.pause = pause;
        this.http = new HubHttp(settings, timeouts);
        this.volume = volume;
    }

    /**
     * A repository's way into the cache.
     *
     * @param suspects blobs that are not believed to be what their names say, if they are there
     */
    RepositoryDownload repository(HubId id, Set<Etag> suspects) {
        HubRefusal refusal = new HubRefusal(settings, id);
        Retry patient = new Retry(settings.endpoint(), listener, pause);
        Retry once = new Retry(settings.endpoint(), listener, pause, 1);
        CacheFolder folder = new CacheFolder(settings.cacheDirectory(), id, volume);
        return new RepositoryDownload(
                id,
                new RemoteFiles(http, settings, id, refusal, patient),
                new RemoteFiles(http, settings, id, refusal, once),
                folder,
                new BlobDownload(http, folder, refusal, patient, listener),
                suspects);
    }

    @Override
    public void close() {
        http.close();
    }
}
