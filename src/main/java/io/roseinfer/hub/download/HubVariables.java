package io.roseinfer.hub.download;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
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
 * The variables of the hub's settings, read one by one and checked; an unusable one is a BadInput.
 *
 * @param userHome the home directory in the absence of {@code HOME}
 */
record HubVariables(Map<String, String> environment, String userHome) {
    /** Java's {@code user.home} for a user whom the system does not know. */
    static final String NO_HOME = "?";

    private static final Set<String> TRUE = Set.of("1", "on", "yes", "true");

    boolean offline() {
        return variable("HF_HUB_OFFLINE")
                .filter(value -> TRUE.contains(value.toLowerCase(Locale.ROOT)))
                .isPresent();
    }

    Path cacheDirectory() {
        return path("HF_HUB_CACHE").orElseGet(() -> settingsDirectory().resolve("hub"));
    }

    private Path settingsDirectory() {
        return path("HF_HOME")
                .or(() -> path("XDG_CACHE_HOME").map(cache -> cache.resolve("huggingface")))
                .orElseGet(() -> home().resolve(".cache/huggingface"));
    }

    /** {@code HOME} comes first, as for every other tool: containers and batch systems set it to what the user may write to. */
    private Path home() {
        String home = variable("HOME").orElse(userHome);
        if (home.equals(NO_HOME)) {
            throw new BadInput("there is no home directory to keep models in; set HOME, or HF_HOME to a directory");
        }
        return path("HOME", home);
    }

    private Optional<Path> path(String name) {
        return variable(name).map(value -> {
            boolean underHome = value.equals("~") || value.startsWith("~/");
            return underHome ? home().resolve(value.substring(Math.min(2, value.length()))) : path(name, value);
        });
    }

    private static Path path(String name, String value) {
        try {
            return Path.of(value);
        } catch (InvalidPathException e) {
            throw new BadInput(name + "=" + Quoted.name(value) + " is no usable path", e);
        }
    }

    URI endpoint() {
        Optional<String> value = variable("HF_ENDPOINT");
        if (value.isEmpty()) {
            return HubSettings.DEFAULT_ENDPOINT;
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
        return new BadInput(
                "HF_ENDPOINT=" + Quoted.name(value) + " is no address of a hub; allowed is http(s)://host[:port],"
                        + " for example " + HubSettings.DEFAULT_ENDPOINT);
    }

    Optional<String> token() {
        Optional<String> token = variable("HF_TOKEN");
        if (token.isPresent()) {
            return token.map(value -> checked(value, "HF_TOKEN"));
        }
        Path file = path("HF_TOKEN_PATH").orElseGet(() -> settingsDirectory().resolve("token"));
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

    private Optional<String> variable(String name) {
        return Optional.ofNullable(environment.get(name)).map(String::strip).filter(value -> !value.isEmpty());
    }

    /** Without the values, one of which is the token. */
    @Override
    public String toString() {
        return "HubVariables[userHome=" + userHome + "]";
    }
}
