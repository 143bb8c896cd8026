package io.roseinfer.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.roseinfer.DeviceOptions;
import io.roseinfer.Settings;
import io.roseinfer.base.Remedy;
import io.roseinfer.engine.EngineOptions;
import io.roseinfer.engine.GenerationRequest;
import io.roseinfer.engine.RequestOptions;
import io.roseinfer.sampling.SamplingParams;
import io.roseinfer.sampling.TokenConstraints;
import io.roseinfer.scheduler.SchedulerOptions;
import io.roseinfer.scheduler.policy.AdmissionPolicy;
import io.roseinfer.server.ServerOptions;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Checks that the library's messages name settings, which the command line prints as flags. */
class LibraryMessagesTest {
    private static final Pattern LITERAL = Pattern.compile("\"(?:[^\"\\\\\\n]|\\\\.)*\"");
    private static final Pattern FLAG = Pattern.compile("--[a-z][a-z-]*(?![a-z=-])");
    private static final Pattern REMEDY = Pattern.compile("Remedy\\.of\\((.*?)\\)[;,)]", Pattern.DOTALL);
    private static final Pattern CHECKED =
            Pattern.compile("BadInput\\.(?:require|of)\\([^\"]*\"([a-z]+(?:_[a-z]+)*)\",");
    private static final Pattern SETTING = Pattern.compile("\"([a-z]+(?:_[a-z]+)*)\"");

    private static Stream<CommandLine> commands(CommandLine from) {
        return Stream.concat(
                Stream.of(from), from.getSubcommands().values().stream().flatMap(LibraryMessagesTest::commands));
    }

    private static Set<String> flags() {
        return commands(CliRunner.commands())
                .flatMap(command -> Stream.of(
                                command.getCommandSpec().optionsMap(),
                                command.getCommandSpec().negatedOptionsMap())
                        .flatMap(options -> options.keySet().stream()))
                .collect(Collectors.toSet());
    }

    /** Returns the sources of the library, without the command, benchmarks and batches. */
    private static List<Path> sources() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("src/main/java/io/roseinfer"))) {
            List<Path> sources = files.filter(file -> file.toString().endsWith(".java")
                            && !file.toString().replace('\\', '/').matches(".*/roseinfer/(cli|bench|batch)/.*"))
                    .toList();
            assertThat(sources).hasSizeGreaterThan(200);
            return sources;
        }
    }

    @Test
    void library_messages_do_not_name_flags() throws IOException {
        Set<String> flags = flags();
        List<String> named = new ArrayList<>();
        for (Path source : sources()) {
            Matcher literal = LITERAL.matcher(Files.readString(source));
            while (literal.find()) {
                Matcher flag = FLAG.matcher(literal.group());
                while (flag.find()) {
                    if (flags.contains(flag.group())) {
                        named.add(source.getFileName() + ": " + literal.group());
                    }
                }
            }
        }
        assertThat(named).isEmpty();
    }

    @Test
    void every_setting_in_a_message_has_its_java_name() throws IOException {
        Set<String> components = Stream.of(
                        Settings.class,
                        DeviceOptions.class,
                        EngineOptions.class,
                        SchedulerOptions.class,
                        AdmissionPolicy.Pack.class,
                        GenerationRequest.class,
                        RequestOptions.class,
                        SamplingParams.class,
                        TokenConstraints.class,
                        ServerOptions.class)
                .flatMap(type -> Stream.of(type.getRecordComponents()))
                .map(RecordComponent::getName)
                .collect(Collectors.toSet());
        Set<String> names = new TreeSet<>();
        for (Path source : sources()) {
            String text = Files.readString(source);
            Stream.concat(
                            REMEDY.matcher(text)
                                    .results()
                                    .flatMap(remedy ->
                                            SETTING.matcher(remedy.group(1)).results()),
                            CHECKED.matcher(text).results())
                    .map(setting -> Remedy.of("%s", setting.group(1)).toString())
                    .forEach(names::add);
        }
        assertThat(names).contains("kvBlocks", "precision", "topK", "maxModelLen");
        assertThat(components).containsAll(names);
    }

    @Test
    void every_remedy_setting_is_a_flag() throws IOException {
        Set<String> flags = flags();
        List<String> settings = new ArrayList<>();
        for (Path source : sources()) {
            Matcher remedy = REMEDY.matcher(Files.readString(source));
            while (remedy.find()) {
                SETTING.matcher(remedy.group(1))
                        .results()
                        .map(setting -> "--" + setting.group(1).replace('_', '-'))
                        .forEach(settings::add);
            }
        }
        assertThat(settings).hasSizeGreaterThan(15);
        assertThat(flags).containsAll(settings);
    }
}
