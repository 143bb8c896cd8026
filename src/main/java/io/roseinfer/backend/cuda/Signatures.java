package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.Signature.Argument;
import io.roseinfer.base.RoseException.BackendUnavailable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The declared arguments of all kernels: {@code kernels/contract/launches.txt}, which says how it is written.
 *
 * @param families each of which declares a kernel in all its types and tiles
 */
record Signatures(List<Family> families) {
    static final String FILE = "launches.txt";

    private static final Pattern GROUP = Pattern.compile("([A-Z]+) = (.+)");
    private static final Pattern KERNEL = Pattern.compile("(\\w+)\\((.+)\\)(?: \\[([a-z0-9 ]+)])?");
    private static final Pattern ARGUMENT = Pattern.compile("(\\w+\\*?)\\??\\s+(\\w+)");
    private static final Set<String> VALUES = Set.of("int", "float", "u64");

    /** The kernels that one line declares. */
    record Family(Pattern kernels, int line, List<Argument> arguments) {}

    Signatures {
        families = List.copyOf(families);
    }

    /** The signatures of this build. */
    static Signatures load() {
        return parse(Contract.lines(FILE));
    }

    static Signatures parse(List<String> lines) {
        Map<String, List<Argument>> groups = new HashMap<>();
        List<Family> families = new ArrayList<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            Matcher group = GROUP.matcher(line);
            Matcher kernel = KERNEL.matcher(line);
            if (group.matches()) {
                groups.put(group.group(1), arguments(i + 1, group.group(2), groups));
            } else if (kernel.matches()) {
                Pattern names = names(kernel.group(1), Optional.ofNullable(kernel.group(3)));
                families.add(new Family(names, i + 1, arguments(i + 1, kernel.group(2), groups)));
            } else {
                throw refusal(
                        i + 1,
                        "\"" + line + "\"; kernel(TYPE NAME, ...) [TYPES] or GROUP = TYPE NAME, ... is expected");
            }
        }
        return new Signatures(families);
    }

    /** The names of a family: {@code T} in its own stands for the types, {@code B} for the batch of a tile. */
    private static Pattern names(String family, Optional<String> types) {
        String any = types.map(list -> "(" + list.replace(' ', '|') + ")").orElse("T");
        return Pattern.compile(("_" + family + "_")
                .replace("_T_", "_" + any + "_")
                .replace("_B_", "_b\\d+_")
                .replaceAll("^_|_$", ""));
    }

    private static List<Argument> arguments(int line, String list, Map<String, List<Argument>> groups) {
        List<Argument> arguments = new ArrayList<>();
        for (String item : list.split(", ")) {
            if (groups.containsKey(item)) {
                arguments.addAll(groups.get(item));
                continue;
            }
            Matcher argument = ARGUMENT.matcher(item);
            if (!argument.matches() || !(argument.group(1).endsWith("*") || VALUES.contains(argument.group(1)))) {
                throw refusal(
                        line,
                        "\"" + item + "\" is no argument; TYPE NAME is expected, with a pointer, int, float or u64");
            }
            arguments.add(new Argument(argument.group(1), argument.group(2)));
        }
        if (arguments.size() > Signature.MAX_ARGUMENTS) {
            throw refusal(line, arguments.size() + " arguments; at most " + Signature.MAX_ARGUMENTS + " are allowed");
        }
        return arguments;
    }

    /**
     * The arguments of a kernel.
     *
     * @throws BackendUnavailable if none are declared
     */
    Signature of(String kernel) {
        for (Family family : families) {
            if (family.kernels().matcher(kernel).matches()) {
                return new Signature(kernel, family.line(), family.arguments());
            }
        }
        throw refusal(0, "declares no arguments of the kernel " + kernel);
    }

    /**
     * Refuses images whose kernels have other arguments than declared.
     *
     * @throws BackendUnavailable if there is such a kernel: the message names it and the argument
     */
    void requireCompiled(KernelImages images, KernelTarget target) {
        for (String kernel : new TreeSet<>(images.kernels(target))) {
            of(kernel).requireCompiled(images.arguments(target, kernel));
        }
    }

    private static BackendUnavailable refusal(int line, String message) {
        return Contract.refusal(FILE, line, message);
    }
}
