package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.DeliveryFlags;
import io.roseinfer.cli.flags.EndpointFlags.Kind;
import io.roseinfer.cli.flags.ModelFlags;
import io.roseinfer.cli.flags.SchedulerFlags;
import io.roseinfer.cli.flags.SimulationFlags;
import io.roseinfer.cli.terminal.Terminal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/**
 * The effect of each flag of {@code bench serve} on each backend. The flags of an engine are those of the groups that describe one, so a flag that
 * is added to such a group has no effect on a server elsewhere and none on simulated time until this class says otherwise.
 */
final class BackendFlags {
    /** The effect of a flag on a backend. */
    enum Effect {
        /** It does what its description says. */
        HONORED,
        /** Nothing: a note names it, results leave it out, and no study can vary it. */
        WITHOUT_EFFECT,
        /** The command is refused unless the value is the one that is simulated. */
        REFUSED
    }

    private static final CommandSpec DEFAULTS = CommandSpec.forAnnotatedObject(new BenchServeFlags());
    private static final String MODEL = "--model";
    private static final Set<String> DEVICE = names(new ModelFlags());
    private static final Set<String> DELIVERY = names(new DeliveryFlags());
    private static final Set<String> SCHEDULER = names(new SchedulerFlags());
    private static final Set<String> SIMULATION = names(new SimulationFlags());

    /** Flags of a model and its device that mean the same on simulated time. */
    private static final Set<String> DEVICE_SIMULATED = Set.of(MODEL, "--max-model-len", "--offline", "--memory-plan");

    /** Flags of the requests to a server. */
    private static final Set<String> HTTP =
            Set.of("--base-url", "--endpoint-type", "--chunk-counts", "--server-stamps");

    /** Flags of measuring in real time, and of sampling. */
    private static final Set<String> REAL_TIME = Set.of(
            "--warmup-requests", "--stall-timeout-s", "--reader-threads", "--max-dispatch-lag-ms", "--temperature");

    /** The values other than defaults that simulated time has. */
    private static final Map<String, String> SIMULATED = Map.of("--replicas", "1", "--device", "sim");

    private BackendFlags() {}

    private static Set<String> names(Object group) {
        return CommandSpec.forAnnotatedObject(group).options().stream()
                .map(BackendFlags::name)
                .collect(Collectors.toUnmodifiableSet());
    }

    private static String name(OptionSpec option) {
        return option.names()[0];
    }

    /** What a flag of {@code bench serve} does on a backend. */
    static Effect effect(OptionSpec option, Kind backend) {
        String name = name(option);
        boolean engine = DEVICE.contains(name) || DELIVERY.contains(name) || SCHEDULER.contains(name);
        return switch (backend) {
            case HTTP -> without((engine && !name.equals(MODEL)) || SIMULATION.contains(name));
            case NULL ->
                without(engine || SIMULATION.contains(name) || (HTTP.contains(name) && !name.equals("--chunk-counts")));
            case ENGINE -> without(SIMULATION.contains(name) || HTTP.contains(name));
            case SIM ->
                (DEVICE.contains(name) && !DEVICE_SIMULATED.contains(name))
                                || DELIVERY.contains(name)
                                || HTTP.contains(name)
                                || REAL_TIME.contains(name)
                        ? Effect.REFUSED
                        : Effect.HONORED;
        };
    }

    private static Effect without(boolean without) {
        return without ? Effect.WITHOUT_EFFECT : Effect.HONORED;
    }

    /** The flags that set how an engine schedules and delivers. */
    static Set<String> ofEngine() {
        return Stream.concat(DELIVERY.stream(), SCHEDULER.stream()).collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Names the flags of a command line that have no effect on its backend.
     *
     * @throws BadInput if a flag asks simulated time for what it does not simulate
     */
    static void check(ServeCommandLine line, Terminal terminal) {
        requireSimulated(line);
        Kind backend = line.flags().endpoint().backend();
        given(line, backend, Effect.WITHOUT_EFFECT)
                .map(BackendFlags::name)
                .sorted()
                .forEach(name -> terminal.note(name + " has no effect: " + why(name, backend)));
    }

    private static String why(String name, Kind backend) {
        if (SIMULATION.contains(name)) {
            return "it applies only to --backend sim";
        }
        return switch (backend) {
            case HTTP -> "it applies only to an in-process engine; add --backend engine";
            case NULL -> "the server of --backend null has no engine";
            case ENGINE, SIM -> "it applies only to a server at --base-url";
        };
    }

    /**
     * Refuses flags that simulated time does not simulate.
     *
     * @throws BadInput naming all of them
     */
    static void requireSimulated(ServeCommandLine line) {
        Kind backend = line.flags().endpoint().backend();
        List<String> refused = given(line, backend, Effect.REFUSED)
                .filter(option -> !isSimulated(option))
                .map(option -> name(option) + value(option))
                .sorted()
                .toList();
        if (!refused.isEmpty()) {
            throw new BadInput("--backend sim does not simulate " + String.join(", ", refused) + "; leave "
                    + (refused.size() == 1 ? "it" : "them") + " out, or use --backend engine");
        }
    }

    /** The given flags of a recorded run's delivery that a replay on simulated time does without, with their values. */
    static List<String> notReplayed(ServeCommandLine recorded) {
        return given(recorded, Kind.SIM, Effect.REFUSED)
                .filter(option -> DELIVERY.contains(name(option)) && !isSimulated(option))
                .map(option -> name(option) + value(option))
                .sorted()
                .toList();
    }

    private static String value(OptionSpec option) {
        return option.arity().max() == 0 ? "" : " " + last(option);
    }

    private static boolean isSimulated(OptionSpec option) {
        return Objects.equals(
                        option.getValue(), DEFAULTS.findOption(name(option)).getValue())
                || last(option).equals(SIMULATED.get(name(option)));
    }

    private static String last(OptionSpec option) {
        List<String> values = option.originalStringValues();
        return values.isEmpty() ? "" : values.getLast();
    }

    /** A flag of {@code bench serve} by an argument that names it, also by an alias or negated; empty if none is named so. */
    static Optional<OptionSpec> named(String argument) {
        String flag = argument.replaceFirst("=.*", "");
        return Optional.ofNullable(DEFAULTS.findOption(flag))
                .or(() -> Optional.ofNullable(DEFAULTS.negatedOptionsMap().get(flag)));
    }

    /**
     * Refuses to compare values of a flag without effect.
     *
     * @param where the study's flag that names it
     * @param varied the arguments it adds
     * @param line the command line with them
     * @throws BadInput if one of them has no effect
     */
    static void requireEffect(String where, List<String> varied, ServeCommandLine line) {
        requireSimulated(line);
        Kind backend = line.flags().endpoint().backend();
        given(ServeCommandLine.parse(where, varied), backend, Effect.WITHOUT_EFFECT)
                .map(BackendFlags::name)
                .findFirst()
                .ifPresent(name -> {
                    throw new BadInput(where + " has " + name + ", which has no effect on --backend "
                            + Choices.word(backend) + ": " + why(name, backend));
                });
    }

    private static Stream<OptionSpec> given(ServeCommandLine line, Kind backend, Effect effect) {
        return line.command().commandLine().getParseResult().matchedOptions().stream()
                .distinct()
                .filter(option -> effect(option, backend) == effect);
    }

    /** The settings of a results file without those that have no effect, and with the backend that answered. */
    static Map<String, @Nullable Object> inForce(Map<String, @Nullable Object> settings, ServeCommandLine line) {
        Kind backend = line.flags().endpoint().backend();
        Map<String, @Nullable Object> inForce = new LinkedHashMap<>(settings);
        for (OptionSpec option : DEFAULTS.options()) {
            boolean kept = name(option).equals("--device") && backend == Kind.SIM;
            if (effect(option, backend) != Effect.HONORED && !kept) {
                inForce.remove(name(option).substring(2).replace('-', '_'));
            }
        }
        inForce.replace("backend", Choices.word(backend));
        return inForce;
    }
}
