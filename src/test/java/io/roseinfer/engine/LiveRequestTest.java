package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.model.SpecBuilder;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Restarts of a request whose replica has failed, without an engine. */
class LiveRequestTest {
    private final LiveRequest request = new LiveRequest(0, Models.request(1, 1), 0, Models.CONTEXT, Optional.empty());

    LiveRequestTest() {
        request.setReady(request.newSequence(
                new int[] {1}, SpecBuilder.named("restarts").context(64).build()));
    }

    @Test
    void request_that_was_never_admitted_has_lost_no_replica() {
        request.restart();
        request.restart();
        assertThat(request.hasLostReplica()).isFalse();
        request.admitted(1, 0);
        assertThat(request.isRestartable()).isTrue();
    }

    @Test
    void request_that_has_lost_one_replica_may_restart_until_another_admits_it() {
        request.admitted(1, 0);
        assertThat(request.isRestartable()).isTrue();
        request.restart();
        assertThat(request.hasLostReplica()).isTrue();
        assertThat(request.isRestartable()).isTrue();
        request.admitted(2, 0);
        assertThat(request.isRestartable()).isFalse();
    }

    @Test
    void request_that_restarts_while_it_waits_still_has_lost_its_replica() {
        request.admitted(1, 0);
        request.restart();
        request.restart();
        assertThat(request.hasLostReplica()).isTrue();
    }
}
