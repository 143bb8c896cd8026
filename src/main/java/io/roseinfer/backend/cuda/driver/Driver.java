package io.roseinfer.backend.cuda.driver;

import static org.bytedeco.cuda.global.cudart.*;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.bytedeco.cuda.cudart.CUctx_st;
import org.bytedeco.cuda.cudart.CUevent_st;
import org.bytedeco.cuda.cudart.CUfunc_st;
import org.bytedeco.cuda.cudart.CUgraphExec_st;
import org.bytedeco.cuda.cudart.CUgraph_st;
import org.bytedeco.cuda.cudart.CUlaunchConfig;
import org.bytedeco.cuda.cudart.CUmod_st;
import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.cudart.CUtensorMap;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;
import org.bytedeco.javacpp.SizeTPointer;

/**
 * All driver calls of roseinfer; {@link CudaLibrary#require} comes first.
 *
 * <p>They exist since CUDA 12.4, so a 13.0 driver has them; calling a missing symbol would end the process without an exception.
 * Setup calls throw {@code BackendUnavailable} or {@code InsufficientMemory}; calls of a running model return the driver's code for
 * {@link CudaStream}.
 */
public final class Driver {
    public static final int TENSOR_MAP_BYTES = 128;
    public static final int TENSOR_MAP_ALIGNMENT = 64;

    private static final int NAME_BYTES = 256;
    private static final int SWIZZLED_BYTES = 128;

    private Driver() {}

    private static void require(int code, String what) {
        if (code != DriverStatus.SUCCESS) {
            throw DriverStatus.refusal(what, code);
        }
    }

    static void initialize() {
        require(cuInit(0), "starting the driver");
    }

    static int version() {
        int[] version = new int[1];
        require(cuDriverGetVersion(version), "asking the driver's version");
        return version[0];
    }

    static int runtimeVersion() {
        int[] version = new int[1];
        require(cudaRuntimeGetVersion(version), "asking the runtime's version");
        return version[0];
    }

    static List<CudaDevice> devices() {
        int[] count = new int[1];
        require(cuDeviceGetCount(count), "counting devices");
        List<CudaDevice> devices = new ArrayList<>();
        for (int i = 0; i < count[0]; i++) {
            devices.add(device(i));
        }
        return devices;
    }

    private static CudaDevice device(int index) {
        int handle = handle(index);
        byte[] name = new byte[NAME_BYTES];
        require(cuDeviceGetName(name, NAME_BYTES, handle), "asking the name of device " + index);
        int length = 0;
        while (length < NAME_BYTES && name[length] != 0) {
            length++;
        }
        try (SizeTPointer bytes = new SizeTPointer(1)) {
            require(cuDeviceTotalMem(bytes, handle), "asking the memory of device " + index);
            return new CudaDevice(
                    index,
                    new String(name, 0, length, StandardCharsets.UTF_8),
                    attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                    attribute(handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
                    attribute(handle, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                    bytes.get());
        }
    }

    private static int handle(int index) {
        int[] handle = new int[1];
        require(cuDeviceGet(handle, index), "opening device " + index);
        return handle[0];
    }

    private static int attribute(int device, int attribute) {
        int[] value = new int[1];
        require(cuDeviceGetAttribute(value, attribute, device), "asking an attribute of device " + device);
        return value[0];
    }

    static long retainContext(int index) {
        CUctx_st context = new CUctx_st();
        require(cuDevicePrimaryCtxRetain(context, handle(index)), "opening device " + index);
        return context.address();
    }

    static void releaseContext(int index) {
        cuDevicePrimaryCtxRelease(handle(index));
    }

    /** Binds contexts to the calling thread; for one thread at a time. Allocates nothing to rebind the last context. */
    static final class ContextBinding implements DeviceContext.Binding {
        private final CUctx_st seen = new CUctx_st();
        private CUctx_st bound = new CUctx_st();

        @Override
        public long current() {
            require(cuCtxGetCurrent(seen), "asking for the current context");
            return seen.address();
        }

        @Override
        public int bind(long context) {
            if (bound.address() != context) {
                bound = new CUctx_st(new Address(MemorySegment.ofAddress(context)));
            }
            return cuCtxSetCurrent(bound);
        }
    }

    /** Returns the free device memory in bytes. */
    public static long freeBytes() {
        try (SizeTPointer free = new SizeTPointer(1);
                SizeTPointer total = new SizeTPointer(1)) {
            require(cuMemGetInfo(free, total), "asking for free memory");
            return free.get();
        }
    }

    public static int allocate(long[] address, long bytes) {
        return cuMemAlloc(address, bytes);
    }

    public static int free(long address) {
        return cuMemFree(address);
    }

    /** Allocates page-locked memory that the device accesses at the same address. */
    public static int allocateHost(PointerPointer<Pointer> address, long bytes) {
        return cuMemHostAlloc(address, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    }

    public static int freeHost(Pointer address) {
        return cuMemFreeHost(address);
    }

    static int fill(long address, byte value, long bytes, CUstream_st stream) {
        return cuMemsetD8Async(address, value, bytes, stream);
    }

    static int copyToDevice(long target, Pointer source, long bytes, CUstream_st stream) {
        return cuMemcpyHtoDAsync(target, source, bytes, stream);
    }

    static int copyToHost(Pointer target, long source, long bytes, CUstream_st stream) {
        return cuMemcpyDtoHAsync(target, source, bytes, stream);
    }

    /**
     * Writes the tensor map of a dense device array of 16-bit elements, for copies of boxes into shared memory, swizzled. Elements
     * outside of the array arrive as zeros.
     *
     * @param map receives {@link #TENSOR_MAP_BYTES}, aligned to {@link #TENSOR_MAP_ALIGNMENT}
     * @param address of the array on the device
     * @param sizes elements per dimension; the innermost comes first and is a multiple of 64
     * @param box elements of a box in each dimension but the innermost, where it has 64
     */
    public static void encodeTensorMap(MemorySegment map, long address, long[] sizes, int[] box) {
        int rank = sizes.length;
        long[] strides = new long[rank - 1]; // bytes
        int[] boxSizes = new int[rank];
        int[] steps = new int[rank];
        Arrays.fill(steps, 1);
        boxSizes[0] = SWIZZLED_BYTES / Short.BYTES;
        for (int i = 1; i < rank; i++) {
            strides[i - 1] = sizes[i - 1] * (i == 1 ? Short.BYTES : strides[i - 2]);
            boxSizes[i] = box[i - 1];
        }
        try (Address target = new Address(map);
                Address array = new Address(MemorySegment.ofAddress(address));
                CUtensorMap encoded = new CUtensorMap(target)) {
            require(
                    cuTensorMapEncodeTiled(
                            encoded,
                            CU_TENSOR_MAP_DATA_TYPE_UINT16,
                            rank,
                            array,
                            sizes,
                            strides,
                            boxSizes,
                            steps,
                            CU_TENSOR_MAP_INTERLEAVE_NONE,
                            CU_TENSOR_MAP_SWIZZLE_128B,
                            CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                            CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                    "describing attention's inputs to the copy engine");
        }
    }

    public static int loadModule(CUmod_st module, Pointer image) {
        return cuModuleLoadData(module, image);
    }

    public static int unloadModule(CUmod_st module) {
        return cuModuleUnload(module);
    }

    public static int function(CUfunc_st function, CUmod_st module, String name) {
        return cuModuleGetFunction(function, module, name);
    }

    /** Loads a kernel onto the device, which the driver by default does at its first launch. */
    public static int load(CUfunc_st function) {
        return cuFuncLoad(function);
    }

    /** Sets a kernel's dynamic shared memory limit, and prefers shared memory over L1. */
    public static int allowShared(CUfunc_st function, int bytes) {
        int code = cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100);
        return code != DriverStatus.SUCCESS || bytes == 0
                ? code
                : cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
    }

    /**
     * Launches a kernel.
     *
     * @param arguments pointers to the arguments' values
     */
    public static int launch(CUlaunchConfig config, CUfunc_st function, PointerPointer<Pointer> arguments) {
        return cuLaunchKernelEx(config, function, arguments, (PointerPointer<Pointer>) null);
    }

    static CUstream_st createStream() {
        CUstream_st stream = new CUstream_st();
        require(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING), "creating a stream");
        return stream;
    }

    public static int query(CUstream_st stream) {
        return cuStreamQuery(stream);
    }

    static int synchronize(CUstream_st stream) {
        return cuStreamSynchronize(stream);
    }

    public static int destroy(CUstream_st stream) {
        return cuStreamDestroy(stream);
    }

    public static CUevent_st createEvent() {
        CUevent_st event = new CUevent_st();
        require(cuEventCreate(event, CU_EVENT_DISABLE_TIMING), "creating an event");
        return event;
    }

    public static int record(CUevent_st event, CUstream_st stream) {
        return cuEventRecord(event, stream);
    }

    /** Makes all work queued on the stream after this call wait for the event. */
    static int await(CUevent_st event, CUstream_st stream) {
        return cuStreamWaitEvent(stream, event, 0);
    }

    public static int query(CUevent_st event) {
        return cuEventQuery(event);
    }

    public static int destroy(CUevent_st event) {
        return cuEventDestroy(event);
    }

    static int beginCapture(CUstream_st stream) {
        return cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    }

    static int endCapture(CUstream_st stream, CUgraph_st graph) {
        return cuStreamEndCapture(stream, graph);
    }

    static int instantiate(CUgraphExec_st executable, CUgraph_st graph) {
        return cuGraphInstantiate(executable, graph, 0);
    }

    static int upload(CUgraphExec_st graph, CUstream_st stream) {
        return cuGraphUpload(graph, stream);
    }

    public static int launch(CUgraphExec_st graph, CUstream_st stream) {
        return cuGraphLaunch(graph, stream);
    }

    public static int destroy(CUgraph_st graph) {
        return cuGraphDestroy(graph);
    }

    public static int destroy(CUgraphExec_st graph) {
        return cuGraphExecDestroy(graph);
    }
}
