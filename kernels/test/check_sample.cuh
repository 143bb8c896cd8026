#pragma once
// Checks the sampling kernel against a double-precision host reference: every filter and penalty, many seeds. A random number
// within BOUNDARY of the edge between two tokens may select either, since the device's exponentials are single precision.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include "../contract/structs.h"
#include "device.cuh"

constexpr size_t RANKING_BYTES = 20480;

// Returns a request with these parameters; the other fields are zero.
inline SampleRequest sampling(float temperature, int topK = 0, float topP = 1, float minP = 0, float repetitionPenalty = 1,
                              float presencePenalty = 0, float frequencyPenalty = 0) {
    SampleRequest r = {};
    r.temperature = temperature, r.topK = topK, r.topP = topP, r.minP = minP;
    r.repetitionPenalty = repetitionPenalty, r.presencePenalty = presencePenalty, r.frequencyPenalty = frequencyPenalty;
    return r;
}

// Returns each row's argmax within every TILE logits, as the head writes it.
constexpr int TILE = 128;
inline std::vector<unsigned long long> tile_bests(const std::vector<float>& logits, int stride, int vocabulary) {
    std::vector<unsigned long long> bests(logits.size() / TILE);
    for (size_t i = 0; i < logits.size(); i++) {
        const unsigned token = i % stride;
        if (token >= static_cast<unsigned>(vocabulary)) continue;
        unsigned rank;
        std::memcpy(&rank, &logits[i], sizeof rank);
        rank = rank & 0x80000000u ? ~rank : rank | 0x80000000u;
        if (!(logits[i] < INFINITY)) rank = 0xffffffff;
        bests[i / TILE] = std::max(bests[i / TILE], static_cast<unsigned long long>(rank) << 32 | ~token);
    }
    return bests;
}

class ReferenceSampler {
public:
    static constexpr double BOUNDARY = 2e-5;

    // Returns whether the reference may choose `token`.
    static bool allows(int token, std::vector<float> logits, const SampleRequest& r, const std::vector<int>& history) {
        constrain(logits, r, history);
        if (*std::max_element(logits.begin(), logits.end()) == -INFINITY) return token == -2;
        penalize(logits, r, history);
        const int best = static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
        if (r.temperature == 0) return token == best;
        std::vector<int> order;
        std::vector<double> weight(logits.size());
        double total = 0;
        for (size_t i = 0; i < logits.size(); i++) {
            double exponent = (logits[i] - logits[best]) / static_cast<double>(r.temperature);
            if (r.minP > 0 && exponent < std::log(r.minP)) continue;
            weight[i] = std::exp(exponent);
            if (weight[i] > 0) order.push_back(static_cast<int>(i)), total += weight[i];
        }
        const size_t size = order.size();
        size_t count = r.topK == 0 ? size : std::min<size_t>(r.topK, size);
        double kept = total;
        const bool byId = (r.topK == 0 || static_cast<size_t>(r.topK) >= logits.size()) && r.topP >= 1;
        if (!byId) {
            std::sort(order.begin(), order.end(),
                      [&](int a, int b) { return weight[a] != weight[b] ? weight[a] > weight[b] : a < b; });
            double sum = 0;
            for (size_t i = 0; i < count; i++) sum += weight[order[i]];
            const double wanted = r.topP * sum;
            size_t n = 0;
            for (kept = 0; n < count && (n == 0 || kept < wanted); n++) kept += weight[order[n]];
            count = n;
        }
        const double target = kept * uniform(r.seed, r.position);
        double before = 0;
        for (size_t i = 0; i < count; i++) {
            double after = before + weight[order[i]];
            if (order[i] == token) return target >= before - BOUNDARY * total && target < after + BOUNDARY * total;
            before = after;
        }
        return false;
    }

private:
    static uint64_t mix(uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
        return z ^ (z >> 31);
    }
    static double uniform(uint64_t seed, uint64_t index) {
        return static_cast<double>(mix(mix(seed) + (index + 1) * 0x9E3779B97F4A7C15ull) >> 11) * 0x1p-53;
    }
    static void constrain(std::vector<float>& logits, const SampleRequest& r, const std::vector<int>& history) {
        for (size_t i = 0; r.maskStart >= 0 && i < logits.size(); i++) {
            if ((history[r.maskStart + i / 32] >> i % 32 & 1) == 0) logits[i] = -INFINITY;
        }
        const int* biases = history.data() + std::max(r.biasStart, 0);
        for (int i = 1; r.biasStart >= 0 && i <= biases[0]; i++) {
            float value;
            std::memcpy(&value, biases + biases[0] + i, sizeof value);
            logits[biases[i]] += value;
        }
    }
    static void penalize(std::vector<float>& logits, const SampleRequest& r, const std::vector<int>& history) {
        std::vector<bool> seen(logits.size());
        const int* tokens = history.data() + r.historyStart;
        for (int i = 0; i < r.historyLength && r.repetitionPenalty != 1; i++) {
            if (seen[tokens[i]]) continue;
            seen[tokens[i]] = true;
            float& logit = logits[tokens[i]];
            logit = logit > 0 ? logit / r.repetitionPenalty : logit * r.repetitionPenalty;
        }
        seen.assign(logits.size(), false);
        for (int i = r.promptLength; i < r.historyLength; i++) {
            float& logit = logits[tokens[i]];
            logit -= r.frequencyPenalty;
            if (!seen[tokens[i]]) logit -= r.presencePenalty;
            seen[tokens[i]] = true;
        }
    }
};

// Checks a sample's report: tokens exactly, log-probabilities within single precision.
inline std::string wrong_report(const SampleReport& seen, int token, const std::vector<float>& logits, int count) {
    const float largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
    const double normalizer = largest + std::log(sum);
    auto off = [&](float logprob, int id) {
        return !(std::abs(logprob - (logits[id] - normalizer)) <= 2e-6 * std::max(1.0, std::abs(normalizer)));
    };
    if (off(seen.logprob, token)) return "log-probability " + std::to_string(seen.logprob);
    std::vector<int> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    count = std::min<int>(count, order.size());
    std::partial_sort(order.begin(), order.begin() + count, order.end(),
                      [&](int a, int b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
    for (int i = 0; i < count; i++) {
        if (seen.tokens[i] != order[i]) return "most likely token " + std::to_string(i) + " is " + std::to_string(seen.tokens[i]);
        if (std::isfinite(logits[order[i]]) && off(seen.logprobs[i], order[i])) return "its " + std::to_string(seen.logprobs[i]);
    }
    return "";
}

constexpr int KINDS = 6;

// Returns random logits of a kind: spread, all equal, with masked tokens, nearly equal, two distant clusters, or two likely
// tokens, the later one likelier.
inline std::vector<float> random_logits(int kind, int vocabulary, std::mt19937_64& random) {
    std::vector<float> logits(vocabulary);
    std::normal_distribution<float> normal(0, 3);
    for (int i = 0; i < vocabulary; i++) {
        const float x = normal(random);
        const float likely = i == vocabulary / 5 ? 9.95f : i == vocabulary / 2 ? 10 : -5;
        logits[i] = kind == 0   ? std::round(x * 64) / 64
                    : kind == 1 ? -7.25f
                    : kind == 2 ? (i % 3 == 1 ? -INFINITY : x - 100)
                    : kind == 3 ? x * .01f
                    : kind == 5 ? likely
                                : (i % 2 == 0 ? x * .001f : x * .001f - 12);
    }
    return logits;
}

// Checks every setting with `kinds` kinds of logits over these vocabularies.
inline void check_sampler(Kernels& kernels, const std::vector<int>& vocabularies, int kinds,
                          const std::function<void(bool, const std::string&, const std::string&)>& report) {
    struct Setting {
        const char* name;
        SampleRequest request;
    };
    const Setting settings[] = {{"greedy", sampling(0)},
                                {"temperature 1", sampling(1)},
                                {"top-k 1", sampling(1, 1)},
                                {"top-k 40", sampling(.8f, 40)},
                                {"top-p 0.9", sampling(1, 0, .9f)},
                                {"top-p 0.0001", sampling(1, 0, .0001f)},
                                {"min-p 0.1", sampling(1.5f, 0, 1, .1f)},
                                {"all filters", sampling(.7f, 50, .95f, .02f)},
                                {"top-k 2000, top-p 0.5", sampling(20, 2000, .5f)},
                                {"top-k of everything", sampling(2, 60000)},
                                {"top-k of everything, top-p 0.7", sampling(2, 60000, .7f)},
                                {"repetition", sampling(1, 20, 1, 0, 1.3f)},
                                {"presence and frequency", sampling(1, 0, .9f, 0, 1, .5f, .7f)},
                                {"greedy with penalties", sampling(0, 0, 1, 0, 1.2f, 1, 1)},
                                {"cold top-k", sampling(.1f, 40)}};
    constexpr int SETTINGS = 15;
    // Constraints of a sample: none, a mask, biases, both, or a mask without a token.
    enum { FREE, MASK, BIASES, BOTH, NOTHING, CONSTRAINTS };
    auto constraint_of = [](int sample) { return (sample + sample / SETTINGS) % CONSTRAINTS; };  // every setting with each
    auto kind_of = [](int sample) { return (sample % SETTINGS + sample / SETTINGS) % KINDS; };  // every setting with every kind
    std::mt19937_64 random(11);
    for (int vocabulary : vocabularies) {
        const int samples = SETTINGS * kinds + 1, stride = round_up(vocabulary, 128), tokens = 90;
        std::vector<float> logits(static_cast<size_t>(samples) * stride);
        std::vector<SampleRequest> requests;
        std::vector<int> history;
        for (int s = 0; s < samples; s++) {
            std::vector<float> row = random_logits(kind_of(s), vocabulary, random);
            std::copy(row.begin(), row.end(), logits.begin() + static_cast<size_t>(s) * stride);
            SampleRequest r = settings[s % SETTINGS].request;
            r.seed = random(), r.position = static_cast<int>(random() % 1000);
            r.historyStart = static_cast<int>(history.size()), r.historyLength = tokens, r.promptLength = 30;
            r.logprobs = s % 4 == 0 ? -1 : s % 4 == 1 ? 0 : s % 4 == 2 ? 5 : 20;
            for (int i = 0; i < tokens; i++) history.push_back(static_cast<int>(random() % std::min(vocabulary, 40)));
            const int constraint = constraint_of(s);
            r.maskStart = r.biasStart = r.reported = -1;
            if (constraint == MASK || constraint == BOTH || constraint == NOTHING) {
                r.maskStart = static_cast<int>(history.size());
                const int density = s % 3;  // half of all bits, all bits of a word in 2, or a bit of a word in 100
                for (int i = 0; i < ceil_div(vocabulary, 32); i++) {
                    const unsigned any = static_cast<unsigned>(random());
                    const unsigned bits = density == 0 ? any : density == 1 ? (any % 2 ? ~0u : 0) : any % 100 ? 0 : 1u << any / 128 % 32;
                    history.push_back(static_cast<int>(constraint == NOTHING ? 0 : i == 0 ? bits | 4 : bits));
                }
            }
            if (constraint == BIASES || constraint == BOTH) {
                const int count = std::min(vocabulary / 2, 1 + static_cast<int>(random() % 1000)), step = vocabulary / count;
                r.biasStart = static_cast<int>(history.size());
                history.push_back(count);
                for (int i = 0; i < count; i++) history.push_back(i * step + (i * step == 2));
                for (int i = 0; i < count; i++) {
                    const float value = i % 3 == 1 ? -INFINITY : static_cast<float>(random() % 400) / 4 - 50;
                    int bits;
                    std::memcpy(&bits, &value, sizeof bits);
                    history.push_back(bits);
                }
            }
            requests.push_back(r);
        }
        logits[static_cast<size_t>(samples - 1) * stride + vocabulary / 2] = NAN;
        DeviceArray<float> deviceLogits(logits), copies = DeviceArray<float>::uncleared(logits.size());
        DeviceArray<SampleRequest> deviceRequests(requests);
        DeviceArray<int> sampledBefore(std::vector<int>{history[0]});
        std::vector<int> deferred = history;
        deferred[0] = ~0;  // one history token is still on the device
        DeviceArray<int> deviceHistory(deferred), step(std::vector<int>{3});
        auto seen = DeviceArray<unsigned>::uncleared(static_cast<size_t>(samples) * ((vocabulary + 31) / 32));
        DeviceArray<int> sampled(samples);
        DeviceArray<unsigned long long> tokenSlots(samples);
        DeviceArray<SampleReport> reports(samples);
        DeviceArray<unsigned long long> bests(tile_bests(logits, stride, vocabulary));
        kernels("sample", {dim3(samples), 1024, RANKING_BYTES}, static_cast<const unsigned long long*>(bests.get()), stride / TILE,
                static_cast<const float*>(deviceLogits.get()), vocabulary, stride,
                static_cast<const SampleRequest*>(deviceRequests.get()), static_cast<const int*>(deviceHistory.get()),
                seen.get(), copies.get(), static_cast<const int*>(step.get()), sampled.get(),
                static_cast<const int*>(sampledBefore.get()), tokenSlots.get(), reports.get());
        const std::vector<unsigned long long> words = tokenSlots.download();
        const std::vector<int> chosen = sampled.download();
        const std::vector<SampleReport> reported = reports.download();
        for (int s = 0; s < samples; s++) {
            const int token = static_cast<int>(static_cast<uint32_t>(words[s]));
            const auto from = logits.begin() + static_cast<size_t>(s) * stride;
            const std::vector<float> row(from, from + vocabulary);
            const bool last = s == samples - 1;
            bool right = chosen[s] == std::max(token, 0) &&
                         (last ? token == -1 : ReferenceSampler::allows(token, row, requests[s], history));
            const std::string what = "sample, vocabulary " + std::to_string(vocabulary) + ", " +
                                     settings[s % SETTINGS].name + ", logits " + std::to_string(kind_of(s)) +
                                     ", constraint " + std::to_string(constraint_of(s));
            report(right && words[s] >> 32 == 3, what, "token " + std::to_string(token));
            if (right && token >= 0 && requests[s].logprobs >= 0) {
                const std::string wrong = wrong_report(reported[s], token, row, requests[s].logprobs);
                report(wrong.empty(), what + ", report", wrong);
            }
        }
        report(std::memcmp(deviceLogits.download().data(), logits.data(), logits.size() * sizeof(float)) == 0,
               "logits after sampling", "they changed");
    }
}

// Samples that report a given token: an unlikely, a likely, the most likely and the last one.
inline void check_reported(Kernels& kernels, const std::vector<int>& vocabularies,
                           const std::function<void(bool, const std::string&, const std::string&)>& report) {
    std::mt19937_64 random(12);
    for (int vocabulary : vocabularies) {
        const int tokens = 4, samples = KINDS * tokens, stride = round_up(vocabulary, 128);
        std::vector<float> logits(static_cast<size_t>(samples) * stride);
        std::vector<SampleRequest> requests;
        std::vector<int> ranks;
        for (int s = 0; s < samples; s++) {
            const std::vector<float> row = random_logits(s / tokens, vocabulary, random);
            std::copy(row.begin(), row.end(), logits.begin() + static_cast<size_t>(s) * stride);
            std::vector<int> order(vocabulary);
            std::iota(order.begin(), order.end(), 0);
            std::sort(order.begin(), order.end(), [&](int a, int b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
            const int rank = s % tokens == 0   ? static_cast<int>(random() % vocabulary)
                             : s % tokens == 1 ? static_cast<int>(random() % std::min(vocabulary, 10))
                             : s % tokens == 2 ? 0
                                               : vocabulary - 1;
            SampleRequest r = sampling(0);
            r.logprobs = s % 5 * 5, r.maskStart = r.biasStart = -1, r.reported = order[rank];
            requests.push_back(r);
            ranks.push_back(rank + 1);
        }
        DeviceArray<float> deviceLogits(logits), copies = DeviceArray<float>::uncleared(logits.size());
        DeviceArray<SampleRequest> deviceRequests(requests);
        DeviceArray<int> history(1), step(std::vector<int>{3}), sampledBefore(1);
        auto seen = DeviceArray<unsigned>::uncleared(static_cast<size_t>(samples) * ((vocabulary + 31) / 32));
        DeviceArray<int> sampled(samples);
        DeviceArray<unsigned long long> tokenSlots(samples);
        DeviceArray<SampleReport> reports(samples);
        DeviceArray<unsigned long long> bests(tile_bests(logits, stride, vocabulary));
        kernels("sample", {dim3(samples), 1024, RANKING_BYTES}, static_cast<const unsigned long long*>(bests.get()), stride / TILE,
                static_cast<const float*>(deviceLogits.get()), vocabulary, stride,
                static_cast<const SampleRequest*>(deviceRequests.get()), static_cast<const int*>(history.get()), seen.get(),
                copies.get(), static_cast<const int*>(step.get()), sampled.get(),
                static_cast<const int*>(sampledBefore.get()), tokenSlots.get(), reports.get());
        const std::vector<unsigned long long> words = tokenSlots.download();
        const std::vector<SampleReport> reported = reports.download();
        for (int s = 0; s < samples; s++) {
            const auto from = logits.begin() + static_cast<size_t>(s) * stride;
            const std::vector<float> row(from, from + vocabulary);
            const int token = requests[s].reported;
            const std::string what = "sample, vocabulary " + std::to_string(vocabulary) + ", reported token " +
                                     std::to_string(token) + ", logits " + std::to_string(s / tokens);
            report(words[s] == (3ull << 32 | static_cast<unsigned>(token)), what, "slot " + std::to_string(words[s]));
            report(reported[s].rank == ranks[s], what, "rank " + std::to_string(reported[s].rank));
            if (std::isfinite(row[token])) {
                const std::string wrong = wrong_report(reported[s], token, row, requests[s].logprobs);
                report(wrong.empty(), what + ", report", wrong);
            }
        }
    }
}

// Penalties over a completion that gives each thread more tokens than a word has bits. All arithmetic is exact: an
// occurrence counted twice changes the argmax.
inline void check_long_completion(Kernels& kernels,
                                  const std::function<void(bool, const std::string&, const std::string&)>& report) {
    const int vocabulary = 1500, stride = round_up(vocabulary, 128), tokens = 36000, repeated = 7;
    const float penalty = 1.f / 64;
    std::vector<float> logits(stride);
    logits[repeated] = tokens * penalty + penalty / 2;
    SampleRequest request = sampling(0, 0, 1, 0, 1, 0, penalty);
    request.historyLength = tokens, request.logprobs = -1, request.maskStart = request.biasStart = request.reported = -1;
    DeviceArray<float> deviceLogits(logits), copies(logits.size());
    DeviceArray<SampleRequest> requests(std::vector<SampleRequest>{request});
    DeviceArray<int> history(std::vector<int>(tokens, repeated)), step(1), sampled(1), sampledBefore(1);
    DeviceArray<unsigned> seen((vocabulary + 31) / 32);
    DeviceArray<unsigned long long> tokenSlots(1);
    DeviceArray<SampleReport> reports(1);
    DeviceArray<unsigned long long> bests(tile_bests(logits, stride, vocabulary));
    kernels("sample", {dim3(1), 1024, RANKING_BYTES}, static_cast<const unsigned long long*>(bests.get()), stride / TILE,
            static_cast<const float*>(deviceLogits.get()), vocabulary, stride,
            static_cast<const SampleRequest*>(requests.get()), static_cast<const int*>(history.get()), seen.get(), copies.get(),
            static_cast<const int*>(step.get()), sampled.get(), static_cast<const int*>(sampledBefore.get()), tokenSlots.get(),
            reports.get());
    const int token = sampled.download()[0];
    report(token == repeated, "penalty in a completion of 36000 tokens", "token " + std::to_string(token));
}
