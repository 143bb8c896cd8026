package io.roseinfer.hub;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A hub on loopback that behaves like huggingface.co. It serves small files itself, with git's SHA-1 as the tag, and
 * redirects weights to a store on another port, with SHA-256. It redirects the bare name without owner to the moved id.
 * Every request is recorded, and any response can be replaced.
 */
public final class FakeHub implements AutoCloseable {
    public static final String COMMIT = "0123456789abcdef0123456789abcdef01234567";

    /** A request that has arrived. */
    public record Seen(String server, String method, String path, Map<String, String> headers) {
        Optional<String> header(String name) {
            return Optional.ofNullable(headers.get(name));
        }

        public boolean hasToken() {
            return header("Authorization").isPresent();
        }
    }

    private final HttpServer hub = server();
    private final HttpServer store = server();
    private final ExecutorService workers = Executors.newVirtualThreadPerTaskExecutor();
    private final Map<String, byte[]> files = new ConcurrentHashMap<>();
    /** The commits of branches and tags other than main. */
    private final Map<String, String> commits = new ConcurrentHashMap<>();

    private final Map<String, HttpHandler> replaced = new ConcurrentHashMap<>();
    private final List<Seen> seen = new CopyOnWriteArrayList<>();
    private final String id;

    FakeHub(String id) {
        this.id = id;
        start(hub, "hub", this::answer);
        start(store, "store", this::serve);
    }

    private static HttpServer server() {
        try {
            return HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private void start(HttpServer server, String name, HttpHandler standard) {
        server.setExecutor(workers);
        server.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            Map<String, String> headers = new ConcurrentHashMap<>();
            exchange.getRequestHeaders().forEach((key, values) -> headers.put(key, values.getFirst()));
            seen.add(new Seen(name, exchange.getRequestMethod(), path, headers));
            String file = path.substring(path.lastIndexOf('/') + 1);
            HttpHandler handler =
                    replaced.getOrDefault(name + " " + exchange.getRequestMethod() + " " + file, standard);
            try (exchange) {
                handler.handle(exchange);
            }
        });
        server.start();
    }

    public URI endpoint() {
        return address(hub);
    }

    private static URI address(HttpServer server) {
        return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
    }

    /** The address of a file at the store. */
    public URI stored(String file) {
        return URI.create(address(store) + "/objects/" + file);
    }

    public void file(String name, byte[] content) {
        files.put(name, content);
    }

    /** Adds a branch or tag with its own commit; its files are equal except for {@link #fileAt}. */
    public void revision(String name, String commit) {
        commits.put(name, commit);
    }

    /** Sets a file at a commit other than main's. */
    public void fileAt(String commit, String name, byte[] content) {
        files.put(commit + ":" + name, content);
    }

    public void remove(String name) {
        files.remove(name);
    }

    public byte[] content(String name) {
        return files.getOrDefault(name, new byte[0]);
    }

    /** Replaces the response of {@code server} ({@code hub} or {@code store}) to one method for one file. */
    public void replace(String server, String method, String file, HttpHandler handler) {
        replaced.put(server + " " + method + " " + file, handler);
    }

    public void restore() {
        replaced.clear();
    }

    public List<Seen> seen() {
        return List.copyOf(seen);
    }

    public List<Seen> bodies(String file) {
        return seen.stream()
                .filter(request ->
                        request.method().equals("GET") && request.path().endsWith("/" + file))
                .filter(request -> request.server().equals(isLarge(file) ? "store" : "hub"))
                .toList();
    }

    private static boolean isLarge(String file) {
        return file.endsWith(".safetensors");
    }

    /** The hub's normal response: metadata, and the bytes of small files or a redirect for large ones. */
    private void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String oldName = "/" + id.substring(id.indexOf('/') + 1) + "/resolve/";
        if (path.startsWith(oldName)) {
            status(307, "Location", "/" + id + "/resolve/" + path.substring(oldName.length()))
                    .handle(exchange);
            return;
        }
        String root = "/" + id + "/resolve/";
        String rest =
                path.startsWith(root) ? exchange.getRequestURI().getRawPath().substring(root.length()) : "";
        String revision = URLDecoder.decode(rest.substring(0, Math.max(0, rest.indexOf('/'))), StandardCharsets.UTF_8);
        String commit = revision.equals("main") ? COMMIT : commits.getOrDefault(revision, revision);
        boolean known = commit.equals(COMMIT) || commits.containsValue(commit);
        String file = path.substring(path.lastIndexOf('/') + 1);
        byte[] content = known ? files.getOrDefault(commit + ":" + file, files.get(file)) : null;
        if (content == null) {
            String missing = known ? "EntryNotFound" : "RevisionNotFound";
            exchange.getResponseHeaders().set("X-Error-Code", rest.isEmpty() ? "RepoNotFound" : missing);
            exchange.sendResponseHeaders(404, -1);
            return;
        }
        exchange.getResponseHeaders().set("X-Repo-Commit", commit);
        if (isLarge(file)) {
            exchange.getResponseHeaders().set("X-Linked-Etag", '"' + sha256(content) + '"');
            exchange.getResponseHeaders().set("X-Linked-Size", Integer.toString(content.length));
            exchange.getResponseHeaders().set("Location", address(store) + "/objects/" + file);
            exchange.sendResponseHeaders(302, -1);
            return;
        }
        exchange.getResponseHeaders().set("ETag", '"' + gitSha1(content) + '"');
        serve(exchange, content);
    }

    private void serve(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        serve(exchange, content(path.substring("/objects/".length())));
    }

    /** Sends bytes, or the requested range of them. */
    public static void serve(HttpExchange exchange, byte[] content) throws IOException {
        if (exchange.getRequestMethod().equals("HEAD")) {
            exchange.getResponseHeaders().set("Content-Length", Integer.toString(content.length));
            exchange.sendResponseHeaders(200, -1);
            return;
        }
        String range = exchange.getRequestHeaders().getFirst("Range");
        int from = range == null ? 0 : Integer.parseInt(range.substring("bytes=".length(), range.length() - 1));
        if (range != null) {
            exchange.getResponseHeaders()
                    .set("Content-Range", "bytes " + from + "-" + (content.length - 1) + "/" + content.length);
        }
        exchange.sendResponseHeaders(range == null ? 200 : 206, content.length - from);
        exchange.getResponseBody().write(Arrays.copyOfRange(content, from, content.length));
    }

    public static HttpHandler status(int status, String... headers) {
        return exchange -> {
            for (int i = 0; i < headers.length; i += 2) {
                exchange.getResponseHeaders().set(headers[i], headers[i + 1]);
            }
            exchange.sendResponseHeaders(status, -1);
        };
    }

    public static String sha256(byte[] content) {
        return digest("SHA-256", new byte[0], content);
    }

    public static String gitSha1(byte[] content) {
        return digest("SHA-1", ("blob " + content.length + "\0").getBytes(StandardCharsets.US_ASCII), content);
    }

    private static String digest(String algorithm, byte[] head, byte[] content) {
        try {
            MessageDigest digest = MessageDigest.getInstance(algorithm);
            digest.update(head);
            return HexFormat.of().formatHex(digest.digest(content));
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        hub.stop(0);
        store.stop(0);
        workers.shutdownNow();
    }
}
