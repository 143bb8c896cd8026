package io.roseinfer.cli.flags;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.base.Clock;
import io.roseinfer.cli.terminal.Terminal;
import io.roseinfer.model.files.ModelFiles;
import io.roseinfer.sampling.SamplingDefaults;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.SamplingParams.Parameter;
import io.roseinfer.server.api.CallLimits;
import io.roseinfer.server.api.CompletionReader;
import io.roseinfer.server.api.Fields;
import io.roseinfer.server.api.ServedModel;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Follows {@code add-a-sampling-parameter.md}: readers of names need only a constant of {@link Parameter}. */
class NewSamplingParameterTest {
    /** A command with sampling flags. */
    @Command(name = "sample")
    static final class Sampling {
        @Mixin
        SamplingFlags flags = new SamplingFlags();
    }

    private static double value(Parameter parameter) {
        return parameter.isInteger() ? 7 : 0.5;
    }

    private static String shown(Parameter parameter) {
        return parameter.isInteger() ? "7" : "0.5";
    }

    private static SamplingParams expected(Parameter parameter) {
        return parameter.set(SamplingParams.random(), value(parameter));
    }

    @ParameterizedTest
    @EnumSource
    void setting_a_value_changes_only_it(Parameter parameter) {
        for (Parameter each : Parameter.values()) {
            double before = each.of(SamplingParams.random());
            assertThat(each.of(expected(parameter))).isEqualTo(each == parameter ? value(parameter) : before);
        }
    }

    @ParameterizedTest
    @EnumSource
    void flag_sets_the_parameter(Parameter parameter) {
        Sampling sampling = new Sampling();
        CommandLine command = new CommandLine(sampling);
        var unused = command.parseArgs("--do-sample", parameter.flag() + "=" + shown(parameter));
        PrintWriter none = new PrintWriter(new StringWriter());
        Terminal terminal = new Terminal(none, none, false, Map.of(), Map.of(), Clock.system());
        assertThat(sampling.flags.params(SamplingDefaults.NONE, command.getCommandSpec(), terminal))
                .isEqualTo(expected(parameter));
    }

    @ParameterizedTest
    @EnumSource
    void field_of_a_request_sets_the_parameter(Parameter parameter) throws Exception {
        String body = "{\"prompt\":[1],\"" + parameter.field() + "\":" + shown(parameter) + "}";
        try (ModelFiles files = ModelFiles.openBuiltin("tiny")) {
            CompletionReader reader =
                    new CompletionReader(ServedModel.named("tiny"), files.spec(), Optional.empty(), CallLimits.NONE);
            Fields fields = Fields.parse(body.getBytes(StandardCharsets.UTF_8));
            assertThat(reader.read(fields).request().sampling()).isEqualTo(expected(parameter));
        }
    }
}
