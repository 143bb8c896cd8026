package io.roseinfer.hub;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.safetensors.Safetensors;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Downloads one repository into the cache, in the layout shared by all Hugging Face tools. All files are from the
 * commit that the branch or tag pointed to at the start; it is recorded last, so that an interrupted download is never
 * used as a model.
 */
final class RepositoryDownload {
    private final HubClient client;
    private final HubId id;
    private final RemoteFiles files;
    private final CacheFolder folder;
    private final BlobDownload blobs;
    private final Set<Etag> suspects;

    /**
     * Creates a download that has not started.
     *
     * @param suspects blobs that must be verified even if they exist
     */
    RepositoryDownload(HubClient client, HubId id, CacheFolder folder, Set<Etag> suspects) {
        this.client = client;
        this.id = id;
        this.files = new RemoteFiles(client, id);
        this.folder = folder;
        this.blobs = new BlobDownload(client, id, folder);
        this.suspects = suspects;
    }

    /**
     * Downloads what is missing and returns the snapshot's directory.
     *
     * @throws BadModel if the hub rejects a request, cannot be reached, or sends other data than announced, or if there
     *     is not enough disk space for the weights
     */
    Path run(BeforeWeights check) {
        RemoteFile config = files.require(id.revision(), Snapshot.CONFIG);
        String commit = config.commit();
        take(config);
        check.config(folder.snapshot(commit).resolve(Snapshot.CONFIG));
        // Small files before the weights, whose arrival completes a snapshot.
        find(commit, Snapshot.OPTIONAL_FILES, HubClient.MAX_ATTEMPTS).forEach(this::take);
        check.smallFiles(folder.snapshot(commit));
        takeWeights(commit);
        folder.writeCommit(id.revision(), commit);
        return folder.snapshot(commit);
    }

    /**
     * Requests missing files of an existing snapshot, and downloads those that the repository has.
     *
     * @return the reason why the hub could not be reached, if so
     * @throws BadModel if the repository has a file that cannot be downloaded
     */
    Optional<String> complete(String commit, List<String> names) {
        List<RemoteFile> found;
        try {
            found = find(commit, names, 1);
        } catch (BadModel e) {
            return Optional.of(e.getMessage());
        }
        found.forEach(this::take);
        return Optional.empty();
    }

    private List<RemoteFile> find(String commit, List<String> names, int maxAttempts) {
        List<RemoteFile> found = new ArrayList<>();
        for (String name : names) {
            files.find(commit, name, maxAttempts).ifPresentOrElse(found::add, () -> folder.noteAbsent(commit, name));
        }
        return found;
    }

    private void takeWeights(String commit) {
        Optional<RemoteFile> single = files.find(commit, Safetensors.SINGLE, HubClient.MAX_ATTEMPTS);
        if (single.isPresent()) {
            takeAll(List.of(single.get()));
            return;
        }
        RemoteFile index =
                files.find(commit, Safetensors.INDEX, HubClient.MAX_ATTEMPTS).orElseThrow(this::noWeights);
        take(index);
        Path local = folder.snapshot(commit).resolve(Safetensors.INDEX);
        takeAll(Safetensors.shards(local).stream()
                .map(shard -> files.require(commit, shard))
                .toList());
    }

    private void takeAll(List<RemoteFile> weights) {
        blobs.requireSpace(weights);
        weights.forEach(this::take);
    }

    private BadModel noWeights() {
        return new BadModel("model " + id + " at " + client.endpoint() + " has neither " + Safetensors.SINGLE + " nor "
                + Safetensors.INDEX + "; choose a model with safetensors weights");
    }

    private void take(RemoteFile file) {
        blobs.fetch(file, suspects.contains(file.etag()));
        folder.publish(file.commit(), file.name(), file.etag());
    }
}
