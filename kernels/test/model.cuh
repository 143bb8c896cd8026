#pragma once
// A model with random weights on the device, in checkpoint layout for the reference and packed for the kernels, and the launches
// of one step over it. What a runtime has to do is what this file does; README.md says the same in words.
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

// One projection: the checkpoint's tensors and what the kernels read.
template <class T>
struct Projection {
    int k, n, paddedK, paddedN;
    bool kMajor;
    DeviceArray<T> weights, bias;
    DeviceArray<T> panels;
    DeviceArray<float> foldedBias, columnSums;
};

template <class T>
struct Norm {
    DeviceArray<T> gain, bias;
};

struct Shape {
    int layers, width, heads, headSize, inner, vocabulary, positions;
    int activation = rose::GELU_TANH;

    int headPad() const { return round_up(headSize, 16); }
    int attention() const { return heads * headPad(); }
    int stride() const { return round_up(width, 128); }
    int paddedAttention() const { return round_up(attention(), 128); }
    int paddedInner() const { return round_up(inner, 128); }
};

// The shape that the published measurements are of: 124M parameters, heads of 64.
inline Shape measured_shape(int layers = 12) { return {layers, 768, 12, 64, 3072, 50257, 1024}; }

template <class T>
struct Model {
    struct Layer {
        Norm<T> norm1, norm2;
        Projection<T> qkv, attentionOut, mlpIn, mlpOut;
    };
    Shape shape;
    std::vector<Layer> layers;
    DeviceArray<T> tokens, places;
    Norm<T> finalNorm;
    Projection<T> head;

    Model(Kernels& kernels, const Shape& s) : shape(s) {
        uint64_t seed = 1;
        auto norm = [&] {
            return Norm<T>{random_array<T>(s.width, seed++, 1.f, .1f), random_array<T>(s.width, seed++, 0.f, .1f)};
        };
        tokens = random_array<T>(static_cast<size_t>(s.vocabulary) * s.width, seed++, 0, .5f);
        places = random_array<T>(static_cast<size_t>(s.positions) * s.width, seed++, 0, .5f);
        finalNorm = norm();
        for (int i = 0; i < s.layers; i++) {
            Layer layer{norm(), norm(), {}, {}, {}, {}};
            layer.qkv = project(kernels, s.width, 3 * s.heads * s.headSize, &layer.norm1, seed, 1);
            layer.attentionOut = project(kernels, s.heads * s.headSize, s.width, nullptr, seed, 2);
            layer.mlpIn = project(kernels, s.width, s.inner, &layer.norm2, seed, 0);
            layer.mlpOut = project(kernels, s.inner, s.width, nullptr, seed, 0);
            layers.push_back(std::move(layer));
        }
        head = project(kernels, s.width, s.vocabulary, &finalNorm, seed, 3);
    }

private:
    // heads: 1 the n axis is made of heads, 2 the k axis is, 3 the LM head ([n][k], no bias of its own), 0 none of it
    Projection<T> project(Kernels& kernels, int k, int n, const Norm<T>* norm, uint64_t& seed, int heads) {
        const int size = shape.headSize, pad = shape.headPad();
        Projection<T> p;
        p.k = k, p.n = n, p.kMajor = heads != 3;
        p.paddedN = round_up(heads == 1 ? 3 * shape.attention() : n, 128);
        p.paddedK = round_up(heads == 2 ? shape.attention() : k, 128);
        p.weights = random_array<T>(static_cast<size_t>(k) * n, seed++, 0, .7f / sqrtf(static_cast<float>(k)));
        if (heads != 3) p.bias = random_array<T>(n, seed++, 0, .05f);
        p.panels = DeviceArray<T>::uncleared(static_cast<size_t>(p.paddedK) * p.paddedN);
        p.foldedBias = DeviceArray<float>::uncleared(p.paddedN);
        p.columnSums = DeviceArray<float>::uncleared(p.paddedN);
        const std::string type = TypeName<T>::value;
        const int element = TypeName<T>::element;
        const int nSize = heads == 1 ? size : 1, nPad = heads == 1 ? pad : 1;
        const int kSize = heads == 2 ? size : 1, kPad = heads == 2 ? pad : 1;
        auto grid = [](size_t elements) { return dim3(static_cast<unsigned>((elements + 255) / 256)); };
        auto pointer = [](const DeviceArray<T>* a) { return static_cast<const void*>(a == nullptr ? nullptr : a->get()); };
        kernels("pack_" + type, {grid(p.panels.size()), 256, 0, 1, false}, pointer(&p.weights), element, k, n,
                static_cast<int>(p.kMajor), pointer(norm ? &norm->gain : nullptr), element, nSize, nPad, kSize, kPad,
                p.panels.get(), p.paddedN, p.paddedK);
        kernels("column_sums_" + type, {grid(32ull * p.paddedN), 256, 0, 1, false}, static_cast<const T*>(p.panels.get()),
                p.paddedN, p.paddedK, p.columnSums.get());
        kernels("fold_bias", {grid(32ull * p.paddedN), 256, 0, 1, false}, pointer(&p.weights), element, k, n,
                static_cast<int>(p.kMajor), pointer(&p.bias), element, pointer(norm ? &norm->bias : nullptr), element, nSize,
                nPad, p.foldedBias.get(), p.paddedN);
        kernels.wait();
        return p;
    }
};

// One step's inputs, as io.roseinfer.backend.StepInputs holds them.
struct Batch {
    std::vector<int> tokenIds, positions, slots, rowStarts{0}, contextLengths, blockStarts{0}, blocks, sampleRows;
    int step = 0;

    int tokens() const { return static_cast<int>(tokenIds.size()); }
    int rows() const { return static_cast<int>(contextLengths.size()); }
    int samples() const { return static_cast<int>(sampleRows.size()); }

    // A row that brings ids[from … to) of its sequence, whose blocks are `list`.
    void addRow(const std::vector<int>& ids, int from, int to, const std::vector<int>& list, int blockSize) {
        for (int i = from; i < to; i++) {
            tokenIds.push_back(ids[i]);
            positions.push_back(i);
            slots.push_back(list[i / blockSize] * blockSize + i % blockSize);
        }
        rowStarts.push_back(tokens());
        contextLengths.push_back(to);
        blocks.insert(blocks.end(), list.begin(), list.begin() + ceil_div(to, blockSize));
        blockStarts.push_back(static_cast<int>(blocks.size()));
        if (to > from) sampleRows.push_back(rows() - 1);
    }

    // A row that only fills up a graph's bucket: nothing is stored for it and nothing of it is used.
    void addPadding() {
        tokenIds.push_back(0);
        positions.push_back(0);
        slots.push_back(-1);
        rowStarts.push_back(tokens());
        contextLengths.push_back(0);
        blockStarts.push_back(static_cast<int>(blocks.size()));
        sampleRows.push_back(rows() - 1);
    }
};

// The device memory of a runner: step inputs, the KV pool and scratch, all allocated once.
template <class T>
class Runner {
public:
    Runner(Kernels& kernels, const Model<T>& model, int maxTokens, int maxRows, int blockSize, int kvBlocks, bool logits)
        : kernels_(kernels), model_(model), blockSize_(blockSize), panelRows_(round_up(maxTokens, 8)) {
        const Shape& s = model.shape;
        inputs_ = DeviceArray<int>(16 + 3 * maxTokens + 5 * maxRows + static_cast<size_t>(maxRows) * s.positions);
        layerElements_ = static_cast<size_t>(kvBlocks) * s.attention() * 2 * blockSize;
        pool = DeviceArray<T>(layerElements_ * s.layers);
        x = DeviceArray<float>(static_cast<size_t>(panelRows_) * s.stride());
        xPanels = DeviceArray<T>(x.size());
        moments = DeviceArray<float2>::uncleared(static_cast<size_t>(panelRows_) * (s.stride() / 8));
        normalized = DeviceArray<T>(x.size());
        queries = DeviceArray<T>(static_cast<size_t>(panelRows_) * s.attention());
        attended = DeviceArray<T>(static_cast<size_t>(panelRows_) * s.paddedAttention());
        hidden = DeviceArray<T>(static_cast<size_t>(panelRows_) * s.paddedInner());
        best = DeviceArray<unsigned long long>::uncleared(static_cast<size_t>(maxRows) * (model.head.paddedN / 64));
        sampled = DeviceArray<int>::uncleared(maxRows);
        mailbox = DeviceArray<unsigned long long>(maxRows);
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
        contextLengths_ = add(b.contextLengths), blockStarts_ = add(b.blockStarts), sampleRows_ = add(b.sampleRows);
        blocks_ = add(b.blocks);
        everyRowIsOneSample_ = tokens_ == rows_ && samples_ == rows_;
        inputs_.upload(packed);
    }

    // The kernels of a step, in order; single kernels are also timed through these.
    void embed(const Plan& plan) {
        kernels_("embed_" + type(), {dim3(tokens_), 128, 0, 1, false}, in(tokenIds_), in(positions_), in(sampled.get()),
                 in(model_.tokens.get()), in(model_.places.get()), x.get(), plan.fusedNorm ? xPanels.get() : nullptr,
                 moments.get(), model_.shape.width, model_.shape.stride(), panelRows_);
        momentParts_ = 1;
    }
    void qkv(const Plan& plan, int layer) {
        const Shape& s = model_.shape;
        const T* a = normalise(plan.fusedNorm, tokens_, false);
        gemm("qkv", plan.qkv, model_.layers[layer].qkv, a, tokens_, plan.fusedNorm, queries.get(),
             pool.get() + layer * layerElements_, in(slots_), s.attention(), s.headPad(), blockSize_,
             1.4426950409f / sqrtf(static_cast<float>(s.headSize)));
    }
    void attention(const Plan& plan, int layer) {
        const Shape& s = model_.shape;
        const T* kv = pool.get() + layer * layerElements_;
        if (plan.attention == Plan::GENERIC) {
            kernels_("attention_generic_" + type(), {dim3(tokens_, ceil_div(s.heads, 4)), 128}, in(queries.get()), kv,
                     in(rowStarts_), in(contextLengths_), in(blockStarts_), in(blocks_), attended.get(), panelRows_, s.heads,
                     s.headPad(), blockSize_, rows_);
        }
        if (plan.attention == Plan::DECODE || plan.attention == Plan::MIXED) {
            kernels_(plan.decodeKernel() + type(), {dim3(s.heads, rows_), plan.decodeThreads(), plan.attentionStages * 4096u},
                     in(queries.get()), kv, in(rowStarts_), in(contextLengths_), in(blockStarts_), in(blocks_), attended.get(),
                     panelRows_, s.heads, plan.attentionStages);
        }
        if (plan.attention == Plan::PREFILL || plan.attention == Plan::MIXED) {
            kernels_("attention_prefill_" + type(), {dim3(s.heads, tokens_ / 64 + rows_), 128}, in(queries.get()), kv,
                     in(rowStarts_), in(contextLengths_), in(blockStarts_), in(blocks_), attended.get(), panelRows_, s.heads,
                     blockSize_, rows_, static_cast<int>(plan.attention == Plan::MIXED));
        }
    }
    void attentionOut(const Plan& plan, int layer) {
        residual(plan, plan.attentionOut, model_.layers[layer].attentionOut, attended.get());
    }
    void mlpIn(const Plan& plan, int layer) {
        const T* a = normalise(plan.fusedNorm, tokens_, false);
        gemm("activation", plan.mlpIn, model_.layers[layer].mlpIn, a, tokens_, plan.fusedNorm, hidden.get(),
             model_.shape.activation);
    }
    void mlpOut(const Plan& plan, int layer) { residual(plan, plan.mlpOut, model_.layers[layer].mlpOut, hidden.get()); }
    void head(const Plan& plan) {
        bool fused = plan.fusedHeadNorm && everyRowIsOneSample_ && !plan.head.generic();
        const T* a = normalise(fused, samples_, true);
        tiles_ = model_.head.paddedN / (plan.head.generic() ? 64 : 128);
        gemm("head", plan.head, model_.head, a, samples_, fused, best.get(), logits.get(), model_.shape.vocabulary,
             model_.head.paddedN, tiles_);
    }
    void select() {
        kernels_("select_best", {dim3(ceil_div(samples_, 8)), 256}, in(best.get()), tiles_, samples_, in(inputs_.get()),
                 sampled.get(), mailbox.get());
    }
    void layer(const Plan& plan, int i) {
        qkv(plan, i), attention(plan, i), attentionOut(plan, i), mlpIn(plan, i), mlpOut(plan, i);
    }
    void step(const Plan& plan, int layers) {
        embed(plan);
        for (int i = 0; i < layers; i++) layer(plan, i);
        if (samples_ > 0) head(plan), select();
    }
    void step(const Plan& plan) { step(plan, model_.shape.layers); }

    const Model<T>& model() const { return model_; }

    DeviceArray<T> pool, xPanels, normalized, queries, attended, hidden;
    DeviceArray<float> x, logits;
    DeviceArray<float2> moments;
    DeviceArray<unsigned long long> best, mailbox;
    DeviceArray<int> sampled;

private:
    static std::string type() { return TypeName<T>::value; }
    template <class U>
    static const U* in(U* pointer) {
        return pointer;
    }

    // Where the next GEMM reads its activations: the residual stream itself, or the stream normalised by a kernel of its own.
    const T* normalise(bool fused, int rows, bool samples) {
        if (fused) return xPanels.get();
        kernels_("normalize_" + type(), {dim3(ceil_div(rows, 8)), 256}, in(x.get()), rows, model_.shape.width,
                 model_.shape.stride(), 1e-5f, samples ? in(sampleRows_) : nullptr, in(rowStarts_), normalized.get(), panelRows_);
        return normalized.get();
    }

    void residual(const Plan& plan, const GemmPlan& choice, const Projection<T>& p, const T* activations) {
        gemm("residual", choice, p, activations, tokens_, false, x.get(), plan.fusedNorm ? xPanels.get() : nullptr, moments.get(),
             model_.shape.stride());
        const int panels = p.paddedK * static_cast<int>(sizeof(T)) / 128;
        if (!choice.generic()) momentParts_ = p.paddedN / choice.tile(false, panels).columns;
    }

    template <class... Epilogue>
    void gemm(const std::string& kind, const GemmPlan& plan, const Projection<T>& p, const T* activations, int rows, bool norm,
              Epilogue... epilogue) {
        const int panels = p.paddedK * static_cast<int>(sizeof(T)) / 128;
        const int n = p.paddedN;
        const std::string name = "gemm_" + kind + "_" + type() + "_" + plan.suffix();
        const T* weights = p.panels.get();
        const float* bias = p.foldedBias.get();
        const float* sums = norm ? p.columnSums.get() : nullptr;
        const float width = static_cast<float>(model_.shape.width);
        if (plan.generic()) {
            kernels_(name, {dim3(n / 64, ceil_div(rows, 64)), 128}, weights, activations, rows, panelRows_, n, panels, bias,
                     epilogue...);
        } else {
            const bool head = kind == "head";
            TileShape tile = plan.tile(head, panels);
            const int tall = ceil_div(rows, plan.batch);
            const int strips = n / tile.columns;
            const int across = plan.persistent(head) ? std::min(strips, std::max(kernels_.multiprocessors() / tall, 1)) : strips;
            kernels_(name, {dim3(tall * plan.cluster, across), tile.threads, tile.sharedBytes, plan.cluster}, weights,
                     activations, rows, panelRows_, n, panels, tile.stages, bias, sums, in(moments.get()), momentParts_, width,
                     1e-5f, epilogue...);
        }
    }

    Kernels& kernels_;
    const Model<T>& model_;
    int blockSize_, panelRows_, tokens_ = 0, rows_ = 0, samples_ = 0, tiles_ = 0, momentParts_ = 0;
    bool everyRowIsOneSample_ = false;
    size_t layerElements_;
    DeviceArray<int> inputs_;
    int *tokenIds_, *positions_, *slots_, *rowStarts_, *contextLengths_, *blockStarts_, *blocks_, *sampleRows_;
};
