#pragma once
// Workloads for time.cu: batches of rows over a filled KV pool, replayed as CUDA graphs.
#include <cstring>
#include <functional>
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

// Returns rows of `context` tokens, the last `news` of them new, over scattered blocks.
inline Batch make_batch(int rows, int context, int news) {
    std::mt19937 random(3);
    const int perRow = ceil_div(context, 16);
    std::vector<int> order(rows * perRow);
    for (size_t i = 0; i < order.size(); i++) order[i] = static_cast<int>(i) + 1;
    std::shuffle(order.begin(), order.end(), random);
    Batch batch;
    for (int r = 0; r < rows; r++) {
        std::vector<int> ids(context), list(order.begin() + r * perRow, order.begin() + (r + 1) * perRow);
        for (int& id : ids) id = static_cast<int>(random() % 49152);  // valid in every vocabulary timed here
        batch.addRow(ids, context - news, context, list, 16);
    }
    return batch;
}

template <class E>
void fill_pool(Runner<E>& runner) {
    auto fill = [&](auto* to) { fill_random_kernel<<<2048, 256>>>(to, runner.pool.size() / sizeof(*to), 0.f, 1.f, 99); };
    if (runner.model().shape.fp8) fill(reinterpret_cast<__nv_fp8_e4m3*>(runner.pool.get()));
    else fill(reinterpret_cast<E*>(runner.pool.get()));
    CHECK_CUDA(cudaDeviceSynchronize());
}

// The rows of a timed step: decode rows at context 132 or at the one after `@`, or, as ROWSxLENGTH, whole prompts.
struct Load {
    int rows, context, news;

    explicit Load(const char* text) : rows(std::atoi(text)), context(132), news(1) {
        if (const char* cross = std::strchr(text, 'x')) news = context = std::atoi(cross + 1);
        if (const char* at = std::strchr(text, '@')) context = std::atoi(at + 1);
    }
    bool decodes() const { return news == 1; }
    int tokens() const { return rows * news; }
    int blocks() const { return rows * ceil_div(context, 16) + 1; }
    Batch batch() const { return make_batch(rows, context, news); }
    std::string text() const { return std::to_string(rows) + (decodes() ? " rows" : " x " + std::to_string(context)); }
};
