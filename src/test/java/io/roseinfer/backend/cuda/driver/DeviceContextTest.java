package io.roseinfer.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which context a thread has; a stand-in for the driver keeps one per thread and notes every change. */
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
    void a_platform_thread_without_a_context_is_changed_by_its_first_step_alone() {
        step(first);
        step(first);
        assertThat(changes).containsExactly(OURS);
        assertThat(first.enter()).isEqualTo(OURS);
    }

    @Test
    void a_step_gives_the_thread_the_context_of_another_library_back() {
        bound.set(THEIRS);
        step(first);
        step(first);
        assertThat(changes).containsExactly(OURS, THEIRS, OURS, THEIRS);
    }

    /** As by {@code cudaSetDevice} of another library between two steps. */
    @Test
    void a_context_changed_behind_our_back_is_noticed() {
        step(first);
        bound.set(THEIRS);
        long before = first.enter();
        assertThat(bound.get()).isEqualTo(OURS);
        first.leave(before);
        assertThat(bound.get()).isEqualTo(THEIRS);
    }

    @Test
    void two_devices_in_turn_change_each_time() {
        step(first);
        long before = second.enter();
        assertThat(bound.get()).isEqualTo(SECOND);
        second.leave(before);
        assertThat(bound.get()).isEqualTo(OURS);
    }

    /** Its carrier runs others next. */
    @Test
    void a_virtual_thread_leaves_no_context_behind() throws InterruptedException {
        Thread.ofVirtual().start(() -> step(first)).join();
        assertThat(changes).containsExactly(OURS, 0L);
    }

    @Test
    void closing_takes_the_context_from_the_thread_that_a_step_gave_it_to() {
        step(first);
        first.leaveForGood(first.enter());
        assertThat(bound.get()).isZero();
    }

    @Test
    void closing_leaves_a_thread_the_context_that_it_had_before_any_step() {
        for (long own : new long[] {OURS, THEIRS}) {
            bound.set(own);
            step(first);
            first.leaveForGood(first.enter());
            assertThat(bound.get()).isEqualTo(own);
        }
    }

    @Test
    void enter_refused_is_reported_and_tried_again() {
        code = 201;
        assertThatThrownBy(first::enter)
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("using device 3: invalid context (CUDA error 201)");
        code = DriverStatus.SUCCESS;
        step(first);
        assertThat(changes).hasSize(2);
    }
}
