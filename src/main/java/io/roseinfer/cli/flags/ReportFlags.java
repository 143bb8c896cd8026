package io.roseinfer.cli.flags;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.report.BenchResult;
import io.roseinfer.bench.report.CsvReport;
import io.roseinfer.bench.report.ResultFile;
import io.roseinfer.bench.report.html.HtmlReport;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** Flags for the HTML report and the CSV file of results. */
@Heading("Output")
public final class ReportFlags {
    @Option(
            names = "--report",
            paramLabel = "<FILE>",
            description = "Write an HTML report of the results, as roseinfer report does.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> page = Optional.empty();

    @Option(
            names = "--title",
            paramLabel = "<TEXT>",
            description = "Title of the --report.",
            showDefaultValue = Visibility.NEVER)
    private Optional<String> title = Optional.empty();

    @Option(
            names = "--csv",
            paramLabel = "<FILE>",
            description = "Write the results as CSV: a row for each request, point or pair.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> csv = Optional.empty();

    /**
     * Rejects, before a long run, files that cannot be written, and two flags that name one file.
     *
     * @param others other files that the command writes
     */
    public void check(List<ResultFile> others) {
        if (title.isPresent() && page.isEmpty()) {
            throw new BadInput("--title is of a report; add --report FILE");
        }
        List<ResultFile> all = new ArrayList<>();
        Stream.concat(others.stream(), Stream.of(pageFile(), csvFile()).flatMap(Optional::stream))
                .forEach(file -> {
                    all.stream().filter(file::isSameAs).findFirst().ifPresent(same -> {
                        throw new BadInput(same.flag() + " and " + file.flag() + " both name " + file.shown()
                                + "; name two different files");
                    });
                    all.add(file);
                });
    }

    private Optional<ResultFile> pageFile() {
        return page.map(path -> ResultFile.ofText("--report", path));
    }

    private Optional<ResultFile> csvFile() {
        return csv.map(path -> ResultFile.ofText("--csv", path));
    }

    /**
     * Writes the files that were requested.
     *
     * @param name the name of the results in the report
     * @param result supplies the results; called only if a file was requested
     */
    public void write(String name, Supplier<? extends BenchResult> result) {
        if (page.isPresent() || csv.isPresent()) {
            BenchResult results = result.get();
            csvFile().ifPresent(file -> file.write(CsvReport.of(results)));
            pageFile().ifPresent(file -> file.write(HtmlReport.of(title, name, results)));
        }
    }
}
