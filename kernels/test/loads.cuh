#pragma once
// Workloads for time.cu: batches of rows over a filled KV pool, replayed as CUDA graphs.
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include "model.cuh"

constexpr double COPY_BYTES_PER_MICRO = 4.3e6;  // read + written, by device-to-device copy

// A captured graph, replayed between two events.
class TimedGraph {
public:
    TimedGraph(Kernels& kernels, const std::function<void()>& work) : kernels_(kernels) {
        CHECK_CUDA(cudaStreamBeginCapture(kernels.stream(), cudaStreamCaptureModeGlobal));
        work();
        CHECK_CUDA(cudaStreamEndCapture(kernels.stream(), &graph_));
        CHECK_CUDA(cudaGraphInstantiate(&executable_, graph_, 0));
        CHECK_CUDA(cudaEventCreate(&from_));
        CHECK_CUDA(cudaEventCreate(&to_));
    }
    TimedGraph(const TimedGraph&) = delete;
    ~TimedGraph() {
        cudaGraphExecDestroy(executable_);
        cudaGraphDestroy(graph_);
        cudaEventDestroy(from_);
        cudaEventDestroy(to_);
    }

    // Returns microseconds per replay, over `replays` in a row.
    double micros(int replays) {
        CHECK_CUDA(cudaEventRecord(from_, kernels_.stream()));
        for (int i = 0; i < replays; i++) CHECK_CUDA(cudaGraphLaunch(executable_, kernels_.stream()));
        CHECK_CUDA(cudaEventRecord(to_, kernels_.stream()));
        kernels_.wait();
        float millis;
        CHECK_CUDA(cudaEventElapsedTime(&millis, from_, to_));
        return millis * 1000 / replays;
    }

private:
    Kernels& kernels_;
    cudaGraph_t graph_;
    cudaGraphExec_t executable_;
    cudaEvent_t from_, to_;
};

inline double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

inline double median_micros(Kernels& kernels, const std::function<void()>& work, int repeats = 21, int inner = 4) {
    TimedGraph graph(kernels, work);
    for (int i = 0; i < 3; i++) graph.micros(inner);
    std::vector<double> micros;
    for (int i = 0; i < repeats; i++) micros.push_back(graph.micros(inner));
    return median(micros);
}

// Returns rows of these many tokens, the last `news` of each new, over scattered blocks.
inline Batch make_batch(const std::vector<int>& contexts, int news) {
    std::mt19937 random(3);
    int blocks = 0;
    for (int context : contexts) blocks += ceil_div(context, 16);
    std::vector<int> order(blocks);
    for (size_t i = 0; i < order.size(); i++) order[i] = static_cast<int>(i) + 1;
    std::shuffle(order.begin(), order.end(), random);
    Batch batch;
    auto next = order.begin();
    for (int context : contexts) {
        std::vector<int> ids(context), list(next, next + ceil_div(context, 16));
        next += ceil_div(context, 16);
        for (int& id : ids) id = static_cast<int>(random() % 49152);  // valid in every vocabulary timed here
        batch.addRow(ids, context - news, context, list, 16);
    }
    return batch;
}

inline Batch make_batch(int rows, int context, int news) { return make_batch(std::vector<int>(rows, context), news); }

template <class E>
void fill_pool(Runner<E>& runner) {
    auto fill = [&](auto* to) { fill_random_kernel<<<2048, 256>>>(to, runner.pool.size() / sizeof(*to), 0.f, 1.f, 99); };
    if (runner.model().shape.fp8) fill(reinterpret_cast<__nv_fp8_e4m3*>(runner.pool.get()));
    else fill(reinterpret_cast<E*>(runner.pool.get()));
    CHECK_CUDA(cudaDeviceSynchronize());
}

// The rows of a timed step: decode rows at context 132 or at the one after `@`; or, as ROWSxLENGTH, whole prompts. Decode rows of
// several contexts are separated by commas; ROWS@FIRST..LAST spreads contexts evenly, in order, and ROWS@FIRST~LAST in any.
struct Load {
    int rows = 0, context = 132, news = 1;
    std::vector<int> contexts;

    explicit Load(const char* text) : text_(text) {
        for (const char* part = text; part != nullptr; part = std::strchr(part, ',')) {
            if (*part == ',') part++;
            const int count = std::atoi(part);
            if (const char* cross = std::strchr(part, 'x')) news = context = std::atoi(cross + 1);
            const char* at = std::strchr(part, '@');
            if (at != nullptr) context = std::atoi(at + 1);
            int last = context;
            const size_t length = at != nullptr ? std::strcspn(at, ",.~") : 0;
            const bool shuffled = at != nullptr && at[length] == '~';
            if (at != nullptr && at[length] == '.') last = std::atoi(at + length + 2);
            if (shuffled) last = std::atoi(at + length + 1);
            for (int i = 0; i < count; i++) contexts.push_back(context + (last - context) * i / std::max(count - 1, 1));
            if (shuffled) std::shuffle(contexts.end() - count, contexts.end(), std::mt19937(5));
        }
        rows = static_cast<int>(contexts.size());
    }
    bool decodes() const { return news == 1; }
    int tokens() const { return rows * news; }
    int blocks() const {
        int sum = 1;
        for (int context : contexts) sum += ceil_div(context, 16);
        return sum;
    }
    double positions() const { return std::accumulate(contexts.begin(), contexts.end(), 0.); }
    Batch batch() const { return make_batch(contexts, news); }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};
