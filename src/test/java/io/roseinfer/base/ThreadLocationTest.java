package io.roseinfer.base;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ThreadLocationTest {
    @Test
    void innermost_frame_is_outside_of_the_jdk() {
        assertThat(ThreadLocation.innermost(
                        frame("jdk.internal.misc.Unsafe"),
                        frame("java.util.concurrent.Phaser"),
                        frame("Loop"),
                        frame("Main")))
                .isEqualTo("Loop.rank(Loop.java:4)");
        assertThat(ThreadLocation.innermost()).isEqualTo("no code");
    }

    private static StackTraceElement frame(String type) {
        return new StackTraceElement(type, "rank", "Loop.java", 4);
    }
}
