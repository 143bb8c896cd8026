package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
    void offline_mode_without_a_cache_suggests_a_remedy() {
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
    void dangling_link_to_a_blob_is_a_missing_file() throws IOException {
        Path snapshot = snapshot("models--owner--small");
        Files.writeString(snapshot.resolve("config.json"), "{}");
        Files.createSymbolicLink(snapshot.resolve(WEIGHTS), Path.of("../../blobs/gone"));
        assertThatThrownBy(() -> directory(settings().asOffline(), ID))
                .hasMessageContaining("lacks \"" + WEIGHTS + "\"");
        assertThat(directory(settings(), ID).resolve(WEIGHTS)).hasBinaryContent(hub.content(WEIGHTS));
    }

    @Test
    void moved_model_is_found_under_either_id() throws IOException {
        Path snapshot = snapshot("models--owner--old");
        Files.writeString(snapshot.resolve("config.json"), "{}");
        Files.createFile(snapshot.resolve(WEIGHTS));
        assertThat(directory(settings().asOffline(), MOVED.hubId("old"))).isEqualTo(snapshot);
        assertThat(directory(settings().asOffline(), MOVED.hubId("owner/old"))).isEqualTo(snapshot);
    }

    @Test
    void requested_id_is_used_before_the_other() throws IOException {
        for (String folder : List.of("models--old", "models--owner--old")) {
            Path snapshot = snapshot(folder);
            Files.writeString(snapshot.resolve("config.json"), "{}");
            Files.createFile(snapshot.resolve(WEIGHTS));
            Files.createFile(snapshot.resolve("tokenizer.json"));
        }
        assertThat(directory(settings().asOffline(), MOVED.hubId("old"))).startsWith(cache.resolve("models--old"));
        assertThat(hub.seen()).isEmpty();
    }

    @Test
    void ref_that_is_not_a_commit_is_ignored() throws IOException {
        Path refs = Files.createDirectories(repository().resolve("refs"));
        Files.writeString(refs.resolve("main"), "../../../evil");
        assertThatThrownBy(() -> directory(settings().asOffline(), ID)).hasMessageContaining("is not in the cache");
    }

    @ParameterizedTest
    @ValueSource(strings = {"v1.0", "refs/pr/7", "0123abc"})
    void revision_is_cached_next_to_the_main_branch(String revision) {
        String commit = "f".repeat(40);
        hub.revision(revision, commit);
        hub.fileAt(commit, "config.json", utf8("{\"of\":\"revision\"}"));
        Path main = directory(settings(), ID);
        Path other = directory(settings(), ID.at(revision));
        assertThat(other).isEqualTo(repository().resolve("snapshots").resolve(commit));
        assertThat(other.resolve("config.json")).hasContent("{\"of\":\"revision\"}");
        assertThat(main.resolve("config.json")).hasBinaryContent(hub.content("config.json"));
        assertThat(repository().resolve("refs").resolve(revision)).hasContent(commit);
        assertThat(repository().resolve("refs/main")).hasContent(FakeHub.COMMIT);
        assertThat(hub.bodies(WEIGHTS)).as("the same weights are one blob").hasSize(1);
        int requests = hub.seen().size();
        assertThat(directory(settings(), ID.at(revision))).isEqualTo(other);
        assertThat(hub.seen()).hasSize(requests);
    }

    @Test
    void commit_is_its_own_reference() {
        Path directory = directory(settings(), ID.at(FakeHub.COMMIT));
        assertThat(directory).isEqualTo(repository().resolve("snapshots").resolve(FakeHub.COMMIT));
        assertThat(repository().resolve("refs")).doesNotExist();
        assertThat(directory(settings().asOffline(), ID.at(FakeHub.COMMIT))).isEqualTo(directory);
    }

    @Test
    void revision_that_the_hub_does_not_have_is_named() {
        assertThatThrownBy(() -> directory(settings(), ID.at("v9")))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("model owner/small@v9")
                .hasMessageContaining("no branch, tag or commit v9");
    }

    @Test
    void revision_missing_from_the_cache_is_named_offline() {
        directory(settings(), ID);
        assertThatThrownBy(() -> directory(settings().asOffline(), ID.at("v1")))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("owner/small@v1 is not in the cache")
                .hasMessageContaining("hf download owner/small --revision v1");
    }

    @Test
    void optional_files_are_downloaded_if_the_repository_has_them() {
        List<String> names = List.of(
                "generation_config.json",
                "tokenizer_config.json",
                "special_tokens_map.json",
                "chat_template.jinja",
                "chat_template.json");
        names.forEach(name -> hub.file(name, utf8("{}" + name)));
        Path directory = directory(settings(), ID);
        assertThat(names).allSatisfy(name -> assertThat(directory.resolve(name)).hasBinaryContent(hub.content(name)));
        assertThat(directory.resolve("tokenizer.json")).doesNotExist();
    }

    private static Path directory(HubSettings settings, HubId id) {
        return new ModelHub(settings, DownloadListener.SILENT, wait -> {}).directory(id, UNCHECKED);
    }

    private Path snapshot(String folder) throws IOException {
        Path refs = Files.createDirectories(cache.resolve(folder).resolve("refs"));
        Files.writeString(refs.resolve("main"), FakeHub.COMMIT + "\n");
        return Files.createDirectories(
                cache.resolve(folder).resolve("snapshots").resolve(FakeHub.COMMIT));
    }
}
