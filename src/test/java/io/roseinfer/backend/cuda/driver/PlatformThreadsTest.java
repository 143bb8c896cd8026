package io.roseinfer.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.roseinfer.base.RoseException.BadInput;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PlatformThreadsTest {
    private static <T> T onVirtualThread(Callable<T> work) throws Exception {
        FutureTask<T> task = new FutureTask<>(work);
        Thread.startVirtualThread(task);
        return task.get();
    }

    @Test
    void call_on_a_platform_thread_runs_there() {
        assertThat(PlatformThreads.call(Thread::currentThread)).isSameAs(Thread.currentThread());
    }

    @Test
    void call_on_a_virtual_thread_runs_on_a_platform_thread() throws Exception {
        assertThat(onVirtualThread(() -> PlatformThreads.call(Thread::currentThread))
                        .isVirtual())
                .isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void call_rethrows_the_failure(boolean error) throws Exception {
        Throwable thrown = error ? new AssertionError("as planned") : new BadInput("as planned");
        Throwable seen = onVirtualThread(() -> catchThrowable(() -> PlatformThreads.call(() -> {
            if (thrown instanceof Error e) {
                throw e;
            }
            throw (RuntimeException) thrown;
        })));
        assertThat(seen).isSameAs(thrown);
    }

    @Test
    void interrupted_call_completes_and_stays_interrupted() throws Exception {
        boolean after = onVirtualThread(() -> {
            Thread caller = Thread.currentThread();
            int result = PlatformThreads.call(() -> {
                caller.interrupt();
                return 42;
            });
            assertThat(result).isEqualTo(42);
            return Thread.interrupted();
        });
        assertThat(after).isTrue();
    }
}
