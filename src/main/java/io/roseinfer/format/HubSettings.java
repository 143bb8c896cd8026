package io.roseinfer.format;

import io.roseinfer.base.RoseException.BadInput;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Where models are looked for and fetched from, by the variables that every Hugging Face tool honours.
 *
 * @param cacheDirectory the folder of {@code models--…} folders; need not exist
 * @param endpoint the hub, without a slash at the end
 * @param token sent to the endpoint and nowhere else
 * @param offline forbids every request
 * @param proxies stand between here and the hub
 */
public record HubSettings(
        Path cacheDirectory, URI endpoint, Optional<String> token, boolean offline, HubProxies proxies) {
    /** The hub of {@code HF_ENDPOINT}'s absence. */
    public static final URI DEFAULT_ENDPOINT = URI.create("https://huggingface.co");

    private static final Set<String> TRUE = Set.of("1", "on", "yes", "true");

    /**
     * Reads {@code HF_HUB_CACHE}, {@code HF_HOME}, {@code XDG_CACHE_HOME}, {@code HF_ENDPOINT}, {@code HF_TOKEN},
     * {@code HF_TOKEN_PATH}, {@code HF_HUB_OFFLINE} and the variables of {@link HubProxies}; an empty variable counts as absent.
     * Without {@code HF_TOKEN}, the token is the one that {@code hf auth login} has left in {@code HF_TOKEN_PATH} or in the file
     * {@code token} of {@code HF_HOME}.
     *
     * @param environment the process's environment, or any other
     * @param home the user's home directory
     * @throws BadInput if a value is unusable
     */
    public static HubSettings from(Map<String, String> environment, Path home) {
        return new HubSettings(
                cacheDirectory(environment, home),
                endpoint(environment),
                token(environment, home),
                variable(environment, "HF_HUB_OFFLINE")
                        .filter(value -> TRUE.contains(value.toLowerCase(Locale.ROOT)))
                        .isPresent(),
                HubProxies.from(environment));
    }

    /** The same, but without network. */
    public HubSettings asOffline() {
        return new HubSettings(cacheDirectory, endpoint, token, true, proxies);
    }

    private static Path cacheDirectory(Map<String, String> environment, Path home) {
        return path(environment, "HF_HUB_CACHE", home)
                .orElseGet(() -> settingsDirectory(environment, home).resolve("hub"));
    }

    private static Path settingsDirectory(Map<String, String> environment, Path home) {
        return path(environment, "HF_HOME", home)
                .or(() -> path(environment, "XDG_CACHE_HOME", home).map(cache -> cache.resolve("huggingface")))
                .orElse(home.resolve(".cache/huggingface"));
    }

    private static Optional<Path> path(Map<String, String> environment, String name, Path home) {
        return variable(environment, name).map(value -> {
            try {
                boolean underHome = value.equals("~") || value.startsWith("~/");
                return underHome ? home.resolve(value.substring(Math.min(2, value.length()))) : Path.of(value);
            } catch (InvalidPathException e) {
                throw new BadInput(name + "=" + Quoted.name(value) + " is no usable path", e);
            }
        });
    }

    private static URI endpoint(Map<String, String> environment) {
        Optional<String> value = variable(environment, "HF_ENDPOINT");
        if (value.isEmpty()) {
            return DEFAULT_ENDPOINT;
        }
        try {
            URI endpoint = new URI(value.get().replaceAll("/+$", ""));
            boolean plain =
                    endpoint.getQuery() == null && endpoint.getFragment() == null && endpoint.getUserInfo() == null;
            if (Origin.isWeb(endpoint) && plain) {
                return endpoint;
            }
        } catch (URISyntaxException e) {
            throw badEndpoint(value.get());
        }
        throw badEndpoint(value.get());
    }

    private static BadInput badEndpoint(String value) {
        return new BadInput("HF_ENDPOINT=" + Quoted.name(value)
                + " is no address of a hub; allowed is http(s)://host[:port]," + " for example " + DEFAULT_ENDPOINT);
    }

    private static Optional<String> token(Map<String, String> environment, Path home) {
        Optional<String> token = variable(environment, "HF_TOKEN");
        if (token.isPresent()) {
            return token.map(value -> checked(value, "HF_TOKEN"));
        }
        Path file = path(environment, "HF_TOKEN_PATH", home)
                .orElseGet(() -> settingsDirectory(environment, home).resolve("token"));
        return stored(file).map(value -> checked(value, FileFailure.shown(file)));
    }

    private static Optional<String> stored(Path file) {
        try {
            return Optional.of(
                            Files.readString(file, StandardCharsets.ISO_8859_1).strip())
                    .filter(value -> !value.isEmpty());
        } catch (NoSuchFileException e) {
            return Optional.empty();
        } catch (IOException e) {
            throw new BadInput(
                    "the hub's token in " + FileFailure.shown(file)
                            + " cannot be read; set HF_TOKEN, or HF_TOKEN_PATH to a file that can",
                    e);
        }
    }

    /** A token goes into a header, where only visible ASCII may stand; the value is a secret and not shown. */
    private static String checked(String token, String origin) {
        if (!token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new BadInput(
                    origin + " holds characters that no token has (spaces, line ends, non-ASCII); set it anew");
        }
        return token;
    }

    private static Optional<String> variable(Map<String, String> environment, String name) {
        return Optional.ofNullable(environment.get(name)).map(String::strip).filter(value -> !value.isEmpty());
    }

    /** Without the token. */
    @Override
    public String toString() {
        return "HubSettings[cacheDirectory=" + cacheDirectory + ", endpoint=" + endpoint + ", token="
                + (token.isPresent() ? "set" : "none") + ", offline=" + offline + ", proxies=" + proxies + "]";
    }
}
