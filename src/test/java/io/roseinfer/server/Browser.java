package io.roseinfer.server;

import io.roseinfer.base.StrictJson;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import javax.imageio.ImageIO;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** A headless Chromium with one page, driven by its debugging protocol. */
final class Browser implements AutoCloseable {
    private final Process process;
    private final WebSocket socket;
    private final LinkedBlockingQueue<String> messages;
    private int calls;

    private Browser(Process process, WebSocket socket, LinkedBlockingQueue<String> messages) {
        this.process = process;
        this.socket = socket;
        this.messages = messages;
    }

    /** Collects the parts of each message. */
    private record Listener(LinkedBlockingQueue<String> messages, StringBuilder part) implements WebSocket.Listener {
        @Override
        public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
            part.append(data);
            if (last) {
                messages.add(part.toString());
                part.setLength(0);
            }
            from.request(1);
            return CompletableFuture.completedStage(data);
        }
    }

    static Browser open(Path executable, Path profile, InetSocketAddress server) throws Exception {
        Process process = new ProcessBuilder(
                        executable.toString(),
                        "--headless",
                        "--no-sandbox",
                        "--disable-gpu",
                        "--remote-debugging-port=0",
                        "--user-data-dir=" + profile,
                        "http://127.0.0.1:" + server.getPort() + "/")
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        try {
            HttpClient http = HttpClient.newHttpClient();
            URI page = awaitPage(http, awaitPort(process, profile), "http://127.0.0.1:" + server.getPort() + "/");
            LinkedBlockingQueue<String> messages = new LinkedBlockingQueue<>();
            WebSocket socket = http.newWebSocketBuilder()
                    .buildAsync(page, new Listener(messages, new StringBuilder()))
                    .join();
            return new Browser(process, socket, messages);
        } catch (Exception | Error e) {
            BrowserProfile.kill(process);
            throw e;
        }
    }

    /** The port of the browser, which it writes to a file. */
    private static int awaitPort(Process process, Path profile) throws IOException {
        Path file = profile.resolve("DevToolsActivePort");
        while (process.isAlive()) {
            List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of();
            if (lines.size() >= 2) {
                return Integer.parseInt(lines.getFirst());
            }
            Thread.onSpinWait();
        }
        throw new IOException("the browser has ended with " + process.exitValue());
    }

    private static URI awaitPage(HttpClient http, int port, String url) throws Exception {
        HttpRequest list = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/json/list"))
                .build();
        while (true) {
            String body = http.send(list, BodyHandlers.ofString()).body();
            for (JsonNode target : StrictJson.parse(body.getBytes(StandardCharsets.UTF_8))) {
                if (target.get("url").stringValue().equals(url)) {
                    return URI.create(target.get("webSocketDebuggerUrl").stringValue());
                }
            }
        }
    }

    private JsonNode call(String method, ObjectNode parameters) throws InterruptedException {
        int id = ++calls;
        ObjectNode call = StrictJson.mapper().createObjectNode().put("id", id).put("method", method);
        call.set("params", parameters);
        socket.sendText(call.toString(), true).join();
        while (true) {
            JsonNode message = StrictJson.parse(messages.take().getBytes(StandardCharsets.UTF_8));
            if (message.has("id") && message.get("id").intValue() == id) {
                if (message.has("error") || message.get("result").has("exceptionDetails")) {
                    throw new AssertionError(message.toString());
                }
                return message.get("result");
            }
        }
    }

    /** Evaluates a script on the page, awaiting promises, and returns the result as text. */
    String evaluate(String script) throws InterruptedException {
        ObjectNode parameters = StrictJson.mapper()
                .createObjectNode()
                .put("expression", script)
                .put("awaitPromise", true)
                .put("returnByValue", true);
        JsonNode value = call("Runtime.evaluate", parameters).get("result").get("value");
        return value == null ? "" : value.stringValue();
    }

    void pressControlEnter() throws InterruptedException {
        for (String type : new String[] {"rawKeyDown", "keyUp"}) {
            call(
                    "Input.dispatchKeyEvent",
                    StrictJson.mapper()
                            .createObjectNode()
                            .put("type", type)
                            .put("modifiers", 2)
                            .put("key", "Enter")
                            .put("code", "Enter")
                            .put("windowsVirtualKeyCode", 13));
        }
    }

    /** Returns the page as it looks at a size in pixels in a color scheme, {@code light} or {@code dark}. */
    BufferedImage render(int width, int height, String scheme) throws InterruptedException, IOException {
        ObjectNode media = StrictJson.mapper().createObjectNode();
        media.putArray("features")
                .addObject()
                .put("name", "prefers-color-scheme")
                .put("value", scheme);
        call("Emulation.setEmulatedMedia", media);
        call(
                "Emulation.setDeviceMetricsOverride",
                StrictJson.mapper()
                        .createObjectNode()
                        .put("width", width)
                        .put("height", height)
                        .put("deviceScaleFactor", 1)
                        .put("mobile", false));
        String png = call("Page.captureScreenshot", StrictJson.mapper().createObjectNode())
                .get("data")
                .stringValue();
        return ImageIO.read(new ByteArrayInputStream(Base64.getDecoder().decode(png)));
    }

    @Override
    public void close() {
        socket.abort();
        BrowserProfile.kill(process);
    }
}
