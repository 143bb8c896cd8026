package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.hub.cache.HubId;
import io.roseinfer.hub.download.DownloadListener;
import io.roseinfer.hub.download.FakeHub;
import io.roseinfer.hub.download.HubSettings;
import io.roseinfer.hub.download.HubTestBase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Cache first, then the hub, and never the hub when offline. */
class ModelHubTest extends HubTestBase {
    private static final KnownModels MOVED =
            new KnownModels(List.of(), List.of(new KnownModels.MovedId("old", "owner/old")));

    @Test
    void model_is_downloaded_once_and_then_served_from_the_cache_without_a_request() {
        Path first = directory(settings(), ID);
        int requests = hub.seen().size();
        assertThat(directory(settings(), ID)).isEqualTo(first);
        assertThat(hub.seen()).hasSize(requests);
    }

    @Test
    void offline_with_a_cache_works_without_a_request() {
        Path downloaded = directory(settings(), ID);
        hub.close();
        assertThat(directory(settings().asOffline(), ID)).isEqualTo(downloaded);
    }

    @Test
    void offline_without_a_cache_says_what_is_missing_and_how_to_get_it() {
        assertThatThrownBy(() -> directory(settings().asOffline(), ID))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("owner/small is not in the cache " + cache)
                .hasMessageContaining("hf download owner/small");
        assertThat(hub.seen()).isEmpty();
    }

    @Test
    void offline_with_half_a_snapshot_lists_the_missing_files() throws IOException {
        Path snapshot = snapshot("models--owner--small");
        Files.writeString(snapshot.resolve("config.json"), "{}");
        Files.writeString(
                snapshot.resolve("model.safetensors.index.json"),
                "{\"weight_map\":{\"a\":\"s-1.safetensors\",\"b\":\"s-2.safetensors\"}}");
        Files.createFile(snapshot.resolve("s-1.safetensors"));
        assertThatThrownBy(() -> directory(settings().asOffline(), ID))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("its snapshot lacks \"s-2.safetensors\"");
    }

    @Test
    void link_to_a_blob_that_is_gone_counts_as_missing() throws IOException {
        Path snapshot = snapshot("models--owner--small");
        Files.writeString(snapshot.resolve("config.json"), "{}");
        Files.createSymbolicLink(snapshot.resolve(WEIGHTS), Path.of("../../blobs/gone"));
        assertThatThrownBy(() -> directory(settings().asOffline(), ID))
                .hasMessageContaining("lacks \"" + WEIGHTS + "\"");
        assertThat(directory(settings(), ID).resolve(WEIGHTS)).hasBinaryContent(hub.content(WEIGHTS));
    }

    @Test
    void moved_model_is_found_under_either_spelling() throws IOException {
        Path snapshot = snapshot("models--owner--old");
        Files.writeString(snapshot.resolve("config.json"), "{}");
        Files.createFile(snapshot.resolve(WEIGHTS));
        assertThat(directory(settings().asOffline(), MOVED.hubId("old"))).isEqualTo(snapshot);
        assertThat(directory(settings().asOffline(), MOVED.hubId("owner/old"))).isEqualTo(snapshot);
    }

    @Test
    void own_spelling_is_taken_before_the_other() throws IOException {
        for (String folder : List.of("models--old", "models--owner--old")) {
            Path snapshot = snapshot(folder);
            Files.writeString(snapshot.resolve("config.json"), "{}");
            Files.createFile(snapshot.resolve(WEIGHTS));
            Files.createFile(snapshot.resolve("tokenizer.json"));
        }
        assertThat(directory(settings(), MOVED.hubId("old"))).startsWith(cache.resolve("models--old"));
        assertThat(hub.seen()).isEmpty();
    }

    @Test
    void ref_that_is_no_commit_is_not_followed() throws IOException {
        Path refs = Files.createDirectories(repository().resolve("refs"));
        Files.writeString(refs.resolve("main"), "../../../evil");
        assertThatThrownBy(() -> directory(settings().asOffline(), ID)).hasMessageContaining("is not in the cache");
    }

    private static Path directory(HubSettings settings, HubId id) {
        return new ModelHub(settings, DownloadListener.SILENT, wait -> {}).directory(id, config -> {});
    }

    private Path snapshot(String folder) throws IOException {
        Path refs = Files.createDirectories(cache.resolve(folder).resolve("refs"));
        Files.writeString(refs.resolve("main"), FakeHub.COMMIT + "\n");
        return Files.createDirectories(
                cache.resolve(folder).resolve("snapshots").resolve(FakeHub.COMMIT));
    }
}
