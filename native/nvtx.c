// Profiler ranges through NVTX's header, which finds the profiler's library in the environment, loads and calls it. Built without the
// header, these functions report that ranges are unavailable, and Nvtx.java takes over.
#include <jni.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
enum { HAS_NVTX = 1 };
#else
enum { HAS_NVTX = 0, NO_TRACKING = -2 };
static int nvtxRangePushA(const char* name) { return (void)name, NO_TRACKING; }
static int nvtxRangePop(void) { return NO_TRACKING; }
#endif

static const char VARIABLE[] = "NVTX_INJECTION64_PATH";

JNIEXPORT jboolean JNICALL Java_io_roseinfer_backend_cuda_nvtx_NativeCalls_hasNvtx(JNIEnv* env, jclass class) {
    (void)env, (void)class;
    return HAS_NVTX;
}

// The header reads the environment once, at the first range, so it attaches this library or none. A range without a profiler has a
// negative depth.
JNIEXPORT jboolean JNICALL Java_io_roseinfer_backend_cuda_nvtx_NativeCalls_attach(JNIEnv* env, jclass class, jstring library) {
    (void)class;
    const char* path = (*env)->GetStringUTFChars(env, library, NULL);
    if (!path) return JNI_FALSE;  // out of memory, which Java throws
    setenv(VARIABLE, path, 0);
    const char* used = getenv(VARIABLE);
    int same = used && strcmp(used, path) == 0;
    (*env)->ReleaseStringUTFChars(env, library, path);
    if (!same || nvtxRangePushA("attach") < 0) return JNI_FALSE;
    nvtxRangePop();
    return JNI_TRUE;
}

JNIEXPORT jint JNICALL Java_io_roseinfer_backend_cuda_nvtx_NativeCalls_push(JNIEnv* env, jclass class, jlong name) {
    (void)env, (void)class;
    return nvtxRangePushA((const char*)(intptr_t)name);
}

JNIEXPORT jint JNICALL Java_io_roseinfer_backend_cuda_nvtx_NativeCalls_pop(JNIEnv* env, jclass class) {
    (void)env, (void)class;
    return nvtxRangePop();
}
