package io.roseinfer.hub;

import io.roseinfer.base.RoseException.BadInput;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Which proxy stands before an address, by the variables that curl, pip and every Hugging Face tool honour: {@code https_proxy},
 * {@code http_proxy}, {@code all_proxy} and {@code no_proxy}, in small letters or in capitals. Where none is set, Java's own settings
 * hold ({@code -Dhttps.proxyHost} and its kin).
 *
 * @param variables the proxies by scheme, {@code all} for any, and {@code no} for the hosts that are reached without; unchecked
 */
public record HubProxies(Map<String, String> variables) {
    private static final List<String> NAMES = List.of("https", "http", "all", "no");
    private static final int DEFAULT_PORT = 80;

    /** Returns the names of the variables that are read. */
    static Stream<String> variableNames() {
        return NAMES.stream().flatMap(name -> Stream.of(name + "_proxy", (name + "_proxy").toUpperCase(Locale.ROOT)));
    }

    public HubProxies {
        variables = Map.copyOf(variables);
    }

    /** Reads the variables; they are checked when the first connection needs them. */
    public static HubProxies from(Map<String, String> environment) {
        Map<String, String> found = new HashMap<>();
        for (String name : NAMES) {
            String variable = name + "_proxy";
            Stream.of(variable, variable.toUpperCase(Locale.ROOT))
                    .map(spelling -> environment.getOrDefault(spelling, "").strip())
                    .filter(value -> !value.isEmpty())
                    .findFirst()
                    .ifPresent(value -> found.put(name, value));
        }
        return new HubProxies(found);
    }

    /**
     * What an HTTP client asks.
     *
     * @throws BadInput if a variable holds no address of a proxy
     */
    ProxySelector selector() {
        boolean none = NAMES.stream().filter(name -> !name.equals("no")).noneMatch(variables::containsKey);
        if (none) {
            return Optional.ofNullable(ProxySelector.getDefault()).orElse(ProxySelector.of(null));
        }
        return new Selector(proxy("https"), proxy("http"), exceptions());
    }

    private List<String> exceptions() {
        return Stream.of(variables.getOrDefault("no", "").split(","))
                .map(host -> host.strip().toLowerCase(Locale.ROOT))
                .filter(host -> !host.isEmpty())
                .toList();
    }

    private List<Proxy> proxy(String scheme) {
        String name = variables.containsKey(scheme) ? scheme : "all";
        return Optional.ofNullable(variables.get(name))
                .map(value -> List.of(parse(name + "_proxy", value)))
                .orElse(List.of(Proxy.NO_PROXY));
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

    /** Without the value, which may hold a password. */
    private static BadInput bad(String variable) {
        return new BadInput(
                variable + " is no address of a proxy that can be used here; allowed is [http://]host[:port],"
                        + " without user and password");
    }

    private static final class Selector extends ProxySelector {
        private final List<Proxy> https;
        private final List<Proxy> http;
        private final List<String> exceptions;

        Selector(List<Proxy> https, List<Proxy> http, List<String> exceptions) {
            this.https = https;
            this.http = http;
            this.exceptions = exceptions;
        }

        @Override
        public List<Proxy> select(URI address) {
            if (exceptions.stream().anyMatch(exception -> covers(exception, address))) {
                return List.of(Proxy.NO_PROXY);
            }
            return "https".equalsIgnoreCase(address.getScheme()) ? https : http;
        }

        /** An exception names a host or a domain with all that is under it, with or without a port; {@code *} is everything. */
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

    /** Without the values, which may hold passwords. */
    @Override
    public String toString() {
        return "HubProxies" + variables.keySet();
    }
}
