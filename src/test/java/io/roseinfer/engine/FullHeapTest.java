package io.roseinfer.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The heap is full at one allocation of a thread after the other, for that one or for good: everything still comes to its end. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FullHeapTest {
    private final AllocationFaultLoader loader = new AllocationFaultLoader();

    @SuppressWarnings("unchecked")
    private BiFunction<String, Long[], String> lives() {
        return loader.instance(FullHeapRun.class, BiFunction.class);
    }

    @ParameterizedTest
    @CsvSource({
        "roseinfer-engine, 1",
        "roseinfer-engine, 9223372036854775807",
        "roseinfer-tokenize, 1",
        "roseinfer-tokenize, 9223372036854775807",
        "submitter, 1",
        "submitter, 9223372036854775807",
    })
    void wherever_memory_runs_out_every_stream_ends_once_and_the_engine_closes(String thread, long allocations) {
        BiFunction<String, Long[], String> lives = lives();
        Thread.currentThread().setName(FullHeapRun.SUBMITTER);
        // The first life loads classes; one that cannot be initialized stays unusable for the lives that follow.
        assertThat(lives.apply("nobody", new Long[] {0L, 1L})).isEqualTo(FullHeapRun.NEVER_THERE);
        long first = 0;
        String outcome = lives.apply(thread, new Long[] {first, allocations});
        while (!outcome.equals(FullHeapRun.NEVER_THERE)) {
            assertThat(outcome).as("from allocation %d on", first).isEmpty();
            first++;
            outcome = lives.apply(thread, new Long[] {first, allocations});
        }
        assertThat(loader.planted()).as("places").isGreaterThan(1000);
        assertThat(first).as("allocations that were made to fail").isGreaterThan(20);
    }

    @Test
    void a_heap_that_is_full_before_the_first_request_is_served_ends_it_all_the_same() {
        assertThat(lives().apply("roseinfer-engine", new Long[] {0L, Long.MAX_VALUE}))
                .isEmpty();
    }
}
