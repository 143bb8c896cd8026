package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpExchange;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Other tools write to the same cache: only roseinfer's partial files are truncated, resumed or published. */
class SharedCacheTest extends HubTestBase {
    private Path blobs;
    private byte[] weights;
    private String etag;

    @BeforeEach
    void makeBlobs() throws IOException {
        blobs = Files.createDirectories(repository().resolve("blobs"));
        weights = hub.content(WEIGHTS);
        etag = FakeHub.sha256(weights);
    }

    @Test
    void partial_file_of_another_tool_is_not_touched() throws IOException {
        byte[] theirs = Arrays.copyOf(weights, 1000);
        Path file = Files.write(blobs.resolve(etag + ".incomplete"), theirs);
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(file).hasBinaryContent(theirs);
        assertThat(hub.bodies(WEIGHTS).getFirst().header("Range")).isEmpty();
    }

    @Test
    void restarted_download_uses_a_new_file() throws IOException {
        byte[] part = Arrays.copyOf(weights, 1000);
        Path partial = Files.write(blobs.resolve(etag + ".roseinfer.incomplete"), part);
        Path sameFile = Files.createLink(cache.resolve("same-file"), partial);
        hub.replace("store", "GET", WEIGHTS, this::serveWithoutRanges);
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(sameFile).hasBinaryContent(part);
    }

    private void serveWithoutRanges(HttpExchange exchange) throws IOException {
        exchange.sendResponseHeaders(200, weights.length);
        exchange.getResponseBody().write(weights);
    }

    @Test
    void too_long_partial_file_is_replaced_and_not_truncated() throws IOException {
        byte[] tooLong = Arrays.copyOf(weights, weights.length + 1);
        Path partial = Files.write(blobs.resolve(etag + ".roseinfer.incomplete"), tooLong);
        Path sameFile = Files.createLink(cache.resolve("same-file"), partial);
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(sameFile).hasBinaryContent(tooLong);
    }

    @Test
    void download_without_locks_restarts_and_leaves_no_files() throws IOException {
        byte[] part = Arrays.copyOf(weights, 1000);
        Path partial = Files.write(blobs.resolve(etag + ".roseinfer.incomplete"), part);
        assertThat(downloadWithoutLocks().resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(partial).hasBinaryContent(part);
        assertThat(hub.bodies(WEIGHTS).getFirst().header("Range")).isEmpty();
        assertThat(incomplete()).containsExactly(partial);
    }

    @Test
    void failed_download_without_locks_leaves_no_files() throws IOException {
        hub.replace("store", "GET", WEIGHTS, FakeHub.status(403));
        assertThatThrownBy(this::downloadWithoutLocks).isInstanceOf(BadModel.class);
        assertThat(incomplete()).isEmpty();
    }

    @Test
    void without_locks_a_download_resumes_its_own_attempt() {
        hub.replace("store", "GET", WEIGHTS, exchange -> {
            if (exchange.getRequestHeaders().containsKey("Range")) {
                FakeHub.serve(exchange, weights);
                return;
            }
            exchange.sendResponseHeaders(200, weights.length);
            exchange.getResponseBody().write(weights, 0, weights.length / 2);
        });
        assertThat(downloadWithoutLocks().resolve(WEIGHTS)).hasBinaryContent(weights);
    }

    @Test
    void only_day_old_unshared_files_of_killed_downloads_are_removed() throws IOException {
        Path old = leftover(etag + "." + UUID.randomUUID() + ".roseinfer.incomplete", Duration.ofHours(25));
        List<Path> kept = List.of(
                leftover(etag + "." + UUID.randomUUID() + ".roseinfer.incomplete", Duration.ofHours(23)),
                leftover("0".repeat(40) + ".roseinfer.incomplete", Duration.ofDays(9)),
                leftover(etag + ".incomplete", Duration.ofDays(9)),
                leftover(etag + ".0123abcd.incomplete", Duration.ofDays(9)));
        download();
        assertThat(old).doesNotExist();
        assertThat(incomplete()).containsExactlyInAnyOrderElementsOf(kept);
    }

    private Path leftover(String name, Duration age) throws IOException {
        Path file = Files.write(blobs.resolve(name), new byte[1]);
        FileTime now = Files.getLastModifiedTime(file);
        return Files.setLastModifiedTime(file, FileTime.from(now.toInstant().minus(age)));
    }

    private Path downloadWithoutLocks() {
        try (HubClient client =
                new HubClient(settings(), DownloadListener.SILENT, wait -> {}, TIMEOUTS, new VolumeWithoutLocks())) {
            return download(client, ID);
        }
    }

    private List<Path> incomplete() throws IOException {
        try (Stream<Path> files = Files.list(blobs)) {
            return files.filter(file -> file.toString().endsWith(".incomplete")).toList();
        }
    }
}
