package io.roseinfer.hub;

import io.roseinfer.base.RoseException.BadInput;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Selects proxies by the variables that curl, pip and all Hugging Face tools read: {@code https_proxy},
 * {@code http_proxy}, {@code all_proxy} and {@code no_proxy}, in lower or upper case.
 */
final class HubProxies extends ProxySelector {
    private static final int DEFAULT_PORT = 80;

    private final List<Proxy> https;
    private final List<Proxy> http;
    private final List<String> exceptions;

    private HubProxies(List<Proxy> https, List<Proxy> http, List<String> exceptions) {
        this.https = https;
        this.http = http;
        this.exceptions = exceptions;
    }

    /** Returns the names of the variables that are read. */
    static Stream<String> variableNames() {
        return Stream.of("https", "http", "all", "no").flatMap(HubProxies::spellings);
    }

    private static Stream<String> spellings(String name) {
        return Stream.of(name + "_proxy", (name + "_proxy").toUpperCase(Locale.ROOT));
    }

    /**
     * Returns the proxies of the variables, or Java's settings ({@code -Dhttps.proxyHost} etc.) if there are none.
     *
     * @throws BadInput if a variable is not the address of a proxy
     */
    static ProxySelector from(Map<String, String> environment) {
        List<String> exceptions = Stream.of(value(environment, "no").orElse("").split(","))
                .map(host -> host.strip().toLowerCase(Locale.ROOT))
                .filter(host -> !host.isEmpty())
                .toList();
        if (Stream.of("https", "http", "all")
                .allMatch(name -> value(environment, name).isEmpty())) {
            return Optional.ofNullable(ProxySelector.getDefault()).orElse(ProxySelector.of(null));
        }
        return new HubProxies(proxy(environment, "https"), proxy(environment, "http"), exceptions);
    }

    private static Optional<String> value(Map<String, String> environment, String name) {
        return spellings(name)
                .map(variable -> environment.getOrDefault(variable, "").strip())
                .filter(value -> !value.isEmpty())
                .findFirst();
    }

    private static List<Proxy> proxy(Map<String, String> environment, String scheme) {
        return List.of(value(environment, scheme)
                .map(value -> parse(scheme + "_proxy", value))
                .or(() -> value(environment, "all").map(value -> parse("all_proxy", value)))
                .orElse(Proxy.NO_PROXY));
    }

    private static Proxy parse(String variable, String value) {
        try {
            URI address = URI.create(value.contains("://") ? value : "http://" + value);
            boolean http = "http".equalsIgnoreCase(address.getScheme());
            if (http && address.getHost() != null && address.getUserInfo() == null) {
                int port = address.getPort() < 0 ? DEFAULT_PORT : address.getPort();
                return new Proxy(Proxy.Type.HTTP, InetSocketAddress.createUnresolved(address.getHost(), port));
            }
        } catch (IllegalArgumentException e) {
            throw bad(variable);
        }
        throw bad(variable);
    }

    /** Returns the error about a variable, without its value, which may have a password. */
    private static BadInput bad(String variable) {
        return new BadInput(variable + " is not a supported proxy address; it must be [http://]host[:port],"
                + " without user and password");
    }

    @Override
    public List<Proxy> select(URI address) {
        if (exceptions.stream().anyMatch(exception -> covers(exception, address))) {
            return List.of(Proxy.NO_PROXY);
        }
        return "https".equalsIgnoreCase(address.getScheme()) ? https : http;
    }

    /**
     * Returns whether an exception includes an address; it is a host or domain, with or without a port, or {@code *}.
     */
    private static boolean covers(String exception, URI address) {
        String host = address.getHost().toLowerCase(Locale.ROOT);
        String domain = exception.startsWith(".") ? exception.substring(1) : exception;
        return exception.equals("*")
                || Stream.of(host, host + ":" + address.getPort())
                        .anyMatch(name -> name.equals(domain) || name.endsWith("." + domain));
    }

    @Override
    public void connectFailed(URI address, SocketAddress proxy, IOException failure) {}
}
