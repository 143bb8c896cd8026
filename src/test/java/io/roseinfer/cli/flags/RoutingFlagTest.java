package io.roseinfer.cli.flags;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.engine.routing.RoutingPolicy;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Locale;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/** The built-in policies of {@code --routing}. */
class RoutingFlagTest {
    private static RoutingPolicy policy(String text) {
        return CommandLine.populateCommand(new ReplicaFlags(), "--routing", text)
                .policy();
    }

    /** Returns the names without their arguments. */
    private static Stream<String> names() {
        return StreamSupport.stream(new ReplicaFlags.Forms().spliterator(), false)
                .map(form -> form.replaceFirst("\\[:.*", ""));
    }

    @Test
    void help_lists_every_factory_of_policies() {
        assertThat(names())
                .containsExactlyInAnyOrderElementsOf(Stream.of(RoutingPolicy.class.getDeclaredMethods())
                        .filter(method -> Modifier.isStatic(method.getModifiers())
                                && method.getReturnType() == RoutingPolicy.class)
                        .map(Method::getName)
                        .map(name -> name.replaceAll("[A-Z]", "-$0").toLowerCase(Locale.ROOT))
                        .distinct()
                        .toList());
    }

    @Test
    void help_lists_the_argument_of_a_policy() {
        assertThat(new ReplicaFlags.Forms()).contains("dynamo[:W]");
    }

    @Test
    void each_name_makes_the_policy_of_that_name() {
        assertThat(names())
                .isNotEmpty()
                .allSatisfy(name -> assertThat(policy(name)).hasToString(name));
    }

    @Test
    void argument_reaches_the_policy() {
        assertThat(policy("dynamo:2.5")).hasToString("dynamo:2.5");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            dynamo:many | --routing is 'dynamo:many', whose argument 'many' is not the number that dynamo:W expects
            dynamo:-1   | the overlap weight of dynamo is -1.0; it must be 0 or more, and finite
            pull:3      | --routing is 'pull:3', but pull takes no argument; write pull
            """)
    void invalid_argument_is_named(String text, String message) {
        assertThatThrownBy(() -> policy(text)).isInstanceOf(BadInput.class).hasMessage(message);
    }
}
