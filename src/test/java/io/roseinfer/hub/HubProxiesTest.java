package io.roseinfer.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HubProxiesTest extends HubTestBase {
    private static final String PROXY = "http://proxy:3128";

    @Test
    void download_uses_the_proxy_except_for_excluded_hosts() {
        Map<String, String> environment = Map.of("HTTP_PROXY", hub.endpoint().toString(), "NO_PROXY", "127.0.0.1");
        URI unreachable = URI.create("http://hub.invalid");
        HubSettings settings = settings(cache, unreachable, Optional.empty(), environment);
        Path snapshot = download(settings, DownloadListener.SILENT);
        assertThat(snapshot.resolve(WEIGHTS)).hasBinaryContent(hub.content(WEIGHTS));
        assertThat(hub.bodies(WEIGHTS)).hasSize(1);
    }

    @Test
    void unencrypted_token_is_warned_of_once() {
        Map<String, String> environment = Map.of("HTTP_PROXY", hub.endpoint().toString(), "NO_PROXY", "127.0.0.1");
        URI far = URI.create("http://hub.invalid");
        HubSettings settings = settings(cache, far, Optional.of("hf_secret"), environment);
        List<String> warnings = new ArrayList<>();
        ModelHub models = new ModelHub(
                settings,
                new DownloadListener() {
                    @Override
                    public void progress(String file, long bytesSoFar, long totalBytes) {}

                    @Override
                    public void warning(String message) {
                        warnings.add(message);
                    }
                },
                wait -> {});
        models.open(ID, UNCHECKED, directory -> directory);
        assertThatThrownBy(() -> models.open(new HubId("owner/other"), UNCHECKED, directory -> directory))
                .isInstanceOf(BadModel.class);
        assertThat(warnings).singleElement().asString().contains("http://hub.invalid unencrypted");
    }

    @Test
    void each_scheme_has_its_own_proxy_and_all_proxy_is_the_default() {
        Map<String, String> environment = Map.of("HTTPS_PROXY", PROXY, "all_proxy", "other:8080");
        assertThat(chosen(environment, "https://hub/x")).isEqualTo(proxy("proxy", 3128));
        assertThat(chosen(environment, "http://hub/x")).isEqualTo(proxy("other", 8080));
        assertThat(chosen(Map.of("https_proxy", PROXY), "http://hub/x")).isEqualTo(Proxy.NO_PROXY);
    }

    @Test
    void lower_case_takes_precedence_over_upper_case() {
        assertThat(chosen(Map.of("https_proxy", PROXY, "HTTPS_PROXY", "http://late:1"), "https://hub/x"))
                .isEqualTo(proxy("proxy", 3128));
    }

    @ParameterizedTest
    @CsvSource({
        "hub.example, true",
        "HUB.example, true",
        "example, true",
        ".example, true",
        "*, true",
        "'a, hub.example', true",
        "hub.example:8443, true",
        "hub.example:8444, false",
        "b.example, false",
        "ample, false",
        "'', false"
    })
    void no_proxy_names_hosts_domains_and_ports(String exceptions, boolean direct) {
        Map<String, String> environment = Map.of("https_proxy", PROXY, "no_proxy", exceptions);
        assertThat(chosen(environment, "https://hub.example:8443/x").equals(Proxy.NO_PROXY))
                .isEqualTo(direct);
    }

    @ParameterizedTest
    @ValueSource(strings = {"socks5://proxy:1080", "https://proxy", "http://", "http://me:secret@proxy:1", "a b"})
    void invalid_proxy_is_reported_without_its_value(String value) {
        assertThatThrownBy(() -> HubProxies.from(Map.of("HTTPS_PROXY", value)))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("https_proxy is not a supported proxy address")
                .hasMessageNotContaining("secret");
    }

    private static Proxy chosen(Map<String, String> environment, String address) {
        return HubProxies.from(environment).select(URI.create(address)).getFirst();
    }

    private static Proxy proxy(String host, int port) {
        return new Proxy(Proxy.Type.HTTP, InetSocketAddress.createUnresolved(host, port));
    }
}
