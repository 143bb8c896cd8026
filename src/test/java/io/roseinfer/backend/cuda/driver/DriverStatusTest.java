package io.roseinfer.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.base.RoseException.DeviceFailure;
import io.roseinfer.base.RoseException.InsufficientMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DriverStatusTest {
    @ParameterizedTest
    @CsvSource({
        "34, the toolkit's stub, LD_LIBRARY_PATH",
        "35, driver older than the CUDA runtime, driver 580",
        "36, driver lacks a call, driver 580",
        "100, no CUDA device, CUDA_VISIBLE_DEVICES",
        "101, no such device, CUDA_VISIBLE_DEVICES",
        "802, the system is not ready, nvidia-fabricmanager",
        "803, of different versions, reboot"
    })
    void unavailable_code_is_named_with_a_remedy(int code, String what, String advice) {
        BackendUnavailable refusal = DriverStatus.unavailable("starting the driver", code);
        assertThat(refusal.getMessage())
                .startsWith("device cuda: starting the driver: ")
                .contains(what, "(CUDA error " + code + ")", advice, "use device cpu");
        assertThat(refusal.exitCode()).isEqualTo(4);
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                DriverStatus.STEP_TIMEOUT,
                DriverStatus.NO_TOKENS,
                1,
                2,
                46,
                100,
                201,
                304,
                400,
                600,
                701,
                704,
                800,
                801
            })
    void failure_with_a_working_context_needs_no_new_process(int code) {
        assertThat(DriverStatus.breaksContext(code)).isFalse();
        assertThat(CudaStream.failure("device cuda:0", "launching", code, new LaunchLog())
                        .getMessage())
                .contains("load the model again")
                .doesNotContain("new process");
    }

    @ParameterizedTest
    @ValueSource(ints = {214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999})
    void failure_that_breaks_the_context_needs_a_new_process(int code) {
        assertThat(DriverStatus.breaksContext(code)).isTrue();
        assertThat(CudaStream.failure("device cuda:0", "launching", code, new LaunchLog())
                        .getMessage())
                .contains("the device needs a new process");
    }

    @Test
    void out_of_memory_is_insufficient_memory_with_a_remedy() {
        assertThat(DriverStatus.refusal("creating a stream", DriverStatus.OUT_OF_MEMORY))
                .isInstanceOf(InsufficientMemory.class)
                .hasMessageContaining("creating a stream: out of device memory (CUDA error 2)")
                .hasMessageContaining("kvBlocks");
        assertThat(DriverStatus.refusal("creating a stream", 46)).isInstanceOf(BackendUnavailable.class);
    }

    @Test
    void old_driver_is_rejected_by_version() {
        assertThatThrownBy(() -> CudaSystem.requireRecent(12_090))
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("CUDA up to 12.9, 13.0 is needed");
        assertThatCode(() -> CudaSystem.requireRecent(13_000)).doesNotThrowAnyException();
    }

    @Test
    void kernel_fault_lists_recent_launches() {
        LaunchLog log = new LaunchLog();
        log.add("embed_f16", 64, 1, 128, 0);
        log.add("gemm_qkv_f16_b32", 2, 36, 320, 77_824);
        DeviceFailure failure = CudaStream.failure("device cuda:0", "waiting for step 3", 700, log);
        assertThat(failure.getMessage())
                .startsWith("device cuda:0: waiting for step 3: illegal address (CUDA error 700)")
                .endsWith("newest first: gemm_qkv_f16_b32<<<2x36, 320, 77824>>>, embed_f16<<<64x1, 128, 0>>>");
        assertThat(failure.recoverable()).isFalse();
        assertThat(failure.exitCode()).isEqualTo(7);
    }

    @Test
    void full_launch_log_drops_the_oldest() {
        LaunchLog log = new LaunchLog();
        log.add("oldest", 1, 1, 1, 0);
        for (int i = 0; i < LaunchLog.SIZE - 1; i++) {
            log.add("graph", 1, 1, 0, 0);
        }
        assertThat(log).hasToString("graph<<<1x1, 0, 0>>> x63, oldest<<<1x1, 1, 0>>>");
        log.add("newest", 1, 1, 1, 0);
        assertThat(log).hasToString("newest<<<1x1, 1, 0>>>, graph<<<1x1, 0, 0>>> x63");
    }
}
