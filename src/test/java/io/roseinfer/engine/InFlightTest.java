package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.base.RoseException.Overloaded;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.model.SpecBuilder;
import io.roseinfer.observe.Observers;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.Sequence;
import io.roseinfer.scheduler.WaitingQueue;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InFlightTest {
    private final AtomicInteger empty = new AtomicInteger();
    private final InFlight inFlight = new InFlight(
            2,
            Models.ticking(),
            Observers.NONE.requests(),
            new WaitingQueue(1, SchedulerOptions.defaults().policies()),
            new TokenizeWorkers(0, request -> {}),
            empty::incrementAndGet);

    @Test
    void places_are_at_most_the_maximum_and_the_last_one_released_leaves_it_empty() {
        inFlight.reserve();
        inFlight.reserve();
        assertThatThrownBy(inFlight::reserve).isInstanceOf(Overloaded.class);
        inFlight.release();
        assertThat(empty).hasValue(0);
        inFlight.release();
        assertThat(empty).hasValue(1);
    }

    @Test
    void deadline_of_a_request_that_has_ended_is_not_watched() {
        GenerationRequest timed = Models.request(1, 1).withDeadline(1_000_000);
        LiveRequest request = new LiveRequest(0, timed, 0, Models.CONTEXT, Optional.empty());
        request.claimOutcome();
        inFlight.watch(request);
        assertThat(inFlight.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @ParameterizedTest
    @CsvSource({"0, true", "-1, false"})
    void request_keeps_its_load_exactly_if_it_waits_for_its_replica(int replica, boolean isKept) {
        SchedulerOptions options = SchedulerOptions.defaults();
        ReplicaLoad load = new ReplicaLoad(
                0, new KvGeometry(16, 200, 1), new Scheduler(options, new KvBlockPool(200, 16, true), 2048), null);
        LiveRequest request = new LiveRequest(0, Models.request(1, 1), 0, Models.CONTEXT, Optional.empty());
        Sequence sequence = request.newSequence(
                new int[] {1}, SpecBuilder.named("load").context(64).build());
        request.addLoad(load, sequence);
        assertThat(inFlight.enqueue(request, sequence, replica)).isTrue();
        assertThat(load.requests()).isEqualTo(isKept ? 1 : 0);
    }
}
