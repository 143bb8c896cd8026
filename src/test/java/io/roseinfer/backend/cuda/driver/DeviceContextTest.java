package io.roseinfer.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Context binding, with a stand-in for the driver that keeps a context per thread and records changes. */
class DeviceContextTest {
    private static final long OURS = 11;
    private static final long SECOND = 22;
    private static final long THEIRS = 99;

    private final List<Long> changes = new ArrayList<>();
    private final ThreadLocal<Long> bound = ThreadLocal.withInitial(() -> 0L);
    private int code;
    private final DeviceContext first = context(OURS);
    private final DeviceContext second = context(SECOND);

    private DeviceContext context(long handle) {
        return new DeviceContext(3, handle, new DeviceContext.Binding() {
            @Override
            public long current() {
                return bound.get();
            }

            @Override
            public int bind(long context) {
                changes.add(context);
                if (code == DriverStatus.SUCCESS) {
                    bound.set(context);
                }
                return code;
            }
        });
    }

    private static void step(DeviceContext context) {
        context.leave(context.enter());
    }

    @Test
    void platform_thread_binds_a_context_in_its_first_step_only() {
        step(first);
        step(first);
        assertThat(changes).containsExactly(OURS);
        assertThat(first.enter()).isEqualTo(OURS);
    }

    @Test
    void step_restores_the_context_of_another_library() {
        bound.set(THEIRS);
        step(first);
        step(first);
        assertThat(changes).containsExactly(OURS, THEIRS, OURS, THEIRS);
    }

    /** Another library calls {@code cudaSetDevice} between two steps. */
    @Test
    void externally_changed_context_is_noticed() {
        step(first);
        bound.set(THEIRS);
        long before = first.enter();
        assertThat(bound.get()).isEqualTo(OURS);
        first.leave(before);
        assertThat(bound.get()).isEqualTo(THEIRS);
    }

    @Test
    void alternating_devices_rebind_each_time() {
        step(first);
        long before = second.enter();
        assertThat(bound.get()).isEqualTo(SECOND);
        second.leave(before);
        assertThat(bound.get()).isEqualTo(OURS);
    }

    /** Its carrier runs other virtual threads next. */
    @Test
    void virtual_thread_leaves_no_context() throws InterruptedException {
        Thread.ofVirtual().start(() -> step(first)).join();
        assertThat(changes).containsExactly(OURS, 0L);
    }

    @Test
    void closing_unbinds_the_context_of_a_step() {
        step(first);
        first.leaveForGood(first.enter());
        assertThat(bound.get()).isZero();
    }

    @Test
    void closing_restores_the_context_from_before_any_step() {
        for (long own : new long[] {OURS, THEIRS}) {
            bound.set(own);
            step(first);
            first.leaveForGood(first.enter());
            assertThat(bound.get()).isEqualTo(own);
        }
    }

    @Test
    void failed_enter_is_reported_and_retried() {
        code = 201;
        assertThatThrownBy(first::enter)
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("using device 3: invalid context (CUDA error 201)");
        code = DriverStatus.SUCCESS;
        step(first);
        assertThat(changes).hasSize(2);
    }
}
