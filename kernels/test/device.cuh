#pragma once
// Device access for the harness: checked calls, arrays, kernels loaded by name from files as in the Java runtime, and seeded
// random data.
#include <cuda.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>
#include "../include/numeric.cuh"

#define CHECK_CUDA(call)                                                                                    \
    do {                                                                                                    \
        cudaError_t status = (call);                                                                        \
        if (status != cudaSuccess) {                                                                        \
            std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(status)); \
            std::exit(1);                                                                                   \
        }                                                                                                   \
    } while (0)

// A zeroed device array, followed by guard bytes that must stay untouched.
template <class T>
class DeviceArray {
public:
    DeviceArray() = default;
    explicit DeviceArray(size_t count) : DeviceArray(uncleared(count)) { CHECK_CUDA(cudaMemset(data_, 0, count * sizeof(T))); }

    // Returns an array that is not zeroed, so that initcheck reports reads before the first write.
    static DeviceArray uncleared(size_t count) {
        DeviceArray array;
        array.count_ = count;
        CHECK_CUDA(cudaMalloc(&array.data_, count * sizeof(T) + GUARD));
        CHECK_CUDA(cudaMemset(reinterpret_cast<char*>(array.data_) + count * sizeof(T), GUARD_BYTE, GUARD));
        return array;
    }
    explicit DeviceArray(const std::vector<T>& host) : DeviceArray(host.size()) { upload(host); }
    DeviceArray(DeviceArray&& other) noexcept { swap(other); }
    DeviceArray& operator=(DeviceArray&& other) noexcept {
        swap(other);
        return *this;
    }
    ~DeviceArray() {
        if (data_ == nullptr) return;
        std::vector<unsigned char> guard(GUARD);
        cudaMemcpy(guard.data(), reinterpret_cast<char*>(data_) + count_ * sizeof(T), GUARD, cudaMemcpyDeviceToHost);
        for (unsigned char byte : guard) {
            if (byte != GUARD_BYTE) {
                std::fprintf(stderr, "an array of %zu elements was written past its end\n", count_);
                std::exit(1);
            }
        }
        cudaFree(data_);
    }

    T* get() const { return data_; }
    size_t size() const { return count_; }
    void upload(const std::vector<T>& host) {
        CHECK_CUDA(cudaMemcpy(data_, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
    }
    std::vector<T> download() const {
        std::vector<T> host(count_);
        CHECK_CUDA(cudaDeviceSynchronize());
        CHECK_CUDA(cudaMemcpy(host.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost));
        return host;
    }
    void fill(unsigned char byte) { CHECK_CUDA(cudaMemset(data_, byte, count_ * sizeof(T))); }

private:
    static constexpr size_t GUARD = 256;
    static constexpr unsigned char GUARD_BYTE = 0xA5;
    void swap(DeviceArray& other) {
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
    }
    T* data_ = nullptr;
    size_t count_ = 0;
};

// Returns a function of the driver, which has had it since `version`; the harness links the runtime alone.
template <class Function>
Function* driver_function(const char* name, unsigned version) {
    void* entry = nullptr;
    cudaDriverEntryPointQueryResult found;
    CHECK_CUDA(cudaGetDriverEntryPointByVersion(name, &entry, version, cudaEnableDefault, &found));
    if (entry == nullptr) {
        std::fprintf(stderr, "the driver has no %s\n", name);
        std::exit(1);
    }
    return reinterpret_cast<Function*>(entry);
}

template <class... Args>
void encode_tensor_map(Args... args) {
    if (driver_function<decltype(cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled", 12000)(args...) != CUDA_SUCCESS) {
        std::fprintf(stderr, "the driver makes no tensor map\n");
        std::exit(1);
    }
}

// Ends the process unless a kernel has arguments of these sizes. Of fewer, the driver would read past the end.
inline void require_arguments(const std::string& name, cudaKernel_t kernel, const std::vector<size_t>& sizes) {
    static auto* const info = driver_function<decltype(cuKernelGetParamInfo)>("cuKernelGetParamInfo", 12040);
    for (size_t i = 0; i <= sizes.size(); i++) {
        size_t offset, size = 0;
        if (info(kernel, i, &offset, &size) != CUDA_SUCCESS) size = 0;
        const size_t given = i < sizes.size() ? sizes[i] : 0;
        if (size != given) {
            std::fprintf(stderr, "launch of %s: argument %zu has %zu bytes in the launch, %zu in the kernel (0: none)\n",
                         name.c_str(), i + 1, given, size);
            std::exit(1);
        }
    }
}

struct Launch {
    dim3 grid;
    int block;
    size_t sharedBytes = 0;
    int cluster = 1;
    bool afterPredecessor = true;  // programmatic dependent launch
};

// All kernels of the compiled files in a directory, launched by name with plain arguments.
class Kernels {
public:
    Kernels(const std::string& directory, const std::string& suffix) : directory_(directory), suffix_(suffix) {
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
            std::fprintf(stderr, "no NVIDIA GPU found; kernels/README.md lists what runs without one\n");
            std::exit(2);
        }
        CHECK_CUDA(cudaStreamCreate(&stream_));
        CHECK_CUDA(cudaDeviceGetAttribute(&multiprocessors_, cudaDevAttrMultiProcessorCount, 0));
        CHECK_CUDA(cudaDeviceGetAttribute(&sharedBytes_, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    }

    cudaStream_t stream() const { return stream_; }
    int multiprocessors() const { return std::min(multiprocessors_, mostBlocks); }
    size_t sharedBytes() const { return static_cast<size_t>(sharedBytes_); }  // maximum per block
    static constexpr int NO_LIMIT = 1 << 30;
    int mostBlocks = NO_LIMIT;  // limit for persistent kernels: fewer blocks do more work each
    bool programmatic = true;   // off: full edges, as always for code that cannot wait for its predecessor

    bool has(const std::string& name) const { return readable(path_of(name)); }

    template <class... Args>
    void operator()(const std::string& name, const Launch& launch, Args... args) {
        cudaKernel_t kernel = find(name);
        if (kernel == nullptr) {
            std::fprintf(stderr, "unknown kernel %s\n", name.c_str());
            std::exit(1);
        }
        if (prepared_[name] < launch.sharedBytes) {
            CHECK_CUDA(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            static_cast<int>(launch.sharedBytes)));
            prepared_[name] = launch.sharedBytes;
        }
        if (carved_.insert({name, true}).second) {
            CHECK_CUDA(
                cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributePreferredSharedMemoryCarveout, 100));
        }
        static std::set<std::string> known;  // of launches with these types
        if (known.insert(name).second) require_arguments(name, kernel, {sizeof(args)...});
        void* pointers[] = {&args...};
        cudaLaunchAttribute attributes[2];
        cudaLaunchConfig_t config = {};
        config.gridDim = launch.grid;
        config.blockDim = dim3(launch.block);
        config.dynamicSmemBytes = launch.sharedBytes;
        config.stream = stream_;
        config.attrs = attributes;
        if (launch.cluster > 1) {
            attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
            attributes[config.numAttrs++].val.clusterDim = {static_cast<unsigned>(launch.cluster), 1, 1};
        }
        if (launch.afterPredecessor && programmatic && waits(path_of(name))) {
            attributes[config.numAttrs].id = cudaLaunchAttributeProgrammaticStreamSerialization;
            attributes[config.numAttrs++].val.programmaticStreamSerializationAllowed = 1;
        }
        cudaError_t status = cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), pointers);
        if (status != cudaSuccess) {
            std::fprintf(stderr, "launch of %s: %s\n", name.c_str(), cudaGetErrorString(status));
            std::exit(1);
        }
    }

    void wait() { CHECK_CUDA(cudaStreamSynchronize(stream_)); }

private:
    static bool readable(const std::string& path) {
        FILE* file = std::fopen(path.c_str(), "rb");
        if (file != nullptr) std::fclose(file);
        return file != nullptr;
    }

    // Returns whether kernels of this file wait for their predecessor: known from PTX; cubins are for chips that can.
    bool waits(const std::string& path) {
        auto known = waits_.find(path);
        if (known != waits_.end()) return known->second;
        std::ifstream file(path, std::ios::binary);
        const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        const bool ptx = path.size() > 4 && path.compare(path.size() - 4, 4, ".ptx") == 0;
        return waits_[path] = !ptx || text.find("griddepcontrol.wait") != std::string::npos;
    }

    static bool is_prompt_tile(const std::string& kernel) {
        for (const char* tile : {"_coop", "_pair", "_split"}) {
            if (kernel.find(tile) != std::string::npos) return true;
        }
        return false;
    }

    // Kernels have their file's name as a prefix, except load-time kernels, GEMM tiles, gather and attention_decode_invariant.
    std::string path_of(const std::string& kernel) const {
        std::string file;
        for (const char* name : {"embed", "normalize", "rope", "attention_decode", "attention_prefill", "attention_decode_gqa",
                                 "attention_prefill_wgmma", "attention_generic", "select", "sample", "gemm"}) {
            if (kernel.rfind(name, 0) == 0) file = name;
        }
        if (kernel.rfind("attention_decode_invariant", 0) == 0) file = "attention_prefill";
        if (kernel.rfind("gather", 0) == 0) file = "normalize";
        for (const char* name : {"pack", "column_sums", "fold_bias", "convert", "int8_"}) {
            if (kernel.rfind(name, 0) == 0) file = "load";
        }
        if (file.empty()) {
            std::fprintf(stderr, "unknown file of kernel %s; add its prefix to path_of (kernels/test/device.cuh)\n",
                         kernel.c_str());
            std::exit(1);
        }
        if (file == "gemm")
            file += is_prompt_tile(kernel) ? kernel.find("bf16") != std::string::npos ? "_prompt_bf16" : "_prompt_f16"
                    : kernel.find("generic") != std::string::npos ? "_generic"
                    : kernel.find("int8") != std::string::npos  ? "_int8"
                    : kernel.find("bf16") != std::string::npos  ? "_bf16"
                                                                : "_f16";
        return directory_ + "/" + file + suffix_;
    }

    cudaKernel_t find(const std::string& name) {
        auto known = kernels_.find(name);
        if (known != kernels_.end()) return known->second;
        const std::string path = path_of(name);
        if (!readable(path)) return nullptr;
        if (libraries_.find(path) == libraries_.end()) {
            CHECK_CUDA(cudaLibraryLoadFromFile(&libraries_[path], path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
        }
        cudaKernel_t kernel;
        CHECK_CUDA(cudaLibraryGetKernel(&kernel, libraries_[path], name.c_str()));
        return kernels_[name] = kernel;
    }

    std::string directory_, suffix_;
    std::map<std::string, cudaLibrary_t> libraries_;
    std::map<std::string, cudaKernel_t> kernels_;
    std::map<std::string, size_t> prepared_;
    std::map<std::string, bool> carved_, waits_;
    cudaStream_t stream_;
    int multiprocessors_, sharedBytes_;
};

// Returns an approximately normal random value, a function of (seed, index).
__device__ __forceinline__ float random_normal(uint64_t seed, uint64_t index) {
    uint64_t z = seed * 0xD1342543DE82EF95ull + (index + 1) * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    int sum = static_cast<int>(z & 0xffff) + static_cast<int>(z >> 16 & 0xffff) + static_cast<int>(z >> 32 & 0xffff) +
              static_cast<int>(z >> 48) - 131070;
    return static_cast<float>(sum) / 37837.2f;
}

template <class T>
__global__ void fill_random_kernel(T* to, size_t count, float mean, float deviation, uint64_t seed) {
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        float v = mean + deviation * random_normal(seed, i);
        if constexpr (std::is_integral_v<T> || std::is_same_v<T, __nv_fp8_e4m3>) to[i] = static_cast<T>(v);
        else to[i] = rose::from_float<T>(v);
    }
}

// Weights that int8 represents exactly: integers up to 127, with ±127 in every row, times a power of two per row.
constexpr float INTEGER_DEVIATION = 40;

template <class T>
__global__ void fill_integers_kernel(T* to, size_t count, int columns, float unit, uint64_t seed) {
    for (size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
        const int row = static_cast<int>(i / columns), column = static_cast<int>(i % columns);
        float q = fminf(fmaxf(rintf(INTEGER_DEVIATION * random_normal(seed, i)), -127.f), 127.f);
        if (column == row % columns) q = row % 2 == 0 ? 127.f : -127.f;
        to[i] = rose::from_float<T>(q * unit * (row % 3 == 0 ? 2.f : 1.f));
    }
}

template <class T>
DeviceArray<T> random_array(size_t count, uint64_t seed, float mean = 0, float deviation = 1) {
    DeviceArray<T> array(count);
    fill_random_kernel<<<1024, 256>>>(array.get(), count, mean, deviation, seed);
    CHECK_CUDA(cudaDeviceSynchronize());
    return array;
}

inline int ceil_div(int a, int b) { return (a + b - 1) / b; }
inline int round_up(int a, int b) { return ceil_div(a, b) * b; }
