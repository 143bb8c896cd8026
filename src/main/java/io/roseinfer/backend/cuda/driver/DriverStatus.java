package io.roseinfer.backend.cuda.driver;

import io.roseinfer.base.Remedy;
import io.roseinfer.base.RoseException;
import io.roseinfer.base.RoseException.BackendUnavailable;
import io.roseinfer.base.RoseException.InsufficientMemory;
import java.util.Map;
import java.util.Set;

/** Result codes of the driver, with names and remedies. */
public final class DriverStatus {
    public static final int SUCCESS = 0;
    public static final int OUT_OF_MEMORY = 2;
    static final int NO_DEVICE = 100;
    public static final int NOT_FOUND = 500;
    public static final int NOT_READY = 600;

    /** A step has ended without writing a token slot; not a driver code. */
    public static final int NO_TOKENS = -1;

    /** A step has exceeded its time limit; not a driver code, and the context may still work. */
    public static final int STEP_TIMEOUT = -2;

    /** Remedy for a device without free memory. */
    public static final Remedy LESS_MEMORY = Remedy.of(
            "use a smaller %s, %s or a narrower %s, or end what else holds the device's memory (nvidia-smi)",
            "kv_blocks", "max_batch_size", "dtype");

    /** Codes after which a context is unusable. */
    private static final Set<Integer> BREAK_CONTEXT =
            Set.of(4, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999);

    private record Meaning(String name, String advice) {}

    private static final String NEWER_DRIVER = "CUDA 13 needs driver 580 or newer; update the NVIDIA driver";
    private static final String REBUILD =
            "rebuild roseinfer with an nvcc no newer than the driver, or update the driver";

    private static final Map<Integer, Meaning> MEANINGS = Map.ofEntries(
            Map.entry(NO_TOKENS, new Meaning("the step ended without its tokens", "")),
            Map.entry(
                    STEP_TIMEOUT,
                    new Meaning(
                            "the device is still busy: it hangs, or another process keeps it busy (see nvidia-smi)",
                            "")),
            Map.entry(1, new Meaning("invalid value", "")),
            Map.entry(OUT_OF_MEMORY, new Meaning("out of device memory", "")),
            Map.entry(3, new Meaning("driver not initialized", "")),
            Map.entry(
                    34,
                    new Meaning(
                            "libcuda.so.1 is the toolkit's stub",
                            "install the NVIDIA driver, or take the folder of stubs off LD_LIBRARY_PATH")),
            Map.entry(35, new Meaning("driver older than the CUDA runtime", NEWER_DRIVER)),
            Map.entry(36, new Meaning("driver lacks a call the CUDA runtime needs", NEWER_DRIVER)),
            Map.entry(
                    46,
                    new Meaning(
                            "device busy or unavailable",
                            "another process may hold it in exclusive mode; see nvidia-smi")),
            Map.entry(
                    NO_DEVICE,
                    new Meaning(
                            "no CUDA device",
                            "see nvidia-smi, and whether CUDA_VISIBLE_DEVICES hides the devices there are")),
            Map.entry(
                    101, new Meaning("no such device", "see nvidia-smi, and what CUDA_VISIBLE_DEVICES leaves visible")),
            Map.entry(200, new Meaning("invalid module image", "the kernels are damaged; rebuild roseinfer")),
            Map.entry(201, new Meaning("invalid context", "")),
            Map.entry(
                    209,
                    new Meaning(
                            "no kernel image for this device",
                            "devices of compute capability 8.0 and up are supported")),
            Map.entry(214, new Meaning("uncorrectable memory error (ECC)", "")),
            Map.entry(218, new Meaning("invalid PTX", REBUILD)),
            Map.entry(
                    221,
                    new Meaning(
                            "the driver's PTX compiler was not found",
                            "install libnvidia-ptxjitcompiler.so.1, which is part of the NVIDIA driver")),
            Map.entry(222, new Meaning("PTX newer than the driver", REBUILD)),
            Map.entry(
                    NOT_FOUND,
                    new Meaning(
                            "named symbol not found", "the kernels are not those of this build; rebuild roseinfer")),
            Map.entry(700, new Meaning("illegal address", "")),
            Map.entry(701, new Meaning("launch out of resources", "")),
            Map.entry(702, new Meaning("launch timed out", "")),
            Map.entry(710, new Meaning("assertion in a kernel", "")),
            Map.entry(714, new Meaning("hardware stack error", "")),
            Map.entry(715, new Meaning("illegal instruction", "")),
            Map.entry(716, new Meaning("misaligned address", "")),
            Map.entry(717, new Meaning("invalid address space", "")),
            Map.entry(718, new Meaning("invalid program counter", "")),
            Map.entry(719, new Meaning("kernel launch failed", "")),
            Map.entry(
                    802,
                    new Meaning(
                            "the system is not ready",
                            "start nvidia-fabricmanager, or wait until it has set up NVLink")),
            Map.entry(
                    803,
                    new Meaning(
                            "the driver's kernel module and libcuda.so.1 are of different versions",
                            "reboot, or reinstall the driver so that both match")),
            Map.entry(
                    804,
                    new Meaning(
                            "forward compatibility is not supported on this device",
                            "take the cuda-compat folder off LD_LIBRARY_PATH")),
            Map.entry(999, new Meaning("unknown error", "see dmesg")));

    private DriverStatus() {}

    /** Returns an error in words, such as {@code illegal address (CUDA error 700)}. */
    public static String describe(int code) {
        Meaning meaning = MEANINGS.get(code);
        if (meaning != null && code < 0) {
            return meaning.name();
        }
        return meaning == null ? "CUDA error " + code : meaning.name() + " (CUDA error " + code + ")";
    }

    /** Returns whether the code means a context that is broken until the process ends. */
    static boolean breaksContext(int code) {
        return BREAK_CONTEXT.contains(code);
    }

    /** Returns the error of a failed load: out of memory, or an unusable device. */
    public static RoseException refusal(String what, int code) {
        return code == OUT_OF_MEMORY ? outOfMemory("device cuda", what) : unavailable(what, code);
    }

    /** Returns the error for an allocation that failed, with a remedy. */
    public static InsufficientMemory outOfMemory(String device, String what) {
        return new InsufficientMemory(device + ": " + what + ": " + describe(OUT_OF_MEMORY), LESS_MEMORY);
    }

    /** Returns the error for an unusable device, with a remedy. */
    public static BackendUnavailable unavailable(String what, int code) {
        Meaning meaning = MEANINGS.get(code);
        String problem = "device cuda: " + what + ": " + describe(code);
        return meaning == null || meaning.advice().isEmpty()
                ? new BackendUnavailable(problem, Remedy.USE_CPU)
                : new BackendUnavailable(problem, Remedy.of(meaning.advice()), Remedy.USE_CPU);
    }
}
