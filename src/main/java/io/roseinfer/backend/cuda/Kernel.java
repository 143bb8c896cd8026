package io.roseinfer.backend.cuda;

import org.bytedeco.cuda.cudart.CUfunc_st;

/** A kernel of a loaded module. */
final class Kernel {
    private final String name;
    private final String launching;
    private final CUfunc_st function;
    private int sharedBytes = -1;

    Kernel(String name, CUfunc_st function) {
        this.name = name;
        this.launching = "launching " + name;
        this.function = function;
    }

    String name() {
        return name;
    }

    /** What is being done when a launch fails. */
    String launching() {
        return launching;
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
