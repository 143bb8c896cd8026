#pragma once
// Timing and tuning for models with RoPE, RMS norm and a gated MLP in bf16.
#include <chrono>
#include "loads.cuh"

// Parses LAYERS:WIDTH:HEADS:KVHEADS:HEADSIZE:INNER:VOCABULARY; the suffix `:norms` adds QK norm, `:int8` int8 weights, `:fp8` an
// fp8 KV cache.
inline Shape gated_shape(const char* text) {
    int n[7];
    if (std::sscanf(text, "%d:%d:%d:%d:%d:%d:%d", n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6) != 7) {
        std::fprintf(stderr, "%s: LAYERS:WIDTH:HEADS:KVHEADS:HEADSIZE:INNER:VOCABULARY[:norms][:int8][:fp8] expected\n", text);
        std::exit(2);
    }
    Shape s = gated_shape(n[0], n[1], n[2], n[3], n[4], n[5], n[6], 4096);
    s.headNorms = std::strstr(text, ":norms") != nullptr;
    s.int8 = std::strstr(text, ":int8") != nullptr;
    s.fp8 = std::strstr(text, ":fp8") != nullptr;
    return s;
}

// Returns the plan that the engine chooses.
inline Plan gated_plan(const Kernels& kernels, const Shape& s, const Load& load) {
    Plan plan = load.decodes() ? decode_plan(load.rows, s.millions(), s.int8)
                               : prefill_plan(load.tokens(), load.rows, s.millions(), s.int8);
    plan.attention = !load.decodes() ? Plan::PREFILL_WGMMA : s.headNorms ? Plan::DECODE_GQA_ROPE : Plan::DECODE_GQA;
    plan.attentionCluster = 8;
    auto most = [&] { return (plan.attentionCluster * s.headPad() > 256 ? 1 : 3) * kernels.multiprocessors(); };  // blocks
    while (plan.attentionCluster > 1 && load.rows * s.kvHeadCount() * plan.attentionCluster > most()) plan.attentionCluster /= 2;
    return plan;
}

// Times the step and each kernel in a chain over all layers, next to the time to copy its weights and KV.
inline void time_gated(Kernels& kernels, Runner<rose::bf16>& runner, const Load& load, const Plan& plan) {
    const Shape& s = runner.model().shape;
    const double kv = 2. * load.positions() * s.kvWidth() * (s.fp8 ? 1 : 2);
    struct Part {
        const char* name;
        std::function<void(int)> run;
        double bytes;
    };
    const double weight = s.int8 ? 1 : 2, row = weight * s.width;  // bytes
    const Part parts[] = {{"qkv", [&](int i) { runner.qkv(plan, i); }, row * (s.attention() + 2 * s.kvWidth())},
                          {"attention", [&](int i) { runner.attention(plan, i); }, kv},
                          {"attention out", [&](int i) { runner.attentionOut(plan, i); }, row * s.attention()},
                          {"mlp in", [&](int i) { runner.mlpIn(plan, i); }, 2 * row * s.inner},
                          {"mlp out", [&](int i) { runner.mlpOut(plan, i); }, row * s.inner}};
    const int repeats = load.decodes() ? 15 : load.tokens() > 2048 ? 2 : 5, inner = load.decodes() ? 2 : 1;
    const double step = median_micros(
        kernels, [&] { runner.step(plan); }, repeats, inner);
    double bytes = row * s.vocabulary, flops = 0;
    for (const Part& part : parts) bytes += s.layers * part.bytes;
    for (const Part& part : parts) {
        const int layers = load.decodes() || &part == parts ? s.layers : s.layers - 1;  // the last one multiplies samples only
        flops += part.bytes == kv ? 0. : 2. * load.tokens() * part.bytes / weight * layers;
    }
    std::printf("GATED %-14s: %9.1f us, floor %.0f us, %.0f TFLOP/s in the layers' GEMMs;", load.text().c_str(), step,
                bytes / COPY_BYTES_PER_MICRO, flops / step * 1e-6);
    for (const Part& part : parts) {
        double chain = median_micros(
                           kernels,
                           [&] {
                               for (int i = 0; i < s.layers; i++) part.run(i);
                           },
                           repeats, inner) /
                       s.layers;
        std::printf(" %s %.2f (%.2f)", part.name, chain, part.bytes / COPY_BYTES_PER_MICRO);
    }
    const double head = median_micros(
        kernels, [&] { runner.head(plan), runner.select(); }, repeats, inner);
    std::printf(" head %.1f (%.1f)\n", head, row * s.vocabulary / COPY_BYTES_PER_MICRO);
    std::fflush(stdout);
}

// Tunes the tiles of a step for one load, matrix by matrix. A candidate is timed within a few consecutive layers that exceed L2,
// so its effect on neighboring kernels is included; the head is timed alone. A clearly slower candidate is dropped after two
// replays. The best few of each matrix are timed again with the other matrices' choices in place.
class StepTuner {
public:
    StepTuner(Kernels& kernels, Runner<rose::bf16>& runner, const Load& load, const Plan& start)
        : kernels_(kernels), runner_(runner), load_(load), best_(start) {
        const Shape& s = runner.model().shape;
        const Model<rose::bf16>::Layer& layer = runner.model().layers[0];
        double bytes = 0;
        for (const Projection<rose::bf16>* p : {&layer.qkv, &layer.attentionOut, &layer.mlpIn, &layer.mlpOut}) {
            bytes += (s.int8 ? 1. : 2.) * p->paddedK * p->paddedN;
        }
        const int cold = static_cast<int>(std::ceil((load.decodes() ? 300e6 : 100e6) / bytes));
        layers_ = std::min(s.layers, std::max(cold, 2));
        const int tokens = load.tokens(), panel = s.int8 ? 128 : 64;
        slots_ = {{"mlp in", &Plan::mlpIn, tokens, layer.mlpIn.paddedK / panel, false, {}},
                  {"mlp out", &Plan::mlpOut, tokens, layer.mlpOut.paddedK / panel, false, {}},
                  {"qkv", &Plan::qkv, tokens, layer.qkv.paddedK / panel, false, {}},
                  {"attention out", &Plan::attentionOut, tokens, layer.attentionOut.paddedK / panel, false, {}},
                  {"head", &Plan::head, load.rows, runner.model().head.paddedK / panel, true, {}}};
    }

    Plan tuned() {
        const double before = layer_micros(best_, ACCURATE);
        for (Slot& slot : slots_) first_round(slot);
        if (load_.decodes()) tune_cluster();
        for (Slot& slot : slots_) second_round(slot);
        std::printf("  layer %.2f -> %.2f us\n", before, layer_micros(best_, ACCURATE));
        return best_;
    }

private:
    struct Timed {
        double micros;
        GemmPlan tile;
        bool operator<(const Timed& other) const { return micros < other.micros; }
    };
    struct Slot {
        const char* name;
        GemmPlan Plan::*tile;
        int rows, panels;
        bool head;
        std::vector<Timed> timed;  // best first
    };
    static constexpr int QUICK = 4, ACCURATE = 9;  // replays
    static constexpr size_t KEPT = 6;

    // Returns the median of `replays`, or of two if the faster of them exceeds `limit` by 5 %.
    double micros(const std::function<void()>& work, int replays, double limit) {
        TimedGraph graph(kernels_, work);
        graph.micros(1);
        std::vector<double> all{graph.micros(1), graph.micros(1)};
        if (std::min(all[0], all[1]) < 1.05 * limit) {
            for (int i = 2; i < replays; i++) all.push_back(graph.micros(1));
        }
        return median(all);
    }

    double layer_micros(const Plan& plan, int replays, double limit = 1e30) {
        auto work = [&] {
            runner_.embed(plan);
            for (int i = 0; i < layers_; i++) runner_.layer(plan, i);
        };
        return micros(work, replays, limit * layers_) / layers_;
    }

    double slot_micros(const Slot& slot, const GemmPlan& tile, int replays, double limit = 1e30) {
        Plan plan = best_;
        plan.*slot.tile = tile;
        if (!slot.head) return layer_micros(plan, replays, limit);
        return micros([&] { runner_.head(plan), runner_.select(); }, replays, limit);
    }

    std::vector<GemmPlan> candidates(const Slot& slot) const {
        std::vector<GemmPlan> all;
        const bool int8 = runner_.model().shape.int8;
        const int least = slot.rows >= 4096 ? 128 : slot.rows >= 512 ? 64 : slot.head ? slot.rows / 4 : slot.rows / 8;
        for (int batch : {8, 16, 32, 64, 128}) {
            const bool covers = batch / 2 >= std::max(slot.rows, 8);
            if (int8 && batch > (slot.head ? 64 : 128)) continue;
            if (batch < least || (covers && !(batch == 128 && slot.rows > 32))) continue;
            for (int cluster : {1, 2, 4, 8}) {
                const int most = slot.head ? 1 : batch > 64 || slot.rows >= 512 ? 2 : 8;
                if (cluster > std::min(most, slot.panels)) continue;
                int last = 0;
                for (int stages : {3, 4, 5, 6, 8, 10, 12, 16}) {
                    const GemmPlan tile{batch, cluster, stages, int8};
                    const int effective = tile.tile(slot.head, slot.panels).stages;
                    if (effective == last || !tile.fits(slot.head)) continue;
                    last = effective;
                    all.push_back(tile);
                }
            }
        }
        return all;
    }

    void first_round(Slot& slot) {
        double fastest = slot_micros(slot, best_.*slot.tile, ACCURATE);
        slot.timed.push_back({fastest, best_.*slot.tile});
        for (const GemmPlan& tile : candidates(slot)) {
            if (tile.text() == slot.timed[0].tile.text()) continue;
            slot.timed.push_back({slot_micros(slot, tile, QUICK, fastest), tile});
            fastest = std::min(fastest, slot.timed.back().micros);
        }
        adopt(slot, "first");
    }

    void second_round(Slot& slot) {
        slot.timed.resize(std::min(slot.timed.size(), KEPT));
        for (Timed& t : slot.timed) t.micros = slot_micros(slot, t.tile, ACCURATE);
        adopt(slot, "again");
    }

    void adopt(Slot& slot, const char* round) {
        std::sort(slot.timed.begin(), slot.timed.end());
        best_.*slot.tile = slot.timed[0].tile;
        std::printf("  %s %-13s", round, slot.name);
        for (size_t i = 0; i < std::min(slot.timed.size(), KEPT); i++) {
            std::printf("  %s %.2f", slot.timed[i].tile.text().c_str(), slot.timed[i].micros);
        }
        std::printf("\n");
        std::fflush(stdout);
    }

    void tune_cluster() {
        Plan best = best_;
        double fastest = layer_micros(best_, ACCURATE);
        std::printf("  attention in clusters of %d %.2f", best.attentionCluster, fastest);
        for (int cluster : {1, 2, 4, 8}) {
            Plan plan = best_;
            plan.attentionCluster = cluster;
            if (cluster == best_.attentionCluster) continue;
            const double micros = layer_micros(plan, ACCURATE);
            std::printf(", %d %.2f", cluster, micros);
            if (micros < fastest * .995) fastest = micros, best = plan;
        }
        std::printf("\n");
        best_ = best;
    }

    Kernels& kernels_;
    Runner<rose::bf16>& runner_;
    Load load_;
    Plan best_;
    int layers_;
    std::vector<Slot> slots_;
};

// Tunes from the engine's tiles and prints cells of contract/plans.csv.
inline void tune_gated(Kernels& kernels, Runner<rose::bf16>& runner, const Load& load, const Plan& start) {
    const auto begin = std::chrono::steady_clock::now();
    std::printf("TUNE %s\n  from ", load.text().c_str());
    time_gated(kernels, runner, load, start);
    const Plan best = StepTuner(kernels, runner, load, start).tuned();
    std::printf("  to   ");
    time_gated(kernels, runner, load, best);
    auto cell = [](const GemmPlan& tile) {
        return std::to_string(tile.batch) + ":" + std::to_string(tile.cluster) + ":" + std::to_string(tile.maxStages);
    };
    std::printf("  CELLS %s,%s,attention cluster %d,%s,%s,%s,%s in %.1f s\n", load.text().c_str(),
                cell(best.qkv).c_str(), best.attentionCluster, cell(best.attentionOut).c_str(), cell(best.mlpIn).c_str(),
                cell(best.mlpOut).c_str(), cell(best.head).c_str(),
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    std::fflush(stdout);
}

// Times each matrix of a prompt by every prompt tile, next to the plan's tile, in chains over all layers.
template <class T>
void time_prompt_tiles(Kernels& kernels, Runner<T>& runner, const Load& load, const Plan& plan) {
    const Shape& s = runner.model().shape;
    struct Part {
        const char* name;
        GemmPlan Plan::*tile;
        std::function<void(const Plan&, int)> run;
        int n, k;
    };
    const Part parts[] = {
        {"qkv", &Plan::qkv, [&](const Plan& p, int i) { runner.qkv(p, i); }, s.attention() + 2 * s.kvWidth(), s.stride()},
        {"attention out", &Plan::attentionOut, [&](const Plan& p, int i) { runner.attentionOut(p, i); }, s.stride(),
         s.attention()},
        {"mlp in", &Plan::mlpIn, [&](const Plan& p, int i) { runner.mlpIn(p, i); }, (s.gated ? 2 : 1) * s.inner, s.stride()},
        {"mlp out", &Plan::mlpOut, [&](const Plan& p, int i) { runner.mlpOut(p, i); }, s.stride(), s.inner}};
    runner.embed(plan);
    for (const Part& part : parts) {
        std::vector<std::pair<double, std::string>> results;
        auto attempt = [&](const GemmPlan& tile, const std::string& name) {
            Plan p = plan;
            p.*part.tile = tile;
            const double micros = median_micros(
                kernels,
                [&] {
                    for (int i = 0; i < s.layers; i++) part.run(p, i);
                },
                load.tokens() > 2048 ? 3 : 7, 1);
            results.push_back({micros / s.layers, name});
        };
        attempt(plan.*part.tile, "plan " + (plan.*part.tile).text());
        GemmPlan chosen;
        chosen.prompt = "prompt";
        const std::string choice = chosen.prompt_tile(load.tokens(), round_up(part.n, 128), ceil_div(part.k, 128) * 2, kernels.multiprocessors()).name;
        for (const PromptTile& t : prompt_tiles()) {
            GemmPlan tile;
            tile.prompt = t.name;
            attempt(tile, t.name + (t.name == choice ? "*" : ""));
        }
        std::sort(results.begin(), results.end());
        std::printf("TILES %-10s %-13s %5d x %5d x %5d", load.text().c_str(), part.name, load.tokens(), part.n, part.k);
        for (const auto& [micros, name] : results) std::printf("  %s %.2f", name.c_str(), micros);
        std::printf("\n");
        std::fflush(stdout);
    }
}
