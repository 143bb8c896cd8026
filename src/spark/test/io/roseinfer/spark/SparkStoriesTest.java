package io.roseinfer.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** The program in {@code tools/examples/spark}, compiled with the tests; it has no package, so it is run by name. */
class SparkStoriesTest {
    @Test
    void every_story_is_generated_deterministically() throws Exception {
        String stories = run();
        assertThat(stories.lines())
                .hasSize(4)
                .satisfiesExactly(
                        story -> assertThat(story).startsWith("a dog 0: Once upon a time, there was a dog"),
                        story -> assertThat(story).startsWith("a dog 1: Once upon a time, there was a dog"),
                        story -> assertThat(story).startsWith("a dog 2: Once upon a time, there was a dog"),
                        end -> assertThat(end).startsWith("12 stories, ").endsWith(" tokens, 0 failed"));
        assertThat(run()).isEqualTo(stories);
    }

    private static String run() throws Exception {
        Method main = Class.forName("SparkStories").getMethod("main", String[].class);
        PrintStream stdout = System.out;
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        System.setOut(new PrintStream(said, true, StandardCharsets.UTF_8));
        try {
            main.invoke(null, (Object) new String[0]);
        } finally {
            System.setOut(stdout);
        }
        return said.toString(StandardCharsets.UTF_8);
    }
}
