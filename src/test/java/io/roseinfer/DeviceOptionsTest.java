package io.roseinfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.DeviceOptions.Ignored;
import io.roseinfer.Settings.Device;
import io.roseinfer.backend.KvPrecision;
import io.roseinfer.backend.Precision;
import io.roseinfer.base.RoseException.BadInput;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceOptionsTest {
    private static final DeviceOptions ALL = DeviceOptions.of(Device.AUTO)
            .withPrecision(Precision.INT8)
            .withKvCache(KvPrecision.FP8)
            .withThreads(3)
            .withGpus(List.of(1))
            .withPagedAttention(false)
            .withCudaGraph(true)
            .withProfilerRanges(true)
            .withBatchInvariant(false);

    private static Stream<String> names(List<Ignored> ignored) {
        return ignored.stream().map(Ignored::name);
    }

    @ParameterizedTest
    @EnumSource(names = "AUTO", mode = EnumSource.Mode.EXCLUDE)
    void default_options_are_never_ignored(Device device) {
        assertThat(DeviceOptions.of(device).ignored(device)).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "CPU, 'paged_attn nvtx cuda_graph kv_cache_dtype batch_invariant gpus'",
        "CUDA, 'threads'",
        "SIM, 'paged_attn nvtx cuda_graph kv_cache_dtype batch_invariant threads dtype gpus'",
        "CUSTOM, 'paged_attn nvtx cuda_graph kv_cache_dtype batch_invariant threads dtype gpus'"
    })
    void options_without_effect_on_a_device_are_ignored_there(Device device, String ignored) {
        assertThat(names(ALL.ignored(device))).containsExactly(ignored.split(" "));
    }

    @ParameterizedTest
    @EnumSource(names = "AUTO", mode = EnumSource.Mode.EXCLUDE)
    void options_in_force_are_never_ignored_and_stay_the_same(Device device) {
        DeviceOptions used = ALL.inForce(device);
        assertThat(used.ignored(device)).isEmpty();
        assertThat(used.inForce(device)).isEqualTo(used);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1025})
    void threads_out_of_range_are_rejected_with_the_range(int threads) {
        assertThatThrownBy(() -> ALL.withThreads(threads))
                .isInstanceOf(BadInput.class)
                .hasMessage("threads is " + threads + "; it must be 1 to 1024, or 0 for one per available processor");
    }

    @Test
    void options_equal_to_a_device_s_behavior_are_not_ignored() {
        DeviceOptions same = DeviceOptions.of(Device.CPU)
                .withPagedAttention(true)
                .withCudaGraph(false)
                .withBatchInvariant(true);
        assertThat(same.ignored(Device.CPU)).isEmpty();
    }

    @Test
    void unknown_properties_of_a_custom_device_are_empty() {
        assertThat(ALL.inForce(Device.CUSTOM).batchInvariant()).isEmpty();
        assertThat(ALL.inForce(Device.CUSTOM).cudaGraph()).isEmpty();
    }
}
