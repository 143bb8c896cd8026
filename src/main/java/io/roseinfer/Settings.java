package io.roseinfer;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.routing.RoutingPolicy;
import io.roseinfer.hub.HubSettings;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * The model to load and the devices to run it on.
 *
 * @param model a directory, a hub id, {@code builtin:tiny}, {@code builtin:chat} or {@code random:SHAPE}; see
 *     {@link Roseinfer#open(String)}
 * @param deviceOptions the device and its options
 * @param backend creates the backend of {@link Device#CUSTOM}; empty for other devices
 * @param replicas number of replicas, each with its own loop, scheduler and KV pool
 * @param routing chooses the replica that serves a request
 * @param maxModelLen maximum tokens per sequence, prompt and completion together, as in vLLM; everything sized by the
 *     context follows it. 0 is the model's context, which is also the maximum
 * @param tokenIdsOnly whether to load the model even if its tokenizer cannot be read, and accept only token ids
 * @param offline whether downloads are forbidden
 * @param environment the environment variables that are read, such as {@code HF_HOME} and {@code HF_TOKEN}; others are
 *     dropped. {@link #toString} shows no values, since some are secrets
 * @param engine the engine's options, which size the runner
 */
public record Settings(
        String model,
        DeviceOptions deviceOptions,
        Optional<Supplier<? extends Backend>> backend,
        int replicas,
        RoutingPolicy routing,
        int maxModelLen,
        boolean tokenIdsOnly,
        boolean offline,
        Map<String, String> environment,
        EngineOptions engine) {

    /** Maximum replicas. */
    public static final int MAX_REPLICAS = 64;

    private static final Set<String> OWN_VARIABLES = Set.of(Roseinfer.PROFILER_LIBRARY, Roseinfer.SIM_FAULTS);

    /** The kind of device a model runs on. */
    public enum Device {
        /** CUDA if it can be used, else the CPU. */
        AUTO,
        CPU,
        CUDA,
        /** A simulated model whose tokens are hashes, to run the scheduler without the arithmetic. */
        SIM,
        /** The backend of {@link Settings#withBackend}. */
        CUSTOM;

        /** The kinds that need no backend. */
        public static final List<Device> BUILT_IN = List.of(AUTO, CPU, CUDA, SIM);
    }

    public Settings {
        Objects.requireNonNull(model, "model");
        Objects.requireNonNull(deviceOptions, "deviceOptions");
        Objects.requireNonNull(backend, "backend");
        if (backend.isPresent() != (deviceOptions.device() == Device.CUSTOM)) {
            throw BadInput.of(
                    "device",
                    deviceOptions.device(),
                    backend.isPresent()
                            ? "it must be CUSTOM if there is a backend: use Settings.withBackend"
                            : "it needs a backend: use Settings.withBackend");
        }
        BadInput.require(replicas >= 1 && replicas <= MAX_REPLICAS, "replicas", replicas, "1 to " + MAX_REPLICAS);
        List<Integer> gpus = deviceOptions.gpus();
        if (gpus.size() > 1
                && (gpus.size() != replicas || gpus.stream().distinct().count() != replicas)) {
            throw new BadInput("gpus is " + gpus + " for " + replicas + " replicas; each needs its own GPU");
        }
        Objects.requireNonNull(routing, "routing");
        BadInput.require(maxModelLen >= 0, "max_model_len", maxModelLen, "positive, or 0 for the model's context");
        Set<String> read = HubSettings.read(Objects.requireNonNull(environment, "environment"));
        environment = environment.entrySet().stream()
                .filter(variable -> read.contains(variable.getKey()) || OWN_VARIABLES.contains(variable.getKey()))
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
        Objects.requireNonNull(engine, "engine");
    }

    /** Returns settings for a model on the best device, with the process's environment and default values otherwise. */
    public static Settings of(String model) {
        return new Settings(
                model,
                DeviceOptions.of(Device.AUTO),
                Optional.empty(),
                1,
                RoutingPolicy.pull(),
                0,
                false,
                false,
                System.getenv(),
                EngineOptions.defaults());
    }

    /** Returns the kind of device to run on. */
    public Device device() {
        return deviceOptions.device();
    }

    /**
     * Returns the same settings with other device options, and without a custom backend unless the device is
     * {@link Device#CUSTOM}.
     *
     * @throws BadInput if the device is {@code CUSTOM} and there is no backend
     */
    public Settings withDeviceOptions(DeviceOptions value) {
        Objects.requireNonNull(value, "deviceOptions");
        return with(value, value.device() == Device.CUSTOM ? backend : Optional.empty());
    }

    private Settings with(DeviceOptions value, Optional<Supplier<? extends Backend>> created) {
        return new Settings(
                model, value, created, replicas, routing, maxModelLen, tokenIdsOnly, offline, environment, engine);
    }

    /** Returns the same settings for another kind of device. */
    public Settings withDevice(Device value) {
        return withDeviceOptions(deviceOptions.withDevice(value));
    }

    /**
     * Returns the same settings for a custom device, {@link Device#CUSTOM}.
     *
     * @param value is called once per load; the loaded model closes the backend that it returns
     */
    public Settings withBackend(Supplier<? extends Backend> value) {
        Objects.requireNonNull(value, "backend");
        return with(deviceOptions.withDevice(Device.CUSTOM), Optional.of(value));
    }

    /** Returns the same settings with another precision of the weights. */
    public Settings withPrecision(Precision value) {
        return withDeviceOptions(deviceOptions.withPrecision(value));
    }

    /**
     * Returns the same settings with a number of CPU threads; 0 is one per core.
     *
     * @throws BadInput unless it is 0 to 1,024
     */
    public Settings withThreads(int value) {
        return withDeviceOptions(deviceOptions.withThreads(value));
    }

    /**
     * Returns the same settings with a number of replicas.
     *
     * @throws BadInput unless it is 1 to {@value #MAX_REPLICAS}, or if it contradicts the number of GPUs
     */
    public Settings withReplicas(int value) {
        return new Settings(
                model, deviceOptions, backend, value, routing, maxModelLen, tokenIdsOnly, offline, environment, engine);
    }

    /** Returns the same settings with another routing policy, which a single replica does not use. */
    public Settings withRouting(RoutingPolicy value) {
        return new Settings(
                model,
                deviceOptions,
                backend,
                replicas,
                value,
                maxModelLen,
                tokenIdsOnly,
                offline,
                environment,
                engine);
    }

    /**
     * Returns the same settings with a shorter context; 0 is the model's context.
     *
     * @throws BadInput if it is negative; loading throws it if the model's context is shorter
     */
    public Settings withMaxModelLen(int value) {
        return new Settings(
                model, deviceOptions, backend, replicas, routing, value, tokenIdsOnly, offline, environment, engine);
    }

    /** Returns the same settings for a model that is given token ids: an unreadable tokenizer is only a warning. */
    public Settings withTokenIdsOnly(boolean value) {
        return new Settings(
                model, deviceOptions, backend, replicas, routing, maxModelLen, value, offline, environment, engine);
    }

    /** Returns the same settings with downloads forbidden or allowed. */
    public Settings withOffline(boolean value) {
        return new Settings(
                model,
                deviceOptions,
                backend,
                replicas,
                routing,
                maxModelLen,
                tokenIdsOnly,
                value,
                environment,
                engine);
    }

    /** Returns the same settings with other environment variables; those that are not read are dropped. */
    public Settings withEnvironment(Map<String, String> value) {
        return new Settings(
                model, deviceOptions, backend, replicas, routing, maxModelLen, tokenIdsOnly, offline, value, engine);
    }

    /** Returns the same settings with other options of the engine. */
    public Settings withEngine(EngineOptions value) {
        return new Settings(
                model,
                deviceOptions,
                backend,
                replicas,
                routing,
                maxModelLen,
                tokenIdsOnly,
                offline,
                environment,
                value);
    }

    /** Returns all settings except the backend, but only the names of the environment variables. */
    @Override
    public String toString() {
        return "Settings[model=" + model + ", deviceOptions=" + deviceOptions + ", replicas=" + replicas + ", routing="
                + routing + ", maxModelLen=" + maxModelLen + ", tokenIdsOnly=" + tokenIdsOnly + ", offline="
                + offline + ", environment=" + new TreeSet<>(environment.keySet()) + ", engine=" + engine + "]";
    }
}
