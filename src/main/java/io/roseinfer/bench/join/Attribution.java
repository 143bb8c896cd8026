package io.roseinfer.bench.join;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Where the latencies of a run went; empty of samples where the server did not say.
 *
 * @param firstToken time to first token from the intended time, by the parts of {@link FirstToken}
 * @param gaps time between tokens, by the parts of {@link Gap}
 * @param longest the longest gaps, longest first
 */
public record Attribution(PartTable firstToken, PartTable gaps, List<Gap> longest) {
    private static final int LONGEST = 20;

    public Attribution {
        longest = List.copyOf(longest);
    }

    /** Joins the stamps of a run's completed requests. */
    public static Attribution of(LoadResult run) {
        Steps steps = new Steps(run.steps());
        List<Map<String, Double>> first = new ArrayList<>();
        List<Gap> gaps = new ArrayList<>();
        for (CallResult call : run.completed()) {
            FirstToken.of(call, steps).ifPresent(first::add);
            gaps.addAll(Gap.of(call, steps));
        }
        return new Attribution(
                PartTable.of(FirstToken.PARTS, first),
                PartTable.of(Gap.PARTS, gaps.stream().map(Gap::parts).toList()),
                gaps.stream()
                        .sorted(Comparator.comparingDouble(Gap::nanos).reversed())
                        .limit(LONGEST)
                        .toList());
    }
}
