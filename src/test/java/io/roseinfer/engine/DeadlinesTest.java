package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares deadlines with a list that is sorted each time. */
class DeadlinesTest {
    private static final Comparator<LiveRequest> EARLIEST =
            Comparator.comparingLong(LiveRequest::deadlineNanos).thenComparingLong(LiveRequest::id);

    private static LiveRequest request(long id, Random random) {
        GenerationRequest wanted = Models.request(1, 1);
        return new LiveRequest(
                id,
                random.nextInt(4) == 0 ? wanted : wanted.withDeadline(random.nextInt(20)),
                0,
                Models.CONTEXT,
                Optional.empty());
    }

    /** A replica parked until the earliest deadline is woken exactly if an earlier one is added. */
    @Test
    void add_returns_whether_the_deadline_is_earliest_and_requests_expire_once_in_order() {
        for (long seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            Deadlines deadlines = new Deadlines();
            List<LiveRequest> watched = new ArrayList<>();
            for (int event = 0; event < 60; event++) {
                switch (random.nextInt(6)) {
                    case 0 -> {
                        if (!watched.isEmpty()) {
                            deadlines.remove(watched.remove(random.nextInt(watched.size())));
                        }
                    }
                    case 1 -> {
                        int now = random.nextInt(20);
                        List<LiveRequest> expired = new ArrayList<>();
                        deadlines.expireUntil(now, expired::add);
                        assertThat(expired)
                                .as("seed %d", seed)
                                .isEqualTo(watched.stream()
                                        .filter(request -> request.expiryNanos() <= now)
                                        .toList());
                        watched.removeAll(expired);
                    }
                    default -> {
                        LiveRequest added = request(event, random);
                        long earliest = deadlines.nextNanos();
                        assertThat(deadlines.add(added))
                                .as("seed %d, %d added to %d", seed, added.expiryNanos(), earliest)
                                .isEqualTo(added.hasDeadline() && added.expiryNanos() <= earliest);
                        if (added.hasDeadline()) {
                            watched.add(added);
                            watched.sort(EARLIEST);
                        }
                    }
                }
                assertThat(deadlines.nextNanos())
                        .as("seed %d", seed)
                        .isEqualTo(
                                watched.isEmpty()
                                        ? Long.MAX_VALUE
                                        : watched.getFirst().expiryNanos());
            }
        }
    }
}
