package io.roseinfer.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Whose context a thread has; a list stands in for the driver and notes every change. */
class DeviceContextTest {
    private final List<String> changes = new ArrayList<>();
    private final DeviceContext first = context("first");
    private final DeviceContext second = context("second");

    private DeviceContext context(String name) {
        return new DeviceContext(0, () -> {
            changes.add(name);
            return DriverStatus.SUCCESS;
        });
    }

    @Test
    void enter_again_on_a_platform_thread_asks_the_driver_once() throws InterruptedException {
        Thread.ofPlatform()
                .start(() -> {
                    first.enter();
                    first.enter();
                })
                .join();
        assertThat(changes).containsExactly("first");
    }

    @Test
    void enter_two_devices_in_turn_changes_each_time() throws InterruptedException {
        Thread.ofPlatform()
                .start(() -> {
                    first.enter();
                    second.enter();
                    first.enter();
                })
                .join();
        assertThat(changes).containsExactly("first", "second", "first");
    }

    /** Between two of them the thread may have moved to another thread of the operating system. */
    @Test
    void enter_on_a_virtual_thread_asks_the_driver_every_time() throws InterruptedException {
        Thread.ofVirtual()
                .start(() -> {
                    first.enter();
                    first.enter();
                })
                .join();
        assertThat(changes).containsExactly("first", "first");
    }

    @Test
    void enter_refused_is_said_and_forgotten() {
        AtomicInteger code = new AtomicInteger(201);
        DeviceContext context = new DeviceContext(3, () -> {
            changes.add("tried");
            return code.get();
        });
        assertThatThrownBy(context::enter)
                .isInstanceOf(BackendUnavailable.class)
                .hasMessageContaining("using device 3: invalid context (CUDA error 201)");
        code.set(DriverStatus.SUCCESS);
        context.enter();
        assertThat(changes).hasSize(2);
    }
}
