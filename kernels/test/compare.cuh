#pragma once
// Shared by the checks: comparisons that count failures, the reference forward pass over whole sequences, and a prepared step.
// The step's past is in a KV pool otherwise filled with NaN.
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include "../include/panel.cuh"
#include "model.cuh"
#include "reference.cuh"

static int failures = 0;
static int comparisons = 0;

static void report(bool passed, const std::string& what, const std::string& detail) {
    comparisons++;
    if (passed) return;
    failures++;
    if (failures <= 40) std::printf("FAILED  %s: %s\n", what.c_str(), detail.c_str());
}

// ‖seen − wanted‖ / ‖wanted‖; NaN never passes.
static void compare(const std::string& what, const std::vector<float>& seen, const std::vector<float>& wanted, double tolerance) {
    double difference = 0, norm = 1e-30;
    for (size_t i = 0; i < wanted.size(); i++) {
        double d = static_cast<double>(seen[i]) - wanted[i];
        difference += d * d;
        norm += static_cast<double>(wanted[i]) * wanted[i];
    }
    double error = std::sqrt(difference / norm);
    report(error <= tolerance, what, "relative error " + std::to_string(error) + ", allowed " + std::to_string(tolerance));
}

template <class T>
constexpr double TOLERANCE = sizeof(T) == 4                 ? 2e-5
                             : std::is_same_v<T, rose::f16> ? 2e-3
                                                            : 1.5e-2;

// A KV pool on the host, of any element type.
template <class T>
struct HostPool {
    bool fp8;
    std::vector<uint8_t> bytes;

    float get(size_t i) const { return fp8 ? static_cast<float>(at<__nv_fp8_e4m3>(i)) : rose::to_float(at<T>(i)); }
    void set(size_t i, float v) {
        if (fp8) at<__nv_fp8_e4m3>(i) = __nv_fp8_e4m3(v);
        else at<T>(i) = T(v);
    }

private:
    template <class E>
    const E& at(size_t i) const {
        return reinterpret_cast<const E*>(bytes.data())[i];
    }
    template <class E>
    E& at(size_t i) {
        return reinterpret_cast<E*>(bytes.data())[i];
    }
};

// Tolerance of fp8 keys and values: rounding to T first may select the neighboring fp8 value.
template <class T>
constexpr double FP8_TOLERANCE = sizeof(T) == 4                 ? 1e-3
                                 : std::is_same_v<T, rose::f16> ? 1.2e-2
                                                                : 4e-2;

// The reference forward pass over concatenated sequences; keeps the intermediate results of the last layer.
template <class T>
struct Reference {
    int total = 0;
    std::vector<int> rowStart{0};
    DeviceArray<float> embedded, qkv, attended, afterAttention, hidden, x, normed;

    Reference(const Model<T>& model, const std::vector<std::vector<int>>& sequences) : model_(model) {
        const Shape& s = model.shape;
        std::vector<int> ids, positions, rowOf;
        for (size_t r = 0; r < sequences.size(); r++) {
            for (size_t i = 0; i < sequences[r].size(); i++) {
                ids.push_back(sequences[r][i]);
                positions.push_back(static_cast<int>(i));
                rowOf.push_back(static_cast<int>(r));
            }
            rowStart.push_back(static_cast<int>(ids.size()));
        }
        total = static_cast<int>(ids.size());
        const int width = s.width;
        auto floats = [&](size_t columns) { return DeviceArray<float>(total * columns); };
        embedded = floats(width), qkv = floats(s.qkv()), attended = floats(s.heads * s.headSize), afterAttention = floats(width);
        hidden = floats(s.inner), x = floats(width), normed = floats(width);
        DeviceArray<float> residual = floats(width), gates = floats(s.gated ? 2 * s.inner : 0);
        DeviceArray<int> dIds(ids), dPositions(positions), dRowOf(rowOf), dStart(rowStart);
        auto matmul = [&](DeviceArray<float>& y, const DeviceArray<float>& a, const Projection<T>& p, const float* add,
                          int kind) { multiply(y.get(), a.get(), p, add, kind, total); };
        reference::embed<<<total, 128>>>(embedded.get(), dIds.get(), dPositions.get(), model.tokens.get(), model.places.get(),
                                         width);
        const float* stream = embedded.get();
        auto norm = [&](const float* from, const Norm<T>& n) {
            reference::norm<<<total, 128>>>(normed.get(), from, n.weight.get(), n.bias.get(), width, 1e-5f);
        };
        for (const auto& layer : model.layers) {
            norm(stream, layer.norm1);
            matmul(qkv, normed, layer.qkv, nullptr, -1);
            reference::norm_rope_heads<<<dim3(total, s.heads + s.kvHeadCount()), 1>>>(
                qkv.get(), dPositions.get(), s.qkv(), s.heads, s.headSize, s.rotarySize, layer.queryNormWeight.get(),
                layer.keyNormWeight.get(), 1e-5f);
            if (s.fp8) reference::round_keys<<<total, 128>>>(qkv.get(), s.qkv(), s.heads * s.headSize);
            reference::attention<<<dim3(total, s.heads), 64, s.positions * 4>>>(attended.get(), qkv.get(), dRowOf.get(),
                                                                                dStart.get(), s.heads, s.kvHeadCount(),
                                                                                s.headSize, s.window, 1 / sqrtf(s.headSize));
            matmul(afterAttention, attended, layer.attentionOut, stream, -1);
            norm(afterAttention.get(), layer.norm2);
            matmul(s.gated ? gates : hidden, normed, layer.mlpIn, nullptr, s.gated ? -1 : s.activation);
            if (s.gated) reference::gate<<<total, 128>>>(hidden.get(), gates.get(), s.inner, s.activation);
            matmul(x, hidden, layer.mlpOut, afterAttention.get(), -1);
            CHECK_CUDA(cudaMemcpy(residual.get(), x.get(), x.size() * 4, cudaMemcpyDeviceToDevice));
            stream = residual.get();
        }
        norm(x.get(), model.finalNorm);
        CHECK_CUDA(cudaDeviceSynchronize());
        CHECK_CUDA(cudaGetLastError());
    }

    // Returns the rows of `tokens` in an array.
    std::vector<float> rows(const DeviceArray<float>& array, const std::vector<int>& tokens) const {
        return pick(array, tokens).download();
    }

    std::vector<float> logits(const std::vector<int>& tokens) const {
        DeviceArray<float> a = pick(normed, tokens);
        DeviceArray<float> y(tokens.size() * model_.shape.vocabulary);
        if (!tokens.empty()) multiply(y.get(), a.get(), model_.head, nullptr, -1, static_cast<int>(tokens.size()));
        return y.download();
    }

private:
    static void multiply(float* y, const float* a, const Projection<T>& p, const float* add, int kind, int rows) {
        reference::matmul<<<dim3(ceil_div(p.n, 128), rows), 128>>>(y, a, p.weights.get(), p.kMajor, p.bias.get(), add, p.k, p.n,
                                                                   kind);
    }

    DeviceArray<float> pick(const DeviceArray<float>& array, const std::vector<int>& tokens) const {
        size_t columns = array.size() / total;
        DeviceArray<float> picked(tokens.size() * columns);
        for (size_t i = 0; i < tokens.size(); i++) {
            CHECK_CUDA(cudaMemcpyAsync(picked.get() + i * columns, array.get() + tokens[i] * columns, columns * 4,
                                       cudaMemcpyDeviceToDevice));
        }
        return picked;
    }

    const Model<T>& model_;
};

template <class T>
static std::vector<float> from_panels(const DeviceArray<T>& panels, int rows, int columns, int panelRows) {
    std::vector<T> host = panels.download();
    std::vector<float> plain;
    for (int m = 0; m < rows; m++) {
        for (int c = 0; c < columns; c++) plain.push_back(rose::to_float(*rose::panel_at(host.data(), m, c, panelRows)));
    }
    return plain;
}

// Removes the padding of heads (keeps `size` of every `pad` columns) and of rows.
template <class U>
static std::vector<float> unpad(const std::vector<U>& padded, int rows, int stride, int groups, int size, int pad) {
    std::vector<float> plain;
    for (int m = 0; m < rows; m++) {
        for (int g = 0; g < groups; g++) {
            for (int d = 0; d < size; d++) plain.push_back(rose::to_float(padded[static_cast<size_t>(m) * stride + g * pad + d]));
        }
    }
    return plain;
}

static std::vector<std::vector<int>> random_sequences(const std::vector<int>& lengths, int vocabulary, std::mt19937& random) {
    std::vector<std::vector<int>> sequences;
    for (int length : lengths) {
        sequences.emplace_back();
        for (int i = 0; i < length; i++) sequences.back().push_back(static_cast<int>(random() % vocabulary));
    }
    return sequences;
}

// Returns the blocks of each sequence, scattered over the pool; block 0 stays free for padding rows.
static std::vector<std::vector<int>> scatter_blocks(const std::vector<std::vector<int>>& sequences, int blockSize, int& blocks,
                                                    std::mt19937& random) {
    blocks = 1;
    for (const auto& s : sequences) blocks += ceil_div(static_cast<int>(s.size()), blockSize);
    std::vector<int> order(blocks - 1);
    std::iota(order.begin(), order.end(), 1);
    std::shuffle(order.begin(), order.end(), random);
    std::vector<std::vector<int>> lists;
    size_t next = 0;
    for (const auto& s : sequences) {
        lists.emplace_back();
        for (int i = 0; i < ceil_div(static_cast<int>(s.size()), blockSize); i++) lists.back().push_back(order[next++]);
    }
    return lists;
}

// A step over a one-layer model: row r has lengths[r] tokens, the last news[r] of them new. The pool has the past, written from
// the reference; every other slot is NaN. If `split`, each new token is a row.
template <class T>
struct Case {
    const Model<T>& model;
    int blockSize, blocks = 0;
    std::mt19937 random;
    std::vector<std::vector<int>> sequences, lists;
    Reference<T> wanted;
    Batch batch;
    std::vector<int> tokens, sampleTokens;  // of the step, as reference indices
    std::vector<float> qkv, logits;
    HostPool<T> pool;

    Case(const Model<T>& m, int blockSize, const std::vector<int>& lengths, const std::vector<int>& news, bool split = false)
        : model(m),
          blockSize(blockSize),
          random(static_cast<unsigned>(lengths.size() * 131 + lengths[0])),
          sequences(random_sequences(lengths, m.shape.vocabulary, random)),
          lists(scatter_blocks(sequences, blockSize, blocks, random)),
          wanted(m, sequences) {
        batch.step = 7;
        for (size_t r = 0; r < sequences.size(); r++) {
            const int from = lengths[r] - news[r], middle = from + news[r] / 2;
            for (int i = from; i < lengths[r]; i++) tokens.push_back(wanted.rowStart[r] + i);
            if (split) {
                batch.addDecodeRows(sequences[r], from, lengths[r], lists[r], blockSize);
                for (int i = from; i < lengths[r]; i++) sampleTokens.push_back(wanted.rowStart[r] + i);
                continue;
            }
            batch.addRow(sequences[r], from, lengths[r], lists[r], blockSize, middle);
            if (middle < lengths[r] - 1) sampleTokens.push_back(wanted.rowStart[r] + middle);
            if (news[r] > 0) sampleTokens.push_back(tokens.back());
        }
        qkv = wanted.rows(wanted.qkv, tokens);
        logits = wanted.logits(sampleTokens);
        fillPool(lengths, news);
    }

    // Pool index of dimension 0 of a head's key or value.
    size_t at(int slot, int head, int isValue) const {
        const Shape& s = model.shape;
        size_t heads = s.kvHeadCount();
        size_t place = ((slot / blockSize * heads + head) * 2 + isValue) * blockSize + slot % blockSize;
        return place * s.headPad();
    }

private:
    void fillPool(const std::vector<int>& lengths, const std::vector<int>& news) {
        const Shape& s = model.shape;
        const size_t elements = static_cast<size_t>(blocks) * s.kvWidth() * 2 * blockSize;
        pool = {s.fp8, std::vector<uint8_t>(elements * (s.fp8 ? 1 : sizeof(T)), 0xff)};  // NaN in every type
        const std::vector<float> all = wanted.qkv.download();
        for (size_t r = 0; r < sequences.size(); r++) {
            for (int i = 0; i < lengths[r] - news[r]; i++) {
                int slot = lists[r][i / blockSize] * blockSize + i % blockSize;
                const float* from = &all[static_cast<size_t>(wanted.rowStart[r] + i) * s.qkv() + s.heads * s.headSize];
                for (int h = 0; h < 2 * s.kvHeadCount(); h++) {
                    const bool isValue = h >= s.kvHeadCount();
                    const size_t to = at(slot, h % s.kvHeadCount(), isValue);
                    for (int d = 0; d < s.headPad(); d++) {
                        pool.set(to + (isValue ? d : s.packed(d)), d < s.headSize ? from[h * s.headSize + d] : 0.f);
                    }
                }
            }
        }
    }
};
