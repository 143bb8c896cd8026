package io.roseinfer.backend.cuda;

import io.roseinfer.backend.cuda.driver.Driver;
import io.roseinfer.backend.cuda.driver.DriverStatus;
import org.bytedeco.cuda.cudart.CUfunc_st;

/** A kernel of a loaded module. */
final class Kernel {
    private final String name;
    private final String launching;
    private final Signature signature;
    private final long kinds;
    private final CUfunc_st function;
    private int sharedBytes = -1;

    Kernel(Signature signature, CUfunc_st function) {
        this.name = signature.kernel();
        this.launching = "launching " + name;
        this.signature = signature;
        this.kinds = signature.kinds();
        this.function = function;
    }

    String name() {
        return name;
    }

    /** The action that an error message names when a launch fails. */
    String launching() {
        return launching;
    }

    /** Refuses a launch whose arguments are of other {@link Signature#kinds} than the kernel's. */
    void requireArguments(long given) {
        if (given != kinds) {
            throw signature.misuse(given);
        }
    }

    CUfunc_st function() {
        return function;
    }

    /** Makes sure that a launch may use this much dynamic shared memory; returns the driver's code. */
    int prepare(int bytes) {
        if (bytes <= sharedBytes) {
            return DriverStatus.SUCCESS;
        }
        sharedBytes = bytes;
        return Driver.allowShared(function, bytes);
    }
}
