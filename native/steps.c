// A step's driver calls, many to a call from Java: see io.roseinfer.backend.cuda.NativeCalls, which declares these functions.
//
// The driver is the library that the process has loaded already. It is looked up by name, not linked against, so this library loads
// on machines without one.
#include "driver.h"

#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>

enum { MAX_ARGUMENTS = 32 };

// A launch as LaunchBatch.java writes it down. Arguments take eight bytes each, however wide they are.
struct Launch {
    void* function;
    uint32_t gridX, gridY;
    uint32_t threads;
    uint32_t sharedBytes;
    uint32_t cluster;  // blocks, 1 for none
    uint32_t overlap;  // whether it may start before its predecessor has ended
    uint64_t arguments[MAX_ARGUMENTS];
};

static struct Driver driver;

// Which of several calls was the last, and what the driver said of it.
static jlong outcome(jint call, int32_t code) { return (jlong)call << 32 | (uint32_t)code; }

static void* pointer(jlong address) { return (void*)(intptr_t)address; }

JNIEXPORT jstring JNICALL Java_io_roseinfer_backend_cuda_NativeCalls_open(JNIEnv* env, jclass class, jstring library) {
    (void)class;
    const char* name = (*env)->GetStringUTFChars(env, library, NULL);
    if (!name) return NULL;  // out of memory, which Java throws
    void* handle = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    (*env)->ReleaseStringUTFChars(env, library, name);
    if (!handle) return (*env)->NewStringUTF(env, dlerror());
    const struct {
        const char* name;
        void* slot;
    } calls[] = {{"cuLaunchKernelEx", &driver.launchKernel},
                 {"cuMemcpyHtoDAsync_v2", &driver.copyToDevice},
                 {"cuEventRecord", &driver.record},
                 {"cuStreamWaitEvent", &driver.await},
                 {"cuGraphLaunch", &driver.launchGraph}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        void* function = dlsym(handle, calls[i].name);
        if (!function) {
            char text[128];
            snprintf(text, sizeof text, "the driver has no function %s", calls[i].name);
            return (*env)->NewStringUTF(env, text);
        }
        *(void**)calls[i].slot = function;
    }
    return (*env)->NewStringUTF(env, "");
}

static int32_t launch(const struct Launch* what, void* stream) {
    struct LaunchAttribute attributes[2];
    struct LaunchConfig config = {what->gridX, what->gridY,       1,      what->threads, 1, 1,
                                  what->sharedBytes, stream, attributes, 0};
    if (what->overlap) {
        struct LaunchAttribute* next = &attributes[config.attributeCount++];
        next->id = PROGRAMMATIC_STREAM_SERIALIZATION;
        next->value.programmaticStreamSerializationAllowed = 1;
    }
    if (what->cluster > 1) {
        struct LaunchAttribute* next = &attributes[config.attributeCount++];
        next->id = CLUSTER_DIMENSION;
        next->value.clusterDim.x = what->cluster;
        next->value.clusterDim.y = 1;
        next->value.clusterDim.z = 1;
    }
    void* arguments[MAX_ARGUMENTS];
    for (int i = 0; i < MAX_ARGUMENTS; i++) arguments[i] = (void*)&what->arguments[i];
    return driver.launchKernel(&config, what->function, arguments, NULL);
}

JNIEXPORT jlong JNICALL Java_io_roseinfer_backend_cuda_NativeCalls_launch(JNIEnv* env, jclass class, jlong launches, jint count,
                                                                          jlong stream) {
    (void)env, (void)class;
    const struct Launch* all = pointer(launches);
    for (jint i = 0; i < count; i++) {
        int32_t code = launch(all + i, pointer(stream));
        if (code) return outcome(i, code);
    }
    return outcome(count, 0);
}

JNIEXPORT jlong JNICALL Java_io_roseinfer_backend_cuda_NativeCalls_replay(JNIEnv* env, jclass class, jlong target, jlong source,
                                                                          jlong bytes, jlong uploads, jlong uploaded, jlong graph,
                                                                          jlong stream) {
    (void)env, (void)class;
    int32_t code = driver.copyToDevice((uint64_t)target, pointer(source), (uint64_t)bytes, pointer(uploads));
    if (code) return outcome(0, code);
    code = driver.record(pointer(uploaded), pointer(uploads));
    if (code) return outcome(1, code);
    code = driver.await(pointer(stream), pointer(uploaded), 0);
    if (code) return outcome(2, code);
    return outcome(3, driver.launchGraph(pointer(graph), pointer(stream)));
}
