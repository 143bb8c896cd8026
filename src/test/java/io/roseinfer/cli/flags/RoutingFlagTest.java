package io.roseinfer.cli.flags;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.engine.routing.RoutingPolicy;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** The built-in policies of {@code --routing}. */
class RoutingFlagTest {
    @Test
    void every_built_in_policy_has_its_name_in_the_help() throws ReflectiveOperationException {
        List<String> builtIn = new ArrayList<>();
        for (Method factory : RoutingPolicy.class.getDeclaredMethods()) {
            if (Modifier.isStatic(factory.getModifiers()) && factory.getReturnType() == RoutingPolicy.class) {
                builtIn.add(factory.invoke(null).toString());
            }
        }
        assertThat(new ReplicaFlags.Names()).containsExactlyInAnyOrderElementsOf(builtIn);
    }

    @Test
    void each_name_makes_the_policy_of_that_name() {
        for (String name : new ReplicaFlags.Names()) {
            ReplicaFlags flags = CommandLine.populateCommand(new ReplicaFlags(), "--routing", name);
            assertThat(flags.policy()).hasToString(name);
        }
    }
}
