package io.roseinfer.backend.cuda;

import java.util.List;

/** The arguments of a kernel, as {@code kernels/contract/launches.txt} declares them. */
record Signature(String kernel, List<Argument> arguments) {
    /** The most arguments that {@link #kinds} has room for. */
    static final int MAX_ARGUMENTS = 31;

    /** How an argument travels. */
    enum Kind {
        ADDRESS(8, "u64"),
        INTEGER(4, "u32"),
        REAL(4, "f32");

        final int bytes;
        /** Its type in PTX. */
        final String ptx;

        Kind(int bytes, String ptx) {
            this.bytes = bytes;
            this.ptx = ptx;
        }

        /** The kind of a type of {@code launches.txt}: every pointer is an address, and so is a number of 64 bits. */
        static Kind of(String type) {
            return type.equals("int") ? INTEGER : type.equals("float") ? REAL : ADDRESS;
        }
    }

    /** An argument: its type as declared, and its name. */
    record Argument(String type, String name) {
        Kind kind() {
            return Kind.of(type);
        }
    }

    Signature {
        arguments = List.copyOf(arguments);
    }

    /** The kinds of all arguments in one number, as {@link #append} puts it together. */
    long kinds() {
        long kinds = NO_ARGUMENTS;
        for (Argument argument : arguments) {
            kinds = append(kinds, argument.kind());
        }
        return kinds;
    }

    /** The {@link #kinds} of a launch that has no argument yet. */
    static final long NO_ARGUMENTS = 1;

    /** One more argument behind those of {@code kinds}: two bits each, behind a bit that tells how many there are. */
    static long append(long kinds, Kind kind) {
        return kinds << 2 | kind.ordinal();
    }

    private String declared(int argument) {
        return arguments.get(argument).type() + ", which has "
                + arguments.get(argument).kind().bytes + " bytes";
    }

    /** An argument in words, such as {@code embed_f16, argument 9 (width)}; counted from 1. */
    private String place(int argument) {
        String name =
                argument < arguments.size() ? " (" + arguments.get(argument).name() + ")" : "";
        return kernel + ", argument " + (argument + 1) + name;
    }

    /** The error message for a launch whose {@link #kinds} are not this kernel's: a bug of the caller. */
    IllegalStateException misuse(long kinds) {
        int count = (63 - Long.numberOfLeadingZeros(kinds)) / 2;
        for (int i = 0; i < Math.min(count, arguments.size()); i++) {
            Kind given = Kind.values()[(int) ((kinds >>> (2 * (count - 1 - i))) & 3)];
            if (given != arguments.get(i).kind()) {
                return bug(i, "is given as " + given + " and declared as " + declared(i));
            }
        }
        return bug(
                Math.min(count, arguments.size()),
                "ends a launch of " + count + " arguments; " + arguments.size() + " are declared");
    }

    private IllegalStateException bug(int argument, String message) {
        return new IllegalStateException("bug in roseinfer: launch of " + place(argument) + " " + message);
    }
}
