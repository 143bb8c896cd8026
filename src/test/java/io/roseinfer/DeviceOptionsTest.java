package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.DeviceOptions.Ignored;
import io.roseinfer.Settings.Device;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.Precision;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class DeviceOptionsTest {
    private static final DeviceOptions ALL = DeviceOptions.of(Device.AUTO)
            .withPrecision(Precision.INT8)
            .withKvCache(KvPrecision.FP8)
            .withThreads(3)
            .withPagedAttention(false)
            .withCudaGraph(true)
            .withProfilerRanges(true)
            .withBatchInvariant(false);

    private static Stream<String> names(List<Ignored> ignored) {
        return ignored.stream().map(Ignored::name);
    }

    @ParameterizedTest
    @EnumSource(names = "AUTO", mode = EnumSource.Mode.EXCLUDE)
    void options_that_were_not_asked_for_are_ignored_nowhere(Device device) {
        assertThat(DeviceOptions.of(device).ignored(device)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "CPU, 'paged_attn cuda_graph nvtx kv_cache_dtype batch_invariant'",
        "CUDA, 'threads'",
        "SIM, 'paged_attn cuda_graph nvtx kv_cache_dtype batch_invariant threads dtype'"
    })
    void what_a_device_has_no_use_for_is_ignored_there(Device device, String ignored) {
        assertThat(names(ALL.ignored(device))).containsExactly(ignored.split(" "));
    }

    @ParameterizedTest
    @EnumSource(names = "AUTO", mode = EnumSource.Mode.EXCLUDE)
    void options_in_force_are_ignored_nowhere_and_stay_as_they_are(Device device) {
        DeviceOptions used = ALL.inForce(device);
        assertThat(used.ignored(device)).isEmpty();
        assertThat(used.inForce(device)).isEqualTo(used);
    }

    @Test
    void options_that_say_what_a_device_does_anyway_are_not_ignored() {
        DeviceOptions same = DeviceOptions.of(Device.CPU)
                .withPagedAttention(true)
                .withCudaGraph(false)
                .withBatchInvariant(true);
        assertThat(same.ignored(Device.CPU)).isEmpty();
    }
}
