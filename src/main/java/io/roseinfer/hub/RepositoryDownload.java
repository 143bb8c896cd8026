package io.roseinfer.hub;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.safetensors.Checkpoint;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Brings one repository into the cache, in the layout that all Hugging Face tools share. Everything comes from the one commit that
 * the branch or tag pointed to at the start; that is written down last, so that a broken-off download is never taken for a model.
 */
final class RepositoryDownload {
    private final HubId id;
    private final RemoteFiles files;
    private final RemoteFiles askedOnce;
    private final CacheFolder folder;
    private final BlobDownload blobs;
    private final Set<Etag> suspects;

    /**
     * @param files what the hub has, asked until it answers
     * @param askedOnce the same for questions that can go without an answer
     * @param suspects blobs that must be verified even if they are there
     */
    RepositoryDownload(
            HubId id,
            RemoteFiles files,
            RemoteFiles askedOnce,
            CacheFolder folder,
            BlobDownload blobs,
            Set<Etag> suspects) {
        this.id = id;
        this.files = files;
        this.askedOnce = askedOnce;
        this.folder = folder;
        this.blobs = blobs;
        this.suspects = suspects;
    }

    /**
     * Downloads what is not there yet and returns the snapshot's directory.
     *
     * @throws BadModel if the hub refuses, cannot be reached, or sends something else than it announced, or if the disk is too
     *     small for the weights
     */
    public Path run(BeforeWeights check) {
        RemoteFile config = files.require(id.revision(), Snapshot.CONFIG);
        String commit = config.commit();
        take(config);
        check.config(folder.snapshot(commit).resolve(Snapshot.CONFIG));
        // Small files before the weights, whose arrival makes a snapshot count.
        find(files, commit, Snapshot.OPTIONAL_FILES).forEach(this::take);
        check.smallFiles(folder.snapshot(commit));
        takeWeights(commit);
        folder.writeCommit(id.revision(), commit);
        return folder.snapshot(commit);
    }

    /**
     * Asks for files of a snapshot that is there, and downloads those that the repository has.
     *
     * @return why the hub could not be asked, if so
     * @throws BadModel if the repository has a file that cannot be downloaded
     */
    public Optional<String> complete(String commit, List<String> names) {
        List<RemoteFile> found;
        try {
            found = find(askedOnce, commit, names);
        } catch (BadModel e) {
            return Optional.of(e.getMessage());
        }
        found.forEach(this::take);
        return Optional.empty();
    }

    private List<RemoteFile> find(RemoteFiles remote, String commit, List<String> names) {
        List<RemoteFile> found = new ArrayList<>();
        for (String name : names) {
            remote.find(commit, name).ifPresentOrElse(found::add, () -> folder.noteAbsent(commit, name));
        }
        return found;
    }

    private void takeWeights(String commit) {
        Optional<RemoteFile> single = files.find(commit, Checkpoint.SINGLE);
        if (single.isPresent()) {
            takeAll(List.of(single.get()));
            return;
        }
        RemoteFile index = files.find(commit, Checkpoint.INDEX).orElseThrow(this::noWeights);
        take(index);
        Path local = folder.snapshot(commit).resolve(Checkpoint.INDEX);
        takeAll(Checkpoint.shards(local).stream()
                .map(shard -> files.require(commit, shard))
                .toList());
    }

    private void takeAll(List<RemoteFile> weights) {
        blobs.requireSpace(weights);
        weights.forEach(this::take);
    }

    private BadModel noWeights() {
        return new BadModel("model " + id + " at " + files.endpoint() + " has neither " + Checkpoint.SINGLE + " nor "
                + Checkpoint.INDEX + "; choose a model with safetensors weights");
    }

    private void take(RemoteFile file) {
        blobs.fetch(file, suspects.contains(file.etag()));
        folder.publish(file.commit(), file.name(), file.etag());
    }
}
