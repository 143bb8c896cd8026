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

    /** Returns the action named in error messages of failed launches. */
    String launching() {
        return launching;
    }

    /** Throws if a launch has other {@link Signature#kinds} than the kernel. */
    void requireArguments(long given) {
        if (given != kinds) {
            throw signature.misuse(given);
        }
    }

    CUfunc_st function() {
        return function;
    }

    /** Raises the dynamic shared memory limit to {@code bytes} if needed; returns the driver's code. */
    int prepare(int bytes) {
        if (bytes <= sharedBytes) {
            return DriverStatus.SUCCESS;
        }
        sharedBytes = bytes;
        return Driver.allowShared(function, bytes);
    }
}
