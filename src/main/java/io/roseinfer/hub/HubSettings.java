package io.roseinfer.hub;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.Quoted;
import io.roseinfer.base.RoseException.BadInput;
import java.io.IOException;
import java.net.ProxySelector;
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
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The hub and the cache, by the environment variables that all Hugging Face tools read. A variable is checked when its
 * value is used: a model in the cache needs neither hub nor token.
 */
public final class HubSettings {
    /** The default of {@code HF_ENDPOINT}. */
    public static final URI DEFAULT_ENDPOINT = URI.create("https://huggingface.co");

    /** Variables with paths, in which {@code $NAME} and {@code ${NAME}} are expanded. */
    private static final List<String> PATHS =
            List.of("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "HF_HOME", "XDG_CACHE_HOME", "HOME", "HF_TOKEN_PATH");

    /** The names of the environment variables that {@link #from} reads. */
    public static final Set<String> VARIABLES = Stream.of(
                    PATHS.stream(),
                    Stream.of(
                            "HF_ENDPOINT",
                            "HF_TOKEN",
                            "HUGGING_FACE_HUB_TOKEN",
                            "HF_HUB_DISABLE_IMPLICIT_TOKEN",
                            "HF_HUB_OFFLINE",
                            "TRANSFORMERS_OFFLINE"),
                    HubProxies.variableNames())
            .flatMap(names -> names)
            .collect(Collectors.toUnmodifiableSet());

    /** Java's {@code user.home} if the user has no home directory. */
    private static final String NO_HOME = "?";

    private static final Set<String> TRUE = Set.of("1", "on", "yes", "true");
    private static final Pattern REFERENCE = Pattern.compile("\\$(\\w+|\\{[^}]*})");

    private final Map<String, String> environment;
    private final String userHome;
    private final boolean offline;

    private HubSettings(Map<String, String> environment, String userHome, boolean offline) {
        this.environment = environment;
        this.userHome = userHome;
        this.offline = offline;
    }

    /**
     * Reads {@link #VARIABLES}; an empty variable is treated as absent. Without {@code HF_TOKEN}, the token is read
     * from {@code HF_TOKEN_PATH} or the file {@code token} in {@code HF_HOME}, where {@code hf auth login} stores it.
     * {@code HF_HUB_DISABLE_IMPLICIT_TOKEN} disables both. Without {@code HOME}, the home directory is the system's.
     * Paths may refer to variables as {@code $NAME}.
     *
     * @param environment the process's environment, or any other
     */
    public static HubSettings from(Map<String, String> environment) {
        return from(environment, System.getProperty("user.home", NO_HOME));
    }

    /**
     * Reads {@link #VARIABLES}.
     *
     * @param userHome the home directory if {@code HOME} is absent
     */
    static HubSettings from(Map<String, String> environment, String userHome) {
        return new HubSettings(environment, userHome, false);
    }

    /**
     * Returns the names of the variables in an environment that {@link #from} reads, including those that paths refer
     * to.
     */
    public static Set<String> read(Map<String, String> environment) {
        Stream<String> references = PATHS.stream()
                .map(name -> environment.getOrDefault(name, ""))
                .flatMap(value -> REFERENCE.matcher(value).results().map(HubSettings::referenced));
        return Stream.concat(VARIABLES.stream(), references)
                .filter(environment::containsKey)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** Returns the same settings without network. */
    public HubSettings asOffline() {
        return new HubSettings(environment, userHome, true);
    }

    /** Returns whether network requests are forbidden. */
    public boolean offline() {
        return offline || isTrue(variable("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"));
    }

    /**
     * Returns the folder of {@code models--…} folders, which need not exist.
     *
     * @throws BadInput if its variable is not a path, or there is no home directory
     */
    public Path cacheDirectory() {
        return path("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")
                .orElseGet(() -> settingsDirectory().resolve("hub"));
    }

    /**
     * Returns the hub's address, without a trailing slash.
     *
     * @throws BadInput if its variable is not an address
     */
    public URI endpoint() {
        Optional<String> value = variable("HF_ENDPOINT");
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
                + " is not a hub address; it must be http(s)://host[:port], for example " + DEFAULT_ENDPOINT);
    }

    /**
     * Returns the token, which is sent to the endpoint and to no other server.
     *
     * @throws BadInput if it cannot be read, or is malformed
     */
    public Optional<String> token() {
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
                    "the hub token in " + FileFailure.shown(file)
                            + " cannot be read; set HF_TOKEN, or set HF_TOKEN_PATH to a readable file",
                    e);
        }
    }

    /** Requires visible ASCII, since a token is sent in a header; the value is secret and not shown. */
    private static String checked(String token, String origin) {
        if (!token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new BadInput(origin + " has invalid characters (spaces, line ends, non-ASCII); set it again");
        }
        return token;
    }

    /**
     * Returns the proxies for the hub.
     *
     * @throws BadInput if a variable is not the address of a proxy
     */
    ProxySelector proxies() {
        return HubProxies.from(environment);
    }

    /** Returns the errors of the settings, each with its remedy; empty if all are valid. Never throws. */
    public List<String> problems() {
        return Stream.<Supplier<?>>of(this::cacheDirectory, this::endpoint, this::token, this::proxies)
                .flatMap(setting -> refusal(setting).stream())
                .distinct()
                .toList();
    }

    /**
     * Returns a warning if the token would be sent unencrypted: the endpoint is plain {@code http} and not on this
     * machine.
     */
    public Optional<String> tokenWarning() {
        boolean given = refusal(this::token).isEmpty() && token().isPresent();
        return given
                        && refusal(this::endpoint).isEmpty()
                        && Origin.of(endpoint()).isInTheClear()
                ? Optional.of("the hub token is sent to " + endpoint() + " unencrypted; use"
                        + " https:// in HF_ENDPOINT, or unset HF_TOKEN if the hub needs no token")
                : Optional.empty();
    }

    private static Optional<String> refusal(Supplier<?> setting) {
        try {
            Object unused = setting.get();
            return Optional.empty();
        } catch (BadInput e) {
            return Optional.of(e.getMessage());
        }
    }

    private Path settingsDirectory() {
        return path("HF_HOME")
                .or(() -> path("XDG_CACHE_HOME").map(cache -> cache.resolve("huggingface")))
                .orElseGet(() -> home().resolve(".cache/huggingface"));
    }

    /** Returns {@code HOME} first, like other tools: containers and batch systems set it to a writable directory. */
    private Path home() {
        String home = variable("HOME").orElse(userHome);
        if (home.equals(NO_HOME)) {
            throw new BadInput("there is no home directory for models; set HOME or HF_HOME to a directory");
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
            throw new BadInput(name + "=" + Quoted.name(value) + " is not a valid path", e);
        }
    }

    private static String referenced(MatchResult reference) {
        String name = reference.group(1);
        return name.startsWith("{") ? name.substring(1, name.length() - 1) : name;
    }

    private static boolean isTrue(Optional<String> value) {
        return value.filter(text -> TRUE.contains(text.toLowerCase(Locale.ROOT)))
                .isPresent();
    }

    /** Returns the value of the first of these variables that has one. */
    private Optional<String> variable(String... names) {
        return Stream.of(names)
                .map(name -> environment.getOrDefault(name, "").strip())
                .filter(value -> !value.isEmpty())
                .findFirst();
    }

    /** Returns the names of the variables that are set, without their values, which include the token. */
    @Override
    public String toString() {
        return "HubSettings[offline=" + offline() + ", variables=" + new TreeSet<>(read(environment)) + "]";
    }
}
