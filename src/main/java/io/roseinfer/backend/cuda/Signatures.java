package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.Signature.Argument;
import io.roseinfer.base.Check;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The declared arguments of all kernels, parsed from {@code kernels/contract/launches.txt}, which describes its format.
 *
 * @param families one per declared kernel, for all its types and tiles
 */
record Signatures(List<Family> families) {
    private static final String FILE = "launches.txt";

    private static final Pattern GROUP = Pattern.compile("([A-Z_]+) = (.+)");
    private static final Pattern KERNEL = Pattern.compile("(\\w+)\\((.+)\\)(?: \\[([a-z0-9 ]+)])?");
    private static final Pattern ARGUMENT = Pattern.compile("(\\w+\\*|int|float|u64)\\??\\s+(\\w+)");

    /** The kernels declared by one line. */
    record Family(Pattern kernels, List<Argument> arguments) {}

    Signatures {
        families = List.copyOf(families);
    }

    /** Returns the signatures of this build. */
    static Signatures load() {
        return parse(Contract.lines(FILE));
    }

    static Signatures parse(List<String> lines) {
        Map<String, List<Argument>> groups = new HashMap<>();
        List<Family> families = new ArrayList<>();
        for (String line : lines) {
            Matcher group = GROUP.matcher(line);
            Matcher kernel = KERNEL.matcher(line);
            if (group.matches()) {
                groups.put(group.group(1), arguments(group.group(2), groups));
            } else {
                Check.that(kernel.matches(), "kernel(TYPE NAME, ...) [TYPES] or GROUP = TYPE NAME, ...: " + line);
                Pattern names = names(kernel.group(1), Optional.ofNullable(kernel.group(3)));
                families.add(new Family(names, arguments(kernel.group(2), groups)));
            }
        }
        return new Signatures(families);
    }

    /** Returns the pattern of a family's names: {@code T} stands for the types, {@code B} for a tile's batch, {@code P} for a prompt tile. */
    private static Pattern names(String family, Optional<String> types) {
        String any = types.map(list -> "(" + list.replace(' ', '|') + ")").orElse("T");
        return Pattern.compile(("_" + family + "_")
                .replace("_T_", "_" + any + "_")
                .replace("_B_", "_b\\d+_")
                .replace("_P_", "_(coop|pair|split)\\d+_")
                .replaceAll("^_|_$", ""));
    }

    private static List<Argument> arguments(String list, Map<String, List<Argument>> groups) {
        List<Argument> arguments = new ArrayList<>();
        for (String item : list.split(", ")) {
            if (groups.containsKey(item)) {
                arguments.addAll(groups.get(item));
            } else {
                Matcher argument = ARGUMENT.matcher(item);
                Check.that(argument.matches(), "a pointer, int, float or u64 and a name: " + item);
                arguments.add(new Argument(argument.group(1), argument.group(2)));
            }
        }
        Check.that(arguments.size() <= Signature.MAX_ARGUMENTS, "at most 31 arguments: " + list);
        return arguments;
    }

    /** Returns the arguments of a kernel, which must be declared. */
    Signature of(String kernel) {
        for (Family family : families) {
            if (family.kernels().matcher(kernel).matches()) {
                return new Signature(kernel, family.arguments());
            }
        }
        throw new IllegalStateException("bug in roseinfer: " + FILE + " declares no arguments of the kernel " + kernel);
    }
}
