package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.backend.KvGeometry;
import io.roseinfer.engine.routing.ViewAge;
import io.roseinfer.kv.KvBlockPool;
import io.roseinfer.scheduler.Scheduler;
import io.roseinfer.scheduler.SchedulerOptions;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class AgedViewTest {
    private static final int AGE = 50;

    @Test
    void view_keeps_only_the_changes_within_its_age() {
        AtomicLong clock = new AtomicLong();
        ReplicaLoad load = new ReplicaLoad(
                3,
                new KvGeometry(16, 200, 1),
                new Scheduler(SchedulerOptions.defaults(), new KvBlockPool(200, 16, true), 2048),
                null);
        AgedView view = new AgedView(load, clock::get, new ViewAge(AGE, false));
        for (int nanos = 0; nanos < 1000; nanos++) {
            clock.set(nanos);
            load.add(10, 7, 2);
            view.record();
            int then = Math.max(0, nanos - AGE + 1);
            assertThat(view.requests()).isEqualTo(then);
            assertThat(view.outstandingTokens()).isEqualTo(10L * then);
            assertThat(view.predictedTokens()).isEqualTo(7L * then);
            assertThat(view.uncomputedPromptTokens()).isEqualTo(2L * then);
            assertThat(view.changes()).isLessThanOrEqualTo(AGE);
        }
        assertThat(view.index()).isEqualTo(3);
        assertThat(view.poolTokens()).isEqualTo(3200);
    }
}
