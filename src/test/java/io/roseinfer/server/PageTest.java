package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.roseinfer.backend.sim.SimOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.server.http.RawClient.Answer;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The page at {@code GET /}, tested by its text, and in a browser if there is one. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PageTest {
    private static final Pattern ID = Pattern.compile("\\bid=\"(\\w+)\"");
    private static final Pattern LOOKED_UP = Pattern.compile("\\$\\('(\\w+)'\\)");
    private static final Pattern METRIC = Pattern.compile("'((?:vllm|roseinfer):\\w+)'");

    private static Set<String> found(Pattern pattern, String text) {
        Set<String> found = new HashSet<>();
        pattern.matcher(text).results().forEach(match -> found.add(match.group(1)));
        return found;
    }

    @Test
    void page_loads_no_external_resources() throws IOException {
        try (TestServer server = TestServer.start()) {
            Answer page = server.get("/");
            assertThat(page.status()).isEqualTo(200);
            assertThat(page.header("content-type")).contains("text/html; charset=utf-8");
            assertThat(page.header("content-security-policy"))
                    .hasValueSatisfying(policy -> assertThat(policy)
                            .contains("default-src 'none'", "connect-src 'self'")
                            .doesNotContain("http", "*"));
            assertThat(page.body().replace("http://www.w3.org/2000/svg", ""))
                    .doesNotContain("http:", "https:", "src=", "@import", "url(");
        }
    }

    @Test
    void elements_used_by_script_and_labels_are_on_the_page() throws IOException {
        try (TestServer server = TestServer.start()) {
            String page = server.get("/").body();
            Set<String> ids = found(ID, page);
            assertThat(ids).containsAll(found(LOOKED_UP, page));
            assertThat(ids).containsAll(found(Pattern.compile("(?:for|aria-labelledby)=\"(\\w+)\""), page));
            assertThat(found(Pattern.compile("<(?:input|textarea) id=\"(\\w+)\""), page))
                    .isEqualTo(found(Pattern.compile("<label for=\"(\\w+)\""), page));
        }
    }

    @Test
    void every_metric_that_it_reads_is_exported() throws IOException {
        try (TestServer server = TestServer.start()) {
            Set<String> read = found(METRIC, server.get("/").body());
            assertThat(server.complete("{\"prompt\":[1],\"max_tokens\":2}").status())
                    .isEqualTo(200);
            Set<String> there = found(
                    Pattern.compile("(?m)^([\\w:]+)"), server.get("/metrics").body());
            assertThat(read).hasSizeGreaterThan(7);
            assertThat(there).containsAll(read);
        }
    }

    @Test
    void server_with_a_key_shows_the_page_without_numbers() throws IOException {
        ServerOptions options = TestServer.options().withApiKey(ApiKey.of("secret-key-1"));
        try (TestServer server = new TestServer(TestServer.engineOptions(), SimOptions.defaults(), options)) {
            assertThat(server.get("/").status()).isEqualTo(200);
            assertThat(server.get("/metrics").status()).isEqualTo(401);
        }
    }

    private static Path browser() {
        Optional<Path> found = Stream.of(
                        System.getenv().getOrDefault("PATH", "").split(":"))
                .flatMap(folder -> Stream.of("chromium", "chromium-browser", "google-chrome")
                        .map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
        assumeTrue(found.isPresent(), "no Chromium on the PATH");
        return found.orElseThrow();
    }

    /** The browser's output. It runs for some seconds of virtual time. */
    private String browse(TestServer server, String... flags) throws Exception {
        List<String> command = new ArrayList<>(List.of(
                browser().toString(),
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--virtual-time-budget=8000"));
        command.addAll(List.of(flags));
        try (BrowserProfile profile = BrowserProfile.create()) {
            command.add("--user-data-dir=" + profile.folder());
            command.add("http://127.0.0.1:" + server.address().getPort() + "/");
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try {
                String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
                return out;
            } finally {
                BrowserProfile.kill(process);
            }
        }
    }

    @Test
    @Tag("browser")
    void browser_shows_the_numbers_of_the_server() throws Exception {
        try (TestServer server = TestServer.start()) {
            String dom = browse(server, "--dump-dom");
            assertThat(dom)
                    .contains("<title>" + TestServer.MODEL + " – roseinfer</title>")
                    .contains(">serving</span>")
                    .contains("<dd id=\"running\">0</dd>")
                    .contains("<dd id=\"kv\">0 %</dd>")
                    .contains("nothing in the last minute");
        }
    }

    private static void awaitServing(Browser browser) throws InterruptedException {
        while (!browser.evaluate("document.getElementById('state')?.textContent ?? ''")
                .equals("serving")) {
            Thread.onSpinWait();
        }
    }

    @Test
    @Tag("browser")
    void browser_renders_the_page_at_every_width_light_and_dark() throws Exception {
        try (TestServer server = TestServer.start();
                BrowserProfile profile = BrowserProfile.create();
                Browser browser = Browser.open(browser(), profile.folder(), server.address())) {
            awaitServing(browser);
            for (int width : new int[] {500, 900, 1400}) {
                BufferedImage light = browser.render(width, 1300, "light");
                BufferedImage dark = browser.render(width, 1300, "dark");
                for (BufferedImage image : List.of(light, dark)) {
                    assertThat(image.getWidth()).isEqualTo(width);
                    assertThat(colors(image)).as("at %d", width).hasSizeGreaterThan(50);
                }
                assertThat(dark.getRGB(0, 0) & 0xFF).isLessThan(light.getRGB(0, 0) & 0xFF);
            }
        }
    }

    private static Set<Integer> colors(BufferedImage image) {
        Set<Integer> colors = new HashSet<>();
        for (int y = 0; y < image.getHeight(); y += 2) {
            for (int x = 0; x < image.getWidth(); x += 2) {
                colors.add(image.getRGB(x, y));
            }
        }
        return colors;
    }

    @Test
    @Tag("browser")
    void prompt_is_completed_from_the_keyboard_with_a_latency_breakdown() throws Exception {
        try (TestServer server = TestServer.start();
                BrowserProfile profile = BrowserProfile.create();
                Browser browser = Browser.open(browser(), profile.folder(), server.address())) {
            awaitServing(browser);
            String unused = browser.evaluate("""
                    (async () => {
                      document.getElementById('tokens').value = 7;
                      document.getElementById('temperature').value = 0;
                      document.getElementById('prompt').value = 'Once';
                      document.getElementById('prompt').focus();
                    })()""");
            browser.pressControlEnter();
            String seen = browser.evaluate("""
                    (async () => {
                      while (!document.querySelector('#times tr')) await new Promise(go => setTimeout(go, 20));
                      return document.getElementById('answer').textContent + '\\n' + document.getElementById('times').textContent
                        + '\\n' + document.querySelectorAll('#parts i').length + ' parts, busy ' + document.getElementById('answer').ariaBusy;
                    })()""");
            String expected = server.engine
                    .generate(GenerationRequest.of("Once").withMaxNewTokens(7))
                    .text()
                    .orElseThrow();
            assertThat(seen)
                    .startsWith("Once" + expected + "\n")
                    .contains("Waited to be admitted", "Prompt and first token", "Network, HTTP, browser", "Tokens7")
                    .endsWith("4 parts, busy false");
        }
    }
}
