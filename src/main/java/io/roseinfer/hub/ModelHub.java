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

/** Turns a hub id into a local directory: from the cache if it is there, else by download, if that is allowed. */
public final class ModelHub {
    private final HubSettings settings;
    private final DownloadListener listener;
    private final HubClient.RetryDelay delay;
    private final AtomicBoolean warned = new AtomicBoolean();

    /** Creates nothing and connects to nothing yet. */
    public ModelHub(HubSettings settings, DownloadListener listener) {
        this(settings, listener, Thread::sleep);
    }

    ModelHub(HubSettings settings, DownloadListener listener, HubClient.RetryDelay delay) {
        this.settings = settings;
        this.listener = listener;
        this.delay = delay;
    }

    /**
     * Opens a model. Where its files in the cache cannot be read and are not those that their names state, they are downloaded once
     * more and the model is opened again.
     *
     * @param check looks at the model before its weights are downloaded, and throws BadModel to spare that
     * @param opener reads a directory in Hugging Face layout
     * @throws BadModel if the model is not in the cache and cannot be downloaded, or what {@code check} or {@code opener} throws
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
     * The directory of a model, in Hugging Face layout. A complete snapshot in the cache is taken as it is; the hub is not asked
     * for a newer one, only for small files that may be missing.
     */
    Path directory(HubId id, BeforeWeights check) {
        HubCache cache = new HubCache(settings.cacheDirectory());
        Optional<Snapshot> cached = cache.find(id);
        if (cached.isPresent()) {
            return completed(cached.get());
        }
        if (settings.offline()) {
            throw new BadModel(
                    "model " + cache.whatIsMissing(id)
                            + ", and downloads are off (HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE or offline)",
                    new Remedy(
                            "allow them, run `hf download " + id.text().replace("%", "%%")
                                    + (id.revision().equals(HubId.MAIN)
                                            ? ""
                                            : " --revision " + id.revision().replace("%", "%%"))
                                    + "` where there is a network and copy the cache, or give %s a local directory",
                            List.of("model")));
        }
        try (HubClient client = client()) {
            return client.repository(id, Set.of()).run(check);
        }
    }

    /**
     * Whether no file of a directory that a model was opened from is damaged: files that cannot be used as they stand on the hub are
     * then what they are, and no download would help.
     */
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
        listener.warning("the cache may lack " + String.join(", ", unknown) + " of " + snapshot.id()
                + ", and the hub cannot be asked: " + reason + "; HF_HUB_OFFLINE=1 takes the cache as it is");
    }

    private Path repaired(HubId id, BeforeWeights check, List<Path> damaged, BadModel cause) {
        String shown = damaged.stream().map(FileFailure::shown).collect(Collectors.joining(", "));
        String finding = "its bytes are not those that its name states: " + shown;
        if (settings.offline()) {
            throw new BadModel(
                    cause.getMessage() + "; the file in the cache is damaged, " + finding,
                    cause,
                    Remedy.of(
                            "allow downloads (without HF_HUB_OFFLINE, TRANSFORMERS_OFFLINE and %s) and it is downloaded"
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
            throw new BadModel(
                    cause.getMessage() + "; the file in the cache is damaged, " + finding
                            + "; it could not be downloaded again: " + e.getMessage(),
                    e);
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
