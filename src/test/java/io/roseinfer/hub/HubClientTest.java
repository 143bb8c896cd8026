package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.checkpoint.Checkpoint;
import io.roseinfer.safetensors.RawSafetensors;
import io.roseinfer.safetensors.Safetensors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The files of a download, and their places in the cache. */
class HubClientTest extends HubTestBase {

    @Test
    void download_fills_the_cache_in_the_layout_of_all_hugging_face_tools() throws IOException {
        Path snapshot = download();
        assertThat(snapshot).isEqualTo(repository().resolve("snapshots").resolve(FakeHub.COMMIT));
        assertThat(repository().resolve("refs/main")).hasContent(FakeHub.COMMIT);
        for (String file : List.of("config.json", "vocab.json", WEIGHTS)) {
            assertThat(snapshot.resolve(file)).hasBinaryContent(hub.content(file));
        }
        assertThat(Files.readSymbolicLink(snapshot.resolve(WEIGHTS)))
                .isEqualTo(Path.of("../../blobs", FakeHub.sha256(hub.content(WEIGHTS))));
        assertThat(Files.readSymbolicLink(snapshot.resolve("config.json")))
                .isEqualTo(Path.of("../../blobs", FakeHub.gitSha1(hub.content("config.json"))));
        try (Checkpoint source = Safetensors.open(snapshot)) {
            assertThat(source.names()).containsExactly("a", "b");
        }
    }

    @Test
    void only_blobs_links_ref_and_absence_marks_are_left() throws IOException {
        download();
        Path notes = repository().resolve(".no_exist");
        assertThat(notes.resolve(FakeHub.COMMIT).resolve("tokenizer.json")).isEmptyFile();
        try (var tree = Files.walk(repository())) {
            assertThat(tree.filter(path -> !Files.isDirectory(path) && !path.startsWith(notes))
                            .map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrder(
                            "main",
                            "config.json",
                            "vocab.json",
                            WEIGHTS,
                            FakeHub.sha256(hub.content(WEIGHTS)),
                            FakeHub.gitSha1(hub.content("config.json")),
                            FakeHub.gitSha1(hub.content("vocab.json")));
        }
    }

    @Test
    void second_download_gets_no_blob_again() {
        download();
        int requests = hub.seen().size();
        download();
        assertThat(hub.seen().subList(requests, hub.seen().size()))
                .isNotEmpty()
                .allMatch(request -> request.method().equals("HEAD"));
    }

    @Test
    void everything_after_the_configuration_is_requested_at_one_commit() {
        download();
        List<String> atBranch = hub.seen().stream()
                .map(FakeHub.Seen::path)
                .filter(path -> path.contains("/resolve/main/"))
                .toList();
        assertThat(atBranch).containsExactly("/owner/small/resolve/main/config.json");
    }

    @Test
    void weights_are_last_because_they_complete_a_snapshot() {
        download();
        assertThat(hub.seen().getLast().path()).endsWith("/objects/" + WEIGHTS);
    }

    @Test
    void shards_of_an_index_are_downloaded() {
        hub.replace("hub", "HEAD", WEIGHTS, FakeHub.status(404, "X-Error-Code", "EntryNotFound"));
        hub.file(
                "model.safetensors.index.json",
                utf8("{\"weight_map\":{\"a\":\"s-1.safetensors\",\"b\":\"s-2.safetensors\"}}"));
        hub.file("s-1.safetensors", RawSafetensors.floats(List.of("a"), 10));
        hub.file("s-2.safetensors", RawSafetensors.floats(List.of("b"), 10));
        try (Checkpoint source = Safetensors.open(download())) {
            assertThat(source.names()).containsExactly("a", "b");
        }
    }

    @Test
    void repository_without_safetensors_is_rejected() {
        hub.replace("hub", "HEAD", WEIGHTS, FakeHub.status(404, "X-Error-Code", "EntryNotFound"));
        assertThatThrownBy(this::download)
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("has neither model.safetensors nor model.safetensors.index.json");
        assertThat(repository().resolve("refs/main")).doesNotExist();
    }

    @Test
    void files_are_copied_if_links_are_unsupported() throws IOException {
        try (HubClient client =
                new HubClient(settings(), DownloadListener.SILENT, wait -> {}, TIMEOUTS, new CacheVolume() {
                    @Override
                    public void link(Path link, Path target) {
                        throw new UnsupportedOperationException("no links here");
                    }
                })) {
            Path weights = download(client, ID).resolve(WEIGHTS);
            assertThat(Files.isSymbolicLink(weights)).isFalse();
            assertThat(weights).hasBinaryContent(hub.content(WEIGHTS));
        }
    }

    @Test
    void moved_repository_is_downloaded_through_the_hub_s_redirect_into_the_requested_folder() {
        HubSettings settings = settings(Optional.of("hf_secret"));
        try (HubClient client = client(settings, DownloadListener.SILENT, TIMEOUTS)) {
            Path snapshot = download(client, new HubId("small"));
            assertThat(snapshot).startsWith(cache.resolve("models--small"));
            assertThat(snapshot.resolve(WEIGHTS)).hasBinaryContent(hub.content(WEIGHTS));
        }
        assertThat(hub.seen())
                .filteredOn(request -> request.path().startsWith("/owner/small/"))
                .isNotEmpty()
                .allMatch(request -> request.header("Authorization").isPresent());
    }

    @Test
    void progress_ends_at_the_total_of_each_file() {
        List<Long> positions = Collections.synchronizedList(new ArrayList<>());
        download(settings(), (file, bytes, total) -> {
            if (file.equals(WEIGHTS)) {
                assertThat(total).isEqualTo(hub.content(WEIGHTS).length);
                positions.add(bytes);
            }
        });
        assertThat(positions).isSorted().endsWith((long) hub.content(WEIGHTS).length);
    }

    @Test
    void token_is_sent_to_the_hub_and_never_to_the_store() {
        download(settings(Optional.of("hf_secret")), DownloadListener.SILENT);
        assertThat(hub.bodies(WEIGHTS)).hasSize(1);
        assertThat(hub.seen())
                .allSatisfy(request -> assertThat(request.header("Authorization"))
                        .isEqualTo(
                                request.server().equals("hub") ? Optional.of("Bearer hf_secret") : Optional.empty()));
    }

    @Test
    void two_clients_of_one_cache_download_each_file_once() throws Exception {
        CountDownLatch bothRun = new CountDownLatch(2);
        Callable<Path> client = () -> {
            bothRun.countDown();
            bothRun.await();
            return download();
        };
        try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
            for (Future<Path> result : threads.invokeAll(List.of(client, client))) {
                assertThat(result.get().resolve(WEIGHTS)).hasBinaryContent(hub.content(WEIGHTS));
            }
        }
        assertThat(hub.bodies(WEIGHTS)).hasSize(1);
        assertThat(hub.bodies("config.json")).hasSize(1);
    }

    @Test
    void shard_name_that_leaves_the_snapshot_is_rejected() {
        hub.replace("hub", "HEAD", WEIGHTS, FakeHub.status(404, "X-Error-Code", "EntryNotFound"));
        hub.file("model.safetensors.index.json", utf8("{\"weight_map\":{\"a\":\"../../../../evil.safetensors\"}}"));
        assertThatThrownBy(this::download)
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("escape the model directory");
        assertThat(hub.seen()).noneMatch(request -> request.path().contains("evil"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"../../../evil", "\"..\"", "", "zz", "\"0123\""})
    void etag_that_is_not_a_hash_is_rejected(String etag) {
        hub.replace("hub", "HEAD", "config.json", FakeHub.status(200, "X-Repo-Commit", FakeHub.COMMIT, "ETag", etag));
        assertThatThrownBy(this::download).isInstanceOf(BadModel.class).hasMessageContaining("invalid ETag");
        assertThat(cache).isEmptyDirectory();
    }

    @ParameterizedTest
    @ValueSource(strings = {"../../../../evil", "main", "0123", ""})
    void commit_that_is_not_a_hash_is_rejected(String commit) {
        String etag = '"' + FakeHub.gitSha1(hub.content("config.json")) + '"';
        hub.replace("hub", "HEAD", "config.json", FakeHub.status(200, "X-Repo-Commit", commit, "ETag", etag));
        assertThatThrownBy(this::download).isInstanceOf(BadModel.class).hasMessageContaining("unexpected commit");
        assertThat(cache).isEmptyDirectory();
    }

    @ParameterizedTest
    @ValueSource(strings = {"file:///etc/passwd", "ftp://127.0.0.1/x", "http://", "http://a b/"})
    void redirect_to_another_scheme_is_rejected(String location) {
        hub.replace("hub", "GET", "config.json", FakeHub.status(302, "Location", location));
        assertThatThrownBy(this::download).isInstanceOf(BadModel.class).hasMessageContaining("redirects to");
    }
}
