package io.roseinfer.server.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import org.junit.jupiter.api.Test;

class HttpLimitsTest {
    /** Half of the memory is reserved for small bodies. */
    @Test
    void memory_for_bodies_is_at_least_twice_the_largest_body() {
        HttpLimits limits = HttpLimits.defaults();
        long least = 2L * limits.bodyBytes();
        assertThat(limits.withHeldBytes(least).heldBytes()).isEqualTo(least);
        assertThatThrownBy(() -> limits.withHeldBytes(least - 1))
                .isInstanceOf(BadInput.class)
                .hasMessageContaining("it must be at least twice the largest body, " + least);
    }
}
