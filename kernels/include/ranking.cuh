#pragma once
// Order queries over a row of logits by one block, without sorting the row; larger logits come first, then lower ids. Finds the
// most likely tokens, and the token at which the running count or probability mass reaches a goal.
//
// A histogram over the logits (BINS equal steps down from the largest) and its prefix sums locate the bin with the answer. All
// bins down to it are gathered into a list and sorted, or that bin alone if they have too many tokens; the list has the answer.
// A query costs one more pass over the row, or none if its answer is already listed. A bin with too many tokens for the list,
// which takes a thousand nearly equal logits, is searched bit by bit instead: 32 passes.
//
// Probabilities are summed as integers in units of 2^-39 of the largest. The sums do not depend on their order, so neither
// atomics nor the launch shape can change the result.
#include "epilogue.cuh"

namespace rose {

using u64 = unsigned long long;

constexpr int RANKING_THREADS = 1024;
constexpr int RANKING_WARPS = RANKING_THREADS / 32;
constexpr int BINS = RANKING_THREADS;  // one per thread
constexpr int LISTED = RANKING_THREADS;
constexpr int RANKING_BYTES = 12 * BINS + 8 * LISTED;

// Reduces a value of every thread in a fixed order; every thread gets the result.
template <class V, class Combine>
__device__ __forceinline__ V over_block(V v, Combine combine) {
    __shared__ V parts[RANKING_WARPS];
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) v = combine(v, __shfl_xor_sync(~0u, v, lanes));
    __syncthreads();
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
    __syncthreads();
    v = parts[threadIdx.x % 32];
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) v = combine(v, __shfl_xor_sync(~0u, v, lanes));
    return v;
}

// Inclusive prefix sum over the block's threads; `total` is the sum of all.
__device__ __forceinline__ u64 running_sum(u64 v, u64& total) {
    __shared__ u64 parts[RANKING_WARPS];
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2) {
        u64 lower = __shfl_up_sync(~0u, v, lanes);
        if (lane >= lanes) v += lower;
    }
    __syncthreads();
    if (lane == 31) parts[threadIdx.x / 32] = v;
    __syncthreads();
    u64 part = parts[lane];
#pragma unroll
    for (int lanes = 1; lanes < 32; lanes *= 2) {
        u64 lower = __shfl_up_sync(~0u, part, lanes);
        if (lane >= lanes) part += lower;
    }
    total = __shfl_sync(~0u, part, 31);
    const u64 before = __shfl_sync(~0u, part, (threadIdx.x / 32 + 31) % 32);
    return threadIdx.x < 32 ? v : v + before;
}

// Broadcasts two values from the one thread whose `mine` is true to the block.
__device__ __forceinline__ ulonglong2 broadcast_from(bool mine, u64 x, u64 y) {
    __shared__ ulonglong2 values;
    __syncthreads();
    if (mine) values = make_ulonglong2(x, y);
    __syncthreads();
    return values;
}

struct Extremes {
    u64 best;  // ranked_token of the most likely token
    float smallest;
};

// Running maximum of a thread's logits, visited by ascending id.
struct Largest {
    float largest = -__int_as_float(0x7f800000);
    float smallest = __int_as_float(0x7f800000);
    int token = 0x7fffffff;
    bool usable = true;

    __device__ __forceinline__ void add(float logit, int i) {
        usable &= logit < __int_as_float(0x7f800000);
        smallest = fminf(smallest, logit);
        if (logit > largest) largest = logit, token = i;
    }

    __device__ __forceinline__ Extremes join() const {
        u64 key = usable ? ranked_token(logit_rank(largest, 0, 1), token) : ranked_token(NOT_A_LOGIT, 0);
        key = over_block(key, [](u64 a, u64 b) { return max(a, b); });
        return {key, over_block(smallest, [](float a, float b) { return fminf(a, b); })};
    }
};

__device__ __forceinline__ Extremes extremes(const float* logits, int vocabulary) {
    Largest mine;
#pragma unroll 4
    for (int i = threadIdx.x; i < vocabulary; i += RANKING_THREADS) mine.add(logits[i], i);
    return mine.join();
}

// Returns the extremes of a row whose tokens outside of the mask are at -∞; an unusable logit outside is found, too.
__device__ __forceinline__ Extremes extremes_of_allowed(const float* logits, int vocabulary, const unsigned* mask) {
    const float forbidden = -__int_as_float(0x7f800000);
    Largest mine;
#pragma unroll 4
    for (int i = threadIdx.x; i < vocabulary; i += RANKING_THREADS) {
        const float logit = logits[i];
        mine.usable &= logit < -forbidden;
        mine.add((mask[i / 32] >> i % 32 & 1) != 0 ? logit : forbidden, i);
    }
    return mine.join();
}

// A row's argmax within every `columns` logits, as the head found it: with 128 columns, a 64th of the bytes of the row.
class TileBests {
public:
    __device__ __forceinline__ TileBests(const u64* bests, int tiles, int columns)
        : bests_(bests), tiles_(tiles), columns_(columns) {}

    // Returns extremes(…).best of the whole row.
    __device__ __forceinline__ u64 best() const {
        u64 key = 0;
        for (int tile = threadIdx.x; tile < tiles_; tile += RANKING_THREADS) key = max(key, __ldcg(bests_ + tile));
        return over_block(key, Larger{});
    }

    // Returns extremes_of_allowed(…).best. Reads the logits of tiles whose argmax is forbidden and larger than the best that
    // is allowed elsewhere: few, unless the mask is sparse, and then they have few allowed tokens.
    __device__ __forceinline__ u64 allowed(const float* logits, int vocabulary, const unsigned* mask) const {
        auto allows = [=](unsigned token) {  // a tile without a usable logit may have any token
            return token < static_cast<unsigned>(vocabulary) && (mask[token / 32] >> token % 32 & 1) != 0;
        };
        u64 found = 0;
        for (int tile = threadIdx.x; tile < tiles_; tile += RANKING_THREADS) {
            const u64 key = __ldcg(bests_ + tile);
            const bool unusable = static_cast<uint32_t>(key >> 32) == NOT_A_LOGIT;
            if (unusable || allows(~static_cast<uint32_t>(key))) found = max(found, key);
        }
        found = over_block(found, Larger{});
        u64 more = found;
        for (int first = threadIdx.x / 32 * 32; first < tiles_; first += RANKING_THREADS) {
            const int mine = first + threadIdx.x % 32;
            bool larger = mine < tiles_ && __ldcg(bests_ + mine) > found;
            if (larger) {
                unsigned any = 0;
                for (int i = mine * columns_; i < min((mine + 1) * columns_, vocabulary); i += 32) any |= mask[i / 32];
                larger = any != 0;
            }
            for (unsigned left = __ballot_sync(~0u, larger); left != 0; left &= left - 1) {
                const int start = (first + __ffs(left) - 1) * columns_;
                for (int i = start + threadIdx.x % 32; i < start + columns_; i += 32) {
                    if (allows(i)) more = max(more, ranked_token(logit_rank(logits[i], i, vocabulary), i));
                }
            }
        }
        return over_block(more, Larger{});
    }

private:
    struct Larger {
        __device__ __forceinline__ u64 operator()(u64 a, u64 b) const { return max(a, b); }
    };

    const u64* const bests_;
    const int tiles_;
    const int columns_;  // a multiple of 32
};

// Returns the token, in id order, at which the running sum of units(logit) reaches goal_of(total), which is 1 … total. First every
// warp sums a range of ids, then every thread a part of the range that reaches the goal.
template <class Units, class Goal>
__device__ __forceinline__ int token_reaching(const float* logits, int vocabulary, const Units& units, const Goal& goal_of) {
    const int range = (vocabulary + RANKING_WARPS * 32 - 1) / (RANKING_WARPS * 32) * 32;
    const int rangeStart = threadIdx.x / 32 * range;
    u64 sum = 0;
#pragma unroll 4
    for (int i = rangeStart + threadIdx.x % 32; i < min(rangeStart + range, vocabulary); i += 32) sum += units(logits[i]);
#pragma unroll
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
    if (threadIdx.x % 32 != 0) sum = 0;
    u64 total;
    u64 through = running_sum(sum, total);
    const u64 goal = goal_of(total);
    const ulonglong2 reached = broadcast_from(through - sum < goal && goal <= through, rangeStart, through - sum);
    const int length = (range + RANKING_THREADS - 1) / RANKING_THREADS;
    const int end = min(static_cast<int>(reached.x) + range, vocabulary);
    const int first = static_cast<int>(reached.x) + threadIdx.x * length;
    sum = 0;
    for (int i = first; i < min(first + length, end); i++) sum += units(logits[i]);
    u64 inRange;
    through = reached.y + running_sum(sum, inRange);
    const ulonglong2 stretch = broadcast_from(through - sum < goal && goal <= through, first, through - sum);
    u64 before = stretch.y;
    int token = -1;
    for (int base = 0; base < length && token < 0; base += 32) {  // uniform across warps
        const int i = static_cast<int>(stretch.x) + base + threadIdx.x % 32;
        u64 v = base + threadIdx.x % 32 < length && i < vocabulary ? units(logits[i]) : 0;
#pragma unroll
        for (int lanes = 1; lanes < 32; lanes *= 2) {
            u64 lower = __shfl_up_sync(~0u, v, lanes);
            if (threadIdx.x % 32 >= lanes) v += lower;
        }
        const unsigned reached = __ballot_sync(~0u, before + v >= goal);
        if (reached != 0) token = static_cast<int>(stretch.x) + base + __ffs(reached) - 1;
        before += __shfl_sync(~0u, v, 31);
    }
    return token;
}

// Logits as weights e^((logit − largest) / temperature); tokens whose exponent is below `floor` are excluded.
struct Weights {
    const float* logits;
    int vocabulary;
    float largest;
    float perTemperature;
    float floor;
    float binsPerLogit;

    static __device__ __forceinline__ Weights of(const float* logits, int vocabulary, const Extremes& e, float perTemperature,
                                                 float floor) {
        const float largest = logit_of(static_cast<uint32_t>(e.best >> 32));
        const float range = fminf(largest - e.smallest, -floor / perTemperature);
        return {logits, vocabulary, largest, perTemperature, floor, range > 0 ? BINS / range : 0.f};
    }

    static __device__ __forceinline__ float logit_of(uint32_t rank) {
        return __uint_as_float(rank & 0x80000000u ? rank & 0x7fffffffu : ~rank);
    }

    __device__ __forceinline__ float exponent(float logit) const { return (largest - logit) * -perTemperature; }

    // Returns e^exponent in units of 2^-39 as upper and lower half, for an included token. Adding a power of two leaves the
    // wanted digits in the mantissa.
    static __device__ __forceinline__ uint2 mass_halves(float exponent) {
        const float weight = expf(exponent);
        const float coarse = __fadd_rd(weight, 128.f);                      // digits down to 2^-16
        const float fine = __fadd_rd(weight - (coarse - 128.f), 0x1p-16f);  // and the next 23
        const uint32_t digits = __float_as_uint(coarse) - __float_as_uint(128.f);
        return make_uint2(digits >> 9, digits << 23 | (__float_as_uint(fine) & 0x7fffff));
    }

    __device__ __forceinline__ u64 mass(float logit) const {
        const float e = exponent(logit);
        if (!(e >= floor)) return 0;
        const uint2 halves = mass_halves(e);
        return static_cast<u64>(halves.x) << 32 | halves.y;
    }

    __device__ __forceinline__ int bin(float logit) const {
        const float place = fminf((largest - logit) * binsPerLogit, BINS - 1);
        return static_cast<int>(__float_as_uint(place + 0x1p23f) & (BINS - 1));  // rounded by the addition
    }

    // Returns a logit that is less than all of a bin and of those before it.
    __device__ __forceinline__ float least_of(int bin) const {
        if (bin == BINS - 1 || binsPerLogit == 0) return -__int_as_float(0x7f800000);
        return largest - (bin + 1) / binsPerLogit - 1e-6f * fabsf(largest);
    }
};

// A prefix of the tokens in order of likelihood.
struct Prefix {
    u64 mass;
    int token;  // its last token
};

class Ranking {
public:
    // `scratch`: RANKING_BYTES of shared memory.
    __device__ __forceinline__ Ranking(const Weights& weights, char* scratch) : w_(weights), scratch_(scratch) {}

    // Builds the histogram and its prefix sums; without `masses` only counts.
    __device__ __forceinline__ void build(bool masses) {
        uint32_t* const lower = reinterpret_cast<uint32_t*>(mass_through());
        uint32_t* const upper = lower + BINS;
        __syncthreads();
        count_through()[threadIdx.x] = lower[threadIdx.x] = upper[threadIdx.x] = 0;
        __syncthreads();
#pragma unroll 4
        for (int i = threadIdx.x; i < w_.vocabulary; i += RANKING_THREADS) {
            const float logit = w_.logits[i];
            const float e = w_.exponent(logit);
            if (!(e >= w_.floor)) continue;
            const int bin = w_.bin(logit);
            atomicAdd(count_through() + bin, 1u);
            if (!masses) continue;
            const uint2 halves = Weights::mass_halves(e);
            const uint32_t before = atomicAdd(lower + bin, halves.y);
            const uint32_t carried = halves.x + (before + halves.y < before);
            if (carried != 0) atomicAdd(upper + bin, carried);
        }
        __syncthreads();
        const uint32_t count = count_through()[threadIdx.x];
        const u64 mass = static_cast<u64>(upper[threadIdx.x]) << 32 | lower[threadIdx.x];
        u64 all;
        const u64 through = running_sum(count, all);
        size_ = static_cast<int>(all);
        count_through()[threadIdx.x] = static_cast<uint32_t>(through);
        if (masses) mass_through()[threadIdx.x] = running_sum(mass, all);
        __syncthreads();
        listed_ = 0;
    }

    __device__ __forceinline__ int size() const { return size_; }
    __device__ __forceinline__ u64 total() const { return mass_through()[BINS - 1]; }

    // Lists at least the `count` most likely tokens if there is room: thread i then has the i-th. Needs counts only.
    __device__ __forceinline__ bool list_most_likely(int count) {
        const int bin = bin_reaching(count, true);
        if (count_through()[bin] > LISTED) return false;
        gather(0, bin);
        return true;
    }

    // Returns this thread's token after list_most_likely.
    __device__ __forceinline__ int listed_token() const { return static_cast<int>(~static_cast<uint32_t>(key_)); }

    // Returns the shortest prefix with `goal` tokens (`counting`) or `goal` mass.
    __device__ __forceinline__ Prefix reaching(u64 goal, bool counting) {
        if (!is_listed(goal, counting)) {
            const int bin = bin_reaching(goal, counting);
            if (count_through()[bin] <= LISTED) gather(0, bin);
            else if (count_through()[bin] - count_before(bin) <= LISTED) gather(bin, bin);
            else return search_bin(bin, goal, counting);
        }
        const bool mine = counting ? listedBefore_ + threadIdx.x + 1 == goal : reaches(through_ - listed_mass(), through_, goal);
        const ulonglong2 found = broadcast_from(mine, through_, ~static_cast<uint32_t>(key_));
        return {found.x, static_cast<int>(found.y)};
    }

private:
    static __device__ __forceinline__ bool reaches(u64 before, u64 through, u64 goal) { return before < goal && goal <= through; }

    // Prefix sums over the bins; at first the histogram, masses as lower and upper halves.
    __device__ __forceinline__ u64* mass_through() const { return reinterpret_cast<u64*>(scratch_); }
    __device__ __forceinline__ uint32_t* count_through() const { return reinterpret_cast<uint32_t*>(scratch_ + 8 * BINS); }
    __device__ __forceinline__ u64* list() const { return reinterpret_cast<u64*>(scratch_ + 12 * BINS); }

    __device__ __forceinline__ u64 mass_before(int bin) const { return bin == 0 ? 0 : mass_through()[bin - 1]; }
    __device__ __forceinline__ uint32_t count_before(int bin) const { return bin == 0 ? 0 : count_through()[bin - 1]; }

    __device__ __forceinline__ int bin_reaching(u64 goal, bool counting) const {
        const int bin = threadIdx.x;
        const bool mine = counting ? reaches(count_before(bin), count_through()[bin], goal)
                                   : reaches(mass_before(bin), mass_through()[bin], goal);
        return static_cast<int>(broadcast_from(mine, bin, 0).x);
    }

    __device__ __forceinline__ bool is_listed(u64 goal, bool counting) const {
        return listed_ > 0 &&
               (counting ? reaches(listedBefore_, listedBefore_ + listed_, goal) : reaches(massBefore_, massListed_, goal));
    }

    // Lists the tokens of bins from … to, sorted; they must fit.
    __device__ __forceinline__ void gather(int from, int to) {
        __shared__ uint32_t listed;
        __syncthreads();
        if (threadIdx.x == 0) listed = 0;
        __syncthreads();
        const float least = w_.least_of(to);
#pragma unroll 8
        for (int i = threadIdx.x; i < w_.vocabulary; i += RANKING_THREADS) {
            const float logit = w_.logits[i];
            if (logit < least) continue;
            const int bin = w_.bin(logit);
            if (bin < from || bin > to || !(w_.exponent(logit) >= w_.floor)) continue;
            list()[atomicAdd(&listed, 1u)] = ranked_token(logit_rank(logit, 0, 1), i);
        }
        __syncthreads();
        listed_ = listed;
        listedBefore_ = count_before(from);
        sort();
        massBefore_ = from == 0 ? 0 : mass_before(from);
        through_ = massBefore_ + running_sum(listed_mass(), massListed_);
        massListed_ += massBefore_;
    }

    __device__ __forceinline__ u64 listed_mass() const {
        return threadIdx.x < listed_ ? w_.mass(Weights::logit_of(static_cast<uint32_t>(key_ >> 32))) : 0;
    }

    // Bitonic sort, largest key first, one key per thread.
    __device__ __forceinline__ void sort() {
        key_ = threadIdx.x < listed_ ? list()[threadIdx.x] : 0;
        for (uint32_t size = 2; size / 2 < listed_; size *= 2) {
            for (uint32_t stride = size / 2; stride > 0; stride /= 2) {
                u64 other;
                if (stride >= 32) {
                    __syncthreads();
                    list()[threadIdx.x] = key_;
                    __syncthreads();
                    other = list()[threadIdx.x ^ stride];
                } else {
                    other = __shfl_xor_sync(~0u, key_, stride);
                }
                const bool larger = ((threadIdx.x & size) == 0) == ((threadIdx.x & stride) == 0);
                key_ = larger ? max(key_, other) : min(key_, other);
            }
        }
    }

    // Searches one bin of any size: finds the rank that reaches the goal bit by bit, then the token among the tokens of equal
    // rank.
    __device__ __forceinline__ Prefix search_bin(int bin, u64 goal, bool counting) const {
        auto through = [&](uint32_t rank, u64& mass) {
            u64 count = 0;
            mass = 0;
            for (int i = threadIdx.x; i < w_.vocabulary; i += RANKING_THREADS) {
                const float logit = w_.logits[i];
                if (w_.bin(logit) != bin || !(w_.exponent(logit) >= w_.floor) || logit_rank(logit, 0, 1) < rank) continue;
                count++;
                mass += w_.mass(logit);
            }
            auto add = [](u64 a, u64 b) { return a + b; };
            mass = mass_before(bin) + over_block(mass, add);
            return count_before(bin) + over_block(count, add);
        };
        u64 mass;
        uint32_t rank = 0;
#pragma unroll 1
        for (uint32_t bit = 0x80000000u; bit > 0; bit >>= 1) {
            const u64 count = through(rank | bit, mass);
            if ((counting ? count : mass) >= goal) rank |= bit;
        }
        const u64 countAbove = through(rank + 1, mass);
        const u64 each = w_.mass(Weights::logit_of(rank));
        const u64 needed = counting ? goal - countAbove : (goal - mass + each - 1) / each;
        const int token = token_reaching(
            w_.logits, w_.vocabulary, [&](float logit) { return static_cast<u64>(logit_rank(logit, 0, 1) == rank); },
            [&](u64) { return needed; });
        return {mass + needed * each, token};
    }

    const Weights w_;
    char* const scratch_;
    int size_ = 0;
    // The list: its token count, tokens and mass before it, and mass through its end, uniform over the block. Then this
    // thread's token and the mass through it.
    uint32_t listed_ = 0, listedBefore_ = 0;
    u64 massBefore_ = 0, massListed_ = 0;
    u64 key_ = 0, through_ = 0;
};

}  // namespace rose
