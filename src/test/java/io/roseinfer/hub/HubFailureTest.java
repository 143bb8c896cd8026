package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.net.httpserver.HttpHandler;
import io.roseinfer.base.RoseException.BadModel;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures in transit and how they are handled. */
class HubFailureTest extends HubTestBase {
    private static final String OURS = ".roseinfer.incomplete";

    @Test
    void interrupted_download_is_resumed() {
        byte[] weights = hub.content(WEIGHTS);
        CountDownLatch halfArrived = new CountDownLatch(1);
        AtomicInteger gets = new AtomicInteger();
        hub.replace("store", "GET", WEIGHTS, exchange -> {
            if (gets.getAndIncrement() > 0) {
                FakeHub.serve(exchange, weights);
                return;
            }
            exchange.sendResponseHeaders(200, weights.length);
            exchange.getResponseBody().write(weights, 0, weights.length / 2);
            exchange.getResponseBody().flush();
            await(halfArrived);
        });
        Path snapshot = download(settings(), (file, bytes, total) -> {
            if (file.equals(WEIGHTS) && bytes >= weights.length / 2) {
                halfArrived.countDown();
            }
        });
        assertThat(snapshot.resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(hub.bodies(WEIGHTS)).hasSize(2);
        assertThat(hub.bodies(WEIGHTS).get(1).header("Range")).hasValue("bytes=" + weights.length / 2 + "-");
        assertThat(hub.bodies(WEIGHTS).get(1).header("If-range")).isEmpty();
    }

    @Test
    void download_is_completed_as_long_as_each_attempt_makes_progress() {
        byte[] weights = hub.content(WEIGHTS);
        int pieces = 3 * HubClient.MAX_ATTEMPTS;
        hub.replace("store", "GET", WEIGHTS, exchange -> {
            String range = exchange.getRequestHeaders().getFirst("Range");
            int from = range == null ? 0 : Integer.parseInt(range.substring("bytes=".length(), range.length() - 1));
            int end = Math.min(weights.length, from + weights.length / pieces + 1);
            if (range != null) {
                exchange.getResponseHeaders()
                        .set("Content-Range", "bytes " + from + "-" + (weights.length - 1) + "/" + weights.length);
            }
            exchange.sendResponseHeaders(range == null ? 200 : 206, weights.length - from);
            exchange.getResponseBody().write(weights, from, end - from);
            exchange.getResponseBody().flush();
            awaitArrival(end);
        });
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(hub.bodies(WEIGHTS)).hasSizeGreaterThan(2 * HubClient.MAX_ATTEMPTS);
    }

    /** Breaks a connection only after its bytes are on the disk. */
    private void awaitArrival(int bytes) throws IOException {
        Path blobs = repository().resolve("blobs");
        Path partial = blobs.resolve(FakeHub.sha256(hub.content(WEIGHTS)) + OURS);
        while (Files.exists(partial) && Files.size(partial) < bytes) {
            Thread.onSpinWait();
        }
    }

    @Test
    void download_that_keeps_restarting_is_given_up() throws IOException {
        byte[] weights = hub.content(WEIGHTS);
        leavePartial(FakeHub.sha256(weights), Arrays.copyOf(weights, weights.length - 1));
        hub.replace("store", "GET", WEIGHTS, exchange -> {
            exchange.sendResponseHeaders(200, weights.length);
            exchange.getResponseBody().write(weights, 0, 1000);
        });
        assertDownloadFails("failed 5 times");
    }

    @Test
    void partial_file_of_an_earlier_run_is_continued() throws IOException {
        byte[] weights = hub.content(WEIGHTS);
        leavePartial(FakeHub.sha256(weights), Arrays.copyOf(weights, 1000));
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(hub.bodies(WEIGHTS)).hasSize(1);
        assertThat(hub.bodies(WEIGHTS).getFirst().header("Range")).hasValue("bytes=1000-");
    }

    @Test
    void range_request_to_the_hub_has_if_range() throws IOException {
        byte[] config = hub.content("config.json");
        leavePartial(FakeHub.gitSha1(config), Arrays.copyOf(config, 5));
        download();
        assertThat(hub.bodies("config.json").getFirst().header("Range")).hasValue("bytes=5-");
        assertThat(hub.bodies("config.json").getFirst().header("If-range"))
                .hasValue('"' + FakeHub.gitSha1(config) + '"');
    }

    @Test
    void server_that_ignores_ranges_sends_everything_again() throws IOException {
        byte[] weights = hub.content(WEIGHTS);
        leavePartial(FakeHub.sha256(weights), new byte[1000]);
        hub.replace("store", "GET", WEIGHTS, exchange -> {
            exchange.sendResponseHeaders(200, weights.length);
            exchange.getResponseBody().write(weights);
        });
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(weights);
    }

    @Test
    void partial_file_of_other_bytes_is_detected_by_the_hash_and_downloaded_again() throws IOException {
        byte[] weights = hub.content(WEIGHTS);
        leavePartial(FakeHub.sha256(weights), new byte[1000]);
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(hub.bodies(WEIGHTS))
                .extracting(request -> request.header("Range").isPresent())
                .containsExactly(true, false);
    }

    @Test
    void complete_partial_file_is_not_requested_again() throws IOException {
        byte[] weights = hub.content(WEIGHTS);
        leavePartial(FakeHub.sha256(weights), weights);
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(hub.bodies(WEIGHTS)).isEmpty();
    }

    @Test
    void unsatisfiable_range_restarts_the_download() throws IOException {
        byte[] weights = hub.content(WEIGHTS);
        leavePartial(FakeHub.sha256(weights), Arrays.copyOf(weights, 1000));
        hub.replace("store", "GET", WEIGHTS, exchange -> {
            if (exchange.getRequestHeaders().containsKey("Range")) {
                exchange.sendResponseHeaders(416, -1);
            } else {
                FakeHub.serve(exchange, weights);
            }
        });
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(weights);
    }

    @Test
    void response_with_another_range_restarts_the_download() throws IOException {
        byte[] weights = hub.content(WEIGHTS);
        leavePartial(FakeHub.sha256(weights), Arrays.copyOf(weights, 1000));
        hub.replace("store", "GET", WEIGHTS, exchange -> {
            if (exchange.getRequestHeaders().containsKey("Range")) {
                exchange.getResponseHeaders().set("Content-Range", "bytes 999-" + (weights.length - 1) + "/*");
                exchange.sendResponseHeaders(206, weights.length - 1000);
                exchange.getResponseBody().write(weights, 999, weights.length - 1000);
            } else {
                FakeHub.serve(exchange, weights);
            }
        });
        List<String> reasons = new CopyOnWriteArrayList<>();
        DownloadListener listener = new DownloadListener() {
            @Override
            public void progress(String file, long bytesSoFar, long totalBytes) {}

            @Override
            public void retrying(String file, int attempt, int maxAttempts, String reason) {
                reasons.add(reason);
            }
        };
        assertThat(download(settings(), listener).resolve(WEIGHTS)).hasBinaryContent(weights);
        assertThat(reasons).containsExactly("the server cannot resume the partial download; restarting");
    }

    @Test
    void body_of_another_size_than_announced_is_rejected() {
        hub.replace("store", "GET", WEIGHTS, exchange -> FakeHub.serve(exchange, new byte[10]));
        assertDownloadFails(
                "wrong size: the hub reports " + hub.content(WEIGHTS).length + " bytes, the server sends 10");
        assertNoWeights();
    }

    @Test
    void endless_body_is_aborted_at_the_announced_size() {
        byte[] tooMuch = new byte[hub.content(WEIGHTS).length + 1];
        hub.replace("store", "GET", WEIGHTS, exchange -> {
            exchange.sendResponseHeaders(200, 0); // chunked, so without a length
            exchange.getResponseBody().write(tooMuch);
        });
        assertDownloadFails("sends more than the " + hub.content(WEIGHTS).length + " bytes it announced");
        assertNoWeights();
    }

    @Test
    void body_with_another_hash_is_rejected_and_deleted() {
        byte[] damaged = hub.content(WEIGHTS).clone();
        damaged[damaged.length - 1] ^= 1;
        hub.replace("store", "GET", WEIGHTS, exchange -> FakeHub.serve(exchange, damaged));
        assertDownloadFails("its hash differs from the hub's " + FakeHub.sha256(hub.content(WEIGHTS)));
        assertNoWeights();
        assertThat(repository().resolve("blobs").resolve(FakeHub.sha256(hub.content(WEIGHTS)) + OURS))
                .doesNotExist();
    }

    @Test
    void body_with_another_hash_is_downloaded_again() {
        AtomicInteger served = new AtomicInteger();
        hub.replace("store", "GET", WEIGHTS, exchange -> {
            byte[] content = hub.content(WEIGHTS).clone();
            content[0] ^= (byte) (served.getAndIncrement() == 0 ? 1 : 0);
            FakeHub.serve(exchange, content);
        });
        assertThat(download().resolve(WEIGHTS)).hasBinaryContent(hub.content(WEIGHTS));
        assertThat(served).hasValue(2);
    }

    @Test
    void weights_without_enough_disk_space_are_not_downloaded() {
        long bytes = hub.content(WEIGHTS).length;
        CacheVolume small = new CacheVolume() {
            @Override
            public long usableBytes(Path directory) {
                return bytes - 1;
            }
        };
        try (HubClient client = new HubClient(settings(), DownloadListener.SILENT, wait -> {}, TIMEOUTS, small)) {
            assertThatThrownBy(() -> download(client, ID))
                    .isInstanceOf(BadModel.class)
                    .hasMessageContaining("the weights need " + bytes + " more bytes")
                    .hasMessageContaining("has " + (bytes - 1) + " bytes of free disk space");
        }
        assertThat(hub.bodies(WEIGHTS)).isEmpty();
    }

    @Test
    void small_file_with_another_git_hash_is_rejected() {
        hub.replace("hub", "GET", "config.json", exchange -> {
            byte[] damaged = hub.content("config.json").clone();
            damaged[3] ^= 1;
            FakeHub.serve(exchange, damaged);
        });
        assertDownloadFails("its hash differs from the hub's " + FakeHub.gitSha1(hub.content("config.json")));
    }

    @Test
    void unauthorized_without_a_token_suggests_setting_one() {
        everyHeadAnswers(FakeHub.status(401));
        assertDownloadFails("401, the repository does not exist or is private; check the id, or set HF_TOKEN");
    }

    @Test
    void unauthorized_with_a_token_suggests_checking_it_without_showing_it() {
        everyHeadAnswers(FakeHub.status(401));
        assertThatThrownBy(() -> download(settings(Optional.of("hf_secret")), DownloadListener.SILENT))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("401, HF_TOKEN was rejected")
                .hasMessageNotContaining("hf_secret");
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 403})
    void gated_repository_error_has_its_page_and_the_server_s_message(int status) {
        everyHeadAnswers(
                FakeHub.status(status, "X-Error-Code", "GatedRepo", "X-Error-Message", "Access is \"restricted\""));
        String page = hub.endpoint() + "/owner/small";
        assertDownloadFails(status + ", the repository is gated; request access at " + page + " and set HF_TOKEN");
        assertDownloadFails("(the server says: \"Access is \\\"restricted\\\"\")");
        assertThatThrownBy(() -> download(settings(Optional.of("hf_secret")), DownloadListener.SILENT))
                .hasMessageContaining(status + ", the repository is gated; request access at " + page)
                .hasMessageContaining("account of the token")
                .hasMessageNotContaining("hf_secret");
    }

    @ParameterizedTest
    @ValueSource(ints = {401, 404})
    void error_code_takes_precedence_over_the_status(int status) {
        everyHeadAnswers(FakeHub.status(status, "X-Error-Code", "RepoNotFound"));
        assertDownloadFails(status + ", the repository does not exist or is private; check the id, or set HF_TOKEN");
        everyHeadAnswers(FakeHub.status(status, "X-Error-Code", "RevisionNotFound"));
        assertDownloadFails(status + ", the repository has no branch, tag or commit main");
    }

    @Test
    void unknown_repository_is_distinguished_from_a_missing_file() {
        try (HubClient client = client(settings(), DownloadListener.SILENT, TIMEOUTS)) {
            assertThatThrownBy(() -> download(client, new HubId("owner/unknown")))
                    .isInstanceOf(BadModel.class)
                    .hasMessageContaining("404, the repository does not exist or is private; check the id");
        }
        hub.replace("hub", "HEAD", "config.json", FakeHub.status(404, "X-Error-Code", "EntryNotFound"));
        assertDownloadFails("404, the repository has no such file");
    }

    @Test
    void server_error_is_tried_again_until_it_passes() {
        AtomicInteger answers = new AtomicInteger();
        hub.replace("hub", "HEAD", "vocab.json", exchange -> {
            if (answers.getAndIncrement() < 2) {
                exchange.sendResponseHeaders(503, -1);
            } else {
                FakeHub.status(404).handle(exchange);
            }
        });
        assertThat(download().resolve("vocab.json")).doesNotExist();
        assertThat(answers).hasValue(3);
    }

    @Test
    void permanent_server_error_ends_after_five_attempts_with_growing_delays() {
        everyHeadAnswers(FakeHub.status(502));
        List<Duration> pauses = new ArrayList<>();
        try (HubClient client =
                new HubClient(settings(), DownloadListener.SILENT, pauses::add, TIMEOUTS, CacheVolume.REAL)) {
            assertThatThrownBy(() -> download(client, ID))
                    .isInstanceOf(BadModel.class)
                    .hasMessageContaining("failed 5 times: the server returned 502");
        }
        assertThat(pauses).extracting(Duration::toSeconds).containsExactly(1L, 2L, 4L, 8L);
    }

    @Test
    void retry_after_is_respected() {
        everyHeadAnswers(FakeHub.status(429, "Retry-After", "7"));
        List<Duration> pauses = new ArrayList<>();
        try (HubClient client =
                new HubClient(settings(), DownloadListener.SILENT, pauses::add, TIMEOUTS, CacheVolume.REAL)) {
            assertThatThrownBy(() -> download(client, ID)).isInstanceOf(BadModel.class);
        }
        assertThat(pauses).containsOnly(Duration.ofSeconds(7));
    }

    @Test
    void unreachable_hub_is_reported_with_a_remedy() {
        URI unreachable = hub.endpoint();
        hub.close();
        HubSettings settings = settings(cache, unreachable, Optional.empty(), Map.of());
        List<String> retried = new ArrayList<>();
        DownloadListener listener = new DownloadListener() {
            @Override
            public void progress(String file, long bytesSoFar, long totalBytes) {}

            @Override
            public void retrying(String file, int attempt, int maxAttempts, String reason) {
                retried.add(attempt + " of " + maxAttempts + ": " + reason);
            }
        };
        assertThatThrownBy(() -> download(settings, listener))
                .isInstanceOf(BadModel.class)
                .hasMessageContaining("model " + ID + " is not a local directory")
                .hasMessageContaining(unreachable.toString())
                .hasMessageContaining("check the network and HF_ENDPOINT");
        assertThat(retried)
                .isNotEmpty()
                .allMatch(reason -> reason.contains(": cannot connect to " + unreachable + " ("));
        assertThat(retried.getFirst()).startsWith("2 of ");
    }

    @Test
    void hub_that_refuses_connections_is_given_up_after_three_seconds() {
        URI unreachable = hub.endpoint();
        hub.close();
        HubSettings settings = settings(cache, unreachable, Optional.empty(), Map.of());
        List<Duration> pauses = new ArrayList<>();
        try (HubClient client =
                new HubClient(settings, DownloadListener.SILENT, pauses::add, TIMEOUTS, CacheVolume.REAL)) {
            assertThatThrownBy(() -> download(client, ID)).hasMessageContaining("failed 3 times: cannot connect");
        }
        assertThat(pauses).extracting(Duration::toSeconds).containsExactly(1L, 2L);
    }

    @Test
    void hub_that_is_lost_during_a_download_has_all_attempts() {
        List<Duration> pauses = new ArrayList<>();
        DownloadListener closing = (file, bytes, total) -> hub.close();
        try (HubClient client = new HubClient(settings(), closing, pauses::add, TIMEOUTS, CacheVolume.REAL)) {
            assertThatThrownBy(() -> download(client, ID)).hasMessageContaining("failed 5 times: cannot connect");
        }
        assertThat(pauses).extracting(Duration::toSeconds).endsWith(1L, 2L, 4L, 8L);
    }

    /** A supervisor restarts a server after the first, and not after the second. */
    @Test
    void unreachable_hub_and_unknown_repository_have_different_exit_codes() {
        everyHeadAnswers(FakeHub.status(404, "X-Error-Code", "RepoNotFound"));
        assertThatThrownBy(this::download).extracting("exitCode").isEqualTo(3);
        everyHeadAnswers(FakeHub.status(503));
        assertThatThrownBy(this::download).extracting("exitCode").isEqualTo(11);
    }

    @Test
    void stalled_server_is_given_up() {
        CountDownLatch never = new CountDownLatch(1);
        hub.replace("store", "GET", WEIGHTS, exchange -> {
            exchange.sendResponseHeaders(200, hub.content(WEIGHTS).length);
            exchange.getResponseBody().flush();
            await(never);
        });
        HubClient.Timeouts impatient =
                new HubClient.Timeouts(Duration.ofSeconds(10), Duration.ofMillis(300), Duration.ofMillis(50));
        try (HubClient client = client(settings(), DownloadListener.SILENT, impatient)) {
            assertThatThrownBy(() -> download(client, ID))
                    .isInstanceOf(BadModel.class)
                    .hasMessageContaining("failed 5 times");
        } finally {
            never.countDown();
        }
    }

    @Test
    void interrupted_download_ends_and_keeps_the_interrupt() {
        HubSettings settings = settings();
        everyHeadAnswers(FakeHub.status(503));
        Thread.currentThread().interrupt();
        try (HubClient client = client(settings, DownloadListener.SILENT, TIMEOUTS)) {
            assertThatThrownBy(() -> download(client, ID))
                    .isInstanceOf(BadModel.class)
                    .hasMessageContaining("interrupted; try again");
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void download_interrupted_within_a_body_ends_at_once_and_keeps_the_received_bytes() {
        List<String> retried = new ArrayList<>();
        DownloadListener interrupting = new DownloadListener() {
            @Override
            public void progress(String file, long bytesSoFar, long totalBytes) {
                if (file.equals(WEIGHTS)) {
                    Thread.currentThread().interrupt();
                }
            }

            @Override
            public void retrying(String file, int attempt, int maxAttempts, String reason) {
                retried.add(reason);
            }
        };
        HubSettings settings = settings();
        try {
            assertThatThrownBy(() -> download(settings, interrupting))
                    .isInstanceOf(BadModel.class)
                    .hasMessageContaining("\"" + WEIGHTS + "\" was interrupted; try again to resume it");
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
        assertThat(retried).isEmpty();
        assertThat(repository().resolve("blobs").resolve(FakeHub.sha256(hub.content(WEIGHTS)) + OURS))
                .isNotEmptyFile();
    }

    private void assertDownloadFails(String message) {
        assertThatThrownBy(this::download).isInstanceOf(BadModel.class).hasMessageContaining(message);
    }

    private void assertNoWeights() {
        assertThat(repository().resolve("blobs").resolve(FakeHub.sha256(hub.content(WEIGHTS))))
                .doesNotExist();
        assertThat(repository().resolve("refs/main")).doesNotExist();
    }

    private void everyHeadAnswers(HttpHandler handler) {
        hub.replace("hub", "HEAD", "config.json", handler);
    }

    private void leavePartial(String etag, byte[] bytes) throws IOException {
        Path blobs = Files.createDirectories(repository().resolve("blobs"));
        Files.write(blobs.resolve(etag + OURS), bytes);
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
