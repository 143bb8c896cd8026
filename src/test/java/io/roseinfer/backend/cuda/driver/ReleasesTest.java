package io.roseinfer.backend.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;

class ReleasesTest {
    private final List<String> released = new ArrayList<>();
    private final Releases releases = new Releases();

    @Test
    void close_releases_newest_first_once() {
        releases.add("context", released::add);
        releases.add("stream", released::add);
        releases.close();
        releases.close();
        assertThat(released).containsExactly("stream", "context");
    }

    @Test
    void close_continues_after_a_failure() {
        releases.add("context", released::add);
        releases.add("memory", name -> {
            throw new IllegalStateException(name);
        });
        releases.add("graphs", name -> {
            throw new IllegalStateException(name);
        });
        assertThatThrownBy(releases::close)
                .hasMessage("graphs")
                .satisfies(e -> assertThat(e.getSuppressed())
                        .singleElement()
                        .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
                        .hasMessage("memory"));
        assertThat(released).containsExactly("context");
    }
}
