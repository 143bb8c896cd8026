package io.roseinfer.bench.report;

import io.roseinfer.bench.http.CallResult;
import io.roseinfer.bench.http.LoadResult;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The fairness of a run between its tenants. Service is weighted tokens of completed requests, as in the paper of VTC (Sheng et al., 2024): a
 * prompt is served with its first token, an output token when it arrives.
 *
 * @param inputWeight weight of a prompt token
 * @param outputWeight weight of an output token
 * @param untilS seconds of the run over which service is counted: until the last arrival or, if all requests arrive at once, until one
 *     tenant has all its tokens
 * @param service service of each tenant over these seconds
 * @param jainIndex Jain's index, (sum of x)² / (n · sum of x²), where x is a tenant's service divided by its max-min fair share of the total
 *     service: 1 is fair, 1/n is all for one tenant
 * @param maxServiceGap maximum by which another tenant was served more than a tenant, while the latter had a request without a token
 */
public record Fairness(
        double inputWeight,
        double outputWeight,
        double untilS,
        Map<String, Double> service,
        double jainIndex,
        double maxServiceGap) {
    private static final double INPUT_WEIGHT = 1;
    private static final double OUTPUT_WEIGHT = 2;
    private static final double NANOS_PER_SECOND = 1e9;

    /** A change of a tenant at a time: a request arrives, or gets its first token, or is served. */
    private record Change(long nanos, int tenant, int waiting, double service) {}

    /** Returns the fairness of a run; empty if fewer than two tenants have a completed request with tokens. */
    static Optional<Fairness> of(LoadResult run) {
        List<CallResult> calls = run.completed().stream()
                .filter(call ->
                        call.traits().tenant().isPresent() && call.arrivals().nanos().length > 0)
                .toList();
        List<String> names = calls.stream()
                .map(call -> call.traits().tenant().orElseThrow())
                .distinct()
                .sorted()
                .toList();
        return names.size() < 2 ? Optional.empty() : Optional.of(of(run, calls, names));
    }

    private static Fairness of(LoadResult run, List<CallResult> calls, List<String> names) {
        double[] demand = new double[names.size()];
        long[] last = new long[names.size()];
        List<Change> changes = new ArrayList<>();
        for (CallResult call : calls) {
            int tenant = names.indexOf(call.traits().tenant().orElseThrow());
            demand[tenant] += INPUT_WEIGHT * call.inputTokens() + OUTPUT_WEIGHT * call.tokens();
            long[] nanos = call.arrivals().nanos();
            last[tenant] = Math.max(last[tenant], nanos[nanos.length - 1]);
            add(changes, call, tenant);
        }
        changes.sort(Comparator.comparingLong(Change::nanos));
        long untilNanos = run.isScheduled()
                ? run.calls().stream()
                        .mapToLong(call -> call.times().dueNanos())
                        .max()
                        .orElse(run.startNanos())
                : Arrays.stream(last).min().orElse(run.endNanos());
        double[] service = new double[names.size()];
        double gap = maxGap(changes, untilNanos, service);
        Map<String, Double> byName = new LinkedHashMap<>();
        for (int i = 0; i < service.length; i++) {
            byName.put(names.get(i), service[i]);
        }
        return new Fairness(
                INPUT_WEIGHT,
                OUTPUT_WEIGHT,
                (untilNanos - run.startNanos()) / NANOS_PER_SECOND,
                byName,
                jain(service, fairShares(Arrays.stream(service).sum(), demand)),
                gap);
    }

    private static void add(List<Change> changes, CallResult call, int tenant) {
        long[] nanos = call.arrivals().nanos();
        int[] tokens = call.arrivals().tokens();
        changes.add(new Change(call.times().dueNanos(), tenant, 1, 0));
        for (int i = 0; i < nanos.length; i++) {
            double count = tokens.length == 0 ? (double) call.tokens() / nanos.length : tokens[i];
            double prompt = i == 0 ? INPUT_WEIGHT * call.inputTokens() : 0;
            changes.add(new Change(nanos[i], tenant, i == 0 ? -1 : 0, prompt + OUTPUT_WEIGHT * count));
        }
    }

    /** Adds up the service of each tenant until a time, and returns the maximum gap. */
    private static double maxGap(List<Change> changes, long untilNanos, double[] service) {
        int[] waiting = new int[service.length];
        // For each tenant, the services of all when its oldest waiting request arrived.
        double[][] since = new double[service.length][];
        double gap = 0;
        for (Change change : changes) {
            if (change.nanos() > untilNanos) {
                break;
            }
            int tenant = change.tenant();
            service[tenant] += change.service();
            for (int i = 0; change.service() > 0 && i < service.length; i++) {
                if (i != tenant && waiting[i] > 0) {
                    double more = service[tenant] - since[i][tenant];
                    gap = Math.max(gap, more - (service[i] - since[i][i]));
                }
            }
            if (change.waiting() > 0 && waiting[tenant] == 0) {
                since[tenant] = service.clone();
            }
            waiting[tenant] += change.waiting();
        }
        return gap;
    }

    /** Divides service max-min fairly: equally, but no tenant gets more than its demand. */
    static double[] fairShares(double total, double[] demand) {
        Integer[] order = new Integer[demand.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, Comparator.comparingDouble(i -> demand[i]));
        double[] shares = new double[demand.length];
        double left = total;
        for (int k = 0; k < order.length; k++) {
            shares[order[k]] = Math.min(demand[order[k]], left / (order.length - k));
            left -= shares[order[k]];
        }
        return shares;
    }

    /** Returns Jain's index of service in proportion to shares; 1 if there was no service. */
    static double jain(double[] service, double[] shares) {
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < service.length; i++) {
            double x = shares[i] > 0 ? service[i] / shares[i] : 0;
            sum += x;
            squares += x * x;
        }
        return squares == 0 ? 1 : sum * sum / (service.length * squares);
    }
}
