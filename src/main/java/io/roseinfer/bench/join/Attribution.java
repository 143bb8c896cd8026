package io.roseinfer.bench.join;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Where the latencies of a run went; empty of samples where the server did not say.
 *
 * @param firstToken time to first token from the intended time, by the parts of {@link FirstToken}
 * @param gaps time between tokens, by the parts of {@link Gap}
 * @param slowest the first tokens of all requests, the slowest first
 * @param longest the longest gaps, longest first
 */
public record Attribution(PartTable firstToken, PartTable gaps, List<FirstToken> slowest, List<Gap> longest) {
    private static final int LONGEST = 20;

    public Attribution {
        slowest = List.copyOf(slowest);
        longest = List.copyOf(longest);
    }

    /** Joins the stamps of a run's completed requests. */
    public static Attribution of(LoadResult run) {
        Steps steps = new Steps(run.steps());
        List<FirstToken> first = new ArrayList<>();
        List<Gap> gaps = new ArrayList<>();
        for (CallResult call : run.completed()) {
            FirstToken.of(call, steps).ifPresent(first::add);
            gaps.addAll(Gap.of(call, steps));
        }
        return new Attribution(
                PartTable.of(
                        FirstToken.PARTS, first.stream().map(FirstToken::parts).toList()),
                PartTable.of(Gap.PARTS, gaps.stream().map(Gap::parts).toList()),
                first.stream()
                        .sorted(Comparator.comparingDouble(FirstToken::nanos).reversed())
                        .toList(),
                gaps.stream()
                        .sorted(Comparator.comparingDouble(Gap::nanos).reversed())
                        .limit(LONGEST)
                        .toList());
    }
}
