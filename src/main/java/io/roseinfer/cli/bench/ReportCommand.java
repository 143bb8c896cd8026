package io.roseinfer.cli.bench;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.report.html.HtmlReport;
import io.roseinfer.cli.flags.Heading;
import io.roseinfer.cli.terminal.Command;
import io.roseinfer.cli.terminal.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@picocli.CommandLine.Command(
        name = "report",
        description =
                "Write one self-contained HTML report of result files: validity, distributions, charts over time.",
        abbreviateSynopsis = true,
        showDefaultValues = true,
        sortOptions = false)
@Heading("Output")
public final class ReportCommand implements Command {
    @Parameters(
            paramLabel = "FILE",
            arity = "1..*",
            showDefaultValue = Visibility.NEVER,
            description = "Result file of a benchmark's --json; several are shown together.")
    private List<Path> files = List.of();

    @Option(
            names = {"-o", "--output"},
            paramLabel = "<FILE>",
            description = "Report to write.")
    private Path output = Path.of("report.html");

    @Option(
            names = "--title",
            paramLabel = "<TEXT>",
            description = "Title of the report.",
            showDefaultValue = Visibility.NEVER)
    private Optional<String> title = Optional.empty();

    @Option(
            names = "--figures",
            paramLabel = "<DIR>",
            description = "Also write each chart as a stand-alone SVG file.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> figures = Optional.empty();

    @Option(
            names = "--no-caption",
            description = "Omit notes and the command below the figures of --figures; their descriptions keep them.")
    private boolean noCaption;

    @Override
    public int run(CommandSpec command, Terminal terminal) {
        if (Files.isDirectory(output)) {
            throw new BadInput("--output " + output + " is a directory; name a file in it");
        }
        if (files.stream().anyMatch(file -> isSame(file, output))) {
            throw new BadInput("--output " + output + " is one of the results files; name another file");
        }
        if (noCaption && figures.isEmpty()) {
            throw new BadInput("--no-caption has no effect without --figures; add --figures DIR");
        }
        HtmlReport report = HtmlReport.read(title, files);
        write("--output", output, report.page(), terminal);
        if (figures.isPresent()) {
            Path folder = figures.get();
            try {
                Files.createDirectories(folder);
            } catch (IOException e) {
                throw new BadInput("--figures " + folder + " cannot be created: " + FileFailure.reason(e), e);
            }
            report.figures(!noCaption).forEach((name, svg) -> write("--figures", folder.resolve(name), svg, terminal));
        }
        return 0;
    }

    private static void write(String flag, Path file, String text, Terminal terminal) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new BadInput(flag + " " + file + " cannot be written: " + FileFailure.reason(e), e);
        }
        terminal.print(file + "\n");
    }

    private static boolean isSame(Path one, Path other) {
        try {
            return Files.exists(one) && Files.exists(other) && Files.isSameFile(one, other);
        } catch (IOException e) {
            return false;
        }
    }
}
