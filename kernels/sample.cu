// Sampling on the device, one block per sample: mask of allowed tokens, biases, penalties, temperature, min-p, top-k, top-p and a
// seeded random number. Order and semantics are io.roseinfer.sampling.Sampler's, so a request gets the same token on any device.
// Also the requested log-probabilities, of the logits before any change. A sample may report a given token instead of drawing one.
//
// Only a short list is sorted: include/ranking.cuh answers order queries in a few passes over the row. The logits are not changed,
// but copied if they have to be.
//
// The random number is a function of (seed, position): SplitMix64, as on the host. Weights are single-precision exponentials
// summed exactly in integers, so a request's token does not depend on the other samples.
//
// Log-probabilities reach mapped host memory before the token slot: a host that sees the slot sees them.
//
// Launch: grid (samples), block 1024, dynamic shared memory 20,480 bytes.
#include "contract/structs.h"
#include "include/ranking.cuh"

using namespace rose;

constexpr int THREADS = RANKING_THREADS;

// Reported instead of a token: the logits are unusable, or no token with a finite logit is allowed.
constexpr uint32_t NO_TOKEN = 0xffffffff, NO_ALLOWED_TOKEN = 0xfffffffe;

__device__ __forceinline__ bool has_penalties(const SampleRequest& r) {
    return r.repetitionPenalty != 1 || r.presencePenalty != 0 || r.frequencyPenalty != 0;
}

__device__ __forceinline__ u64 mix(u64 z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}

__device__ __forceinline__ double uniform(u64 key, long long index) {
    return (mix(key + (index + 1) * 0x9E3779B97F4A7C15ull) >> 11) * 0x1p-53;
}

// Copies a row of logits and forbids the tokens outside of the mask; null: no mask.
__device__ __forceinline__ void copy_allowed(const float* from, float* to, int vocabulary, const unsigned* mask) {
    const float forbidden = -__int_as_float(0x7f800000);
#pragma unroll 4
    for (int i = threadIdx.x; i < (vocabulary + 3) / 4; i += THREADS) {
        float4 v = reinterpret_cast<const float4*>(from)[i];
        const unsigned allowed = mask == nullptr ? 0xf : mask[i / 8] >> i % 8 * 4;
        if ((allowed & 1) == 0) v.x = forbidden;
        if ((allowed & 2) == 0) v.y = forbidden;
        if ((allowed & 4) == 0) v.z = forbidden;
        if ((allowed & 8) == 0) v.w = forbidden;
        reinterpret_cast<float4*>(to)[i] = v;
    }
    __syncthreads();
}

// Adds the biases. Two phases, as a token may have a finite bias and be forbidden.
__device__ __forceinline__ void add_biases(float* logits, const SampleRequest& r, const int* history) {
    const float forbidden = -__int_as_float(0x7f800000);
    if (r.biasStart >= 0) {
        const int* tokens = history + r.biasStart + 1;
        const int count = tokens[-1];
        auto bias = [&](int i) { return __int_as_float(tokens[count + i]); };
        for (int i = threadIdx.x; i < count; i += THREADS) {
            if (bias(i) != forbidden) logits[tokens[i]] += bias(i);
        }
        __syncthreads();
        for (int i = threadIdx.x; i < count; i += THREADS) {
            if (bias(i) == forbidden) logits[tokens[i]] = forbidden;
        }
        __syncthreads();
    }
}

// Applies penalties: repetition over prompt and completion, presence and frequency over the completion only. A token's first
// occurrence does the one-time part, so the arithmetic on a logit has a fixed order.
__device__ __forceinline__ void apply_penalties(float* logits, int vocabulary, const SampleRequest& r, const int* history,
                                                const int* sampled, unsigned* seen) {
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
    if (r.presencePenalty != 0 || r.frequencyPenalty != 0) {
        forget();
        const int length = r.historyLength - r.promptLength;
        for (int i = threadIdx.x; i < length; i += THREADS) {
            int id = token(r.promptLength + i);
            if (first(id)) logits[id] = logits[id] - r.frequencyPenalty - r.presencePenalty;
        }
        forget();
        for (int i = threadIdx.x; i < length; i += THREADS) {
            int id = token(r.promptLength + i);
            if (!first(id)) atomicAdd(logits + id, -r.frequencyPenalty);
        }
    }
    __syncthreads();
}

// Whether a draw ranks tokens, which needs the smallest logit; others only need the largest.
__device__ __forceinline__ bool ranks(int topK, float topP, int vocabulary) {
    return (topK > 0 && topK < vocabulary) || topP < 1;
}

// Returns the sampled token. Keeps, among the topK most likely, the shortest prefix whose mass reaches topP; takes the token at
// `draw` of the kept mass, most likely first. Without top-k and top-p tokens go in id order, which needs no ranking. Only the
// request decides the order: devices differ in which weights round to 0, and a token of weight 0 must not change the result.
__device__ __forceinline__ int choose(const Weights& weights, char* scratch, int topK, float topP, double draw) {
    auto at_draw = [=](u64 kept) { return min(kept, static_cast<u64>(static_cast<double>(kept) * draw) + 1); };
    if (!ranks(topK, topP, weights.vocabulary)) {
        return token_reaching(
            weights.logits, weights.vocabulary, [&](float logit) { return weights.mass(logit); }, at_draw);
    }
    Ranking ranking(weights, scratch);
    bool listed = topK > 0 && topK <= LISTED;
    ranking.build(!listed);
    const int count = topK == 0 ? ranking.size() : min(topK, ranking.size());
    if (listed && !ranking.list_most_likely(count)) {
        listed = false;
        ranking.build(true);
    }
    Prefix kept{ranking.total(), 0};
#pragma unroll 1
    for (int question = 0; question < 3; question++) {
        if (question == 0 && !listed && count == ranking.size()) continue;  // top-k excludes nothing
        if (question == 1 && topP >= 1) continue;
        const double share = static_cast<double>(topP) * static_cast<double>(kept.mass);
        const u64 goal = question == 0   ? static_cast<u64>(count)
                         : question == 1 ? min(kept.mass, static_cast<u64>(fmax(1.0, ceil(share))))
                                         : at_draw(kept.mass);
        kept = ranking.reaching(goal, question == 0);
    }
    return kept.token;
}

// Writes the `count` most likely tokens to the report; returns ln Σ e^logit.
__device__ __forceinline__ float report_most_likely(const float* logits, int vocabulary, const Extremes& e, char* scratch,
                                                    int count, SampleReport* report) {
    const Weights weights = Weights::of(logits, vocabulary, e, 1, -__int_as_float(0x7f800000));
    u64 sum = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < vocabulary; i += THREADS) sum += weights.mass(logits[i]);
    sum = over_block(sum, [](u64 a, u64 b) { return a + b; });
    const float normalizer = static_cast<float>(weights.largest + log(static_cast<double>(sum) * 0x1p-39));
    count = min(min(count, MAX_LOGPROBS), vocabulary);
    if (count == 0) return normalizer;
    auto write = [&](int rank, int token) {
        report->tokens[rank] = token;
        report->logprobs[rank] = logits[token] - normalizer;
    };
    Ranking ranking(weights, scratch);
    ranking.build(false);
    if (ranking.list_most_likely(count)) {
        if (threadIdx.x < count) write(threadIdx.x, ranking.listed_token());
        return normalizer;
    }
    u64 last = ~0ull;  // a thousand nearly equal logits: one at a time
#pragma unroll 1
    for (int rank = 0; rank < count; rank++) {
        u64 next = 0;
        for (int i = threadIdx.x; i < vocabulary; i += THREADS) {
            const u64 key = ranked_token(logit_rank(logits[i], i, vocabulary), i);
            if (key < last) next = max(next, key);
        }
        last = over_block(next, [](u64 a, u64 b) { return max(a, b); });
        if (threadIdx.x == 0) write(rank, static_cast<int>(~static_cast<uint32_t>(last)));
    }
    return normalizer;
}

// Returns the rank of a token by its logit, from 1; ties go to the lower id.
__device__ __forceinline__ int rank_of(int token, const float* logits, int vocabulary) {
    const float own = logits[token];
    int before = 0;
#pragma unroll 4
    for (int i = threadIdx.x; i < vocabulary; i += THREADS) before += logits[i] > own || (logits[i] == own && i < token);
    return 1 + over_block(before, [](int a, int b) { return a + b; });
}

extern "C" __global__ void __launch_bounds__(THREADS)
    sample(const u64* tileBests, int tiles, const float* logits, int vocabulary, int stride, const SampleRequest* requests,
           const int* history, unsigned* seen, float* copies, const int* step, int* sampled, const int* sampledBefore,
           u64* tokenSlots, SampleReport* reports) {
    extern __shared__ __align__(16) char shared[];
    release_dependents();
    const int s = blockIdx.x;
    const SampleRequest& r = requests[s];
    const float* given = logits + static_cast<size_t>(s) * stride;
    wait_for_predecessors();
    const unsigned* mask = r.maskStart >= 0 ? reinterpret_cast<const unsigned*>(history + r.maskStart) : nullptr;
    const bool asked = r.logprobs >= 0 && reports != nullptr;
    // A report is of the logits before any change.
    const bool allowedAlone = mask != nullptr && !asked;
    const TileBests tileBest(tileBests + static_cast<size_t>(s) * tiles, tiles, stride / tiles);
    Extremes e;
    if (asked || (r.temperature > 0 && ranks(r.topK, r.topP, vocabulary))) {
        e = allowedAlone ? extremes_of_allowed(given, vocabulary, mask) : extremes(given, vocabulary);
    } else {
        e = {allowedAlone ? tileBest.allowed(given, vocabulary, mask) : tileBest.best(), 0};
    }
    auto has_logits = [](const Extremes& of) {
        const uint32_t rank = static_cast<uint32_t>(of.best >> 32);
        return rank != NOT_A_LOGIT && rank > NEGATIVE_INFINITY;
    };
    bool usable = has_logits(e);
    uint32_t failure = NO_TOKEN;
    const bool reports_it = usable && asked;
    float normalizer = 0;
    if (reports_it) { normalizer = report_most_likely(given, vocabulary, e, shared, r.logprobs, reports + s); }
    if (reports_it && r.reported >= 0) {
        const int rank = rank_of(r.reported, given, vocabulary);
        if (threadIdx.x == 0) reports[s].rank = rank;
    }
    if (mask != nullptr && (usable || allowedAlone)) {
        if (!allowedAlone) e = extremes_of_allowed(given, vocabulary, mask);
        usable = has_logits(e);
        if (!usable && (!allowedAlone || has_logits({tileBest.best(), 0}))) failure = NO_ALLOWED_TOKEN;
    }
    const bool changes = r.biasStart >= 0 || has_penalties(r);
    const float* row = given;
    // A greedy sample needs no copy for its mask.
    if (usable && (changes || (mask != nullptr && r.temperature > 0))) {
        float* changed = copies + static_cast<size_t>(s) * stride;
        __syncthreads();
        copy_allowed(given, changed, vocabulary, mask);
#pragma unroll 1
        for (int change = 0; change < 2 && usable; change++) {
            if (change == 0 && r.biasStart >= 0) {
                add_biases(changed, r, history);
                failure = NO_ALLOWED_TOKEN;
            } else if (change == 1 && has_penalties(r)) {
                unsigned* seenHere = seen + static_cast<size_t>(s) * ((vocabulary + 31) / 32);
                apply_penalties(changed, vocabulary, r, history, sampledBefore, seenHere);
                failure = NO_TOKEN;
            } else {
                continue;
            }
            e = extremes(changed, vocabulary);
            usable = has_logits(e);
        }
        row = changed;
    }
    int token = r.reported >= 0 ? r.reported : static_cast<int>(~static_cast<uint32_t>(e.best));
    if (usable && r.temperature > 0) {
        constexpr float NEGLIGIBLE = -87.f;  // e^-87 is the smallest normal number
        const float floor = r.minP > 0 ? fmaxf(logf(r.minP), NEGLIGIBLE) : NEGLIGIBLE;
        const float perTemperature = fminf(1 / r.temperature, 3.4e38f);
        token = choose(Weights::of(row, vocabulary, e, perTemperature, floor), shared, r.topK, r.topP,
                       uniform(mix(r.seed), r.position));
    }
    // Barrier before the slot is written: a host that sees it may overwrite request and history, which every thread has read by
    // now.
    __syncthreads();
    if (threadIdx.x == 0) {
        sampled[s] = usable ? token : 0;
        u64 word = static_cast<u64>(static_cast<unsigned>(*step)) << 32;
        word |= usable ? static_cast<uint32_t>(token) : failure;
        if (reports_it && usable) {
            reports[s].logprob = given[token] - normalizer;
            __threadfence_system();
        }
        if (tokenSlots != nullptr) *const_cast<volatile u64*>(tokenSlots + s) = word;
    }
}
