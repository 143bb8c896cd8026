package io.roseinfer.format;

import io.roseinfer.base.RoseException.BadModel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Downloads a model from the hub into the cache, in the layout that all Hugging Face tools share. Everything comes from the one
 * commit that the branch pointed to at the start; the branch is written down last, so that a broken-off download is never taken
 * for a model.
 */
final class HubClient implements AutoCloseable {
    static final String CONFIG = "config.json";

    /** Taken if the repository has them; small, and before the weights, whose arrival makes a snapshot count. */
    private static final List<String> OPTIONAL =
            List.of("generation_config.json", "tokenizer_config.json", "tokenizer.json", "vocab.json", "merges.txt");

    private final HubSettings settings;
    private final DownloadListener listener;
    private final Retry retry;
    private final HubHttp http;
    private final CacheFolder.Linker linker;

    HubClient(HubSettings settings, DownloadListener listener, Pause pause) {
        this(settings, listener, pause, HubTimeouts.DEFAULT, Files::createSymbolicLink);
    }

    HubClient(
            HubSettings settings,
            DownloadListener listener,
            Pause pause,
            HubTimeouts timeouts,
            CacheFolder.Linker linker) {
        this.settings = settings;
        this.listener = listener;
        this.retry = new Retry(settings.endpoint(), listener, pause);
        this.http = new HubHttp(settings, timeouts);
        this.linker = linker;
    }

    /**
     * Downloads what is not there yet and returns the snapshot's directory.
     *
     * @throws BadModel if the hub refuses, cannot be reached, or sends something else than it announced
     */
    Path download(HubId id) {
        HubRefusal refusal = new HubRefusal(settings, id);
        RemoteFiles files = new RemoteFiles(http, settings, id, refusal, retry);
        CacheFolder folder = new CacheFolder(settings.cacheDirectory(), id);
        BlobDownload blobs = new BlobDownload(http, folder, refusal, retry, listener);
        RemoteFile config = files.require(HubCache.BRANCH, CONFIG);
        String commit = config.commit();
        take(config, folder, blobs);
        for (String name : OPTIONAL) {
            files.find(commit, name).ifPresent(file -> take(file, folder, blobs));
        }
        takeWeights(id, commit, files, folder, blobs);
        folder.writeCommit(HubCache.BRANCH, commit);
        return folder.snapshot(commit);
    }

    private void takeWeights(HubId id, String commit, RemoteFiles files, CacheFolder folder, BlobDownload blobs) {
        Optional<RemoteFile> single = files.find(commit, Checkpoint.SINGLE);
        if (single.isPresent()) {
            take(single.get(), folder, blobs);
            return;
        }
        RemoteFile index = files.find(commit, Checkpoint.INDEX)
                .orElseThrow(() ->
                        new BadModel("model " + id + " at " + settings.endpoint() + " has neither " + Checkpoint.SINGLE
                                + " nor " + Checkpoint.INDEX + "; choose a model with safetensors weights"));
        take(index, folder, blobs);
        Path local = folder.snapshot(commit).resolve(Checkpoint.INDEX);
        for (String shard : ShardIndex.read(local).shards()) {
            take(files.require(commit, shard), folder, blobs);
        }
    }

    private void take(RemoteFile file, CacheFolder folder, BlobDownload blobs) {
        blobs.fetch(file);
        folder.publish(file.commit(), file.name(), file.etag(), linker);
    }

    @Override
    public void close() {
        http.close();
    }
}
