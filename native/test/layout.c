// Our structs are the driver's: compiled, never run.
#include "driver.h"

#include <cuda.h>
#include <stddef.h>

#define SAME(OURS, OUR_FIELD, THEIRS, THEIR_FIELD)                                       \
    _Static_assert(offsetof(struct OURS, OUR_FIELD) == offsetof(THEIRS, THEIR_FIELD) &&  \
                       sizeof(((struct OURS*)0)->OUR_FIELD) == sizeof(((THEIRS*)0)->THEIR_FIELD), \
                   #THEIRS "." #THEIR_FIELD)

_Static_assert(sizeof(struct LaunchAttribute) == sizeof(CUlaunchAttribute), "CUlaunchAttribute");
_Static_assert(sizeof(struct LaunchConfig) == sizeof(CUlaunchConfig), "CUlaunchConfig");
_Static_assert((int)CLUSTER_DIMENSION == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, "cluster dimension");
_Static_assert((int)PROGRAMMATIC_STREAM_SERIALIZATION == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, "overlap");
SAME(LaunchAttribute, id, CUlaunchAttribute, id);
SAME(LaunchAttribute, value.programmaticStreamSerializationAllowed, CUlaunchAttribute, value.programmaticStreamSerializationAllowed);
SAME(LaunchAttribute, value.clusterDim, CUlaunchAttribute, value.clusterDim);
SAME(LaunchConfig, gridDimX, CUlaunchConfig, gridDimX);
SAME(LaunchConfig, gridDimY, CUlaunchConfig, gridDimY);
SAME(LaunchConfig, gridDimZ, CUlaunchConfig, gridDimZ);
SAME(LaunchConfig, blockDimX, CUlaunchConfig, blockDimX);
SAME(LaunchConfig, blockDimY, CUlaunchConfig, blockDimY);
SAME(LaunchConfig, blockDimZ, CUlaunchConfig, blockDimZ);
SAME(LaunchConfig, sharedMemBytes, CUlaunchConfig, sharedMemBytes);
SAME(LaunchConfig, stream, CUlaunchConfig, hStream);
SAME(LaunchConfig, attributes, CUlaunchConfig, attrs);
SAME(LaunchConfig, attributeCount, CUlaunchConfig, numAttrs);
