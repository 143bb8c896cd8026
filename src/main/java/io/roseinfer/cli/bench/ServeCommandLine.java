package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.cli.flags.BenchServeOutputFlags;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.ExplicitFlags;
import io.roseinfer.cli.flags.ObserveFlag;
import io.roseinfer.cli.flags.ReportFlags;
import io.roseinfer.cli.terminal.UsageMessage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * A parsed command line of {@code bench serve}.
 *
 * @param arguments the arguments after the command's name
 * @param command the parsed flags
 * @param flags their values
 */
record ServeCommandLine(List<String> arguments, CommandSpec command, BenchServeFlags flags) {
    /** The flags of {@code bench serve}. Output flags, which recorded commands may have, are accepted and ignored. */
    @picocli.CommandLine.Command(name = "bench serve")
    private static final class Holder {
        private static final List<String> OUTPUT = List.of(
                "--json",
                "--save-result",
                "--report",
                "--title",
                "--csv",
                "--percentile-metrics",
                "--metric-percentiles",
                "--observe");

        @Mixin
        private BenchServeFlags flags = new BenchServeFlags();

        @Mixin
        private BenchServeOutputFlags unusedResults = new BenchServeOutputFlags();

        @Mixin
        private ReportFlags unusedPages = new ReportFlags();

        @Mixin
        private ObserveFlag unusedObservers = new ObserveFlag();
    }

    /**
     * Parses arguments; the last value of a repeated flag applies.
     *
     * @param where the source of the arguments, for messages
     * @throws BadInput if an argument is invalid
     */
    static ServeCommandLine parse(String where, List<String> arguments) {
        Holder holder = new Holder();
        picocli.CommandLine parser = new picocli.CommandLine(holder)
                .setExpandAtFiles(false)
                .setOverwrittenOptionsAllowed(true)
                .setAllowOptionsAsOptionParameters(true);
        Choices.register(parser);
        try {
            var unused = parser.parseArgs(arguments.toArray(String[]::new));
        } catch (picocli.CommandLine.ParameterException wrong) {
            throw new BadInput(where + ": " + UsageMessage.of(wrong, arguments), wrong);
        }
        return new ServeCommandLine(List.copyOf(arguments), parser.getCommandSpec(), holder.flags);
    }

    /**
     * Returns this command line with more arguments. They must not name result files, because a study writes its own.
     *
     * @throws BadInput if an argument is invalid
     */
    ServeCommandLine with(String where, List<String> more) {
        ServeCommandLine line =
                parse(where, Stream.concat(arguments.stream(), more.stream()).toList());
        Holder.OUTPUT.stream()
                .filter(flag -> ExplicitFlags.has(line.command, flag) && !ExplicitFlags.has(command, flag))
                .findFirst()
                .ifPresent(flag -> {
                    throw new BadInput(where + ": " + flag + " has no effect here; give it to the command itself");
                });
        return line;
    }

    /** Removes flags with at most one value each, in the form {@code --flag value} or {@code --flag=value}, from arguments. */
    static List<String> without(Set<String> flags, List<String> arguments) {
        return Split.of(flags, arguments).others();
    }

    /** Returns only some flags of the arguments, with their values. */
    static List<String> only(Set<String> flags, List<String> arguments) {
        return Split.of(flags, arguments).named();
    }

    /** Arguments split into some flags with their values, and the others. */
    private record Split(List<String> named, List<String> others) {
        static Split of(Set<String> flags, List<String> arguments) {
            Split split = new Split(new ArrayList<>(), new ArrayList<>());
            for (int i = 0; i < arguments.size(); i++) {
                String argument = arguments.get(i);
                Optional<OptionSpec> known = BackendFlags.named(argument);
                boolean isNamed = flags.contains(argument.replaceFirst("=.*", ""))
                        || known.filter(option -> flags.contains(option.names()[0]))
                                .isPresent();
                boolean valueFollows = isNamed
                        && !argument.contains("=")
                        && known.map(option -> option.arity().max() > 0).orElse(true);
                (isNamed ? split.named : split.others).add(argument);
                if (valueFollows && i + 1 < arguments.size()) {
                    split.named.add(arguments.get(++i));
                }
            }
            return split;
        }
    }

    /** Splits a value that contains flags into words; quotes protect blanks. */
    static List<String> words(String text) {
        List<String> words = new ArrayList<>();
        Matcher word = Pattern.compile("(?:[^\\s\"']|\"[^\"]*\"|'[^']*')+").matcher(text);
        while (word.find()) {
            words.add(word.group().replaceAll("[\"']", ""));
        }
        return words;
    }
}
