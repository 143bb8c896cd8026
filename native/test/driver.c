// Stands in for the CUDA driver, and for the little that is used of its runtime: device memory is the host's, streams run at once,
// kernels compute nothing, but every step's last one tells its tokens. What a step asks of the driver can be remembered line by line.
// Handles are numbers, so that two runs of the same calls give the same lines.
#include "driver.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef int32_t CUresult;

enum { SUCCESS = 0, NOT_FOUND = 500, MOST_ARGUMENTS = 32, MOST_KERNELS = 256, MOST_LAUNCHES = 1024, LOG_BYTES = 1 << 24 };

struct Kernel {
    char name[96];
    int arguments;
};

struct Launched {
    struct Kernel* kernel;
    uint32_t gridX, gridY, threads, sharedBytes, cluster, overlap;
    uint64_t arguments[MOST_ARGUMENTS];
};

struct Graph {
    int number;
    int count;
    struct Launched* launches;
};

static char* lines;  // while they are wanted
static size_t length;
static struct Kernel kernels[MOST_KERNELS];
static int kernelCount, handles, graphs, failAfter = -1, failWith;
static struct Graph* capturing;

const char* driverLines(void) { return lines; }

// From now on lines are remembered, and those before are forgotten.
void rememberDriverLines(void) {
    if (!lines) lines = calloc(1, LOG_BYTES);
    length = 0;
    lines[0] = 0;
}

// The step's call number `after`, counted from 0 from now on, fails with this code.
void failDriverCall(int after, int code) {
    failAfter = after;
    failWith = code;
}

#define NOTE(...)                                                                    \
    do {                                                                             \
        if (!lines) break;                                                           \
        length += (size_t)snprintf(lines + length, LOG_BYTES - length, __VA_ARGS__); \
        if (length >= LOG_BYTES) abort();                                            \
    } while (0)

static CUresult counted(void) { return failAfter >= 0 && failAfter-- == 0 ? failWith : SUCCESS; }

static void* handle(void) { return (void*)(intptr_t)(++handles * 16); }

static int starts(const char* text, const char* with) { return strncmp(text, with, strlen(with)) == 0; }

// How many arguments a kernel of this name takes.
static int arguments_of(const char* name) {
    int gemm = strstr(name, "generic") ? 7 : 13;
    return starts(name, "embed")                ? 11
           : starts(name, "normalize")          ? 9
           : starts(name, "gemm_qkv")           ? gemm + 7
           : starts(name, "gemm_residual")      ? gemm + 4
           : starts(name, "gemm_activation")    ? gemm + 2
           : starts(name, "gemm_head")          ? gemm + 5
           : starts(name, "attention_generic")  ? 12
           : starts(name, "attention_prefill_single") ? 10
           : starts(name, "attention_prefill")  ? 12
           : starts(name, "attention_decode")   ? 10
           : starts(name, "select_best")        ? 6
           : starts(name, "sample")             ? 12
           : starts(name, "copy_blocks")        ? 4
                                                : 0;
}

static void tell(uint64_t mailbox, uint64_t step, uint32_t samples) {
    for (uint32_t sample = 0; sample < samples; sample++) {
        ((volatile uint64_t*)mailbox)[sample] = (uint64_t)*(const uint32_t*)step << 32 | (sample + 1);
    }
}

static void run(const struct Launched* launch) {
    const uint64_t* a = launch->arguments;
    if (starts(launch->kernel->name, "select_best")) tell(a[5], a[3], (uint32_t)a[2]);
    if (starts(launch->kernel->name, "sample")) tell(a[10], a[7], launch->gridX);
    if (!lines) return;
    NOTE("%s<<<%ux%u, %u, %u>>>", launch->kernel->name, launch->gridX, launch->gridY, launch->threads, launch->sharedBytes);
    NOTE(" cluster %u overlap %u:", launch->cluster, launch->overlap);
    for (int i = 0; i < launch->kernel->arguments; i++) NOTE(" %u", (uint32_t)a[i]);
    NOTE("\n");
}

CUresult cuLaunchKernelEx(const struct LaunchConfig* config, void* function, void** arguments, void** extra) {
    struct Launched launch = {function, config->gridDimX, config->gridDimY, config->blockDimX, config->sharedMemBytes, 1, 0, {0}};
    CUresult failure = counted();
    if (failure) return failure;
    if (config->gridDimZ != 1 || config->blockDimY != 1 || config->blockDimZ != 1 || !config->stream || extra) return 1;
    for (uint32_t i = 0; i < config->attributeCount; i++) {
        const struct LaunchAttribute* attribute = config->attributes + i;
        if (attribute->id == CLUSTER_DIMENSION) {
            if (attribute->value.clusterDim.y != 1 || attribute->value.clusterDim.z != 1) return 1;
            launch.cluster = attribute->value.clusterDim.x;
        } else if (attribute->id == PROGRAMMATIC_STREAM_SERIALIZATION) {
            launch.overlap = (uint32_t)attribute->value.programmaticStreamSerializationAllowed;
        } else {
            return 1;
        }
    }
    for (int i = 0; i < launch.kernel->arguments; i++) launch.arguments[i] = *(const uint64_t*)arguments[i];
    if (capturing) {
        if (capturing->count == MOST_LAUNCHES) abort();
        capturing->launches[capturing->count++] = launch;
    } else {
        run(&launch);
    }
    return SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(uint64_t target, const void* source, size_t bytes, void* stream) {
    CUresult failure = counted();
    if (failure) return failure;
    memcpy((void*)target, source, bytes);
    NOTE("copy of %zu bytes into stream %td\n", bytes, (intptr_t)stream);
    return SUCCESS;
}

CUresult cuEventRecord(void* event, void* stream) {
    CUresult failure = counted();
    if (failure) return failure;
    NOTE("event %td behind stream %td\n", (intptr_t)event, (intptr_t)stream);
    return SUCCESS;
}

CUresult cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
    CUresult failure = counted();
    if (failure) return failure;
    NOTE("stream %td waits for event %td, %u\n", (intptr_t)stream, (intptr_t)event, flags);
    return SUCCESS;
}

CUresult cuGraphLaunch(struct Graph* graph, void* stream) {
    CUresult failure = counted();
    if (failure) return failure;
    NOTE("graph %d into stream %td\n", graph->number, (intptr_t)stream);
    for (int i = 0; i < graph->count; i++) run(graph->launches + i);
    return SUCCESS;
}

CUresult cuStreamBeginCapture_v2(void* stream, int mode) {
    (void)stream, (void)mode;
    capturing = calloc(1, sizeof *capturing);
    capturing->number = ++graphs;
    capturing->launches = calloc(MOST_LAUNCHES, sizeof *capturing->launches);
    return SUCCESS;
}

CUresult cuStreamEndCapture(void* stream, struct Graph** graph) {
    (void)stream;
    *graph = capturing;
    capturing = NULL;
    return SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(struct Graph** executable, struct Graph* graph, unsigned long long flags) {
    (void)flags;
    *executable = graph;
    return SUCCESS;
}

CUresult cuGraphUpload(struct Graph* graph, void* stream) { return (void)graph, (void)stream, SUCCESS; }

CUresult cuGraphDestroy(struct Graph* graph) { return (void)graph, SUCCESS; }

CUresult cuGraphExecDestroy(struct Graph* graph) {
    free(graph->launches);
    free(graph);
    return SUCCESS;
}

CUresult cuInit(unsigned flags) { return (void)flags, SUCCESS; }

CUresult cuDriverGetVersion(int* version) { return *version = 13000, SUCCESS; }

CUresult cudaRuntimeGetVersion(int* version) { return *version = 13000, SUCCESS; }

CUresult cuDeviceGetCount(int* count) { return *count = 1, SUCCESS; }

CUresult cuDeviceGet(int* device, int index) { return *device = index, SUCCESS; }

CUresult cuDeviceGetName(char* name, int bytes, int device) {
    (void)device;
    snprintf(name, (size_t)bytes, "stand-in");
    return SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, int device) { return (void)device, *bytes = (size_t)1 << 30, SUCCESS; }

CUresult cuDeviceGetAttribute(int* value, int attribute, int device) {
    (void)device;
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : 132;  // compute capability 9.0, multiprocessors
    return SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(void** context, int device) { return (void)device, *context = handle(), SUCCESS; }

CUresult cuDevicePrimaryCtxRelease_v2(int device) { return (void)device, SUCCESS; }

CUresult cuCtxSetCurrent(void* context) { return (void)context, SUCCESS; }

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) { return *free = *total = (size_t)1 << 28, SUCCESS; }

// From one piece at a fixed address: addresses, which kernels are given, are the same in every process.
static uint64_t next_address;

CUresult cuMemAlloc_v2(uint64_t* address, size_t bytes) {
    const size_t all = (size_t)1 << 32;
    if (!next_address) {
        void* wanted = (void*)((intptr_t)1 << 40);
        void* memory = mmap(wanted, all, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (memory != wanted) return 2;
        next_address = (uint64_t)memory;
    }
    *address = next_address;
    next_address += (bytes + 4095) / 4096 * 4096;
    return SUCCESS;
}

CUresult cuMemFree_v2(uint64_t address) { return (void)address, SUCCESS; }

CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
    (void)flags;
    return cuMemAlloc_v2((uint64_t*)address, bytes);
}

CUresult cuMemFreeHost(void* address) { return (void)address, SUCCESS; }

CUresult cuMemsetD8Async(uint64_t address, unsigned char value, size_t bytes, void* stream) {
    (void)stream;
    if (value) memset((void*)address, value, bytes);  // fresh memory is zero
    return SUCCESS;
}

CUresult cuMemcpyDtoHAsync_v2(void* target, uint64_t source, size_t bytes, void* stream) {
    (void)stream;
    memcpy(target, (const void*)source, bytes);
    return SUCCESS;
}

CUresult cuModuleLoadData(void** module, const void* image) { return (void)image, *module = handle(), SUCCESS; }

CUresult cuModuleUnload(void* module) { return (void)module, SUCCESS; }

CUresult cuModuleGetFunction(struct Kernel** function, void* module, const char* name) {
    (void)module;
    if (kernelCount == MOST_KERNELS || strlen(name) >= sizeof kernels->name) return NOT_FOUND;
    *function = kernels + kernelCount++;
    strcpy((*function)->name, name);
    (*function)->arguments = arguments_of(name);
    return SUCCESS;
}

CUresult cuFuncSetAttribute(void* function, int attribute, int value) {
    return (void)function, (void)attribute, (void)value, SUCCESS;
}

CUresult cuStreamCreate(void** stream, unsigned flags) { return (void)flags, *stream = handle(), SUCCESS; }

CUresult cuStreamQuery(void* stream) { return (void)stream, SUCCESS; }

CUresult cuStreamSynchronize(void* stream) { return (void)stream, SUCCESS; }

CUresult cuStreamDestroy_v2(void* stream) { return (void)stream, SUCCESS; }

CUresult cuEventCreate(void** event, unsigned flags) { return (void)flags, *event = handle(), SUCCESS; }

CUresult cuEventQuery(void* event) { return (void)event, SUCCESS; }

CUresult cuEventDestroy_v2(void* event) { return (void)event, SUCCESS; }
