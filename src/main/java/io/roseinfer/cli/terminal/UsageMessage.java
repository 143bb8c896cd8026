package io.roseinfer.cli.terminal;

import io.roseinfer.base.SpellingSuggestion;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.OverwrittenOptionException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Error messages for invalid command lines, with suggestions. */
public final class UsageMessage {
    private static final String DASHES = "--";
    private static final int MAX_LONGER_NAMES = 3;
    private static final Pattern CAPITALIZED = Pattern.compile("[A-Z][a-z]+\\b");

    private UsageMessage() {}

    /**
     * Returns the message in one line.
     *
     * @param arguments the command line; an option is named as it is spelled there
     */
    public static String of(ParameterException wrong, List<String> arguments) {
        if (wrong instanceof OverwrittenOptionException twice && twice.getOverwritten() instanceof OptionSpec option) {
            return String.join(" or ", option.names()) + " is given more than once; give it once";
        }
        return wrong instanceof UnmatchedArgumentException unmatched
                ? unmatched(unmatched)
                : lowerCase(asSpelled(wrong, arguments).replaceFirst("^Error: ", ""));
    }

    /** Returns the message with the option's name as it is given, if that is another one. */
    private static String asSpelled(ParameterException wrong, List<String> arguments) {
        String message = message(wrong);
        if (wrong.getArgSpec() instanceof OptionSpec option && message.startsWith(option.longestName() + " ")) {
            List<String> given = arguments.stream()
                    .map(argument -> argument.split("=", 2)[0])
                    .filter(List.of(option.names())::contains)
                    .distinct()
                    .toList();
            return given.size() == 1
                    ? given.getFirst() + message.substring(option.longestName().length())
                    : message;
        }
        return message;
    }

    /** Returns the message for an unknown option or command, with a suggestion by vLLM's flag names or by spelling. */
    private static String unmatched(UnmatchedArgumentException unmatched) {
        CommandSpec command = unmatched.getCommandLine().getCommandSpec();
        String message = unmatched.isUnknownOption()
                ? unknown(unmatched.getUnmatched())
                : (command.subcommands().isEmpty() ? "unexpected argument " : "unknown command ") + "'"
                        + unmatched.getUnmatched().getFirst() + "'";
        String first = unmatched.getUnmatched().getFirst().split("=", 2)[0];
        List<String> meant = unmatched.isUnknownOption()
                ? options(first, command)
                : SpellingSuggestion.nearest(first, command.subcommands().keySet());
        boolean takesPrompt = command.findOption("--prompt") != null;
        if (meant.isEmpty() && takesPrompt && !unmatched.isUnknownOption()) {
            return message + "; give a prompt as --prompt TEXT, in quotes if it has spaces";
        }
        return message + VllmFlags.suggestion(first, command).orElseGet(() -> SpellingSuggestion.suggestion(meant));
    }

    /** Returns the message for unknown options, without the values after them, which picocli lists as options, too. */
    private static String unknown(List<String> unmatched) {
        List<String> options = unmatched.stream()
                .filter(argument -> argument.startsWith("-"))
                .map(option -> "'" + option + "'")
                .toList();
        return (options.size() == 1 ? "unknown option: " : "unknown options: ") + String.join(", ", options);
    }

    /**
     * Returns the options nearest to an unknown one, or those that contain it, as {@code --max-batch-size} contains {@code --batch-size}.
     * Leading dashes are ignored: with them {@code --block-size} would be nearest to {@code --batch-size}.
     */
    private static List<String> options(String unknown, CommandSpec command) {
        String name = unknown.replaceFirst("^-+", "");
        List<String> names = Stream.of(command.optionsMap(), command.negatedOptionsMap())
                .flatMap(options -> options.keySet().stream())
                .filter(option -> option.startsWith(DASHES))
                .map(option -> option.substring(DASHES.length()))
                .toList();
        List<String> near = SpellingSuggestion.nearest(name, names);
        Stream<String> longer = names.stream().filter(option -> option.contains(name));
        return (near.isEmpty() && !name.isEmpty() ? longer.limit(MAX_LONGER_NAMES) : near.stream())
                .map(DASHES::concat)
                .toList();
    }

    /** Returns a message with its first word in lower case, as all others begin, unless it is an acronym. */
    private static String lowerCase(String message) {
        return CAPITALIZED.matcher(message).lookingAt()
                ? message.substring(0, 1).toLowerCase(Locale.ROOT) + message.substring(1)
                : message;
    }

    private static String message(ParameterException wrong) {
        String message = wrong.getMessage();
        return message == null ? "no message" : message;
    }
}
