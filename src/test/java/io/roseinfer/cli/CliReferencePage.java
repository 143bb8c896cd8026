package io.roseinfer.cli;

import io.roseinfer.cli.flags.FlagSections;
import io.roseinfer.cli.flags.Heading;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Help.Ansi.Text;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The generator of the CLI reference, from the model of the commands. */
final class CliReferencePage {
    /** The path of the page. */
    static final String PATH = "src/site/markdown/reference/cli.md";

    /** The command that rewrites the page. */
    static final String COMMAND = "tools/run-test-class CliReferencePage > " + PATH;

    private static final Pattern DEFAULT = Pattern.compile(" ?\\((?:default|Default): ([^()]*)\\)");
    private static final Pattern CODE = Pattern.compile(
            "https?://[\\w.:-]*\\w|(?<![\\w-])(?:--[a-z][a-z0-9-]*|[A-Z]+(?:_[A-Z]+)+(?:=\\w+)?|\\S*<\\w+>\\w*(?:\\.\\w+)?)");

    /** The width of help whose lines are never wrapped. */
    private static final int UNWRAPPED = 2000;

    private static final String ENVIRONMENT = """
            ## Environment variables

            | variable | effect |
            |---|---|
            | `HF_HUB_CACHE`, `HUGGINGFACE_HUB_CACHE` | directory of downloaded models; default: `hub` in `HF_HOME` |
            | `HF_HOME` | directory of Hugging Face tools; default: `huggingface` in `XDG_CACHE_HOME`, else `.cache/huggingface` in `HOME` |
            | `HF_ENDPOINT` | URL of the hub |
            | `HF_TOKEN`, `HUGGING_FACE_HUB_TOKEN` | access token; sent to `HF_ENDPOINT` only |
            | `HF_TOKEN_PATH` | file with the access token; default: `token` in `HF_HOME` |
            | `HF_HUB_DISABLE_IMPLICIT_TOKEN` | if true, send no token |
            | `HF_HUB_OFFLINE`, `TRANSFORMERS_OFFLINE` | if true, download nothing, as with `--offline` |
            | `https_proxy`, `http_proxy`, `all_proxy`, `no_proxy` | proxies for downloads, and hosts that bypass them; uppercase names also work |
            | `OPENAI_API_KEY` | API key that `bench serve` sends to a server |
            | `COLUMNS` | width of the help, 80 to 110 |
            | `ROSEINFER_JAVA_HOME` | JDK that `tools/roseinfer` uses |
            | `ROSEINFER_JAVA_OPTS` | JVM flags, such as `-Xmx8g` |
            | `ROSEINFER_CLASSPATH` | directories or jars with the classes that options name |
            | `ROSEINFER_SIM_FAULTS` | failures that `--device sim` injects, as in `error=11,nan=12` |

            """;

    private final StringBuilder page = new StringBuilder();
    private final CommandLine root;
    private final List<CommandLine> commands;
    private final List<Group> shared;

    /** A row of a table: an option or argument. */
    private record Row(String names, String fallback, String description) {}

    /** Options with one heading that the same commands share. */
    private record Group(String title, List<Row> rows, List<String> commands) {
        String link() {
            String anchor =
                    title.toLowerCase(Locale.ROOT).replaceAll("[^\\w -]", "").replace(' ', '-');
            return "[" + title + "](#" + anchor + ")";
        }
    }

    private CliReferencePage() {
        root = CliRunner.commands().setUsageHelpWidth(UNWRAPPED);
        commands = leaves(root).toList();
        shared = shared();
    }

    /** Prints the page. */
    public static void main(String[] args) {
        System.out.writeBytes(text().getBytes(StandardCharsets.UTF_8));
        System.out.flush();
    }

    /** Returns the page. */
    static String text() {
        return new CliReferencePage().write();
    }

    private static Stream<CommandLine> leaves(CommandLine command) {
        return command.getSubcommands().isEmpty()
                ? Stream.of(command)
                : command.getSubcommands().values().stream().flatMap(CliReferencePage::leaves);
    }

    private static String name(CommandLine command) {
        return command.getCommandSpec().qualifiedName().replaceFirst("^roseinfer ", "");
    }

    private static Map<String, List<Row>> sections(CommandLine command) {
        Map<String, List<Row>> sections = new LinkedHashMap<>();
        FlagSections.of(command.getCommandSpec())
                .forEach((heading, flags) -> sections.put(
                        heading, flags.stream().map(flag -> row(command, flag)).toList()));
        return sections;
    }

    private static Row row(CommandLine command, OptionSpec flag) {
        Help help = command.getHelp();
        Text[][] lines =
                help.createDefaultOptionRenderer().render(flag, help.parameterLabelRenderer(), help.colorScheme());
        int last = lines[0].length - 1;
        String names = Stream.of(lines[0][1].toString(), lines[0][last - 1].toString())
                .filter(name -> !name.isBlank())
                .collect(Collectors.joining(", "));
        String fallback = flag.required() && flag.group() == null ? "required" : "";
        StringBuilder description = new StringBuilder();
        for (Text[] line : lines) {
            String text = line[last].toString();
            if (text.startsWith("  Default: ")) {
                fallback = code(text.substring("  Default: ".length()).strip());
            } else {
                description.append(description.isEmpty() ? "" : " ").append(text.strip());
            }
        }
        Matcher described = DEFAULT.matcher(description);
        if (fallback.isEmpty() && described.find()) {
            fallback = marked(described.group(1));
            description.delete(described.start(), described.end());
        }
        String range =
                FlagSections.range(flag).map(values -> " (" + values + ")").orElse("");
        return new Row(code(names), fallback, marked(description + range));
    }

    private static String code(String text) {
        return "`" + text.replace("|", "\\|") + "`";
    }

    /** Returns plain text as Markdown of a table's cell. */
    private static String marked(String text) {
        return CODE.matcher(text.replace("|", "\\|").replace("*", "\\*"))
                .replaceAll(found -> Matcher.quoteReplacement("`" + found.group() + "`"));
    }

    /** Returns the groups of at least two options that at least two commands share. */
    private List<Group> shared() {
        Map<String, Map<Row, List<String>>> users = new LinkedHashMap<>();
        for (CommandLine command : commands) {
            sections(command)
                    .forEach((heading, rows) ->
                            rows.forEach(row -> users.computeIfAbsent(heading, unused -> new LinkedHashMap<>())
                                    .computeIfAbsent(row, unused -> new ArrayList<>())
                                    .add(name(command))));
        }
        users.remove(Heading.GENERAL);
        List<Group> groups = new ArrayList<>();
        users.forEach((heading, rows) -> {
            Map<List<String>, List<Row>> byCommands = new LinkedHashMap<>();
            rows.forEach((row, names) -> byCommands
                    .computeIfAbsent(names, unused -> new ArrayList<>())
                    .add(row));
            byCommands
                    .entrySet()
                    .removeIf(group ->
                            group.getKey().size() < 2 || group.getValue().size() < 2);
            byCommands.forEach((names, group) -> groups.add(new Group(
                    byCommands.size() == 1 ? heading : heading + ": `" + first(group) + "` and others", group, names)));
        });
        return groups;
    }

    private static String first(List<Row> rows) {
        return rows.getFirst().names().replaceAll("^`|[,=`].*", "");
    }

    private String write() {
        page.append("""
                # Command-line reference

                Generated from the commands; `roseinfer COMMAND --help` prints the same. Options that several commands share are
                under [Shared options](#shared-options).

                """);
        section("roseinfer", root, sections(root));
        table("exit code", root.getCommandSpec().usageMessage().exitCodeList());
        page.append(ENVIRONMENT);
        root.getSubcommands().values().forEach(this::command);
        page.append("## Shared options\n\n");
        for (Group group : shared) {
            page.append("### ").append(group.title()).append("\n\nOptions of ");
            page.append(group.commands().size() == commands.size() - 1 ? allBut(group) : list(group.commands()));
            page.append(".\n\n");
            table(group.rows(), "option");
        }
        return page.toString().stripTrailing() + "\n";
    }

    private String allBut(Group group) {
        return "all commands but "
                + list(commands.stream()
                        .map(CliReferencePage::name)
                        .filter(name -> !group.commands().contains(name))
                        .toList());
    }

    private static String list(List<String> names) {
        return names.stream().map(CliReferencePage::code).collect(Collectors.joining(", "));
    }

    private void table(String title, Map<String, String> rows) {
        page.append("| ").append(title).append(" | meaning |\n|---|---|\n");
        rows.forEach((key, meaning) -> page.append("| ")
                .append(key.strip())
                .append(" | ")
                .append(marked(meaning))
                .append(" |\n"));
        page.append('\n');
    }

    private void table(List<Row> rows, String title) {
        page.append("| ").append(title).append(" | default | description |\n|---|---|---|\n");
        rows.forEach(row -> page.append("| ")
                .append(row.names())
                .append(row.fallback().isEmpty() ? " | | " : " | " + row.fallback() + " | ")
                .append(row.description())
                .append(" |\n"));
        page.append('\n');
    }

    private void command(CommandLine command) {
        Map<String, List<Row>> sections = new LinkedHashMap<>(sections(command));
        sections.remove(Heading.GENERAL);
        section(command.getCommandSpec().qualifiedName(), command, sections);
        command.getSubcommands().values().forEach(this::command);
    }

    private void section(String title, CommandLine command, Map<String, List<Row>> sections) {
        CommandSpec spec = command.getCommandSpec();
        Help help = command.getHelp();
        page.append("## ").append(title).append("\n\n```\n");
        page.append(help.synopsis(0).strip()).append("\n```\n\n");
        paragraph(spec.usageMessage().description());
        List<Row> arguments = spec.positionalParameters().stream()
                .map(argument -> new Row(
                        code(help.parameterLabelRenderer()
                                .renderParameterLabel(
                                        argument, help.colorScheme().ansi(), List.of())
                                .toString()),
                        "",
                        marked(String.join(" ", argument.description()))))
                .toList();
        if (!arguments.isEmpty()) {
            table(arguments, "argument");
        }
        List<Group> used = shared.stream()
                .filter(group -> group.commands().contains(name(command)))
                .toList();
        sections.forEach((heading, rows) -> {
            List<Row> own = rows.stream()
                    .filter(row -> used.stream().noneMatch(group -> group.rows().contains(row)))
                    .toList();
            if (!own.isEmpty()) {
                table(own, heading);
            }
        });
        if (!used.isEmpty()) {
            page.append("Shared: ")
                    .append(used.stream().map(Group::link).collect(Collectors.joining(", ")))
                    .append(".\n\n");
        }
        paragraph(spec.usageMessage().footer());
    }

    private void paragraph(String... lines) {
        String text = marked(String.join(" ", lines).replace("%n", " ").strip());
        if (!text.isEmpty() && !text.startsWith("See also ")) {
            page.append(text).append("\n\n");
        }
    }
}
