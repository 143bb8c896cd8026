package io.roseinfer.cli.flags;

import io.roseinfer.bench.report.ResultFile;
import java.nio.file.Path;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** The flag for a benchmark's result file. */
@Heading("Output")
public final class JsonFlag {
    @Option(
            names = "--json",
            paramLabel = "<FILE>",
            description = "Write the results of every run to a file; .gz and .zst compress it.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> json = Optional.empty();

    /** Returns the file, checked before a long run; empty without the flag. */
    public Optional<ResultFile> file() {
        return json.map(path -> ResultFile.at("--json", path));
    }
}
