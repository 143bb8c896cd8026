package io.roseinfer.backend.cuda;

import java.util.List;

/** The arguments of a kernel, as {@code kernels/contract/launches.txt} declares them. */
record Signature(String kernel, List<Argument> arguments) {
    /** Maximum arguments encoded in {@link #kinds}. */
    static final int MAX_ARGUMENTS = 31;

    /** The kind of an argument. */
    enum Kind {
        ADDRESS(8, "u64"),
        INTEGER(4, "u32"),
        REAL(4, "f32");

        final int bytes;
        /** PTX type. */
        final String ptx;

        Kind(int bytes, String ptx) {
            this.bytes = bytes;
            this.ptx = ptx;
        }

        /** Returns the kind of a type in {@code launches.txt}: pointers and 64-bit numbers are addresses. */
        static Kind of(String type) {
            return type.equals("int") ? INTEGER : type.equals("float") ? REAL : ADDRESS;
        }
    }

    /** An argument with its declared type. */
    record Argument(String type, String name) {
        Kind kind() {
            return Kind.of(type);
        }
    }

    Signature {
        arguments = List.copyOf(arguments);
    }

    /** Returns the kinds of all arguments in one number, encoded by {@link #append}. */
    long kinds() {
        long kinds = NO_ARGUMENTS;
        for (Argument argument : arguments) {
            kinds = append(kinds, argument.kind());
        }
        return kinds;
    }

    /** The {@link #kinds} without arguments. */
    static final long NO_ARGUMENTS = 1;

    /** Appends an argument to {@code kinds}: two bits each, after a leading 1 that marks the length. */
    static long append(long kinds, Kind kind) {
        return kinds << 2 | kind.ordinal();
    }

    private String declared(int argument) {
        return arguments.get(argument).type() + ", which has "
                + arguments.get(argument).kind().bytes + " bytes";
    }

    /** Returns an argument in words, such as {@code embed_f16, argument 9 (width)}; counted from 1. */
    private String place(int argument) {
        String name =
                argument < arguments.size() ? " (" + arguments.get(argument).name() + ")" : "";
        return kernel + ", argument " + (argument + 1) + name;
    }

    /** Returns the error for a launch with other {@link #kinds} than this kernel's, a bug of the caller. */
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
