// What roseinfer hands to the CUDA driver by itself, laid out as cuda.h has it, so that a machine without the toolkit can build this
// library; test/layout.c holds the two against each other where there is a cuda.h.
#pragma once
#include <stdint.h>

enum { CLUSTER_DIMENSION = 4, PROGRAMMATIC_STREAM_SERIALIZATION = 6 };

// CUlaunchAttribute
struct LaunchAttribute {
    int32_t id;
    int32_t padding;
    union {
        uint64_t all[8];
        int32_t programmaticStreamSerializationAllowed;
        struct {
            uint32_t x, y, z;
        } clusterDim;
    } value;
};

// CUlaunchConfig
struct LaunchConfig {
    uint32_t gridDimX, gridDimY, gridDimZ;
    uint32_t blockDimX, blockDimY, blockDimZ;
    uint32_t sharedMemBytes;
    void* stream;
    struct LaunchAttribute* attributes;
    uint32_t attributeCount;
};

// The calls of a step; all have been in every driver since CUDA 12. A result of 0 is success.
struct Driver {
    int32_t (*launchKernel)(const struct LaunchConfig* config, void* function, void** arguments, void** extra);
    int32_t (*copyToDevice)(uint64_t target, const void* source, uint64_t bytes, void* stream);
    int32_t (*record)(void* event, void* stream);
    int32_t (*await)(void* stream, void* event, uint32_t flags);
    int32_t (*launchGraph)(void* graph, void* stream);
};
