package io.roseinfer.hub;

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
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The variables of the hub's settings, read one by one and checked; an unusable one is a BadInput.
 *
 * @param userHome the home directory in the absence of {@code HOME}
 */
record HubVariables(Map<String, String> environment, String userHome) {
    /** Java's {@code user.home} for a user whom the system does not know. */
    static final String NO_HOME = "?";

    /** Variables whose values are paths, in which {@code $NAME} and {@code ${NAME}} are expanded. */
    static final List<String> PATHS =
            List.of("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME", "HF_TOKEN_PATH");

    private static final Set<String> TRUE = Set.of("1", "on", "yes", "true");
    private static final Pattern REFERENCE = Pattern.compile("\\$(\\w+|\\{[^}]*})");

    boolean offline() {
        return isTrue(variable("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"));
    }

    private static boolean isTrue(Optional<String> value) {
        return value.filter(text -> TRUE.contains(text.toLowerCase(Locale.ROOT)))
                .isPresent();
    }

    Path cacheDirectory() {
        return path("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")
                .orElseGet(() -> settingsDirectory().resolve("hub"));
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
        return toPath("HOME", home);
    }

    private Optional<Path> path(String... names) {
        return variable(names).map(value -> {
            boolean underHome = value.equals("~") || value.startsWith("~/");
            return underHome
                    ? home().resolve(toPath(names[0], value.substring(Math.min(2, value.length()))))
                    : toPath(names[0], value);
        });
    }

    private Path toPath(String name, String value) {
        try {
            return Path.of(REFERENCE
                    .matcher(value)
                    .replaceAll(reference -> Matcher.quoteReplacement(
                            environment.getOrDefault(referenced(reference), reference.group()))));
        } catch (InvalidPathException e) {
            throw new BadInput(name + "=" + Quoted.name(value) + " is no usable path", e);
        }
    }

    /** Returns the names of the variables that the values of other variables refer to. */
    static Stream<String> references(Map<String, String> environment) {
        return PATHS.stream()
                .map(name -> environment.getOrDefault(name, ""))
                .flatMap(value -> REFERENCE.matcher(value).results().map(HubVariables::referenced));
    }

    private static String referenced(MatchResult reference) {
        String name = reference.group(1);
        return name.startsWith("{") ? name.substring(1, name.length() - 1) : name;
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
        if (isTrue(variable("HF_HUB_DISABLE_IMPLICIT_TOKEN"))) {
            return Optional.empty();
        }
        Optional<String> token = variable("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN");
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

    /** Returns the value of the first of these variables that has one. */
    private Optional<String> variable(String... names) {
        return Stream.of(names)
                .map(name -> environment.getOrDefault(name, "").strip())
                .filter(value -> !value.isEmpty())
                .findFirst();
    }

    /** Without the values, one of which is the token. */
    @Override
    public String toString() {
        return "HubVariables[userHome=" + userHome + "]";
    }
}
