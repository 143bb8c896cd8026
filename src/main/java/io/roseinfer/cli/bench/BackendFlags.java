package io.roseinfer.cli.bench;

import io.roseinfer.base.RoseException.BadInput;
import io.roseinfer.cli.flags.Choices;
import io.roseinfer.cli.flags.DeliveryFlags;
import io.roseinfer.cli.flags.EndpointFlags.Kind;
import io.roseinfer.cli.flags.FleetFlags;
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
 * The effect of each flag of {@code bench serve} on each backend. Engine flags are found by their groups, so a flag that is added to such a group
 * has no effect on remote servers and is not simulated unless this class says otherwise.
 */
final class BackendFlags {
    /** The effect of a flag on a backend. */
    enum Effect {
        /** The flag works as described. */
        HONORED,
        /** The flag is ignored with a note, omitted from results, and cannot be varied by studies. */
        WITHOUT_EFFECT,
        /** The command is rejected; on {@code --backend sim}, unless the value is the simulated one. */
        REFUSED
    }

    private static final CommandSpec DEFAULTS = CommandSpec.forAnnotatedObject(new BenchServeFlags());
    private static final String MODEL = "--model";
    private static final Set<String> DEVICE = names(new ModelFlags());
    private static final Set<String> DELIVERY = names(new DeliveryFlags());
    private static final Set<String> SCHEDULER = names(new SchedulerFlags());
    private static final Set<String> SIMULATION = names(new SimulationFlags());
    private static final Set<String> FLEET = names(new FleetFlags());

    /** Model and device flags with the same meaning in simulated time. */
    private static final Set<String> DEVICE_SIMULATED =
            Set.of(MODEL, "--max-model-len", "--offline", "--memory-plan", "--replicas", "--routing");

    /** Flags for requests over HTTP. */
    private static final Set<String> HTTP =
            Set.of("--base-url", "--endpoint-type", "--chunk-counts", "--server-stamps", "--header", "--extra-body");

    /** Flags for real-time measurement and sampling. */
    private static final Set<String> REAL_TIME = Set.of(
            "--warmup-requests", "--stall-timeout-s", "--reader-threads", "--max-dispatch-lag-ms", "--temperature");

    /** Values other than the defaults that are accepted in simulated time. */
    private static final Map<String, String> SIMULATED = Map.of("--device", "sim");

    private BackendFlags() {}

    private static Set<String> names(Object group) {
        return CommandSpec.forAnnotatedObject(group).options().stream()
                .map(BackendFlags::name)
                .collect(Collectors.toUnmodifiableSet());
    }

    private static String name(OptionSpec option) {
        return option.names()[0];
    }

    /** Returns the effect of a flag of {@code bench serve} on a backend. */
    static Effect effect(OptionSpec option, Kind backend) {
        String name = name(option);
        if (FLEET.contains(name)) {
            return backend == Kind.SIM ? Effect.HONORED : Effect.REFUSED;
        }
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

    /** Returns the flags for scheduling and delivery. */
    static Set<String> ofEngine() {
        return Stream.concat(DELIVERY.stream(), SCHEDULER.stream()).collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Prints a note for each flag that has no effect on the command line's backend.
     *
     * @throws BadInput if a flag is rejected on that backend
     */
    static void check(ServeCommandLine line, Terminal terminal) {
        requireAccepted(line);
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
     * Rejects flags that are not simulated on {@code --backend sim}, or apply to nothing else.
     *
     * @throws BadInput naming all of them
     */
    static void requireAccepted(ServeCommandLine line) {
        Kind backend = line.flags().endpoint().backend();
        List<String> refused = given(line, backend, Effect.REFUSED)
                .filter(option -> !isSimulated(option))
                .map(option -> name(option) + value(option))
                .sorted()
                .toList();
        if (!refused.isEmpty() && backend != Kind.SIM) {
            throw new BadInput("--backend " + Choices.word(backend) + " has no simulated fleet: leave "
                    + String.join(", ", refused) + " out, or use --backend sim");
        }
        if (!refused.isEmpty()) {
            throw new BadInput("--backend sim does not simulate " + String.join(", ", refused) + "; leave "
                    + (refused.size() == 1 ? "it" : "them") + " out, or use --backend engine");
        }
    }

    /** Returns the delivery flags of a recorded run that a simulated replay ignores, with their values. */
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

    /** Returns the names of the flags that have another value than by default and are not ignored on {@code --backend sim}. */
    static Stream<String> changedForSimulation(BenchServeFlags flags) {
        return CommandSpec.forAnnotatedObject(flags).options().stream()
                .filter(option -> effect(option, Kind.SIM) == Effect.HONORED)
                .filter(option -> !Objects.equals(
                        option.getValue(), DEFAULTS.findOption(name(option)).getValue()))
                .map(BackendFlags::name);
    }

    private static String last(OptionSpec option) {
        List<String> values = option.originalStringValues();
        return values.isEmpty() ? "" : values.getLast();
    }

    /** Returns the flag of {@code bench serve} that an argument names, possibly by an alias or negated; empty if there is none. */
    static Optional<OptionSpec> named(String argument) {
        String flag = argument.replaceFirst("=.*", "");
        return Optional.ofNullable(DEFAULTS.findOption(flag))
                .or(() -> Optional.ofNullable(DEFAULTS.negatedOptionsMap().get(flag)));
    }

    /**
     * Rejects varied flags that have no effect.
     *
     * @param where the study's flag that varies them
     * @param varied the arguments that it adds
     * @param line the command line with these arguments
     * @throws BadInput if one of them has no effect
     */
    static void requireEffect(String where, List<String> varied, ServeCommandLine line) {
        requireAccepted(line);
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

    /** Returns settings for a result file: without flags that have no effect, and with the backend in use. */
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
