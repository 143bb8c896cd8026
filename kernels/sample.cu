// Sampling on the device, one block per sample: penalties, temperature, min-p, top-k, top-p and one draw, in the order and with
// the meaning of io.roseinfer.sampling.Sampler, so that a request draws the same token wherever it is sampled.
//
// Nothing is sorted. Tokens are ordered by logit (larger first, then the lower id), and every question asked of that order is "at
// which logit does the running count, or the running weight, pass a goal?". The answer is found bit by bit: 32 times the block
// counts (or weighs) the tokens whose logit ranks at least as high as a candidate. A row stays in the L1 cache meanwhile. Sums
// are taken in double in a fixed order, so the result does not vary.
//
// The random number of a draw is a function of (seed, position): SplitMix64, as on the host.
//
// Launch: grid (samples), block 1024, no dynamic shared memory.
#include "include/epilogue.cuh"

using namespace rose;

constexpr int THREADS = 1024;

// One sample's parameters, 64 bytes; written by the host with the step's inputs. Names and ranges as SamplingParams.
struct SampleRequest {
    unsigned long long seed;
    float temperature;  // 0: the most likely token
    int topK;           // 0: all
    float topP;
    float minP;
    float repetitionPenalty;
    float presencePenalty;
    float frequencyPenalty;
    int position;       // tokens the request has so far: the number of its draw
    int historyStart;   // its tokens in `history`, prompt first, read by penalties only; below zero as for embed: ~index of a
    int historyLength;  // sample of the step before
    int promptLength;
    int reserved[3];
};

__device__ __forceinline__ unsigned long long mix(unsigned long long z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

__device__ __forceinline__ double uniform(unsigned long long key, long long index) {
    return (mix(key + (index + 1) * 0x9E3779B97F4A7C15ull) >> 11) * 0x1p-53;
}

// Combines a value of every thread in a fixed order; every thread gets the result.
template <class V, class Combine>
__device__ V over_block(V v, Combine combine) {
    __shared__ V parts[THREADS / 32];
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) v = combine(v, __shfl_xor_sync(~0u, v, lanes));
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = parts[0];
    for (int i = 1; i < THREADS / 32; i++) v = combine(v, parts[i]);
    return v;
}

struct Row {
    float* logits;
    int vocabulary;

    // The highest rank and its lowest token.
    __device__ unsigned long long best() const {
        unsigned long long key = 0;
        for (int i = threadIdx.x; i < vocabulary; i += THREADS)
            key = max(key, ranked_token(logit_rank(logits[i], i, vocabulary), i));
        return over_block(key, [](auto a, auto b) { return max(a, b); });
    }

    // Repetition counts prompt and completion, presence and frequency the completion alone. The first of a token's occurrences
    // does what is done once, so the arithmetic on a logit has one order.
    __device__ void penalise(const SampleRequest& r, const int* history, const int* sampled, unsigned* seen) {
        auto token = [&](int i) {
            int id = history[r.historyStart + i];
            return id >= 0 ? id : __ldcg(sampled + ~id);
        };
        auto forget = [&] {
            __syncthreads();
            for (int i = threadIdx.x; i < (vocabulary + 31) / 32; i += THREADS) seen[i] = 0;
            __syncthreads();
        };
        auto first = [&](int id) { return (atomicOr(seen + id / 32, 1u << id % 32) >> id % 32 & 1) == 0; };
        if (r.repetitionPenalty != 1) {
            forget();
            for (int i = threadIdx.x; i < r.historyLength; i += THREADS) {
                int id = token(i);
                if (!first(id)) continue;
                float logit = logits[id];
                logits[id] = logit > 0 ? logit / r.repetitionPenalty : logit * r.repetitionPenalty;
            }
        }
        if (r.presencePenalty == 0 && r.frequencyPenalty == 0) return;
        forget();
        const int length = r.historyLength - r.promptLength;
        unsigned repeats = 0;  // bit k: this thread's k-th token of the completion was not the first of its kind
        for (int i = threadIdx.x, k = 0; i < length; i += THREADS, k++) {
            int id = token(r.promptLength + i);
            if (first(id)) logits[id] = logits[id] - r.frequencyPenalty - r.presencePenalty;
            else repeats |= 1u << k % 32;
        }
        __syncthreads();
        for (int i = threadIdx.x, k = 0; i < length; i += THREADS, k++) {
            if (repeats >> k % 32 & 1) atomicAdd(logits + token(r.promptLength + i), -r.frequencyPenalty);
        }
    }
};

// The distribution that is drawn from: token weights relative to the most likely one, cut off by min-p.
struct Weights {
    const float* logits;
    int vocabulary;
    float largest;
    float perTemperature;
    float threshold;  // of the exponent

    __device__ __forceinline__ double weight(float logit) const {
        float exponent = (logit - largest) * perTemperature;
        return exponent >= threshold ? static_cast<double>(expf(exponent)) : 0;
    }

    // Σ of 1 or of the weight over the tokens ranking at least `rank`; the running total up to and including that rank. A thread
    // asks for several logits before it looks at the first: nothing else hides how far away the cache is.
    template <bool WEIGH>
    __device__ double through(uint32_t rank) const {
        constexpr int AHEAD = 8;
        double sum = 0;
        for (int base = threadIdx.x; base < vocabulary; base += AHEAD * THREADS) {
            float logit[AHEAD];
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                int i = base + k * THREADS;
                logit[k] = i < vocabulary ? logits[i] : 0;
            }
#pragma unroll
            for (int k = 0; k < AHEAD; k++) {
                int i = base + k * THREADS;
                if (i >= vocabulary || logit_rank(logit[k], i, vocabulary) < rank) continue;
                double w = weight(logit[k]);
                sum += WEIGH ? w : static_cast<double>(w > 0);
            }
        }
        return over_block(sum, [](double a, double b) { return a + b; });
    }

    // The rank at which the running total, highest rank first, passes `goal`.
    template <bool WEIGH>
    __device__ uint32_t rank_passing(double goal) const {
        uint32_t rank = 0;
        for (uint32_t bit = 0x80000000u; bit > 0; bit >>= 1) {
            if (through<WEIGH>(rank | bit) > goal) rank |= bit;
        }
        return rank;
    }

    // The token of this rank that has `before` tokens of the same rank with lower ids; the last one if there are fewer.
    __device__ int tied_token(uint32_t rank, int before) const {
        __shared__ int counts[THREADS / 32];
        int last = -1;
        int found = -1;
        for (int base = 0; base < vocabulary; base += THREADS) {
            int i = base + threadIdx.x;
            bool tied = i < vocabulary && logit_rank(logits[i], i, vocabulary) == rank;
            unsigned lanes = __ballot_sync(~0u, tied);
            __syncthreads();
            if (threadIdx.x % 32 == 0) counts[threadIdx.x / 32] = __popc(lanes);
            __syncthreads();
            int index = __popc(lanes & ((1u << threadIdx.x % 32) - 1));
            int all = 0;
            for (int w = 0; w < THREADS / 32; w++) {
                if (w < static_cast<int>(threadIdx.x / 32)) index += counts[w];
                all += counts[w];
            }
            if (tied) last = i;
            if (tied && index == before) found = i;
            before -= all;
        }
        int chosen = over_block(found, [](int a, int b) { return max(a, b); });
        return chosen >= 0 ? chosen : over_block(last, [](int a, int b) { return max(a, b); });
    }

    // With nothing filtered any order will do: ids, as the reference takes them.
    __device__ int draw_by_id(double target) const {
        __shared__ double totals[THREADS / 32];
        double before = 0;
        int found = 0x7fffffff;
        int last = -1;
        for (int base = 0; base < vocabulary; base += THREADS) {
            int i = base + threadIdx.x;
            double w = i < vocabulary ? weight(logits[i]) : 0;
            double sum = w;
#pragma unroll
            for (int lanes = 1; lanes < 32; lanes *= 2) {
                double lower = __shfl_up_sync(~0u, sum, lanes);
                if (threadIdx.x % 32 >= lanes) sum += lower;
            }
            __syncthreads();
            if (threadIdx.x % 32 == 31) totals[threadIdx.x / 32] = sum;
            __syncthreads();
            double all = 0;
            double start = before;
            for (int v = 0; v < THREADS / 32; v++) {
                if (v < static_cast<int>(threadIdx.x / 32)) start += totals[v];
                all += totals[v];
            }
            if (w > 0) last = i;
            if (w > 0 && target < start + sum) found = min(found, i);
            before += all;
        }
        int chosen = over_block(found, [](int a, int b) { return min(a, b); });
        return chosen != 0x7fffffff ? chosen : over_block(last, [](int a, int b) { return max(a, b); });
    }

    // Of the topK heaviest keep the shortest prefix whose share reaches topP; take the token at `draw` of what is kept.
    __device__ int choose(int topK, float topP, double draw) const {
        const double total = through<true>(0);
        const double size = through<false>(0);
        if ((topK == 0 || topK >= size) && topP >= 1) return draw_by_id(total * draw);
        double kept = total;
        if (topK > 0 && topK < size) {
            uint32_t rank = rank_passing<false>(topK - 1);
            kept = through<true>(rank) - (through<false>(rank) - topK) * weight_of(rank);
        }
        if (topP < 1) {
            const double wanted = topP * kept;
            uint32_t rank = rank_passing<true>(wanted * (1 - 1e-15));
            const double above = through<true>(rank) - ties(rank) * weight_of(rank);
            kept = fmin(kept, above + fmax(1.0, ceil((wanted - above) / weight_of(rank))) * weight_of(rank));
        }
        const double target = kept * draw;
        uint32_t rank = rank_passing<true>(target);
        const double above = through<true>(rank) - ties(rank) * weight_of(rank);
        return tied_token(rank, static_cast<int>(fmax(0.0, (target - above) / weight_of(rank))));
    }

    __device__ double ties(uint32_t rank) const {
        return through<false>(rank) - (rank == 0xffffffff ? 0 : through<false>(rank + 1));
    }

    __device__ __forceinline__ double weight_of(uint32_t rank) const {
        return weight(__uint_as_float(rank & 0x80000000u ? rank & 0x7fffffffu : ~rank));
    }
};

extern "C" __global__ void __launch_bounds__(THREADS)
    sample(float* logits, int vocabulary, int stride, const SampleRequest* requests, const int* history, unsigned* seen,
           const int* step, int* sampled, const int* sampledBefore, unsigned long long* mailbox) {
    release_dependents();
    const int s = blockIdx.x;
    const SampleRequest r = requests[s];
    wait_for_predecessors();
    Row row{logits + static_cast<size_t>(s) * stride, vocabulary};
    unsigned long long best = row.best();
    uint32_t rank = static_cast<uint32_t>(best >> 32);
    const bool usable = rank != NOT_A_LOGIT && rank > NEGATIVE_INFINITY;
    int token = static_cast<int>(~static_cast<uint32_t>(best));
    if (usable && (r.repetitionPenalty != 1 || r.presencePenalty != 0 || r.frequencyPenalty != 0)) {
        row.penalise(r, history, sampledBefore, seen + static_cast<size_t>(s) * ((vocabulary + 31) / 32));
        __syncthreads();
        token = static_cast<int>(~static_cast<uint32_t>(row.best()));
    }
    if (usable && r.temperature > 0) {
        float threshold = r.minP > 0 ? logf(r.minP) : -__int_as_float(0x7f800000);
        Weights weights{row.logits, vocabulary, row.logits[token], 1 / r.temperature, threshold};
        token = weights.choose(r.topK, r.topP, uniform(mix(r.seed), r.position));
    }
    if (threadIdx.x == 0) {
        sampled[s] = usable ? token : 0;
        unsigned long long word = static_cast<unsigned long long>(static_cast<unsigned>(*step)) << 32;
        word |= usable ? static_cast<uint32_t>(token) : 0xffffffffu;
        if (mailbox != nullptr) *const_cast<volatile unsigned long long*>(mailbox + s) = word;
    }
}
