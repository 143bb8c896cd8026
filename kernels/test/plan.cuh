#pragma once
// The kernels of a step: the tile of each GEMM, the attention kernel, and whether norms are fused into GEMMs. Tiles come from
// contract/plans.csv, as in the engine.
#include <algorithm>
#include <climits>
#include <numeric>
#include <sstream>
#include "device.cuh"

// Launch shape of a tile.
struct TileShape {
    int columns, threads, stages;
    size_t sharedBytes;
};

// A tile of the prompt GEMM: a line of contract/prompt_tiles.csv, which defines the columns.
struct PromptTile {
    std::string name;
    int columns, split, pair, stages, exchange, step, end;

    size_t sharedBytes() const { return static_cast<size_t>(stages) * (128 + columns) * 128 + exchange + 1024; }
    int tiles(int rows, int n) const { return ceil_div(rows, 128 * pair) * pair * ceil_div(n, columns); }
    bool wholeHeads() const { return cluster() == 1 && columns % 128 == 0; }  // of 64 or 128, as QK norm needs
    int cluster() const { return split * pair; }
    int blocks(int rows, int n, int multiprocessors) const {
        return split > 1 ? tiles(rows, n) * split : std::min(tiles(rows, n), std::max(multiprocessors / pair, 1) * pair);
    }
    long nanos(int rows, int n, int panels, int multiprocessors) const {
        const long waves = ceil_div(tiles(rows, n), std::max(multiprocessors / cluster(), 1) * pair);
        return waves * (static_cast<long>(ceil_div(panels, split)) * step + end);
    }
};

inline const std::vector<PromptTile>& prompt_tiles() {
    static const std::vector<PromptTile> tiles = [] {
        std::vector<PromptTile> all;
        std::istringstream file(
#include "prompt_tiles.inc"
        );
        for (std::string line; std::getline(file, line);) {
            if (line.empty() || line[0] == '#' || line.rfind("tile,", 0) == 0) continue;
            PromptTile t;
            t.name = line.substr(0, line.find(','));
            if (std::sscanf(line.c_str() + t.name.size(), ",%d,%d,%d,%d,%d,%d,%d", &t.columns, &t.split, &t.pair, &t.stages,
                            &t.exchange, &t.step, &t.end) != 7) {
                std::fprintf(stderr, "contract/prompt_tiles.csv: no tile: %s\n", line.c_str());
                std::exit(1);
            }
            all.push_back(t);
        }
        return all;
    }();
    return tiles;
}

// A tile of the Hopper GEMM, or the generic GEMM if batch is 0, or a tile of the prompt GEMM.
struct GemmPlan {
    int batch = 0;
    int cluster = 1;
    int maxStages = 12;
    bool int8 = false;        // int8 weights
    std::string prompt = "";  // name of a prompt tile; `prompt`: the one with the least estimate

    bool generic() const { return batch == 0 && prompt.empty(); }

    const PromptTile& prompt_tile(int rows, int n, int panels, int multiprocessors, bool wholeHeads = false) const {
        const PromptTile* best = nullptr;
        for (const PromptTile& t : prompt_tiles()) {
            if (t.name == prompt) return t;
            if (wholeHeads && !t.wholeHeads()) continue;
            const long nanos = t.nanos(rows, n, panels, multiprocessors);
            if (best == nullptr || nanos < best->nanos(rows, n, panels, multiprocessors)) best = &t;
        }
        return *best;
    }
    bool persistent(bool head) const { return head && batch == 128; }  // blocks loop over column tiles
    std::string suffix() const { return generic() ? "generic" : "b" + std::to_string(batch); }
    std::string text() const {
        if (!prompt.empty()) return prompt;
        return generic() ? suffix() : suffix() + ":" + std::to_string(cluster) + ":" + std::to_string(maxStages);
    }

    TileShape tile(bool head, int panels) const {
        const int nGroups = head || batch >= 128 ? 2 : 1;
        const int kGroups = head || batch >= 128 ? 1 : 2;
        const int columns = 64 * nGroups;
        const int share = ceil_div(panels, cluster);  // panels per block
        const int stages = share <= maxStages ? std::max(share, 2) : std::max(2 * kGroups, maxStages / kGroups * kGroups);
        const size_t ring = static_cast<size_t>(stages) * (columns + (int8 ? 2 : 1) * batch) * 128;
        const size_t sums = static_cast<size_t>(kGroups) * batch * (columns + 4) * 4;
        const size_t received = cluster > 1 ? static_cast<size_t>(batch) * columns * 4 : 0;
        return {columns, 128 * nGroups * kGroups + 64, stages, std::max(ring, sums) + received + 1024};
    }

    // Returns whether the tile's shared memory fits for any k.
    bool fits(bool head) const {
        const size_t most = 232448 - 3500;  // per block, less static shared memory
        return tile(head, INT_MAX / 2).sharedBytes <= most && tile(head, maxStages * cluster).sharedBytes <= most;
    }
};

struct Plan {
    enum Attention { GENERIC, DECODE, PREFILL, MIXED, DECODE_GQA, DECODE_GQA_ROPE, PREFILL_GQA, MIXED_GQA, PREFILL_WGMMA };

    GemmPlan qkv, attentionOut, mlpIn, mlpOut, head;
    GemmPlan sampledAttentionOut, sampledMlpIn, sampledMlpOut;  // of the last layer, if not every token is sampled
    bool fusedNorm = false;
    bool fusedHeadNorm = false;  // if every row is sampled
    Attention attention = GENERIC;
    int attentionStages = 8;
    bool attentionRegs = false;       // attention_decode_regs
    int attentionCluster = 1;         // attention_decode_gqa: blocks that split a context
    int attentionGqaStages = 0;       // attention_decode_gqa with 256 bytes per key: 2 or 3, 0 as the engine chooses
    bool attentionInvariant = false;  // attention_decode_invariant and attention_prefill, not attention_decode and wgmma
    int prefillWarpgroups = 0;        // attention_prefill_wgmma: 1 to 3 consumer warpgroups, 0 as the engine chooses
    int prefillPackShift = -1;        // log2 of the heads that it packs in a tile, -1 as the engine chooses

    std::string decodeKernel() const {
        return attentionInvariant ? "attention_decode_invariant_"
               : attentionRegs    ? "attention_decode_regs_"
                                  : "attention_decode_";
    }
    // Returns the plan for int8 weights.
    Plan ofInt8() const {
        Plan p = *this;
        for (GemmPlan* tile : {&p.qkv, &p.attentionOut, &p.mlpIn, &p.mlpOut, &p.head, &p.sampledAttentionOut, &p.sampledMlpIn,
                               &p.sampledMlpOut}) {
            tile->int8 = true;
        }
        return p;
    }

    int decodeThreads() const { return attentionRegs && !attentionInvariant ? 64 : 128; }
};

inline Plan generic_plan() { return {}; }

// A line of contract/plans.csv, which defines the columns.
struct PlanLine {
    std::string plan;  // fastest, int8 or invariant
    int lastMillion;   // weights per layer
    int lastRow;
    Plan tiles;
};

inline PlanLine plan_line(const std::string& text) {
    auto refuse = [&] {
        std::fprintf(stderr, "contract/plans.csv: no tile plan: %s\n", text.c_str());
        std::exit(1);
    };
    std::vector<std::string> cells;
    std::istringstream line(text);
    for (std::string cell; std::getline(line, cell, ',');) cells.push_back(cell);
    if (cells.size() != 9) refuse();
    PlanLine result;
    Plan& p = result.tiles;
    result.plan = cells[0];
    auto last = [](const std::string& range) {
        const std::string text = range.substr(range.find('-') + 1);
        return text.empty() ? INT_MAX : std::atoi(text.c_str());
    };
    result.lastMillion = last(cells[1]), result.lastRow = last(cells[2]);
    GemmPlan* matrices[] = {&p.qkv, &p.attentionOut, &p.mlpIn, &p.mlpOut, &p.head};
    for (int i = 0; i < 5; i++) {
        GemmPlan& m = *matrices[i];
        const std::string& cell = cells[i == 0 ? 3 : 4 + i];
        if (cell == "prompt") {
            m.prompt = cell;
            continue;
        }
        if (std::sscanf(cell.c_str(), "%d:%d:%d", &m.batch, &m.cluster, &m.maxStages) != 3) refuse();
    }
    const size_t colon = cells[4].find(':');
    const std::string kernel = cells[4].substr(0, colon);
    p.attentionRegs = kernel == "decode_regs";
    p.attentionInvariant = kernel == "decode_invariant";
    if (colon == std::string::npos || (kernel != "decode" && !p.attentionRegs && !p.attentionInvariant)) refuse();
    p.attentionStages = std::atoi(cells[4].c_str() + colon + 1);
    p.fusedNorm = true;
    p.fusedHeadNorm = result.plan == "fastest";
    p.attention = Plan::DECODE;
    p.sampledAttentionOut = p.attentionOut, p.sampledMlpIn = p.mlpIn, p.sampledMlpOut = p.mlpOut;
    if (result.plan == "int8") p = p.ofInt8();
    return result;
}

inline const std::vector<PlanLine>& plan_lines() {
    static const std::vector<PlanLine> lines = [] {
        std::vector<PlanLine> all;
        std::istringstream file(
#include "plans.inc"
        );
        for (std::string line; std::getline(file, line);) {
            if (!line.empty() && line[0] != '#' && line.rfind("plan,", 0) != 0) all.push_back(plan_line(line));
        }
        return all;
    }();
    return lines;
}

// Weights in a layer of the 124M shape, in whole millions.
constexpr int MEASURED_MILLIONS = 7;

inline const Plan& find_plan(const std::string& plan, int rows, int millions) {
    for (const PlanLine& line : plan_lines()) {
        if (line.plan == plan && millions <= line.lastMillion && rows <= line.lastRow) return line.tiles;
    }
    std::fprintf(stderr, "contract/plans.csv: no line of %s covers %d rows\n", plan.c_str(), rows);
    std::exit(1);
}

// Returns the plan for `rows` decode rows and `millions` of weights per layer; its GEMMs also serve that many prompt tokens.
inline Plan decode_plan(int rows, int millions = MEASURED_MILLIONS, bool int8 = false) {
    return find_plan(int8 ? "int8" : "fastest", rows, millions);
}

// Returns the batch-invariant plan for decode rows: attention bit-identical to prefill, and a head that reads the output of
// `normalize`.
inline Plan invariant_plan(int rows) { return find_plan("invariant", rows, MEASURED_MILLIONS); }

// Returns the plan for prompts.
inline Plan prefill_plan(int tokens, int samples, int millions = MEASURED_MILLIONS, bool int8 = false) {
    Plan p = decode_plan(tokens, millions, int8);
    const Plan sampling = decode_plan(samples, millions, int8);
    p.attention = Plan::PREFILL_WGMMA;
    p.attentionStages = sampling.attentionStages, p.attentionRegs = sampling.attentionRegs;
    p.head = sampling.head;
    p.sampledAttentionOut = sampling.attentionOut, p.sampledMlpIn = sampling.mlpIn, p.sampledMlpOut = sampling.mlpOut;
    return p;
}
