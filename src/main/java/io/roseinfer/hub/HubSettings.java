package io.roseinfer.hub;

import io.roseinfer.base.RoseException.BadInput;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Where models are looked for and fetched from, by the variables that every Hugging Face tool honours. A variable that is unusable
 * is refused by whoever needs it, not before.
 */
public final class HubSettings {
    /** The hub of {@code HF_ENDPOINT}'s absence. */
    public static final URI DEFAULT_ENDPOINT = URI.create("https://huggingface.co");

    /** The names of the environment variables that {@link #from} reads. */
    public static final Set<String> VARIABLES = Stream.of(
                    HubVariables.PATHS.stream(),
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

    private final Setting<Path> cacheDirectory;
    private final Setting<URI> endpoint;
    private final Setting<Optional<String>> token;
    private final boolean offline;
    private final HubProxies proxies;

    private HubSettings(
            Setting<Path> cacheDirectory,
            Setting<URI> endpoint,
            Setting<Optional<String>> token,
            boolean offline,
            HubProxies proxies) {
        this.cacheDirectory = cacheDirectory;
        this.endpoint = endpoint;
        this.token = token;
        this.offline = offline;
        this.proxies = proxies;
    }

    HubSettings(Path cacheDirectory, URI endpoint, Optional<String> token, boolean offline, HubProxies proxies) {
        this(Setting.of(cacheDirectory), Setting.of(endpoint), Setting.of(token), offline, proxies);
    }

    /**
     * Reads {@link #VARIABLES}; an empty variable counts as absent.
     * Without {@code HF_TOKEN}, the token is the one that {@code hf auth login} has left in {@code HF_TOKEN_PATH} or in the file
     * {@code token} of {@code HF_HOME}. {@code HF_HUB_DISABLE_IMPLICIT_TOKEN} withholds both. Without {@code HOME}, the home
     * directory is the one that the system knows for the user. Paths may refer to variables as {@code $NAME}.
     *
     * @param environment the process's environment, or any other
     */
    public static HubSettings from(Map<String, String> environment) {
        return from(environment, System.getProperty("user.home", HubVariables.NO_HOME));
    }

    /**
     * The same.
     *
     * @param userHome the home directory in the absence of {@code HOME}
     */
    static HubSettings from(Map<String, String> environment, String userHome) {
        HubVariables variables = new HubVariables(environment, userHome);
        return new HubSettings(
                Setting.read(variables::cacheDirectory),
                Setting.read(variables::endpoint),
                Setting.read(variables::token),
                variables.offline(),
                HubProxies.from(environment));
    }

    /** Returns the names of the variables in an environment that {@link #from} reads, with those that paths refer to. */
    public static Set<String> read(Map<String, String> environment) {
        return Stream.concat(VARIABLES.stream(), HubVariables.references(environment))
                .filter(environment::containsKey)
                .collect(Collectors.toUnmodifiableSet());
    }

    /** The same, but without network. */
    public HubSettings asOffline() {
        return new HubSettings(cacheDirectory, endpoint, token, true, proxies);
    }

    /**
     * The folder of {@code models--…} folders; need not exist.
     *
     * @throws BadInput if its variable is no path, or there is no home directory to put it in
     */
    public Path cacheDirectory() {
        return cacheDirectory.get();
    }

    /**
     * The hub, without a slash at the end.
     *
     * @throws BadInput if its variable is no address
     */
    public URI endpoint() {
        return endpoint.get();
    }

    /**
     * What is sent to the endpoint and nowhere else.
     *
     * @throws BadInput if it cannot be read, or is none
     */
    public Optional<String> token() {
        return token.get();
    }

    /** Whether every request is forbidden. */
    public boolean offline() {
        return offline;
    }

    /** The proxies between here and the hub. */
    public HubProxies proxies() {
        return proxies;
    }

    /** Faults of the settings, each with what to do about it; empty if all can be used. Never throws. */
    public List<String> problems() {
        return Stream.of(cacheDirectory, endpoint, token, Setting.read(proxies::selector))
                .flatMap(setting -> setting.refusal().stream())
                .map(BadInput::getMessage)
                .distinct()
                .toList();
    }

    /** Says so if the token would travel in the clear: the endpoint is plain {@code http} and not on this machine. */
    public Optional<String> tokenWarning() {
        boolean given = token.value().flatMap(Function.identity()).isPresent();
        return endpoint.value()
                .filter(hub -> given && Origin.of(hub).isInTheClear())
                .map(hub -> "the hub's token is sent to " + hub + " unencrypted; let HF_ENDPOINT begin with https://,"
                        + " or unset HF_TOKEN if the hub needs none");
    }

    /** Without the token. */
    @Override
    public String toString() {
        return "HubSettings[cacheDirectory=" + shown(cacheDirectory) + ", endpoint=" + shown(endpoint) + ", token="
                + (token.value().isEmpty() ? "unusable" : token.get().isPresent() ? "set" : "none") + ", offline="
                + offline + ", proxies=" + proxies + "]";
    }

    private static String shown(Setting<?> setting) {
        return setting.value().map(Object::toString).orElse("unusable");
    }
}
