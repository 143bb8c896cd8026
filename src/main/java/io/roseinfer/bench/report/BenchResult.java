package io.roseinfer.bench.report;

import java.util.List;
import java.util.Map;

/** The results of a benchmark: the content of its JSON file, and the source of its CSV file and HTML report. */
public interface BenchResult {
    /** Returns the rows of the CSV file, by column name. */
    List<Map<String, String>> table();
}
