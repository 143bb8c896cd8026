package io.roseinfer.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.roseinfer.server.http.Response;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The order of work on bodies, and its cancellation if a client disconnects. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PromptWorkersTest {
    private final PromptWorkers workers = new PromptWorkers(1);
    private final CountDownLatch gate = new CountDownLatch(1);
    private final CompletableFuture<Thread> running = new CompletableFuture<>();

    @AfterEach
    void close() {
        gate.countDown();
        workers.close();
    }

    /** A client that can disconnect. */
    private static final class Client {
        private final CompletableFuture<Runnable> action = new CompletableFuture<>();

        void whenGone(Runnable leave) {
            action.complete(leave);
        }

        void leave() {
            action.join().run();
        }
    }

    private void awaitGate() {
        running.complete(Thread.currentThread());
        try {
            gate.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private CompletableFuture<Throwable> submit(Client client, int bytes, Runnable work) {
        CompletableFuture<Throwable> end = new CompletableFuture<>();
        Thread unused = Thread.ofVirtual()
                .start(() -> end.complete(catchThrowable(() -> workers.call(client::whenGone, bytes, () -> {
                    work.run();
                    return bytes;
                }))));
        return end;
    }

    @Test
    void short_bodies_overtake_a_long_one_but_only_one_per_kib() {
        CompletableFuture<Throwable> first = submit(new Client(), 0, this::awaitGate);
        running.join();
        List<String> order = new CopyOnWriteArrayList<>();
        CompletableFuture<?>[] ends = new CompletableFuture<?>[11];
        ends[0] = submit(new Client(), 5 << 10, () -> order.add("long"));
        awaitWaiting(1);
        for (int i = 1; i <= 10; i++) {
            int number = i;
            ends[i] = submit(new Client(), 0, () -> order.add("short " + number));
            awaitWaiting(i + 1);
        }
        gate.countDown();
        CompletableFuture.allOf(ends).join();
        assertThat(first.join()).isNull();
        assertThat(order.indexOf("long")).isIn(4, 5);
        order.remove("long");
        assertThat(order).first().isEqualTo("short 1");
    }

    private void awaitWaiting(int count) {
        while (workers.waiting() != count) {
            Thread.onSpinWait();
        }
    }

    @Test
    void work_of_a_disconnected_client_is_dequeued() {
        CompletableFuture<Throwable> first = submit(new Client(), 0, this::awaitGate);
        running.join();
        Client leaving = new Client();
        List<String> done = new CopyOnWriteArrayList<>();
        CompletableFuture<Throwable> second = submit(leaving, 0, () -> done.add("second"));
        awaitWaiting(1);
        leaving.leave();
        assertThat(second.join()).isInstanceOf(Response.ClientGone.class);
        assertThat(workers.waiting()).isZero();
        gate.countDown();
        assertThat(first.join()).isNull();
        assertThat(done).isEmpty();
    }

    @Test
    void running_work_of_a_disconnected_client_is_interrupted_but_not_the_next() {
        Client leaving = new Client();
        CompletableFuture<Throwable> first = submit(leaving, 0, this::awaitGate);
        running.join();
        leaving.leave();
        assertThat(first.join()).isInstanceOf(Response.ClientGone.class);
        CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        CompletableFuture<Throwable> next = submit(
                new Client(),
                0,
                () -> interrupted.complete(Thread.currentThread().isInterrupted()));
        assertThat(next.join()).isNull();
        assertThat(interrupted.join()).isFalse();
        assertThat(running.join().isVirtual()).isFalse();
    }

    @Test
    void close_ends_waiting_calls() {
        CompletableFuture<Throwable> first = submit(new Client(), 0, this::awaitGate);
        running.join();
        CompletableFuture<Throwable> second = submit(new Client(), 0, () -> {});
        awaitWaiting(1);
        workers.close();
        assertThat(second.join()).isInstanceOf(Response.ClientGone.class);
        assertThat(first.join()).isNull();
    }

    @ParameterizedTest
    @CsvSource({"1, 16, 1", "2, 16, 1", "16, 16, 15", "16, 1, 4", "2, 1, 1"})
    void threads_are_fewer_than_processors_and_fit_the_heap(int processors, int heapGib, int count) {
        assertThat(PromptWorkers.count(processors, (long) heapGib << 30, 4 << 20))
                .isEqualTo(count);
    }
}
