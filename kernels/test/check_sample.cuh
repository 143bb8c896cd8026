#pragma once
// The sampler against the reference's rules in double precision on the host: every filter and penalty, many seeds. A draw that
// falls within BOUNDARY of the edge between two tokens may go either way, since the device's exponentials are single precision.
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include "device.cuh"

struct SampleRequest {
    unsigned long long seed;
    float temperature;
    int topK;
    float topP, minP, repetitionPenalty, presencePenalty, frequencyPenalty;
    int position, historyStart, historyLength, promptLength;
    int reserved[3];
};
static_assert(sizeof(SampleRequest) == 64, "the layout the host writes");

class ReferenceSampler {
public:
    static constexpr double BOUNDARY = 2e-5;

    // Whether `token` is what the reference may choose.
    static bool allows(int token, std::vector<float> logits, const SampleRequest& r, const std::vector<int>& history) {
        penalise(logits, r, history);
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
        if (count < size || r.topP < 1) {
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
    static void penalise(std::vector<float>& logits, const SampleRequest& r, const std::vector<int>& history) {
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

inline void check_sampler(Kernels& kernels, bool quick,
                          const std::function<void(bool, const std::string&, const std::string&)>& report) {
    struct Setting {
        const char* name;
        SampleRequest request;
    };
    const Setting settings[] = {{"greedy", {0, 0, 0, 1, 0, 1, 0, 0}},
                                {"temperature 1", {0, 1, 0, 1, 0, 1, 0, 0}},
                                {"top-k 1", {0, 1, 1, 1, 0, 1, 0, 0}},
                                {"top-k 40", {0, .8f, 40, 1, 0, 1, 0, 0}},
                                {"top-p 0.9", {0, 1, 0, .9f, 0, 1, 0, 0}},
                                {"top-p 0.0001", {0, 1, 0, .0001f, 0, 1, 0, 0}},
                                {"min-p 0.1", {0, 1.5f, 0, 1, .1f, 1, 0, 0}},
                                {"all filters", {0, .7f, 50, .95f, .02f, 1, 0, 0}},
                                {"repetition", {0, 1, 20, 1, 0, 1.3f, 0, 0}},
                                {"presence and frequency", {0, 1, 0, .9f, 0, 1, .5f, .7f}},
                                {"greedy with penalties", {0, 0, 0, 1, 0, 1.2f, 1, 1}}};
    std::mt19937_64 random(11);
    for (int vocabulary : quick ? std::vector<int>{1500} : std::vector<int>{5, 1023, 1025, 50257}) {
        const int samples = quick ? 11 : 66, stride = round_up(vocabulary, 128), tokens = 90;
        std::vector<float> logits(static_cast<size_t>(samples) * stride);
        std::vector<SampleRequest> requests;
        std::vector<int> history;
        std::normal_distribution<float> normal(0, 3);
        for (int s = 0; s < samples; s++) {
            for (int i = 0; i < vocabulary; i++)
                logits[static_cast<size_t>(s) * stride + i] = std::round(normal(random) * 64) / 64;
            SampleRequest r = settings[s % 11].request;
            r.seed = random(), r.position = static_cast<int>(random() % 1000);
            r.historyStart = static_cast<int>(history.size()), r.historyLength = tokens, r.promptLength = 30;
            for (int i = 0; i < tokens; i++) history.push_back(static_cast<int>(random() % std::min(vocabulary, 40)));
            requests.push_back(r);
        }
        logits[static_cast<size_t>(samples - 1) * stride + vocabulary / 2] = NAN;
        DeviceArray<float> deviceLogits(logits);
        DeviceArray<SampleRequest> deviceRequests(requests);
        DeviceArray<int> sampledBefore(std::vector<int>{history[0]});
        std::vector<int> deferred = history;
        deferred[0] = ~0;  // one token of the history is still on the device
        DeviceArray<int> deviceHistory(deferred), step(std::vector<int>{3}), sampled(samples);
        DeviceArray<unsigned> seen(static_cast<size_t>(samples) * ((vocabulary + 31) / 32));
        DeviceArray<unsigned long long> mailbox(samples);
        kernels("sample", {dim3(samples), 1024}, deviceLogits.get(), vocabulary, stride,
                static_cast<const SampleRequest*>(deviceRequests.get()), static_cast<const int*>(deviceHistory.get()), seen.get(),
                static_cast<const int*>(step.get()), sampled.get(), static_cast<const int*>(sampledBefore.get()), mailbox.get());
        std::vector<unsigned long long> mail = mailbox.download();
        std::vector<int> chosen = sampled.download();
        for (int s = 0; s < samples; s++) {
            const int token = static_cast<int>(static_cast<uint32_t>(mail[s]));
            const auto first = logits.begin() + static_cast<size_t>(s) * stride;
            const bool last = s == samples - 1;
            bool right =
                last ? token == -1 && chosen[s] == 0
                     : token == chosen[s] && ReferenceSampler::allows(token, {first, first + vocabulary}, requests[s], history);
            report(right && mail[s] >> 32 == 3, "sample, vocabulary " + std::to_string(vocabulary) + ", " + settings[s % 11].name,
                   "token " + std::to_string(token));
        }
    }
}
