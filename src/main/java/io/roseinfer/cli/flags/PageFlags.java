package io.roseinfer.cli.flags;

import io.roseinfer.base.FileFailure;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.report.CsvReport;
import io.roseinfer.bench.report.html.HtmlReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Supplier;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Where results go that people read: a page, and a table. */
public final class PageFlags {
    @Option(
            names = "--report",
            paramLabel = "<FILE>",
            description = "Write a page of the results, as roseinfer report does.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> page = Optional.empty();

    @Option(
            names = "--csv",
            paramLabel = "<FILE>",
            description = "Write them as a table: a line for each request, point or pair.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> csv = Optional.empty();

    /** Refuses, before a long run, files that cannot be written. */
    public void check() {
        page.ifPresent(path -> requireWritable("--report", path));
        csv.ifPresent(path -> requireWritable("--csv", path));
    }

    private static void requireWritable(String flag, Path path) {
        Path folder = path.toAbsolutePath().getParent();
        if (Files.isDirectory(path)) {
            throw new BadInput(flag + " " + path + " is a directory; name a file in it");
        }
        if (folder == null || !Files.isDirectory(folder)) {
            throw new BadInput(flag + " " + path + " is in a folder that is not there; make it, or name another");
        }
    }

    /**
     * Writes what was asked for.
     *
     * @param name what the page calls the results
     * @param document makes a results file's content, if it is needed
     */
    public void write(String name, Supplier<JsonNode> document) {
        if (page.isPresent() || csv.isPresent()) {
            JsonNode results = document.get();
            page.ifPresent(path -> write("--report", path, HtmlReport.of(name, results)));
            csv.ifPresent(path -> write("--csv", path, CsvReport.of(results)));
        }
    }

    /** Writes text to the file that a flag names. */
    public static void write(String flag, Path path, String text) {
        try {
            Files.writeString(path, text);
        } catch (IOException e) {
            throw new BadInput(flag + " " + path + " cannot be written: " + FileFailure.reason(e), e);
        }
    }
}
