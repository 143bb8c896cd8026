package io.roseinfer.cli.flags;

import io.roseinfer.bench.report.ResultFile;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Flags for the output of {@code bench serve}. */
@Heading("Results")
public final class BenchServeOutputFlags {
    private static final List<String> METRICS = List.of("ttft", "tpot", "itl", "e2el");

    static final class Metrics implements ITypeConverter<List<String>> {
        @Override
        public List<String> convert(String text) {
            List<String> metrics = List.of(text.split(",", -1));
            if (!METRICS.containsAll(metrics)) {
                throw new TypeConversionException("'" + text + "' is not a list of " + String.join(",", METRICS));
            }
            return metrics;
        }
    }

    @Option(
            names = "--percentile-metrics",
            paramLabel = "<M[,M...]>",
            converter = Metrics.class,
            description = "Latency metrics to print, of ttft, tpot, itl and e2el (default: ttft,tpot,itl).",
            showDefaultValue = Visibility.NEVER)
    private List<String> metrics = List.of("ttft", "tpot", "itl");

    @Mixin
    private PercentilesFlag percentiles = new PercentilesFlag();

    @Option(
            names = {"--json", "--result-filename"},
            paramLabel = "<FILE>",
            description = "Write results, with every request's timestamps, to a file; .gz and .zst compress it.",
            showDefaultValue = Visibility.NEVER)
    private Optional<Path> json = Optional.empty();

    @Option(
            names = "--save-result",
            description = "Write results to roseinfer-<R>qps.json, unless --result-filename names another file.")
    private boolean saveResult;

    public List<String> metrics() {
        return metrics;
    }

    public List<Double> percentiles() {
        return percentiles.values();
    }

    /** Returns the result file, checked before a long run; empty without one. */
    public Optional<ResultFile> file(double requestRate) {
        if (json.isEmpty() && saveResult) {
            String rate = Double.isInfinite(requestRate) ? "inf" : Double.toString(requestRate);
            return Optional.of(ResultFile.at("--save-result", Path.of("roseinfer-" + rate + "qps.json")));
        }
        return json.map(path -> ResultFile.at("--json", path));
    }
}
