#pragma once
// A model with random weights on the device, in checkpoint layout for the reference and packed for the kernels, and the launches
// of a step. It does what a runtime has to do; README.md describes it.
#include "plan.cuh"

template <class T>
struct TypeName;
template <>
struct TypeName<float> {
    static constexpr const char* value = "f32";
    static constexpr int element = rose::FLOAT32;
};
template <>
struct TypeName<rose::f16> {
    static constexpr const char* value = "f16";
    static constexpr int element = rose::FLOAT16;
};
template <>
struct TypeName<rose::bf16> {
    static constexpr const char* value = "bf16";
    static constexpr int element = rose::BFLOAT16;
};

// One projection: checkpoint tensors and packed weights.
template <class T>
struct Projection {
    int k, n, paddedK, paddedN;
    bool kMajor;
    DeviceArray<T> weights, bias;
    DeviceArray<T> panels;
    DeviceArray<float> foldedBias, columnSums;
    DeviceArray<uint32_t> words;  // int8 weights, in place of panels
    DeviceArray<float> scales;
};

// `bias` is empty if the norm has none.
template <class T>
struct Norm {
    DeviceArray<T> weight, bias;
    DeviceArray<float> normWeights;  // padded, if not folded into the next matrix
};

struct Shape {
    int layers, width, heads, headSize, inner, vocabulary, positions;
    int activation = rose::GELU_TANH;
    // Features beyond GPT-2's block.
    int kvHeads = 0;  // 0: as many as query heads
    bool rms = false;
    bool gated = false;
    int rotarySize = 0;      // rotated elements per head; 0: learned positions
    bool headNorms = false;  // QK norm
    bool biases = true;
    int window = INT_MAX;
    bool int8 = false;  // int8 weights, activations of type T
    bool fp8 = false;   // fp8 KV cache

    int kvHeadCount() const { return kvHeads == 0 ? heads : kvHeads; }
    bool plainAttention() const { return rotarySize == 0 && kvHeadCount() == heads && !headNorms; }
    int headPad() const { return round_up(headSize, 16); }
    int attention() const { return heads * headPad(); }
    int kvWidth() const { return kvHeadCount() * headPad(); }
    int qkv() const { return (heads + 2 * kvHeadCount()) * headSize; }  // unpadded
    int stride() const { return round_up(width, 128); }
    int paddedAttention() const { return round_up(attention(), 128); }
    int paddedInner() const { return round_up(inner, 128); }
    // Weights in a layer's matrices, in whole millions.
    int millions() const {
        const double attention = static_cast<double>(width) * (qkv() + heads * headSize);
        return static_cast<int>((attention + static_cast<double>(width) * inner * (gated ? 3 : 2)) / 1e6);
    }
    float queryScale() const { return 1.4426950409f / sqrtf(static_cast<float>(headSize)); }

    // Packed index of element d of a query or key head: rotated pairs are adjacent.
    int packed(int d) const {
        const int half = rotarySize / 2;
        return d < half ? 2 * d : d < rotarySize ? 2 * (d - half) + 1 : d;
    }
};

// The shape of the published measurements: 124M parameters, head size 64.
inline Shape measured_shape(int layers = 12) { return {layers, 768, 12, 64, 3072, 50257, 1024}; }

// A block with RMS norm, full RoPE and a gated MLP.
inline Shape gated_shape(int layers, int width, int heads, int kvHeads, int headSize, int inner, int vocabulary, int positions) {
    Shape s{layers, width, heads, headSize, inner, vocabulary, positions, rose::SILU};
    s.kvHeads = kvHeads, s.rms = s.gated = true, s.rotarySize = headSize, s.biases = false;
    return s;
}

// Cosines and sines, [position][headPad], at the indices of a packed head's pairs; 1 and 0 for unrotated elements.
inline std::vector<float> rope_table(const Shape& s) {
    std::vector<float> table(static_cast<size_t>(s.positions) * s.headPad());
    for (size_t i = 0; i < table.size(); i += 2) {
        const int pair = static_cast<int>(i) % s.headPad() / 2;
        const int position = static_cast<int>(i) / s.headPad();
        const bool rotated = pair < s.rotarySize / 2;
        const double angle = rotated ? position * std::pow(10000., -2. * pair / s.rotarySize) : 0;
        table[i] = static_cast<float>(std::cos(angle)), table[i + 1] = static_cast<float>(std::sin(angle));
    }
    return table;
}

template <class T>
struct Model {
    struct Layer {
        Norm<T> norm1, norm2;
        Projection<T> qkv, attentionOut, mlpIn, mlpOut;
        DeviceArray<T> queryNormWeight, keyNormWeight;  // per head element
        DeviceArray<float> headNormWeights;             // the same, in rope's order
    };
    Shape shape;
    std::vector<Layer> layers;
    DeviceArray<T> tokens, places;
    DeviceArray<int8_t> tokenBytes;
    DeviceArray<float> tokenScales;
    DeviceArray<float> ropeTable;
    Norm<T> finalNorm;
    Projection<T> head;

    Model(Kernels& kernels, const Shape& s) : shape(s) {
        uint64_t seed = 1;
        auto norm = [&](int width) {
            Norm<T> n{random_array<T>(width, seed++, 1.f, .1f), {}, {}};
            if (s.int8) {
                std::vector<float> normWeights(round_up(width, 128));
                const std::vector<T> stored = n.weight.download();
                for (int i = 0; i < width; i++) normWeights[i] = rose::to_float(stored[i]);
                n.normWeights = DeviceArray<float>(normWeights);
            }
            if (!s.rms) n.bias = random_array<T>(width, seed++, 0.f, .1f);
            return n;
        };
        tokens = random_weights(s.vocabulary, s.width, seed++, .5f);
        if (s.int8) quantise_tokens(kernels);
        if (s.rotarySize == 0) places = random_array<T>(static_cast<size_t>(s.positions) * s.width, seed++, 0, .5f);
        else ropeTable = DeviceArray<float>(rope_table(s));
        finalNorm = norm(s.width);
        for (int i = 0; i < s.layers; i++) {
            Layer layer{norm(s.width), norm(s.width), {}, {}, {}, {}, {}, {}, {}};
            layer.qkv = project(kernels, s.width, s.qkv(), &layer.norm1, seed, QKV);
            layer.attentionOut = project(kernels, s.heads * s.headSize, s.width, nullptr, seed, ATTENDED);
            layer.mlpIn = project(kernels, s.width, s.gated ? 2 * s.inner : s.inner, &layer.norm2, seed, s.gated ? GATED : PLAIN);
            layer.mlpOut = project(kernels, s.inner, s.width, nullptr, seed, PLAIN);
            if (s.headNorms) {
                layer.queryNormWeight = random_array<T>(s.headSize, seed++, 1.f, .3f);
                layer.keyNormWeight = random_array<T>(s.headSize, seed++, 1.f, .3f);
                layer.headNormWeights =
                    DeviceArray<float>(packed_norm_weights(layer.queryNormWeight.download(), layer.keyNormWeight.download()));
            }
            layers.push_back(std::move(layer));
        }
        head = project(kernels, s.width, s.vocabulary, &finalNorm, seed, HEAD);
    }

private:
    // Structure of a matrix: query, key and value heads on the n axis; heads on the k axis; gate and up on the n axis; or none.
    // HEAD is stored [n][k] and has no bias.
    enum Kind { PLAIN, QKV, ATTENDED, GATED, HEAD };

    std::vector<float> packed_norm_weights(const std::vector<T>& queries, const std::vector<T>& keys) const {
        const int pad = shape.headPad();
        std::vector<float> normWeights(2 * pad);
        for (int d = 0; d < shape.headSize; d++) {
            normWeights[shape.packed(d)] = rose::to_float(queries[d]);
            normWeights[pad + shape.packed(d)] = rose::to_float(keys[d]);
        }
        return normWeights;
    }

    // Returns the output of each packed row, or -1.
    std::vector<int> order(Kind kind, int n, int paddedN) const {
        std::vector<int> rows(paddedN, -1);
        for (int i = 0; i < n; i++) {
            int at = i;
            if (kind == QKV) {
                const int head = i / shape.headSize, d = i % shape.headSize;
                const bool rotates = head < shape.heads + shape.kvHeadCount();
                at = head * shape.headPad() + (rotates ? shape.packed(d) : d);
            }
            if (kind == GATED) at = i < shape.inner ? 2 * i : 2 * (i - shape.inner) + 1;
            rows[at] = i;
        }
        return rows;
    }

    Projection<T> project(Kernels& kernels, int k, int n, const Norm<T>* norm, uint64_t& seed, Kind kind) {
        Projection<T> p;
        p.k = k, p.n = n, p.kMajor = kind != HEAD && !shape.rms;
        p.paddedN = round_up(kind == QKV ? shape.attention() + 2 * shape.kvWidth() : n, 128);
        p.paddedK = round_up(kind == ATTENDED ? shape.attention() : k, 128);
        p.weights = random_weights(n, k, seed++, .7f / sqrtf(static_cast<float>(k)));
        if (kind != HEAD && shape.biases) p.bias = random_array<T>(n, seed++, 0, .05f);
        if (shape.int8) {
            p.words = DeviceArray<uint32_t>(static_cast<size_t>(p.paddedK) * p.paddedN / 4);
            p.scales = DeviceArray<float>(p.paddedN);
        } else {
            p.panels = DeviceArray<T>(static_cast<size_t>(p.paddedK) * p.paddedN);
            p.columnSums = DeviceArray<float>(p.paddedN);
        }
        const std::vector<int> rows = order(kind, n, p.paddedN);
        p.foldedBias = DeviceArray<float>(packed_bias(p, rows));
        // Row-major matrices are packed in two parts, as if they were two tensors.
        const int border = p.kMajor ? n : n / 3;
        pack(kernels, p, norm, kind, rows, 0, border);
        if (border < n) pack(kernels, p, norm, kind, rows, border, n);
        if (!shape.rms) {
            kernels("column_sums_" + std::string(TypeName<T>::value), {grid(32ull * p.paddedN), 256, 0, 1, false},
                    static_cast<const T*>(p.panels.get()), p.paddedN, p.paddedK, p.columnSums.get());
        }
        kernels.wait();
        return p;
    }

    // Returns random weights; for int8, values that it represents exactly (see INTEGER_DEVIATION).
    DeviceArray<T> random_weights(int rows, int columns, uint64_t seed, float deviation) const {
        const size_t count = static_cast<size_t>(rows) * columns;
        if (!shape.int8) return random_array<T>(count, seed, 0, deviation);
        DeviceArray<T> array(count);
        const float unit = std::exp2(std::round(std::log2(deviation / INTEGER_DEVIATION)));
        fill_integers_kernel<<<1024, 256>>>(array.get(), count, columns, unit, seed);
        CHECK_CUDA(cudaDeviceSynchronize());
        return array;
    }

    void quantise_tokens(Kernels& kernels) {
        std::vector<int> rows(shape.vocabulary);
        for (int i = 0; i < shape.vocabulary; i++) rows[i] = i;
        const DeviceArray<int> order(rows);
        const int element = TypeName<T>::element, none = 0;
        tokenScales = DeviceArray<float>(shape.vocabulary);
        tokenBytes = DeviceArray<int8_t>(tokens.size());
        DeviceArray<float> inverses(shape.vocabulary);
        kernels("int8_scales", {grid(32ull * shape.vocabulary), 256, 0, 1, false}, static_cast<const T*>(tokens.get()), element,
                shape.width, shape.vocabulary, none, static_cast<const int*>(order.get()), tokenScales.get(), inverses.get(),
                shape.vocabulary);
        kernels("int8_table", {grid(tokens.size()), 256, 0, 1, false}, static_cast<const T*>(tokens.get()), element, shape.width,
                static_cast<const float*>(inverses.get()), tokenBytes.get(), tokens.size());
        kernels.wait();
    }

    static dim3 grid(size_t elements) { return dim3(static_cast<unsigned>((elements + 255) / 256)); }

    std::vector<float> packed_bias(const Projection<T>& p, const std::vector<int>& rows) const {
        std::vector<float> packed(p.paddedN);
        const std::vector<T> bias = p.bias.size() > 0 ? p.bias.download() : std::vector<T>(p.n, T(0.f));
        for (int i = 0; i < p.paddedN; i++) packed[i] = rows[i] < 0 ? 0.f : rose::to_float(bias[rows[i]]);
        return packed;
    }

    static DeviceArray<float> widened(const DeviceArray<T>& values) {
        std::vector<float> wide;
        for (T v : values.download()) wide.push_back(rose::to_float(v));
        return DeviceArray<float>(wide);
    }

    // Packs outputs from … to - 1 of a matrix, as a separate tensor.
    void pack(Kernels& kernels, const Projection<T>& p, const Norm<T>* norm, Kind kind, std::vector<int> rows, int from, int to) {
        for (int& row : rows) row = row >= from && row < to ? row - from : -1;
        const DeviceArray<int> order(rows);
        if (shape.int8) return pack_bytes(kernels, p, kind, order, from, to);
        const DeviceArray<float> weight = norm ? widened(norm->weight) : DeviceArray<float>();
        const DeviceArray<float> normBias = norm && !shape.rms ? widened(norm->bias) : DeviceArray<float>();
        const void* weights = p.weights.get() + (p.kMajor ? 0 : static_cast<size_t>(from) * p.k);
        const int element = TypeName<T>::element;
        const bool heads = kind == ATTENDED;
        kernels("pack_" + std::string(TypeName<T>::value), {grid(p.panels.size()), 256, 0, 1, false}, weights, element, p.k,
                to - from, static_cast<int>(p.kMajor), static_cast<const float*>(weight.get()),
                static_cast<const int*>(order.get()), heads ? shape.headSize : 1, heads ? shape.headPad() : 1, p.panels.get(),
                p.paddedN, p.paddedK);
        if (normBias.get() != nullptr) {
            kernels("fold_bias", {grid(32ull * p.paddedN), 256, 0, 1, false}, weights, element, p.k, to - from,
                    static_cast<int>(p.kMajor), static_cast<const float*>(normBias.get()), static_cast<const int*>(order.get()),
                    p.foldedBias.get(), p.paddedN);
        }
        kernels.wait();
    }

    void pack_bytes(Kernels& kernels, const Projection<T>& p, Kind kind, const DeviceArray<int>& order, int from, int to) {
        const T* weights = p.weights.get() + static_cast<size_t>(from) * p.k;
        const int element = TypeName<T>::element, none = 0;
        const bool heads = kind == ATTENDED;
        DeviceArray<float> inverses(p.paddedN);
        kernels("int8_scales", {grid(32ull * p.paddedN), 256, 0, 1, false}, weights, element, p.k, to - from, none,
                static_cast<const int*>(order.get()), p.scales.get(), inverses.get(), p.paddedN);
        kernels("pack_int8", {grid(p.words.size()), 256, 0, 1, false}, weights, element, p.k, to - from, none,
                static_cast<const int*>(order.get()), heads ? shape.headSize : 1, heads ? shape.headPad() : 1,
                static_cast<const float*>(inverses.get()), p.words.get(), p.paddedN, p.paddedK);
        kernels.wait();
    }
};

// One step's inputs, as in io.roseinfer.backend.StepInputs.
struct Batch {
    std::vector<int> tokenIds, positions, slots, rowStarts{0}, contextLengths, blockStarts{0}, blocks, sampleTokens;
    int step = 0;

    int tokens() const { return static_cast<int>(tokenIds.size()); }
    int rows() const { return static_cast<int>(contextLengths.size()); }
    int samples() const { return static_cast<int>(sampleTokens.size()); }

    // Returns the rows by descending context, as the engine orders them.
    std::vector<int> rowOrder() const {
        std::vector<int> order(rows());
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return contextLengths[a] > contextLengths[b]; });
        return order;
    }

    // Adds a row with tokens ids[from … to) of a sequence whose block table is `list`. It is sampled after its last token, and after
    // token `middle` if that is an earlier one.
    void addRow(const std::vector<int>& ids, int from, int to, const std::vector<int>& list, int blockSize, int middle = -1) {
        for (int i = from; i < to; i++) {
            tokenIds.push_back(ids[i]);
            positions.push_back(i);
            slots.push_back(list[i / blockSize] * blockSize + i % blockSize);
        }
        rowStarts.push_back(tokens());
        contextLengths.push_back(to);
        blocks.insert(blocks.end(), list.begin(), list.begin() + ceil_div(to, blockSize));
        blockStarts.push_back(static_cast<int>(blocks.size()));
        if (middle >= from && middle < to - 1) sampleTokens.push_back(tokens() - (to - middle));
        if (to > from) sampleTokens.push_back(tokens() - 1);
    }

    // Adds each token as a row of its own; these rows share a block table. Each is sampled.
    void addDecodeRows(const std::vector<int>& ids, int from, int to, const std::vector<int>& list, int blockSize) {
        const int start = blockStarts.back();
        for (int i = from; i < to; i++) {
            tokenIds.push_back(ids[i]);
            positions.push_back(i);
            slots.push_back(list[i / blockSize] * blockSize + i % blockSize);
            rowStarts.push_back(tokens());
            contextLengths.push_back(i + 1);
            blockStarts.push_back(start);
            sampleTokens.push_back(tokens() - 1);
        }
        blocks.insert(blocks.end(), list.begin(), list.begin() + ceil_div(to, blockSize));
        blockStarts.back() = static_cast<int>(blocks.size());
    }

    // Adds a padding row of a graph's bucket: it stores nothing, and its output is ignored.
    void addPadding() {
        tokenIds.push_back(0);
        positions.push_back(0);
        slots.push_back(-1);
        rowStarts.push_back(tokens());
        contextLengths.push_back(0);
        blockStarts.push_back(static_cast<int>(blocks.size()));
        sampleTokens.push_back(tokens() - 1);
    }
};

// A runner's device memory: step inputs, KV pool and scratch, allocated once. `maxRows` also bounds the samples.
template <class T>
class Runner {
public:
    Runner(Kernels& kernels, const Model<T>& model, int maxTokens, int maxRows, int blockSize, int kvBlocks, bool logits)
        : kernels_(kernels), model_(model), blockSize_(blockSize), panelRows_(round_up(maxTokens, 8)),
          sampledRows_(std::min(round_up(maxRows, 8), panelRows_)) {
        const Shape& s = model.shape;
        inputs_ = DeviceArray<int>(16 + 3 * maxTokens + 6 * maxRows + static_cast<size_t>(maxRows) * s.positions);
        layerBytes_ = static_cast<size_t>(kvBlocks) * s.kvWidth() * 2 * blockSize * (s.fp8 ? 1 : sizeof(T));
        pool = DeviceArray<uint8_t>(layerBytes_ * s.layers);
        if (sizeof(T) == 2 && (s.headPad() == 64 || s.headPad() == 128)) {
            if (s.fp8) {
                std::vector<int> order(kvBlocks + maxRows);
                for (size_t i = 0; i < order.size(); i++) order[i] = static_cast<int>(i);
                widePages = DeviceArray<int>(order);
                wide = DeviceArray<T>::uncleared(order.size() * page_size());
                poolMap = DeviceArray<CUtensorMap>(pool_map(wide.get(), wide.size()));
            } else {
                poolMap = DeviceArray<CUtensorMap>(pool_map(pool.get(), pool.size() / sizeof(T)));
            }
        }
        x = DeviceArray<float>(static_cast<size_t>(panelRows_) * s.stride());
        xPanels = DeviceArray<T>(x.size());
        moments = DeviceArray<float2>::uncleared(static_cast<size_t>(panelRows_) * (s.stride() / 64));
        normalized = DeviceArray<T>(x.size());
        queries = DeviceArray<T>(static_cast<size_t>(panelRows_) * s.attention());
        for (int shift = 0; poolMap.get() != nullptr && s.heads / s.kvHeadCount() % (1 << shift) == 0 && shift < 4; shift++) {
            queryMaps.push_back(DeviceArray<CUtensorMap>(query_map(shift)));
        }
        if (s.headNorms) raw = DeviceArray<T>(static_cast<size_t>(panelRows_) * (s.attention() + s.kvWidth()));
        attended = DeviceArray<T>(static_cast<size_t>(panelRows_) * s.paddedAttention());
        sampledX = DeviceArray<float>(static_cast<size_t>(sampledRows_) * s.stride());
        sampledAttended = DeviceArray<T>(static_cast<size_t>(sampledRows_) * s.paddedAttention());
        hidden = DeviceArray<T>(static_cast<size_t>(panelRows_) * s.paddedInner());
        best = DeviceArray<unsigned long long>::uncleared(static_cast<size_t>(maxRows) * (model.head.paddedN / 64));
        sampled = DeviceArray<int>::uncleared(maxRows);
        tokenSlots = DeviceArray<unsigned long long>(maxRows);
        if (logits) this->logits = DeviceArray<float>(static_cast<size_t>(maxRows) * model.head.paddedN);
    }

    void upload(const Batch& b) {
        std::vector<int> packed{b.step};
        auto add = [&](const std::vector<int>& part) {
            size_t at = packed.size();
            packed.insert(packed.end(), part.begin(), part.end());
            return inputs_.get() + at;
        };
        tokens_ = b.tokens(), rows_ = b.rows(), samples_ = b.samples();
        tokenIds_ = add(b.tokenIds), positions_ = add(b.positions), slots_ = add(b.slots), rowStarts_ = add(b.rowStarts);
        contextLengths_ = add(b.contextLengths), blockStarts_ = add(b.blockStarts), sampleTokens_ = add(b.sampleTokens);
        rowOrder_ = add(b.rowOrder()), blocks_ = add(b.blocks);
        inputs_.upload(packed);
    }

    // The kernels of a step, in order; also used to time kernels one by one.
    void embed(const Plan& plan) {
        momentParts_ = 1;
        if (model_.shape.int8) {
            kernels_("embed_tokens_int8", {dim3(tokens_), 128, 0, 1, false}, in(tokenIds_), in(sampled.get()),
                     in(model_.tokenBytes.get()), in(model_.tokenScales.get()), x.get(), xPanels.get(), moments.get(),
                     in(model_.layers[0].norm1.normWeights.get()), model_.shape.width, model_.shape.stride(), panelRows_);
            return;
        }
        if (model_.shape.rotarySize > 0) {
            kernels_("embed_tokens_" + type(), {dim3(tokens_), 128, 0, 1, false}, in(tokenIds_), in(sampled.get()),
                     in(model_.tokens.get()), x.get(), plan.fusedNorm ? xPanels.get() : nullptr, moments.get(),
                     model_.shape.width, model_.shape.stride(), panelRows_);
            return;
        }
        kernels_("embed_" + type(), {dim3(tokens_), 128, 0, 1, false}, in(tokenIds_), in(positions_), in(sampled.get()),
                 in(model_.tokens.get()), in(model_.places.get()), x.get(), plan.fusedNorm ? xPanels.get() : nullptr,
                 moments.get(), model_.shape.width, model_.shape.stride(), panelRows_);
    }
    void qkv(const Plan& plan, int layer) {
        const Shape& s = model_.shape;
        const T* a = normalize(plan.fusedNorm, tokens(), nullptr, model_.layers[layer].norm1);
        uint8_t* kv = pool.get() + layer * layerBytes_;
        if (s.plainAttention()) {
            gemm("qkv", plan.qkv, model_.layers[layer].qkv, a, tokens(), plan.fusedNorm, queries.get(), kv, in(slots_),
                 s.attention(), s.headPad(), blockSize_, s.queryScale());
            return;
        }
        if (norms_in_gemm(plan)) {
            gemm(s.fp8 ? "qkv_norm_rope_fp8" : "qkv_norm_rope", plan.qkv, model_.layers[layer].qkv, a, tokens(), plan.fusedNorm,
                 queries.get(), kv, in(slots_), in(positions_), in(model_.ropeTable.get()), s.attention(), s.kvWidth(),
                 s.headPad(), blockSize_, s.queryScale(), in(model_.layers[layer].headNormWeights.get()), s.headSize, 1e-5f);
            return;
        }
        gemm(s.fp8 ? "qkv_rope_fp8" : "qkv_rope", plan.qkv, model_.layers[layer].qkv, a, tokens(), plan.fusedNorm, queries.get(),
             raw.get(), kv, in(slots_), in(positions_), in(model_.ropeTable.get()), s.attention(), s.kvWidth(), s.headPad(),
             blockSize_, s.queryScale());
        if (s.headNorms && plan.attention != Plan::DECODE_GQA_ROPE) {
            kernels_("rope_" + types(), {dim3(tokens_, ceil_div(s.heads + s.kvHeadCount(), 4)), 128}, in(raw.get()),
                     in(model_.layers[layer].headNormWeights.get()), queries.get(), kv, in(slots_), in(positions_),
                     in(model_.ropeTable.get()), s.attention(), s.kvWidth(), s.headSize, s.headPad(), blockSize_, s.queryScale(),
                     1e-5f);
        }
    }
    // Returns whether the QKV GEMM applies QK norm and RoPE.
    bool norms_in_gemm(const Plan& plan) const {
        const Shape& s = model_.shape;
        if (!s.headNorms || plan.qkv.prompt.empty() || plan.attention == Plan::DECODE_GQA_ROPE) return false;
        const Projection<T>& p = model_.layers[0].qkv;
        const PromptTile& tile = plan.qkv.prompt_tile(tokens_, p.paddedN, panels_of(p), kernels_.multiprocessors(), true);
        return tile.wholeHeads() && (s.headPad() == 64 || s.headPad() == 128);
    }
    void attention(const Plan& plan, int layer) {
        const Shape& s = model_.shape;
        const uint8_t* kv = pool.get() + layer * layerBytes_;
        const int keyBytes = s.fp8 ? 1 : 2;
        if (plan.attention == Plan::GENERIC) {
            kernels_("attention_generic_" + types(), {dim3(tokens_, ceil_div(s.heads, 4)), 128}, in(queries.get()), kv,
                     in(rowStarts_), in(contextLengths_), in(blockStarts_), in(blocks_), attended.get(), panelRows_, s.heads,
                     s.kvHeadCount(), s.headPad(), blockSize_, rows_, s.window);
        }
        if (plan.attention == Plan::DECODE_GQA || plan.attention == Plan::DECODE_GQA_ROPE || plan.attention == Plan::MIXED_GQA) {
            const int head = s.headPad(), cluster = plan.attentionCluster;
            const int blocks = s.kvHeadCount() * rows_ * cluster, multiprocessors = kernels_.multiprocessors();
            const bool wide = head * keyBytes == 256;
            const bool many = cluster <= 2 && blocks > 4 * multiprocessors / cluster;
            const int stages = !wide ? 4 : plan.attentionGqaStages > 0 ? plan.attentionGqaStages : many ? 2 : 3;
            auto shared = [&](int stages, int bytes) {
                return 4ull * stages * 2 * 16 * head * bytes + (8 * head / 4 + 8) * 32;
            };
            size_t wanted = shared(stages, keyBytes);
            if (blocks <= 2 * multiprocessors) {  // keep few blocks from sharing SMs
                wanted = std::max<size_t>({wanted, shared(head == 128 ? 3 : 4, 2), cluster > 2 ? 0 : 77ull * 1024});
            }
            const Launch launch{dim3(s.kvHeadCount() * cluster, rows_), 128, wanted, cluster};
            if (plan.attention == Plan::DECODE_GQA_ROPE) {
                kernels_("attention_decode_gqa_rope_" + std::to_string(head) + "_" + types(), launch, in(raw.get()), kv,
                         in(rowStarts_), in(contextLengths_), in(blockStarts_), in(blocks_), attended.get(), panelRows_, s.heads,
                         in(rowOrder_), stages, s.kvHeadCount(), s.window, in(model_.layers[layer].headNormWeights.get()),
                         in(model_.ropeTable.get()), s.headSize, s.queryScale(), 1e-5f);
            } else {
                kernels_("attention_decode_gqa_" + std::to_string(head) + "_" + types(), launch, in(queries.get()), kv,
                         in(rowStarts_), in(contextLengths_), in(blockStarts_), in(blocks_), attended.get(), panelRows_, s.heads,
                         in(rowOrder_), stages, s.kvHeadCount(), s.window);
            }
        }
        const bool mixedGqa = plan.attention == Plan::MIXED_GQA;
        if (plan.attention == Plan::PREFILL_GQA) {
            kernels_("attention_prefill_gqa_" + std::to_string(s.headPad()) + "_" + types(),
                     {dim3(s.heads, tokens_ / 64 + rows_), 128, 384u * s.headPad() * keyBytes + 256}, in(queries.get()), kv,
                     in(rowStarts_), in(contextLengths_), in(blockStarts_), in(blocks_), attended.get(), panelRows_, s.heads,
                     s.kvHeadCount(), blockSize_, rows_, s.window);
        }
        if (plan.attention == Plan::DECODE || plan.attention == Plan::MIXED) {
            kernels_(plan.decodeKernel() + type(), {dim3(s.heads, rows_), plan.decodeThreads(), plan.attentionStages * 4096u},
                     in(queries.get()), kv, in(rowStarts_), in(contextLengths_), in(blockStarts_), in(blocks_), attended.get(),
                     panelRows_, s.heads, in(rowOrder_), plan.attentionStages);
        }
        const bool mixed = plan.attention == Plan::MIXED;
        if (plan.attention == Plan::PREFILL || (mixed && plan.attentionInvariant)) {
            kernels_("attention_prefill_" + type(), {dim3(s.heads, tokens_ / 64 + rows_), 128}, in(queries.get()), kv,
                     in(rowStarts_), in(contextLengths_), in(blockStarts_), in(blocks_), attended.get(), panelRows_, s.heads,
                     blockSize_, rows_, static_cast<int>(mixed));
        } else if (mixed || mixedGqa || plan.attention == Plan::PREFILL_WGMMA) {
            prefill_wgmma(plan, kv);
        }
    }
    void attentionOut(const Plan& plan, int layer) {
        const typename Model<T>::Layer& l = model_.layers[layer];
        residual(plan, gathered_ ? plan.sampledAttentionOut : plan.attentionOut, l.attentionOut, tokens().attended, &l.norm2);
    }
    void mlpIn(const Plan& plan, int layer) {
        const T* a = normalize(plan.fusedNorm, tokens(), nullptr, model_.layers[layer].norm2);
        gemm(model_.shape.gated ? "gated" : "activation", gathered_ ? plan.sampledMlpIn : plan.mlpIn, model_.layers[layer].mlpIn,
             a, tokens(), plan.fusedNorm, hidden.get(), model_.shape.activation);
    }
    void mlpOut(const Plan& plan, int layer) {
        const bool last = layer + 1 == static_cast<int>(model_.layers.size());
        residual(plan, gathered_ ? plan.sampledMlpOut : plan.mlpOut, model_.layers[layer].mlpOut, hidden.get(),
                 last ? nullptr : &model_.layers[layer + 1].norm1);
    }
    void head(const Plan& plan) {
        const bool sampled = tokens().count == samples_;
        const bool fused = plan.fusedHeadNorm && !model_.shape.rms && sampled && !plan.head.generic();
        Tokens of = tokens();
        if (!fused) of.count = samples_, of.panelRows = sampledRows_;
        const T* a = normalize(fused, of, sampled ? nullptr : sampleTokens_, model_.finalNorm);
        tiles_ = model_.head.paddedN / (plan.head.generic() ? 64 : 128);
        gemm("head", plan.head, model_.head, a, of, fused, best.get(), logits.get(), model_.shape.vocabulary,
             model_.head.paddedN, tiles_);
    }
    void select() {
        kernels_("select_best", {dim3(ceil_div(samples_, 8)), 256}, in(best.get()), tiles_, samples_, in(inputs_.get()),
                 sampled.get(), tokenSlots.get());
    }
    void layer(const Plan& plan, int i) {
        qkv(plan, i), attention(plan, i), attentionOut(plan, i), mlpIn(plan, i), mlpOut(plan, i);
    }
    // Gathers the sampled tokens: after the last attention only they matter.
    void gather() {
        gathered_ = true;
        kernels_("gather_" + type(), {dim3(samples_), 256}, in(x.get()), in(attended.get()), in(sampleTokens_),
                 model_.shape.stride(), model_.shape.paddedAttention(), panelRows_, sampledX.get(), sampledAttended.get(),
                 sampledRows_);
    }
    void step(const Plan& plan, int layers) {
        embed(plan);
        for (int i = 0; i + 1 < layers; i++) layer(plan, i);
        qkv(plan, layers - 1);
        if (samples_ == 0) return;
        attention(plan, layers - 1);
        if (samples_ < tokens_) gather();
        attentionOut(plan, layers - 1), mlpIn(plan, layers - 1), mlpOut(plan, layers - 1);
        head(plan), select();
        gathered_ = false;  // a kernel alone multiplies every token
    }
    void step(const Plan& plan) { step(plan, model_.shape.layers); }

    const Model<T>& model() const { return model_; }

    DeviceArray<uint8_t> pool;
    DeviceArray<CUtensorMap> poolMap;  // of the pool, or of `wide`
    DeviceArray<T> wide;               // what attention_prefill_wgmma reads instead of an fp8 pool
    DeviceArray<int> widePages;
    std::vector<DeviceArray<CUtensorMap>> queryMaps;  // by packShift
    DeviceArray<T> xPanels, normalized, queries, raw, attended, sampledAttended, hidden;
    DeviceArray<float> x, sampledX, logits;
    DeviceArray<float2> moments;
    DeviceArray<unsigned long long> best, tokenSlots;
    DeviceArray<int> sampled;

private:
    // Elements of a page of 16 tokens.
    int page_size() const { return model_.shape.kvWidth() * 2 * 16; }

    // A pool as rows of a head's dimensions, for copies of 16 tokens and 64 dimensions.
    std::vector<CUtensorMap> pool_map(void* from, size_t elements) {
        const cuuint64_t width = model_.shape.headPad(), rows = elements / width, stride = width * sizeof(T);
        const cuuint64_t sizes[] = {width, rows};
        const cuuint32_t box[] = {64, 16}, steps[] = {1, 1};
        std::vector<CUtensorMap> map(1);
        encode_tensor_map(&map[0], CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, from, sizes, &stride, box, steps,
                          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        return map;
    }

    // The queries as [token][head][dimension], for copies of the queries of a warpgroup: 64 dimensions of 2^packShift heads.
    std::vector<CUtensorMap> query_map(int packShift) {
        const Shape& s = model_.shape;
        const cuuint64_t pad = s.headPad(), head = pad * sizeof(T);
        const cuuint64_t sizes[] = {pad, static_cast<cuuint64_t>(s.heads), static_cast<cuuint64_t>(panelRows_)};
        const cuuint64_t strides[] = {head, head * s.heads};
        const cuuint32_t box[] = {64, 1u << packShift, 64u >> packShift}, steps[] = {1, 1, 1};
        std::vector<CUtensorMap> map(1);
        encode_tensor_map(&map[0], CU_TENSOR_MAP_DATA_TYPE_UINT16, 3, queries.get(), sizes, strides, box, steps,
                          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
                          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
        return map;
    }

    void prefill_wgmma(const Plan& plan, const uint8_t* kv) {
        const Shape& s = model_.shape;
        const int multiprocessors = kernels_.multiprocessors();
        int packShift = plan.prefillPackShift, groups = plan.prefillWarpgroups;
        if (packShift < 0) {
            packShift = s.heads / s.kvHeadCount() % 2 == 0 ? 1 : 0;
        }
        if (groups == 0) {
            const long long bucketed = round_up(tokens_, 128);
            const bool many = 100 * s.heads * bucketed / 192 >= 80 * multiprocessors;
            const long long pairs = (s.heads >> packShift) * ((bucketed << packShift) / 128 + rows_ - 1);
            groups = many ? 3 : s.headPad() == 128 && tokens_ > 384 * rows_ && pairs <= multiprocessors ? 2 : 1;
        }
        const int height = 64 * groups >> packShift;
        const int tiles = (s.heads >> packShift) * (tokens_ / height + rows_);
        const int blocks = (groups == 1 ? 2 : 1) * std::min(multiprocessors, tiles);
        const int keys = s.headPad() == 64 || groups == 2 ? 128 : 64;  // of a tile
        const int stages = groups < 3 ? 2 : s.headPad() == 64 ? 3 : 4;
        const size_t shared = 1024 + (64u * groups + 2 * stages * keys) * s.headPad() * 2;
        const int skip = plan.attention != Plan::PREFILL_WGMMA;
        if (s.fp8) {
            kernels_("attention_prefill_wgmma_widen_" + type(), {dim3(ceil_div(8 * multiprocessors, rows_), rows_), 256}, kv,
                     in(rowStarts_), in(contextLengths_), in(blockStarts_), in(blocks_), wide.get(), page_size(), skip);
        }
        const void* pages = s.fp8 ? static_cast<const void*>(wide.get()) : kv;
        kernels_("attention_prefill_wgmma_" + std::to_string(s.headPad()) + "_w" + std::to_string(groups) + "_" + type(),
                 {dim3(blocks), 128 * (groups + 1), shared}, in(queries.get()), pages, in(rowStarts_), in(contextLengths_),
                 in(blockStarts_), s.fp8 ? in(widePages.get()) : in(blocks_), attended.get(), panelRows_, s.heads,
                 in(poolMap.get()), in(queryMaps[packShift].get()),
                 s.fp8 ? 0 : static_cast<int>((kv - pool.get()) / (s.headPad() * sizeof(T))), s.kvHeadCount(), rows_, skip,
                 s.window, packShift);
    }

    static std::string type() { return TypeName<T>::value; }

    // Suffix of kernels that read or write the KV pool.
    std::string types() const { return (model_.shape.fp8 ? "fp8_" : "") + type(); }

    template <class U>
    static const U* in(U* pointer) {
        return pointer;
    }

    // The tokens that matrices multiply.
    struct Tokens {
        int count, panelRows;
        float* x;
        T* attended;
    };
    Tokens tokens() const {
        if (gathered_) return {samples_, sampledRows_, sampledX.get(), sampledAttended.get()};
        return {tokens_, panelRows_, x.get(), attended.get()};
    }

    // Returns the next GEMM's activations: the residual stream's panel copy, or the output of a norm kernel.
    const T* normalize(bool fused, const Tokens& of, const int* sampleTokens, const Norm<T>& norm) {
        if (fused) return xPanels.get();
        const Launch launch{dim3(ceil_div(of.count, 8)), 256};
        const Shape& s = model_.shape;
        if (s.rms) {
            kernels_("normalize_rms_" + type(), launch, in(of.x), of.count, s.width, s.stride(), 1e-5f, sampleTokens,
                     normalized.get(), of.panelRows, in(norm.normWeights.get()));
        } else {
            kernels_("normalize_" + type(), launch, in(of.x), of.count, s.width, s.stride(), 1e-5f, sampleTokens,
                     normalized.get(), of.panelRows);
        }
        return normalized.get();
    }

    // `next` is the norm before the next GEMM, null after the last layer.
    void residual(const Plan& plan, const GemmPlan& choice, const Projection<T>& p, const T* activations, const Norm<T>* next) {
        T* copy = plan.fusedNorm ? xPanels.get() : nullptr;
        if (model_.shape.int8) {
            gemm("residual", choice, p, activations, tokens(), false, tokens().x, copy, moments.get(), model_.shape.stride(),
                 next != nullptr ? in(next->normWeights.get()) : nullptr);
        } else {
            gemm("residual", choice, p, activations, tokens(), false, tokens().x, copy, moments.get(), model_.shape.stride());
        }
        const int panels = panels_of(p);
        if (!choice.generic()) momentParts_ = p.paddedN / (choice.prompt.empty() ? choice.tile(false, panels).columns : 64);
    }

    int panels_of(const Projection<T>& p) const { return p.paddedK * static_cast<int>(model_.shape.int8 ? 1 : sizeof(T)) / 128; }

    template <class... Epilogue>
    void gemm(const std::string& kind, const GemmPlan& plan, const Projection<T>& p, const T* activations, const Tokens& of,
              bool norm, Epilogue... epilogue) {
        const int rows = of.count;
        const int panels = panels_of(p);
        const int n = p.paddedN;
        const bool int8 = model_.shape.int8;
        const float width = static_cast<float>(model_.shape.width);
        if (!plan.prompt.empty()) {
            const bool heads = kind.rfind("qkv_norm", 0) == 0;
            const PromptTile& tile = plan.prompt_tile(rows, n, panels, kernels_.multiprocessors(), heads);
            const bool biased = model_.shape.biases || !model_.shape.rms;
            kernels_("gemm_" + kind + "_" + type() + "_" + tile.name,
                     {dim3(tile.blocks(rows, n, kernels_.multiprocessors())), 384, tile.sharedBytes(), tile.cluster()},
                     in(p.panels.get()), activations, rows, of.panelRows, n, panels, biased ? in(p.foldedBias.get()) : nullptr,
                     norm ? in(p.columnSums.get()) : nullptr, in(moments.get()), momentParts_, width, 1e-5f, epilogue...);
            return;
        }
        const std::string name = "gemm_" + kind + "_" + (int8 ? "int8" : type()) + "_" + plan.suffix();
        const void* weights = int8 ? static_cast<const void*>(p.words.get()) : p.panels.get();
        const float* bias = p.foldedBias.get();
        const float* terms = int8 ? p.scales.get() : norm ? p.columnSums.get() : nullptr;
        const float2* moments = int8 && !norm ? nullptr : this->moments.get();
        if (plan.generic()) {
            kernels_(name, {dim3(n / 64, ceil_div(rows, 64)), 128}, weights, activations, rows, of.panelRows, n, panels, bias,
                     epilogue...);
        } else {
            const bool head = kind == "head";
            TileShape tile = plan.tile(head, panels);
            const int tall = ceil_div(rows, plan.batch);
            const int strips = n / tile.columns;
            const int across = plan.persistent(head) ? std::min(strips, std::max(kernels_.multiprocessors() / tall, 1)) : strips;
            kernels_(name, {dim3(tall * plan.cluster, across), tile.threads, tile.sharedBytes, plan.cluster}, weights,
                     activations, rows, of.panelRows, n, panels, tile.stages, bias, terms, moments, momentParts_, width, 1e-5f,
                     epilogue...);
        }
    }

    Kernels& kernels_;
    const Model<T>& model_;
    int blockSize_, panelRows_, sampledRows_, tokens_ = 0, rows_ = 0, samples_ = 0, tiles_ = 0, momentParts_ = 0;
    bool gathered_ = false;
    size_t layerBytes_;
    DeviceArray<int> inputs_;
    int *tokenIds_, *positions_, *slots_, *rowStarts_, *contextLengths_, *blockStarts_, *rowOrder_, *blocks_, *sampleTokens_;
};
