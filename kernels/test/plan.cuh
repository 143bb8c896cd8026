#pragma once
// Which kernel does what in a step: the tile of each GEMM, the attention kernel, and whether GEMMs normalise by themselves.
#include <algorithm>
#include "device.cuh"

// The launch shape that a choice of tile leads to.
struct TileShape {
    int columns, threads, stages;
    size_t sharedBytes;
};

// A tile of the Hopper GEMM, or, with batch 0, the generic one.
struct GemmPlan {
    int batch = 0;
    int cluster = 1;
    int maxStages = 12;

    bool generic() const { return batch == 0; }
    bool persistent(bool head) const { return head && batch == 128; }  // blocks go from strip to strip
    std::string suffix() const { return generic() ? "generic" : "b" + std::to_string(batch); }
    std::string text() const {
        return generic() ? suffix() : suffix() + ":" + std::to_string(cluster) + ":" + std::to_string(maxStages);
    }

    TileShape tile(bool head, int panels) const {
        const int nGroups = head || batch >= 128 ? 2 : 1;
        const int kGroups = head || batch >= 128 ? 1 : 2;
        const int columns = 64 * nGroups;
        const int share = ceil_div(panels, cluster);  // panels of one block
        const int stages = share <= maxStages ? std::max(share, 2) : std::max(2 * kGroups, maxStages / kGroups * kGroups);
        const size_t ring = static_cast<size_t>(stages) * (columns + batch) * 128;
        const size_t sums = static_cast<size_t>(kGroups) * batch * (columns + 4) * 4;
        const size_t received = cluster > 1 ? static_cast<size_t>(batch) * columns * 4 : 0;
        return {columns, 128 * nGroups * kGroups + 64, stages, std::max(ring, sums) + received + 1024};
    }
};

struct Plan {
    enum Attention { GENERIC, DECODE, PREFILL, MIXED };

    GemmPlan qkv, attentionOut, mlpIn, mlpOut, head;
    bool fusedNorm = false;
    Attention attention = GENERIC;
    int attentionStages = 8;
    bool attentionHeld = false;  // attention_decode_held
    bool attentionSingle = false;  // attention_prefill_single for rows of one token, not attention_decode

    std::string decodeKernel() const {
        return attentionSingle ? "attention_prefill_single_" : attentionHeld ? "attention_decode_held_" : "attention_decode_";
    }
    int decodeThreads() const { return attentionHeld && !attentionSingle ? 64 : 128; }
};

inline Plan generic_plan() {
    return {};
}

// The choice for `rows` rows that bring one token each; its GEMMs are the choice for so many tokens of prompts, too.
inline Plan decode_plan(int rows) {
    Plan p;
    p.fusedNorm = true;
    p.attention = Plan::DECODE;
    auto choose = [&](int stages, bool held, GemmPlan qkv, GemmPlan attentionOut, GemmPlan mlpIn, GemmPlan mlpOut, GemmPlan head) {
        p.attentionStages = stages, p.attentionHeld = held;
        p.qkv = qkv, p.attentionOut = attentionOut, p.mlpIn = mlpIn, p.mlpOut = mlpOut, p.head = head;
    };
    if (rows <= 2) choose(9, false, {8, 1, 12}, {8, 1, 12}, {8, 1, 12}, {8, 4, 12}, {8, 1, 4});
    else if (rows <= 8) choose(12, false, {8, 1, 12}, {8, 4, 3}, {8, 1, 12}, {8, 8, 6}, {8, 1, 4});
    else if (rows <= 16) choose(10, false, {16, 1, 12}, {16, 2, 6}, {16, 1, 12}, {16, 4, 12}, {16, 1, 4});
    else if (rows <= 32) choose(12, rows > 24, {16, 1, 12}, {16, 1, 12}, {16, 1, 12}, {16, 4, 8}, {32, 1, 3});
    else if (rows <= 48) choose(10, false, {32, 1, 12}, {32, 1, 12}, {16, 1, 8}, {32, 8, 3}, {64, 1, 3});
    else if (rows <= 64) choose(8, true, {32, 1, 12}, {32, 2, 6}, {16, 1, 8}, {32, 8, 3}, {64, 1, 3});
    else if (rows <= 96) choose(4, true, {16, 1, 8}, {16, 1, 12}, {32, 1, 8}, {32, 4, 8}, {128, 1, 5});
    else if (rows <= 128) choose(5, false, {32, 1, 8}, {16, 1, 12}, {32, 1, 8}, {64, 4, 6}, {128, 1, 5});
    else if (rows <= 192) choose(5, false, {32, 1, 8}, {32, 1, 12}, {32, 1, 6}, {64, 2, 12}, {128, 1, 5});
    else if (rows <= 256) choose(5, false, {32, 1, 6}, {32, 1, 12}, {32, 1, 6}, {32, 1, 12}, {128, 1, 5});
    else if (rows <= 352) choose(5, false, {64, 1, 6}, {64, 1, 12}, {64, 1, 6}, {64, 2, 6}, {128, 1, 5});
    else if (rows <= 640) choose(5, false, {64, 1, 6}, {64, 1, 12}, {128, 1, 4}, {64, 1, 12}, {128, 1, 5});
    else if (rows <= 1200) choose(5, false, {64, 1, 6}, {64, 1, 6}, {128, 1, 3}, {64, 1, 6}, {128, 1, 5});
    else if (rows <= 1400) choose(5, false, {128, 1, 3}, {64, 1, 6}, {128, 1, 3}, {64, 1, 6}, {128, 1, 5});
    else if (rows <= 3000) choose(5, false, {128, 1, 3}, {64, 1, 6}, {128, 1, 3}, {128, 1, 4}, {128, 1, 5});
    else choose(5, false, {128, 1, 3}, {128, 1, 3}, {128, 1, 3}, {128, 1, 3}, {128, 1, 5});
    return p;
}

// Stages of attention_prefill_single, which change no bits: as many as leave all its blocks on the device at once.
inline int single_stages(int rows) {
    return rows <= 16 ? 24 : rows <= 32 ? 12 : rows <= 64 ? 9 : 8;
}

// The choice that gives every row the same bits whatever its batch: tiles up to 64 rows sum in one order, so BATCH may follow the
// number of rows, but the cluster sizes stay what they are, and rows of one token are attended to with the bits of prefill.
inline Plan invariant_plan(int rows) {
    Plan p = decode_plan(rows);
    const int narrow = rows <= 8 ? 8 : rows <= 16 ? 16 : 32;
    p.qkv = p.attentionOut = p.mlpIn = {narrow, 1, 12};
    p.mlpOut = {rows <= 32 ? narrow : 64, 4, 8};
    p.head = {rows <= 32 ? narrow : 64, 1, 3};
    p.attentionStages = single_stages(rows);
    p.attentionHeld = false;
    p.attentionSingle = true;
    return p;
}

// The choice for steps of prompts.
inline Plan prefill_plan(int tokens, int samples) {
    Plan p = decode_plan(tokens);
    const Plan sampling = decode_plan(samples);
    p.attention = Plan::PREFILL;
    p.attentionStages = sampling.attentionStages, p.attentionHeld = sampling.attentionHeld;
    p.head = sampling.head;
    return p;
}
