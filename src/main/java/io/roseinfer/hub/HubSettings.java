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
 * Where models are looked for and downloaded from, by the environment variables that all Hugging Face tools read. A variable is checked
 * when its value is used: a model in the cache needs neither hub nor token.
 */
public final class HubSettings {
    /** The hub if {@code HF_ENDPOINT} is absent. */
    public static final URI DEFAULT_ENDPOINT = URI.create("https://huggingface.co");

    /** Variables whose values are paths, in which {@code $NAME} and {@code ${NAME}} are expanded. */
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

    /** Java's {@code user.home} if the system has no home directory for the user. */
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
     * Reads {@link #VARIABLES}; an empty variable counts as absent.
     * Without {@code HF_TOKEN}, the token is the one that {@code hf auth login} has left in {@code HF_TOKEN_PATH} or in the file
     * {@code token} of {@code HF_HOME}. {@code HF_HUB_DISABLE_IMPLICIT_TOKEN} withholds both. Without {@code HOME}, the home
     * directory is the one that the system has for the user. Paths may refer to variables as {@code $NAME}.
     *
     * @param environment the process's environment, or any other
     */
    public static HubSettings from(Map<String, String> environment) {
        return from(environment, System.getProperty("user.home", NO_HOME));
    }

    /**
     * Reads {@link #VARIABLES}.
     *
     * @param userHome the home directory in the absence of {@code HOME}
     */
    static HubSettings from(Map<String, String> environment, String userHome) {
        return new HubSettings(environment, userHome, false);
    }

    /** Returns the names of the variables in an environment that {@link #from} reads, with those that paths refer to. */
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

    /** Returns whether every request is forbidden. */
    public boolean offline() {
        return offline || isTrue(variable("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"));
    }

    /**
     * Returns the folder of {@code models--…} folders, which need not exist.
     *
     * @throws BadInput if its variable is no path, or there is no home directory to put it in
     */
    public Path cacheDirectory() {
        return path("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE")
                .orElseGet(() -> settingsDirectory().resolve("hub"));
    }

    /**
     * Returns the hub, without a slash at the end.
     *
     * @throws BadInput if its variable is no address
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
                + " is no address of a hub; allowed is http(s)://host[:port]," + " for example " + DEFAULT_ENDPOINT);
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
                    "the hub's token in " + FileFailure.shown(file)
                            + " cannot be read; set HF_TOKEN, or HF_TOKEN_PATH to a file that can",
                    e);
        }
    }

    /** Requires visible ASCII, since a token goes into a header; the value is a secret and not shown. */
    private static String checked(String token, String origin) {
        if (!token.chars().allMatch(c -> c > ' ' && c < 0x7f)) {
            throw new BadInput(
                    origin + " holds characters that no token has (spaces, line ends, non-ASCII); set it anew");
        }
        return token;
    }

    /**
     * Returns the proxies between here and the hub.
     *
     * @throws BadInput if a variable holds no address of a proxy
     */
    ProxySelector proxies() {
        return HubProxies.from(environment);
    }

    /** Returns the faults of the settings, each with its remedy; empty if all can be used. Never throws. */
    public List<String> problems() {
        return Stream.<Supplier<?>>of(this::cacheDirectory, this::endpoint, this::token, this::proxies)
                .flatMap(setting -> refusal(setting).stream())
                .distinct()
                .toList();
    }

    /** Returns a warning if the token would travel unencrypted: the endpoint is plain {@code http} and not on this machine. */
    public Optional<String> tokenWarning() {
        boolean given = refusal(this::token).isEmpty() && token().isPresent();
        return given
                        && refusal(this::endpoint).isEmpty()
                        && Origin.of(endpoint()).isInTheClear()
                ? Optional.of("the hub's token is sent to " + endpoint() + " unencrypted; let HF_ENDPOINT begin with"
                        + " https://, or unset HF_TOKEN if the hub needs none")
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

    /** Returns {@code HOME} first, as every other tool does: containers and batch systems set it to what the user may write to. */
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

    /** Returns the names of the variables that are set, without their values, one of which is the token. */
    @Override
    public String toString() {
        return "HubSettings[offline=" + offline() + ", variables=" + new TreeSet<>(read(environment)) + "]";
    }
}
