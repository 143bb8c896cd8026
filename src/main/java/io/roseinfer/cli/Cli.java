package io.roseinfer.cli;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.cli.bench.BenchAbCommand;
import io.roseinfer.cli.bench.BenchFleetCommand;
import io.roseinfer.cli.bench.BenchReplayCommand;
import io.roseinfer.cli.bench.BenchServeCommand;
import io.roseinfer.cli.bench.BenchSweepCommand;
import io.roseinfer.cli.bench.ReportCommand;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.FlagSections;
import io.roseinfer.cli.terminal.Command;
import io.roseinfer.cli.terminal.Terminal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

/** The command line: runs a command and returns its exit code. Never exits and never uses the process's own streams. */
final class Cli {
    /** A command, created on demand, and its subcommands. */
    private record Subcommand(String name, Supplier<Object> command, List<Subcommand> below) {
        Subcommand(String name, Supplier<Object> command) {
            this(name, command, List.of());
        }
    }

    private static final int MAX_HELP_WIDTH = 110;

    private static final List<Subcommand> BENCHMARKS = List.of(
            new Subcommand("streaming", BenchStreamingCommand::new),
            new Subcommand("scheduler", BenchSchedulerCommand::new),
            new Subcommand("model", BenchModelCommand::new),
            new Subcommand("serve", BenchServeCommand::new),
            new Subcommand("fleet", BenchFleetCommand::new),
            new Subcommand("sweep", BenchSweepCommand::new),
            new Subcommand("ab", BenchAbCommand::new),
            new Subcommand("replay", BenchReplayCommand::new));

    private static final List<Subcommand> COMMANDS = List.of(
            new Subcommand("bench", BenchCommand::new, BENCHMARKS),
            new Subcommand("generate", GenerateCommand::new),
            new Subcommand("chat", ChatCommand::new),
            new Subcommand("serve", ServeCommand::new),
            new Subcommand("batch", BatchCommand::new),
            new Subcommand("report", ReportCommand::new),
            new Subcommand("doctor", DoctorCommand::new));

    private static final String UTF_8 = StandardCharsets.UTF_8.name();

    /** A string that cannot be an argument of a process. */
    private static final String NEVER_GIVEN = "\0";

    /** The parameter label of values that are themselves flags. */
    private static final String OF_FLAGS = "<FLAGS>";

    private static final char UNREADABLE = '\ufffd';

    private static final Pattern FLAG = Pattern.compile("-[^0-9.].*", Pattern.DOTALL);

    private Cli() {}

    /** Parses and runs one command. Every failure is reported as one line on {@code err} and an exit code. */
    static int run(Terminal terminal, String... args) {
        RootCommand root = new RootCommand();
        Failures failures = new Failures(terminal, root);
        try {
            requireReadable(terminal, args);
            String[] expanded = withDefaultBenchmark(args);
            CommandLine commandLine = commandLine(terminal, root, failures, expanded);
            requireValues(commandLine, expanded);
            return commandLine.execute(expanded);
        } catch (BadInput wrong) {
            return failures.report(wrong);
        } finally {
            terminal.out().flush();
            terminal.err().flush();
        }
    }

    /** Returns a parser for the command that arguments name, or for all commands if they name none. */
    static CommandLine commandLine(Terminal terminal, RootCommand root, Failures failures, String... args) {
        CommandLine commands = added(new CommandLine(root), COMMANDS, args, 0);
        Choices.register(commands);
        FlagSections.register(commands);
        return commands.setOut(terminal.out())
                .setErr(terminal.err())
                .setColorScheme(CommandLine.Help.defaultColorScheme(Ansi.OFF))
                .setUsageHelpWidth(helpWidth(terminal))
                .setUsageHelpLongOptionsMaxWidth(28)
                .setExpandAtFiles(false)
                .setAllowOptionsAsOptionParameters(true)
                .setEndOfOptionsDelimiter(NEVER_GIVEN) // no command needs it, and a prompt may be --
                .setParameterExceptionHandler((failure, arguments) -> failures.report(failure, arguments))
                .setExecutionStrategy(parsed -> execute(parsed, terminal, failures));
    }

    /** Returns the width given by COLUMNS, clamped to a readable range. */
    private static int helpWidth(Terminal terminal) {
        String columns = terminal.environment().getOrDefault("COLUMNS", "");
        return columns.matches("\\d{1,4}") ? Math.clamp(Integer.parseInt(columns), 80, MAX_HELP_WIDTH) : MAX_HELP_WIDTH;
    }

    /** Adds the command named by an argument, or all commands if it names none. Only that one, as building a command takes 0.1 s. */
    private static CommandLine added(CommandLine to, List<Subcommand> choices, String[] args, int at) {
        List<Subcommand> named = choices.stream()
                .filter(choice -> at < args.length && choice.name.equals(args[at]))
                .toList();
        for (Subcommand choice : named.isEmpty() ? choices : named) {
            to.addSubcommand(added(new CommandLine(choice.command.get()), choice.below, args, at + 1));
        }
        return to;
    }

    private static int execute(ParseResult parsed, Terminal plain, Failures failures) {
        CommandSpec spec = innermost(parsed).commandSpec();
        Terminal terminal = spec.userObject() instanceof Command command ? plain.withFormat(command.format()) : plain;
        try {
            Integer helped = CommandLine.executeHelpRequest(parsed);
            if (helped == null) {
                return run(spec, terminal);
            }
            terminal.requireReader();
            return helped;
        } catch (Throwable failure) {
            return failures.on(terminal).report(failure);
        }
    }

    private static int run(CommandSpec spec, Terminal terminal) {
        if (spec.userObject() instanceof Command command) {
            return command.run(spec, terminal);
        }
        throw new BadInput(
                "a command is missing: " + String.join(", ", spec.subcommands().keySet()) + "; see --help");
    }

    private static ParseResult innermost(ParseResult parsed) {
        return parsed.hasSubcommand() ? innermost(parsed.subcommand()) : parsed;
    }

    /** Inserts {@code streaming} after a {@code bench} that is last or followed by a flag. */
    static String[] withDefaultBenchmark(String... args) {
        List<String> expanded = new ArrayList<>(List.of(args));
        int bench = expanded.indexOf("bench");
        boolean isCommand = bench >= 0 && expanded.subList(0, bench).stream().allMatch(arg -> arg.startsWith("-"));
        if (isCommand
                && (bench + 1 == expanded.size() || expanded.get(bench + 1).startsWith("-"))) {
            expanded.add(bench + 1, BENCHMARKS.getFirst().name());
        }
        return expanded.toArray(String[]::new);
    }

    /** Rejects undecodable arguments: Java replaces bytes that are invalid in the locale's encoding by U+FFFD, which would change a prompt. */
    private static void requireReadable(Terminal terminal, String... args) {
        String encoding = terminal.properties().getOrDefault(Terminal.ENCODING, UTF_8);
        for (String arg : args) {
            if (!encoding.equals(UTF_8) && arg.indexOf(UNREADABLE) >= 0) {
                throw new BadInput("'" + arg + "' has lost characters: Java reads the command line as " + encoding
                        + ", the locale's encoding; set LC_ALL to an installed UTF-8 locale, such as C.UTF-8");
            }
        }
    }

    /** Rejects values that look like flags: usually the value was forgotten. Negative numbers are left to the range checks. */
    private static void requireValues(CommandLine commandLine, String... args) {
        Set<String> flags = valueFlags(named(commandLine, args));
        for (int i = 0; i + 1 < args.length; i++) {
            if (flags.contains(args[i]) && FLAG.matcher(args[i + 1]).matches()) {
                throw new BadInput(args[i] + " has no value; if " + args[i + 1] + " is its value, write " + args[i]
                        + "=" + args[i + 1]);
            }
        }
    }

    /** Returns the command named by the first arguments. */
    private static CommandLine named(CommandLine commandLine, String... args) {
        CommandLine command = commandLine;
        for (String arg : args) {
            CommandLine next = command.getSubcommands().get(arg);
            if (next == null && !arg.startsWith("-")) {
                break;
            }
            command = next == null ? command : next;
        }
        return command;
    }

    /** Returns the names of a command's flags that take a value. */
    private static Set<String> valueFlags(CommandLine command) {
        Set<String> flags = new HashSet<>();
        for (OptionSpec option : command.getCommandSpec().options()) {
            if (option.arity().min() > 0 && !option.paramLabel().equals(OF_FLAGS)) {
                flags.addAll(List.of(option.names()));
            }
        }
        return flags;
    }
}
