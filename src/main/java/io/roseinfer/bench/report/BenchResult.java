package io.roseinfer.bench.report;

import java.util.List;
import java.util.Map;

/** Results of a benchmark: the content of its file, from which its table and its page are made. */
public interface BenchResult {
    /** Returns the lines of the table, each by the names of its columns. */
    List<Map<String, String>> table();
}
