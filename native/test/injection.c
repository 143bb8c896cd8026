// A stand-in for a profiler: records ranges with their depth per thread. NVTX_TEST_LOG names a file to which it also writes them.
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*Function)(void);

struct Callbacks {
    size_t bytes;
    int (*moduleTable)(int module, Function*** table, unsigned* size);
};

struct VersionInfo {
    size_t bytes;
    uint32_t version;
    uint32_t reserved;
    void (*profilerVersion)(uint32_t version);
};

static char received[1 << 16];
static size_t length;
static _Thread_local int depth;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const char* receivedRanges(void) { return received; }

static void note(const char* text) {
    pthread_mutex_lock(&lock);
    size_t more = strlen(text);
    if (length + more + 2 < sizeof received) {
        memcpy(received + length, text, more);
        received[length + more] = '\n';
        length += more + 1;
    }
    pthread_mutex_unlock(&lock);
    const char* path = getenv("NVTX_TEST_LOG");
    FILE* log = path ? fopen(path, "a") : NULL;
    if (log) {
        fprintf(log, "%s\n", text);
        fclose(log);
    }
}

static int push(const char* name) {
    char line[256];
    snprintf(line, sizeof line, "%d %s", depth, name);
    note(line);
    return depth++;
}

static int pop(void) { return --depth; }

int InitializeInjectionNvtx2(const void* (*exportTable)(uint32_t id)) {
    const struct Callbacks* callbacks = exportTable(1);
    const struct VersionInfo* info = exportTable(3);
    Function** table;
    unsigned size;
    if (exportTable(9) || callbacks->bytes < sizeof *callbacks || info->bytes < sizeof *info || info->version != 3) return 0;
    info->profilerVersion(3);
    if (callbacks->moduleTable(7, &table, &size) || !callbacks->moduleTable(5, &table, &size) || size != 16) return 0;
    if (!callbacks->moduleTable(1, &table, &size) || size != 16 || table[0] || table[size]) return 0;
    *table[9] = (Function)push;
    *table[11] = (Function)pop;
    return 1;
}
