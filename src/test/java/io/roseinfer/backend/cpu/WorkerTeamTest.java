package io.roseinfer.backend.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.Check;
import io.roseinfer.base.RoseException.DeviceFailure;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WorkerTeamTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void every_worker_runs_every_job_once(int size) {
        try (WorkerTeam team = new WorkerTeam(size)) {
            AtomicIntegerArray runs = new AtomicIntegerArray(size);
            for (int job = 0; job < 100; job++) {
                team.run(runs::incrementAndGet);
            }
            for (int worker = 0; worker < size; worker++) {
                assertThat(runs.get(worker)).isEqualTo(100);
            }
        }
    }

    @Test
    void barrier_waits_for_all_workers_and_publishes_their_writes() {
        int size = 4;
        int rounds = 500;
        int[] written = new int[size];
        AtomicInteger stale = new AtomicInteger();
        try (WorkerTeam team = new WorkerTeam(size)) {
            team.run(worker -> {
                for (int round = 1; round <= rounds; round++) {
                    written[worker] = round;
                    team.barrier(worker);
                    for (int other : written) {
                        if (other != round) {
                            stale.incrementAndGet();
                        }
                    }
                    team.barrier(worker);
                }
            });
        }
        assertThat(stale).hasValue(0);
    }

    @Test
    void shares_cover_all_items_in_order_and_differ_by_one_at_most() {
        try (WorkerTeam team = new WorkerTeam(3)) {
            for (int items = 0; items < 20; items++) {
                assertThat(team.share(items, 0)).isZero();
                assertThat(team.share(items, 3)).isEqualTo(items);
                for (int worker = 0; worker < 3; worker++) {
                    assertThat(team.share(items, worker + 1) - team.share(items, worker))
                            .isBetween(items / 3, items / 3 + 1);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void every_item_of_a_phase_is_claimed_once(int size) {
        int phases = 200;
        int items = 7;
        AtomicIntegerArray claims = new AtomicIntegerArray(items);
        try (WorkerTeam team = new WorkerTeam(size)) {
            team.run(worker -> {
                for (int phase = 0; phase < phases; phase++) {
                    int item;
                    while ((item = team.claim(items, worker)) != WorkerTeam.NONE) {
                        claims.incrementAndGet(item);
                    }
                    team.barrier(worker);
                }
            });
        }
        for (int item = 0; item < items; item++) {
            assertThat(claims.get(item)).as("item %d", item).isEqualTo(phases);
        }
    }

    @Test
    void worker_claims_its_own_share_before_stealing() {
        List<Integer> claimed = new ArrayList<>();
        try (WorkerTeam team = new WorkerTeam(3)) {
            team.run(worker -> {
                int item;
                while (worker == 1 && (item = team.claim(7, worker)) != WorkerTeam.NONE) {
                    claimed.add(item);
                }
            });
        }
        assertThat(claimed).containsExactly(2, 3, 4, 5, 6, 0, 1);
    }

    @Test
    void failure_reaches_the_awaiting_thread_and_the_team_survives() {
        try (WorkerTeam team = new WorkerTeam(3)) {
            for (int round = 0; round < 50; round++) {
                assertThatThrownBy(() -> team.run(worker -> {
                            team.barrier(worker);
                            if (worker == 1) {
                                throw new ArithmeticException("worker one");
                            }
                            team.barrier(worker);
                            team.barrier(worker);
                        }))
                        .isInstanceOf(ArithmeticException.class)
                        .hasMessage("worker one");
                AtomicInteger runs = new AtomicInteger();
                team.run(worker -> {
                    team.barrier(worker);
                    runs.incrementAndGet();
                });
                assertThat(runs).hasValue(3);
            }
        }
    }

    @Test
    void idle_team_parks() {
        try (WorkerTeam team = new WorkerTeam(3)) {
            Thread[] workers = new Thread[3];
            team.run(worker -> workers[worker] = Thread.currentThread());
            for (int worker = 1; worker < 3; worker++) {
                while (workers[worker].getState() != Thread.State.WAITING) {
                    Thread.onSpinWait();
                }
            }
        }
    }

    @Test
    void awaiting_thread_is_worker_zero() {
        try (WorkerTeam team = new WorkerTeam(2)) {
            Thread[] workers = new Thread[2];
            team.run(worker -> workers[worker] = Thread.currentThread());
            assertThat(workers[0]).isSameAs(Thread.currentThread());
            assertThat(workers[1]).isNotSameAs(Thread.currentThread());
        }
    }

    @Test
    void closing_ends_the_threads_and_may_be_repeated() {
        WorkerTeam team = new WorkerTeam(3);
        Thread[] workers = new Thread[3];
        team.run(worker -> workers[worker] = Thread.currentThread());
        team.close();
        team.close();
        assertThat(workers[1].isAlive()).isFalse();
        assertThat(workers[2].isAlive()).isFalse();
        assertThatThrownBy(() -> team.submit(worker -> {})).isInstanceOf(Check.Failure.class);
    }

    @Test
    void closing_finishes_a_running_job() {
        AtomicInteger finished = new AtomicInteger();
        WorkerTeam team = new WorkerTeam(2);
        team.submit(worker -> {
            for (int i = 0; i < 100; i++) {
                team.barrier(worker);
            }
            finished.incrementAndGet();
        });
        team.close();
        assertThat(finished).hasValue(2);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void stalled_worker_fails_the_job_with_or_without_a_barrier(boolean atBarrier) {
        CountDownLatch away = new CountDownLatch(1);
        CountDownLatch back = new CountDownLatch(1);
        AtomicLong now = new AtomicLong();
        WorkerTeam team = new WorkerTeam(3);
        team.setStallLimit(new StallLimit(() -> away.getCount() == 0 ? now.addAndGet(1000) : 0, 1000));
        assertThatThrownBy(() -> team.run(worker -> {
                    if (worker == 1) {
                        away.countDown();
                        awaitQuietly(back);
                    }
                    if (atBarrier) {
                        team.barrier(worker);
                    }
                }))
                .isInstanceOf(DeviceFailure.class)
                .hasMessageContaining("roseinfer-cpu-1 is in " + WorkerTeamTest.class.getName());
        assertThatThrownBy(() -> team.submit(worker -> {}))
                .isInstanceOf(DeviceFailure.class)
                .hasMessageContaining("has not come back");
        team.close();
        assertThat(team.isOver()).isFalse();
        back.countDown();
        while (!team.isOver()) {
            Thread.onSpinWait();
        }
    }

    @Test
    void worker_may_take_as_long_as_the_limit() {
        try (WorkerTeam team = new WorkerTeam(2)) {
            AtomicInteger looks = new AtomicInteger();
            team.setStallLimit(new StallLimit(looks::incrementAndGet, 1000));
            team.run(worker -> {
                while (worker == 1 && looks.get() < 3) {
                    LockSupport.parkNanos(1_000_000);
                }
                team.barrier(worker);
            });
            team.run(team::barrier);
        }
    }

    @Test
    void team_closes_without_waiting_for_worker_zero() {
        CountDownLatch away = new CountDownLatch(1);
        CountDownLatch back = new CountDownLatch(1);
        WorkerTeam team = new WorkerTeam(3);
        CompletableFuture<Void> run = CompletableFuture.runAsync(() -> team.run(worker -> {
            if (worker == 0) {
                away.countDown();
                awaitQuietly(back);
            }
            team.barrier(worker);
        }));
        awaitQuietly(away);
        team.close();
        assertThat(team.isOver()).isFalse();
        back.countDown();
        assertThatThrownBy(run::join).hasMessageContaining("another worker failed");
        while (!team.isOver()) {
            Thread.onSpinWait();
        }
    }
}
