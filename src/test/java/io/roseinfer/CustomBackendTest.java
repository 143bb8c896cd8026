package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.Backend;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.Precision;
import io.roseinfer.backend.cpu.CpuBackend;
import io.roseinfer.backend.cpu.CpuOptions;
import io.roseinfer.base.Clock;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.base.RoseException.BadModel;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.EngineStopped;
import io.roseinfer.engine.Completion;
import io.roseinfer.engine.Engine;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GeneratedToken;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.routing.RoutingPolicy;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Loading and running on a custom device. */
class CustomBackendTest {
    private static final GenerationRequest THREE =
            GenerationRequest.ofTokens(6, 7).withMaxNewTokens(3);

    private static Settings settings(String fault) {
        return Settings.of("builtin:tiny").withBackend(() -> new CustomDevice(fault));
    }

    private static List<Integer> ids(Completion completion) {
        return completion.tokens().stream().map(GeneratedToken::id).toList();
    }

    @Test
    void engine_serves_on_a_custom_device() {
        try (Engine engine = Roseinfer.open(settings(""))) {
            assertThat(ids(engine.generate(THREE))).containsExactly(8, 9, 10);
        }
    }

    @Test
    void one_backend_loads_all_replicas() {
        List<CustomDevice> created = new ArrayList<>();
        Settings two = Settings.of("builtin:tiny")
                .withRouting(RoutingPolicy.roundRobin())
                .withReplicas(2)
                .withBackend(() -> {
                    created.add(new CustomDevice());
                    return created.getLast();
                });
        try (LoadedModel model = Roseinfer.load(two);
                Engine engine = model.serve()) {
            assertThat(created).hasSize(1);
            assertThat(model.replicas()).isEqualTo(2);
            assertThat(ids(engine.generate(THREE))).isEqualTo(ids(engine.generate(THREE)));
        }
    }

    @Test
    void every_load_creates_a_backend_and_closes_it() {
        List<CustomDevice> created = new ArrayList<>();
        Settings settings = Settings.of("builtin:tiny").withBackend(() -> {
            created.add(new CustomDevice());
            return created.getLast();
        });
        Roseinfer.load(settings).close();
        Roseinfer.load(settings).close();
        assertThat(created).hasSize(2).allMatch(CustomDevice::isClosed);
    }

    @Test
    void device_is_described_by_its_backend() {
        try (LoadedModel model = Roseinfer.load(settings(""))) {
            assertThat(model.device()).isEqualTo("adder-7");
            assertThat(model.threads()).isEqualTo(5);
            assertThat(model.precision()).isEmpty();
        }
    }

    @Test
    void options_of_built_in_devices_are_not_in_force() {
        Settings asked = settings("");
        DeviceOptions options = asked.deviceOptions()
                .withThreads(3)
                .withPrecision(Precision.INT8)
                .withKvCache(KvPrecision.FP8)
                .withBatchInvariant(true);
        try (LoadedModel model = Roseinfer.load(asked.withDeviceOptions(options))) {
            assertThat(model.deviceOptions())
                    .isEqualTo(DeviceOptions.of(Settings.Device.CUSTOM).inForce(Settings.Device.CUSTOM));
            assertThat(model.deviceOptions().batchInvariant()).isEmpty();
        }
    }

    /** The settings' threads do not apply to a backend that the user opened. */
    @Test
    void built_in_backend_of_the_user_is_a_custom_device() {
        Settings scalar = Settings.of("builtin:tiny")
                .withThreads(3)
                .withBackend(() -> new CpuBackend(CpuOptions.defaults().withThreads(1), Clock.system()));
        try (LoadedModel model = Roseinfer.load(scalar)) {
            assertThat(model.deviceOptions().device()).isEqualTo(Settings.Device.CUSTOM);
            assertThat(model.deviceOptions().threads()).isZero();
            assertThat(model.threads()).isEqualTo(1);
        }
    }

    @Test
    void custom_device_without_a_backend_is_rejected_with_the_remedy() {
        assertThatThrownBy(() -> Settings.of("builtin:tiny").withDevice(Settings.Device.CUSTOM))
                .isInstanceOf(BadInput.class)
                .hasMessage("device is CUSTOM; it needs a backend: use Settings.withBackend");
    }

    @Test
    void backend_for_a_built_in_device_is_rejected_with_the_remedy() {
        Settings cpu = Settings.of("builtin:tiny").withDevice(Settings.Device.CPU);
        assertThatThrownBy(() -> new Settings(
                        cpu.model(),
                        cpu.deviceOptions(),
                        Optional.of(CustomDevice::new),
                        1,
                        cpu.routing(),
                        0,
                        false,
                        false,
                        cpu.environment(),
                        cpu.engine()))
                .isInstanceOf(BadInput.class)
                .hasMessage("device is CPU; it must be CUSTOM if there is a backend: use Settings.withBackend");
    }

    @Test
    void other_settings_keep_the_backend_and_another_device_drops_it() {
        Settings custom = settings("").withThreads(1).withMaxModelLen(100).withEngine(EngineOptions.defaults());
        assertThat(custom.backend()).isPresent();
        assertThat(custom.withDevice(Settings.Device.SIM).backend()).isEmpty();
    }

    @Test
    void settings_with_a_backend_are_readable() {
        assertThat(settings("").toString()).contains("device=CUSTOM").doesNotContain("Lambda");
    }

    @Test
    void exception_while_loading_names_the_device_and_its_line() {
        assertThatThrownBy(() -> Roseinfer.load(settings("load")))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageMatching("the device io.roseinfer.CustomDevice threw java.lang.IllegalStateException: boom"
                        + " at io.roseinfer.CustomDevice.failIn\\(CustomDevice.java:\\d+\\);"
                        + " fix it, or choose another device");
    }

    @ParameterizedTest
    @ValueSource(strings = {"warmUp", "newInputs"})
    void exception_before_the_first_step_names_the_device_and_its_line(String fault) {
        assertThatThrownBy(() -> Roseinfer.open(settings(fault)))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining(
                        "the device io.roseinfer.CustomDevice threw"
                                + " java.lang.IllegalStateException: boom at io.roseinfer.CustomDevice.failIn(CustomDevice.java:");
    }

    @Test
    void backend_made_by_a_proxy_is_named_by_the_class_of_its_handler() {
        Settings proxied = Settings.of("builtin:tiny").withBackend(() -> (Backend) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {Backend.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("load")) {
                        throw new IllegalStateException("boom");
                    }
                    return null;
                }));
        assertThatThrownBy(() -> Roseinfer.load(proxied))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageStartingWith("the device io.roseinfer.CustomBackendTest threw"
                        + " java.lang.IllegalStateException: boom at io.roseinfer.CustomBackendTest.lambda$");
    }

    @Test
    void missing_native_library_names_the_device() {
        assertThatThrownBy(() -> Roseinfer.load(settings("link")))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageStartingWith(
                        "the device io.roseinfer.CustomDevice threw java.lang.UnsatisfiedLinkError: no adder at ");
    }

    @Test
    void wrong_number_of_loaded_replicas_names_the_device() {
        assertThatThrownBy(() -> Roseinfer.load(settings("replicas")))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessage("the device io.roseinfer.CustomDevice loaded 2 replicas instead of 1;"
                        + " fix it, or choose another device");
    }

    @ParameterizedTest
    @CsvSource({"null load, load", "null name, 'name, description, gpu or warnings'"})
    void null_of_a_device_names_the_device(String fault, String methods) {
        assertThatThrownBy(() -> Roseinfer.load(settings(fault)))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessage("the device io.roseinfer.CustomDevice returned null from " + methods
                        + "; fix it, or choose another device");
    }

    @Test
    void runner_without_steps_in_flight_names_the_device() {
        assertThatThrownBy(() -> Roseinfer.load(settings("depth")))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessage(
                        "the device io.roseinfer.CustomDevice loaded a runner with 0 steps in flight; it must have at"
                                + " least 1; fix it, or choose another device");
    }

    @Test
    void device_s_own_rejection_of_a_model_is_unchanged() {
        assertThatThrownBy(() -> Roseinfer.load(settings("model")))
                .isInstanceOf(BadModel.class)
                .hasMessage("the adder has no such model");
    }

    @ParameterizedTest
    @ValueSource(strings = {"submit", "await"})
    void exception_in_a_step_stops_the_engine_and_names_the_device(String fault) {
        try (LoadedModel model = Roseinfer.load(settings(fault));
                Engine engine = model.serve()) {
            assertThatThrownBy(() -> engine.generate(THREE))
                    .isInstanceOf(EngineStopped.class)
                    .hasMessageContaining(
                            "the device io.roseinfer.CustomDevice threw"
                                    + " java.lang.IllegalStateException: boom at io.roseinfer.CustomDevice.failIn(CustomDevice.java:");
            assertThatThrownBy(() -> engine.submit(THREE)).isInstanceOf(EngineStopped.class);
        }
    }

    @Test
    void token_outside_of_the_vocabulary_fails_its_request_alone() {
        try (LoadedModel model = Roseinfer.load(settings("vocabulary"));
                Engine engine = model.serve()) {
            assertThatThrownBy(() -> engine.generate(THREE))
                    .isInstanceOf(DeviceFailure.class)
                    .hasMessageMatching(
                            "the device io\\.roseinfer\\.CustomDevice sampled token id [0-9]+, which is outside of the"
                                    + " model's vocabulary, for this request; fix the device");
            assertThat(engine.failure(0)).isEmpty();
        }
    }
}
