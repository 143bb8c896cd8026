package io.roseinfer.hub;

import java.util.Set;

/** A connection to the hub, from which repositories are downloaded into the cache that all Hugging Face tools share. */
final class HubClient implements AutoCloseable {
    private final HubSettings settings;
    private final DownloadListener listener;
    private final Pause pause;
    private final HubHttp http;
    private final CacheVolume volume;

    /** Connects to nothing yet. */
    public HubClient(HubSettings settings, DownloadListener listener, Pause pause) {
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
    public RepositoryDownload repository(HubId id, Set<Etag> suspects) {
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
