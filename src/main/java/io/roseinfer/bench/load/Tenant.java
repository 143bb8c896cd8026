package io.roseinfer.bench.load;

import io.roseinfer.base.Limits;
import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.bench.load.OfferedRequest.Traits;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A tenant of a generated load. Each request is of a tenant drawn by the shares, so that Poisson arrivals of the load are Poisson arrivals of
 * each tenant.
 *
 * @param share its share of the requests, relative to the shares of the others
 * @param inputTokens mean prompt length of its random requests; empty for the load's length
 * @param outputTokens mean output length of its random requests; empty for the load's length
 * @param traits traits of its requests, with the tenant's name
 */
public record Tenant(double share, OptionalInt inputTokens, OptionalInt outputTokens, Traits traits) {
    private static final long PURPOSE = 8;
    private static final String FORM = "NAME:KEY=VALUE,..., as in flood:share=8,input=64,output=512,slo=batch";
    private static final Set<String> KEYS = Set.of("share", "input", "output", "slo", "priority", "deadline_ms");

    /**
     * Parses a tenant, as in {@code flood:share=8,input=64,output=512,slo=batch,priority=1,deadline_ms=500}.
     *
     * @param where name of the option in messages
     * @throws BadInput if the text is not of this form
     */
    public static Tenant parse(String where, String text) {
        String[] parts = text.split(":", 2);
        requireName(where, text, parts[0]);
        Tenant tenant = new Tenant(1, OptionalInt.empty(), OptionalInt.empty(), Traits.NONE.withTenant(parts[0]));
        Set<String> seen = new HashSet<>();
        for (String setting : parts.length == 1 ? new String[0] : parts[1].split(",", -1)) {
            String[] pair = setting.split("=", 2);
            if (pair.length < 2 || !KEYS.contains(pair[0]) || !seen.add(pair[0])) {
                throw new BadInput(where + " is '" + text + "', and '" + setting + "' is not one of "
                        + KEYS.stream().sorted().collect(Collectors.joining(", ")) + " with a value, once; it must be "
                        + FORM);
            }
            tenant = tenant.with(where, text, pair[0], pair[1]);
        }
        return tenant;
    }

    private static void requireName(String where, String text, String name) {
        if (!name.matches(JsonlPrompts.NAME)) {
            throw new BadInput(where + " is '" + text + "'; it must be " + FORM
                    + ", with names of letters, digits, '.', '_' and '-'");
        }
    }

    private Tenant with(String where, String text, String key, String value) {
        try {
            return switch (key) {
                case "share" -> new Tenant(positive(Double.parseDouble(value)), inputTokens, outputTokens, traits);
                case "input" -> new Tenant(share, length(value), outputTokens, traits);
                case "output" -> new Tenant(share, inputTokens, length(value), traits);
                case "priority" -> withTraits(traits.withPriority(Integer.parseInt(value)));
                case "deadline_ms" -> withTraits(traits.withDeadlineMillis(positive(Double.parseDouble(value))));
                default -> {
                    requireName(where, text, value);
                    yield withTraits(traits.withSlo(value));
                }
            };
        } catch (NumberFormatException wrong) {
            throw new BadInput(
                    where + " is '" + text + "', and " + key + " is '" + value + "'; it must be a "
                            + (key.equals("priority") ? "whole number" : "positive number"),
                    wrong);
        }
    }

    private Tenant withTraits(Traits value) {
        return new Tenant(share, inputTokens, outputTokens, value);
    }

    private static double positive(double value) {
        if (!(value > 0 && Double.isFinite(value))) {
            throw new NumberFormatException();
        }
        return value;
    }

    private static OptionalInt length(String text) {
        int length = Integer.parseInt(text);
        if (length < 1 || length > Limits.PROMPT_CHARS) {
            throw new NumberFormatException();
        }
        return OptionalInt.of(length);
    }

    /** Draws the tenant of each request. */
    static List<Tenant> draw(List<Tenant> tenants, int requests, long seed) {
        RandomStream draws = new RandomStream(seed, PURPOSE);
        double all = tenants.stream().mapToDouble(Tenant::share).sum();
        List<Tenant> drawn = new ArrayList<>();
        for (int i = 0; i < requests; i++) {
            double left = draws.uniform() * all;
            int tenant = 0;
            while (tenant < tenants.size() - 1 && left >= tenants.get(tenant).share()) {
                left -= tenants.get(tenant).share();
                tenant++;
            }
            drawn.add(tenants.get(tenant));
        }
        return drawn;
    }

    /**
     * Returns requests with the traits of tenants drawn by their shares; unchanged if there are no tenants.
     *
     * @throws BadInput if a request has a tenant, or tenants have lengths, which requests of a file have themselves
     */
    public static List<OfferedRequest> assign(List<Tenant> tenants, List<OfferedRequest> requests, long seed) {
        if (tenants.isEmpty()) {
            return requests;
        }
        if (requests.stream().anyMatch(request -> request.traits().tenant().isPresent())) {
            throw new BadInput("--tenant cannot be combined with tenants in the dataset; leave one out");
        }
        if (tenants.stream().anyMatch(tenant -> tenant.inputTokens.isPresent() || tenant.outputTokens.isPresent())) {
            throw new BadInput("--tenant has input or output, but the dataset has lengths; leave them out, or use"
                    + " --dataset random");
        }
        List<Tenant> drawn = draw(tenants, requests.size(), seed);
        List<OfferedRequest> assigned = new ArrayList<>();
        for (int i = 0; i < requests.size(); i++) {
            Traits traits = drawn.get(i).traits();
            assigned.add(requests.get(i)
                    .mapTurns(turn -> turn.withTraits(
                            turn.traits().turn().isPresent()
                                    ? traits.withTurn(
                                            turn.traits().conversation().orElse(0),
                                            turn.traits().turn().getAsInt())
                                    : traits)));
        }
        return assigned;
    }
}
