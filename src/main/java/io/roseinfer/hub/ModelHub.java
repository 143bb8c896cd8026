package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Resolves a hub id to a local directory: from the cache if it is there, else by download, if allowed. */
public final class ModelHub {
    private final HubSettings settings;
    private final DownloadListener listener;
    private final HubClient.RetryDelay delay;
    private final AtomicBoolean warned = new AtomicBoolean();

    /** Creates a hub, without connecting. */
    public ModelHub(HubSettings settings, DownloadListener listener) {
        this(settings, listener, Thread::sleep);
    }

    ModelHub(HubSettings settings, DownloadListener listener, HubClient.RetryDelay delay) {
        this.settings = settings;
        this.listener = listener;
        this.delay = delay;
    }

    /**
     * Opens a model. If its files in the cache cannot be read and their hashes are wrong, they are downloaded again and
     * the model is reopened.
     *
     * @param check checks the model before its weights are downloaded, and throws BadModel to cancel the download
     * @param opener reads a directory in Hugging Face layout
     * @throws BadModel if the model is not in the cache and cannot be downloaded, or thrown by {@code check} or
     *     {@code opener}
     */
    public <T> T open(HubId id, BeforeWeights check, Function<Path, T> opener) {
        Path directory = directory(id, check);
        try {
            return opener.apply(directory);
        } catch (BadModel e) {
            List<Path> damaged = HubCache.damagedBlobs(directory);
            if (damaged.isEmpty()) {
                throw e;
            }
            return opener.apply(repaired(id, check, damaged, e));
        }
    }

    /**
     * Returns the directory of a model, in Hugging Face layout. A complete snapshot in the cache is used; the hub is
     * not asked for a newer one, only for small files that may be missing.
     */
    Path directory(HubId id, BeforeWeights check) {
        HubCache cache = new HubCache(settings.cacheDirectory());
        Optional<Snapshot> cached = cache.find(id);
        if (cached.isPresent()) {
            return completed(cached.get());
        }
        if (settings.offline()) {
            throw new BadModel(
                    "model " + cache.whatIsMissing(id) + ", and downloads are disabled",
                    new Remedy(
                            "enable them (without %s, HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE), run `hf download "
                                    + id.text().replace("%", "%%")
                                    + (id.revision().equals(HubId.MAIN)
                                            ? ""
                                            : " --revision " + id.revision().replace("%", "%%"))
                                    + "` on a machine with a network and copy the cache, or set %s to a local directory",
                            List.of("offline", "model")));
        }
        try (HubClient client = client()) {
            return client.repository(id, Set.of()).run(check);
        }
    }

    /** Returns whether no file of a model's directory is damaged: then downloading again would not help. */
    public static boolean isIntact(Path directory) {
        return HubCache.damagedBlobs(directory).isEmpty();
    }

    private Path completed(Snapshot snapshot) {
        List<String> unknown = snapshot.unknownFiles();
        if (!unknown.isEmpty() && !settings.offline()) {
            try (HubClient client = client()) {
                client.repository(snapshot.id(), Set.of())
                        .complete(snapshot.commit(), unknown)
                        .ifPresent(reason -> warnOfUnknown(snapshot, unknown, reason));
            } catch (BadInput unusable) {
                warnOfUnknown(snapshot, unknown, unusable.getMessage());
            }
        }
        return snapshot.directory();
    }

    private void warnOfUnknown(Snapshot snapshot, List<String> unknown, String reason) {
        listener.warning("the cache may be missing " + String.join(", ", unknown) + " of " + snapshot.id()
                + ", and the hub cannot be reached: " + reason + "; HF_HUB_OFFLINE=1 uses the cache only");
    }

    private Path repaired(HubId id, BeforeWeights check, List<Path> damaged, BadModel cause) {
        String shown = damaged.stream().map(FileFailure::shown).collect(Collectors.joining(", "));
        String finding = "its hash differs from its name: " + shown;
        if (settings.offline()) {
            throw new BadModel(
                    cause.getMessage() + "; the file in the cache is damaged, " + finding,
                    cause,
                    Remedy.of(
                            "enable downloads (without HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE and %s) to download it"
                                    + " again, or delete it",
                            "offline"));
        }
        listener.warning("a file in the cache is damaged and is downloaded again, " + finding);
        HubId spelling = new HubCache(settings.cacheDirectory())
                .find(id)
                .map(Snapshot::id)
                .orElse(id);
        Set<Etag> suspects =
                damaged.stream().flatMap(blob -> Etag.of(blob).stream()).collect(Collectors.toSet());
        try (HubClient client = client()) {
            return client.repository(spelling, suspects).run(check);
        } catch (BadModel e) {
            throw e.within(cause.getMessage() + "; the file in the cache is damaged, " + finding
                    + "; it could not be downloaded again: " + e.getMessage());
        }
    }

    private HubClient client() {
        HubClient client = new HubClient(settings, listener, delay, HubClient.Timeouts.DEFAULT, CacheVolume.REAL);
        if (!warned.getAndSet(true)) {
            settings.tokenWarning().ifPresent(listener::warning);
        }
        return client;
    }
}
