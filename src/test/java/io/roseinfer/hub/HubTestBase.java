package io.roseinfer.hub;

import io.roseinfer.safetensors.RawSafetensors;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A fake hub with a small model, an empty cache, and a client without delays between attempts. */
public abstract class HubTestBase {
    public static final HubId ID = new HubId("owner/small");
    public static final String WEIGHTS = "model.safetensors";
    /** Checks nothing. */
    public static final BeforeWeights UNCHECKED = new BeforeWeights() {
        @Override
        public void config(Path file) {}

        @Override
        public void smallFiles(Path directory) {}
    };

    static final HubClient.Timeouts TIMEOUTS =
            new HubClient.Timeouts(Duration.ofSeconds(10), Duration.ofSeconds(20), Duration.ofSeconds(20));

    @TempDir
    public Path cache;

    public final FakeHub hub = new FakeHub(ID.text());

    @BeforeEach
    void fillHub() {
        hub.file("config.json", utf8("{\"model_type\":\"gpt2\"}"));
        hub.file("vocab.json", utf8("{\"a\":0}"));
        hub.file(WEIGHTS, RawSafetensors.floats(List.of("a", "b"), 50_000));
    }

    @AfterEach
    void closeHub() {
        hub.close();
    }

    public static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    public HubSettings settings() {
        return settings(Optional.empty());
    }

    public HubSettings settings(Optional<String> token) {
        return settings(cache, hub.endpoint(), token, Map.of());
    }

    /** Settings from the given environment only. */
    static HubSettings settings(Path cache, URI endpoint, Optional<String> token, Map<String, String> others) {
        Map<String, String> environment = new HashMap<>(others);
        environment.put("HF_HUB_CACHE", cache.toString());
        environment.put("HF_ENDPOINT", endpoint.toString());
        environment.put(token.isPresent() ? "HF_TOKEN" : "HF_HUB_DISABLE_IMPLICIT_TOKEN", token.orElse("1"));
        return HubSettings.from(environment);
    }

    public Path download() {
        return download(settings(), DownloadListener.SILENT);
    }

    public static Path download(HubSettings settings, DownloadListener listener) {
        try (HubClient client = client(settings, listener, TIMEOUTS)) {
            return download(client, ID);
        }
    }

    public static Path download(HubClient client, HubId id) {
        return client.repository(id, Set.of()).run(UNCHECKED);
    }

    public static HubClient client(HubSettings settings, DownloadListener listener, HubClient.Timeouts timeouts) {
        return new HubClient(settings, listener, wait -> {}, timeouts, CacheVolume.REAL);
    }

    public Path repository() {
        return cache.resolve("models--owner--small");
    }
}
