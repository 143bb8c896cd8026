// Correctness of every kernel. Compares each stage of a layer with the naive reference over awkward sizes, then whole models end
// to end (chunked prefill, decode, tokens fed back on the device). KV slots that were not written contain NaN.
//
//      check DIRECTORY [SUFFIX] [PART]        kernels from DIRECTORY/<name>SUFFIX, default .sm_90a.cubin
//
// .sm_80.ptx and .sm_90.ptx are the code of other GPUs; the driver compiles them for this GPU. Hopper-only kernels are skipped.
//
// Exits with 1 if any comparison fails. PART is `quick`, a short sweep over every kernel, or a part of the complete sweep: sampler,
// f32, f16, bf16, int8, fp8, prefill, edges, families, models. `shallow` is the models cut to two layers. PART:i/n runs every n-th check of
// a part, from the i-th on (0 … n - 1), so that n processes share a part that is slow under compute-sanitizer.
#include "../include/int8_weights.cuh"
#include "check_sample.cuh"
#include "compare.cuh"

// The share of a part's checks that this process runs.
struct Share {
    int index = 0, count = 1, next = 0;
    bool takes() { return next++ % count == index; }

    // Returns whether any of the next `checks` is this process's; if not, skips them.
    bool takes_any(int checks) {
        for (int i = 0; i < checks; i++) {
            if ((next + i) % count == index) return true;
        }
        next += checks;
        return false;
    }
};
static Share share;

template <class T>
static void compare_token(const std::string& what, unsigned long long word, int step, const std::vector<float>& logits, int row,
                          int vocabulary, double tolerance) {
    const float* l = logits.data() + static_cast<size_t>(row) * vocabulary;
    int best = static_cast<int>(std::max_element(l, l + vocabulary) - l);
    uint32_t token = static_cast<uint32_t>(word);
    bool near = token < static_cast<uint32_t>(vocabulary) && l[best] - l[token] <= 20 * tolerance;
    report(near && word >> 32 == static_cast<unsigned>(step), what,
           "token " + std::to_string(token) + " of step " + std::to_string(word >> 32) + ", wanted " + std::to_string(best));
}

template <class T>
static void check_stages(const std::string& label, Kernels& kernels, const Case<T>& c, const Plan& plan) {
    if (!share.takes()) return;
    const Shape& s = c.model.shape;
    const Batch& batch = c.batch;
    const Reference<T>& wanted = c.wanted;
    const std::vector<int>& tokens = c.tokens;
    const int count = batch.tokens();
    const int pad = s.headPad();
    Runner<T> runner(kernels, c.model, std::max(count, 1), std::max(batch.rows(), batch.samples()), c.blockSize, c.blocks, true);
    runner.upload(batch);
    runner.pool.upload(c.pool.bytes);

    const double t = s.fp8 ? FP8_TOLERANCE<T> : TOLERANCE<T>;
    const int rows = round_up(std::max(count, 1), 8);
    runner.embed(plan);
    compare(label + " embed", unpad(runner.x.download(), count, s.stride(), 1, s.width, s.width),
            wanted.rows(wanted.embedded, tokens), 1e-6);
    runner.qkv(plan, 0);
    const bool ropeInAttention = plan.attention == Plan::DECODE_GQA_ROPE;  // no queries; keys come with attention
    if (ropeInAttention) runner.attention(plan, 0);
    std::vector<float> queries, seenQueries, kv, seenKv;
    const std::vector<T> stored = runner.queries.download();
    const HostPool<T> after{s.fp8, runner.pool.download()};
    for (int m = 0; m < count; m++) {
        for (int i = 0; i < s.qkv(); i++) {
            const int head = i / s.headSize, d = i % s.headSize, kvHead = head - s.heads;
            const float value = c.qkv[static_cast<size_t>(m) * s.qkv() + i];
            if (head < s.heads) {
                if (ropeInAttention) continue;
                queries.push_back(value * s.queryScale());
                seenQueries.push_back(rose::to_float(stored[static_cast<size_t>(m) * s.attention() + head * pad + s.packed(d)]));
            } else {
                const bool isValue = kvHead >= s.kvHeadCount();
                kv.push_back(value);
                const size_t at = c.at(batch.slots[m], kvHead % s.kvHeadCount(), isValue);
                seenKv.push_back(after.get(at + (isValue ? d : s.packed(d))));
            }
        }
    }
    if (!ropeInAttention) compare(label + " qkv: queries", seenQueries, queries, t);
    compare(label + " qkv: keys and values", seenKv, kv, t);
    if (!ropeInAttention) runner.attention(plan, 0);
    std::vector<float> attended = from_panels(runner.attended, count, s.attention(), rows);
    compare(label + " attention", unpad(attended, count, s.attention(), s.heads, s.headSize, pad),
            wanted.rows(wanted.attended, tokens), 2 * t);
    runner.attentionOut(plan, 0);
    compare(label + " attention out", unpad(runner.x.download(), count, s.stride(), 1, s.width, s.width),
            wanted.rows(wanted.afterAttention, tokens), t);
    runner.mlpIn(plan, 0);
    compare(label + " mlp in", from_panels(runner.hidden, count, s.inner, rows), wanted.rows(wanted.hidden, tokens), 2 * t);
    runner.mlpOut(plan, 0);
    compare(label + " mlp out", unpad(runner.x.download(), count, s.stride(), 1, s.width, s.width), wanted.rows(wanted.x, tokens),
            t);
    runner.head(plan);
    runner.select();
    const int samples = batch.samples();
    compare(label + " head", unpad(runner.logits.download(), samples, c.model.head.paddedN, 1, s.vocabulary, s.vocabulary),
            c.logits, 2 * t);
    std::vector<unsigned long long> words = runner.tokenSlots.download();
    for (int i = 0; i < samples; i++) compare_token<T>(label + " select", words[i], 7, c.logits, i, s.vocabulary, t);
}

// Checks a whole model: chunked prefill of all but the last `decodes` tokens, these as decode rows of one step, then as decode
// steps. The last one is repeated with
// tokens read on the device and must be bit-identical.
template <class T>
static void check_model(const std::string& label, Kernels& kernels, const Model<T>& model, const Plan& prefill,
                        const Plan& decode, int blockSize, const std::vector<int>& lengths, int decodes) {
    if (!share.takes()) return;
    const Shape& s = model.shape;
    std::mt19937 random(5);
    auto sequences = random_sequences(lengths, s.vocabulary, random);
    int blocks;
    auto lists = scatter_blocks(sequences, blockSize, blocks, random);
    const int rows = static_cast<int>(lengths.size());
    int most = 0;
    for (int length : lengths) most += length;
    Runner<T> runner(kernels, model, most, rows * decodes, blockSize, blocks, true);
    runner.pool.fill(0xff);
    Reference<T> wanted(model, sequences);
    const double t = s.fp8 ? FP8_TOLERANCE<T> : TOLERANCE<T>;
    auto run = [&](const std::string& what, const Plan& plan, const std::vector<int>& from, const std::vector<int>& to,
                   bool split = false) {
        Batch batch;
        std::vector<int> tokens;
        for (int r = 0; r < rows; r++) {
            if (split) batch.addDecodeRows(sequences[r], from[r], to[r], lists[r], blockSize);
            else batch.addRow(sequences[r], from[r], to[r], lists[r], blockSize);
            for (int i = split ? from[r] : std::max(from[r], to[r] - 1); i < to[r]; i++) tokens.push_back(wanted.rowStart[r] + i);
        }
        runner.upload(batch);
        runner.step(plan);
        std::vector<float> logits = wanted.logits(tokens);
        compare(label + " " + what,
                unpad(runner.logits.download(), batch.samples(), model.head.paddedN, 1, s.vocabulary, s.vocabulary), logits,
                2 * t);
        auto words = runner.tokenSlots.download();
        for (int i = 0; i < batch.samples(); i++) {
            compare_token<T>(label + " " + what, words[i], 0, logits, i, s.vocabulary, 3 * t);
        }
        return batch;
    };
    std::vector<int> zero(rows, 0), middle(rows), known(rows);
    for (int r = 0; r < rows; r++) known[r] = lengths[r] - decodes, middle[r] = known[r] / 3;
    run("prefill, first chunk", prefill, zero, middle);
    run("prefill, second chunk", prefill, middle, known);
    run("decode rows of one sequence", decode, known, lengths, true);
    Batch last;
    for (int d = 0; d < decodes; d++) {
        std::vector<int> next = known;
        for (int& n : next) n++;
        last = run("decode " + std::to_string(d), decode, known, next);
        known = next;
    }
    std::vector<float> once = runner.logits.download();
    runner.sampled.upload(last.tokenIds);
    for (int i = 0; i < last.tokens(); i++) last.tokenIds[i] = ~i;
    runner.upload(last);
    runner.step(decode);
    report(runner.logits.download() == once, label + " tokens fed back on the device", "the logits differ");
}

// Returns the plan with attention kernels that support the shape.
static Plan for_shape(Plan plan, const Shape& s) {
    if (s.int8) plan = plan.ofInt8();
    if (!s.plainAttention() || s.headSize != 64) plan.attention = Plan::GENERIC;
    return plan;
}

// Returns the logits of a decode step over the first `rows` rows of a case, followed by `padding` rows as in a graph's bucket.
template <class T>
static std::vector<float> decode_logits(Kernels& kernels, const Case<T>& c, const Plan& plan, int rows, int padding) {
    Batch batch;
    for (int r = 0; r < rows; r++) {
        const int length = c.batch.contextLengths[r];
        batch.addRow(c.sequences[r], length - 1, length, c.lists[r], c.blockSize);
    }
    for (int i = 0; i < padding; i++) batch.addPadding();
    Runner<T> runner(kernels, c.model, batch.tokens(), batch.rows(), c.blockSize, c.blocks, true);
    runner.upload(batch);
    runner.pool.upload(c.pool.bytes);
    runner.step(for_shape(plan, c.model.shape));
    std::vector<float> logits = runner.logits.download();
    logits.resize(static_cast<size_t>(rows) * c.model.head.paddedN);
    return logits;
}

// Checks bit identity. Padding rows change nothing. With one cluster size and tiles up to 64 rows, which sum in one order, other
// rows and the tile height change nothing either. A row of NaN is reported as such.
template <class T>
static void check_bits(Kernels& kernels, const Case<T>& c) {
    if (!share.takes()) return;
    const std::string type = TypeName<T>::value;
    const int rows = c.batch.rows();
    auto plan = [&](int batch) {
        Plan p = decode_plan(rows);
        p.qkv = p.attentionOut = p.mlpIn = {batch, 1, 12}, p.mlpOut = {batch, 4, 8}, p.head = {batch, 1, 3};
        p.attentionStages = 8;
        p.attentionRegs = false;
        return p;
    };
    const std::vector<float> wanted = decode_logits(kernels, c, plan(32), rows, 0);
    for (int padding : {1, 7, 31, 40}) {
        report(decode_logits(kernels, c, plan(32), rows, padding) == wanted, type + " padding rows", "the logits differ");
    }
    for (int batch : {8, 16, 64}) {
        report(decode_logits(kernels, c, plan(batch), rows, 0) == wanted, type + " tile b" + std::to_string(batch),
               "not the bits of tile b32");
    }
    const std::vector<float> invariant = decode_logits(kernels, c, invariant_plan(rows), rows, 0);
    for (int fewer : {1, 2, 17}) {
        std::vector<float> seen = decode_logits(kernels, c, invariant_plan(fewer), fewer, 0);
        report(std::equal(seen.begin(), seen.end(), invariant.begin()), type + " in a batch of " + std::to_string(fewer),
               "not the bits of the whole batch");
    }
    for (const PlanLine& line : plan_lines()) {
        if (line.plan != "invariant") continue;
        report(decode_logits(kernels, c, line.tiles, rows, 0) == invariant,
               type + " by the invariant plan up to " + std::to_string(line.lastRow) + " rows",
               "not the bits of its other lines");
    }
    if (!c.model.shape.int8) {
        std::map<int, std::vector<float>> bySplit;
        for (const PromptTile& tile : prompt_tiles()) {
            const Plan prompt = with_prompt_tile(plan(32), tile.name);
            const std::vector<float> seen = decode_logits(kernels, c, prompt, rows, 0);
            report(decode_logits(kernels, c, prompt, rows, 7) == seen, type + " padding rows, prompt tile " + tile.name,
                   "the logits differ");
            const std::vector<float>& equal = bySplit.insert({tile.split, seen}).first->second;
            report(seen == equal, type + " prompt tile " + tile.name, "not the bits of the first tile of its split");
        }
    }
    if (c.model.shape.rms) return;  // below, NaN rows come from the panel copy, which this head does not read
    Runner<T> runner(kernels, c.model, rows, rows, c.blockSize, c.blocks, false);
    runner.upload(c.batch);
    runner.embed(plan(32));
    runner.xPanels.fill(0xff);
    runner.head(plan(32));
    runner.select();
    for (unsigned long long word : runner.tokenSlots.download())
        report(word == 0x7ffffffffull, type + " NaN logits", "a token was chosen");
}

// Checks that attention_decode_invariant is bit-identical to attention_prefill for any ring depth.
template <class T>
static void check_invariant_bits(Kernels& kernels, const Case<T>& c, bool hopper) {
    if (!share.takes()) return;
    const int rows = c.batch.rows();
    Runner<T> runner(kernels, c.model, rows, rows, c.blockSize, c.blocks, false);
    runner.upload(c.batch);
    runner.pool.upload(c.pool.bytes);
    Plan plan = hopper ? decode_plan(rows) : generic_plan();
    runner.embed(plan);
    runner.qkv(plan, 0);
    plan.attention = Plan::PREFILL;
    runner.attention(plan, 0);
    const std::vector<T> wanted = runner.attended.download();
    plan.attention = Plan::DECODE;
    plan.attentionInvariant = true;
    for (int stages : {8, 9, 15, 32}) {
        if (stages * 4096u > kernels.sharedBytes()) continue;
        plan.attentionStages = stages;
        runner.attended.fill(0);
        runner.attention(plan, 0);
        const std::vector<T> seen = runner.attended.download();
        report(std::memcmp(seen.data(), wanted.data(), seen.size() * sizeof(T)) == 0,
               std::string(TypeName<T>::value) + " attention of decode rows, " + std::to_string(rows) + " rows, " +
                   std::to_string(stages) + " stages",
               "not the bits of prefill");
    }
}

// Checks that a token with non-finite values affects later tokens only, although they share a key tile with earlier ones; by
// attention_prefill_wgmma if `warpgroups` is not 0.
template <class T>
static void check_damaged_value(Kernels& kernels, const Model<T>& model, int blockSize, float value, int warpgroups = 0) {
    if (!share.takes()) return;
    const int length = 100, damaged = 40;
    Case<T> c(model, blockSize, {length}, {length});
    const Shape& s = model.shape;
    Plan plan = generic_plan();
    plan.attention = warpgroups > 0 ? Plan::PREFILL_WGMMA : Plan::PREFILL;
    plan.prefillWarpgroups = warpgroups;
    Runner<T> runner(kernels, model, length, 1, blockSize, c.blocks, false);
    runner.upload(c.batch);
    runner.pool.upload(c.pool.bytes);
    runner.embed(plan);
    runner.qkv(plan, 0);
    HostPool<T> pool{s.fp8, runner.pool.download()};
    for (int head = 0; head < s.heads; head++) pool.set(c.at(c.batch.slots[damaged], head, 1) + 5, value);
    runner.pool.upload(pool.bytes);
    runner.attention(plan, 0);
    const std::vector<float> seen = from_panels(runner.attended, length, s.attention(), round_up(length, 8));
    const std::vector<float> wanted = c.wanted.rows(c.wanted.attended, c.tokens);
    const size_t before = static_cast<size_t>(damaged) * s.attention();
    const std::string what =
        std::string(TypeName<T>::value) + " value " + std::to_string(value) + ", blocks of " + std::to_string(blockSize) +
        (warpgroups > 0 ? ", warpgroups " + std::to_string(warpgroups) : "");
    compare(what + ": tokens before it", {seen.begin(), seen.begin() + before}, {wanted.begin(), wanted.begin() + before},
            2 * TOLERANCE<T>);
    for (int token = damaged; token < length; token++) {
        report(!std::isfinite(seen[static_cast<size_t>(token) * s.attention() + 5]), what + ": token " + std::to_string(token),
               "it does not see the damage");
    }
}

// Returns context lengths of decode rows, with awkward counts.
static std::vector<int> decode_lengths(int rows) {
    std::vector<int> lengths;
    for (int r = 0; r < rows; r++) lengths.push_back(1 + (r * 37 + (r % 3 == 0 ? 15 : 0)) % 70);
    if (rows >= 2) lengths[1] = 16;
    if (rows >= 31) lengths[2] = 17, lengths[3] = 1, lengths[4] = 200, lengths[5] = 33;
    return lengths;
}

// Sequences with up to 16 new tokens, each a decode row; they end before, at and after the end of a KV block.
template <class T>
static Case<T> drafted(const Model<T>& model) {
    return Case<T>(model, 16, {1, 2, 4, 16, 17, 32, 35, 40, 48, 129, 65, 64, 300}, {1, 2, 3, 4, 5, 6, 7, 8, 16, 8, 2, 2, 16},
                   true);
}

// Returns the plan with every matrix but the head by a tile of the prompt GEMM.
static Plan with_prompt_tile(Plan plan, const std::string& tile) {
    GemmPlan gemm;
    gemm.prompt = tile;
    plan.qkv = plan.attentionOut = plan.mlpIn = plan.mlpOut = gemm;
    return plan;
}

// Checks every tile of the prompt GEMM. One block or a few compute all tiles in turn, then as many as fit.
template <class T>
static void check_prompt_tiles(const std::string& label, Kernels& kernels, const Case<T>& c, Plan plan,
                               const std::vector<int>& blocks = {Kernels::NO_LIMIT}) {
    for (int most : blocks) {
        kernels.mostBlocks = most;
        for (const PromptTile& tile : prompt_tiles()) {
            const std::string what = label + ", prompt tile " + tile.name + (most == Kernels::NO_LIMIT ? "" : ", few blocks");
            check_stages(std::string(TypeName<T>::value) + " " + what, kernels, c, with_prompt_tile(plan, tile.name));
        }
    }
    kernels.mostBlocks = Kernels::NO_LIMIT;
}

template <class T>
static void check_decode_attention(const std::string& rows, Kernels& kernels, const Case<T>& c) {
    for (bool held : {false, true}) {
        for (int stages : {4, 5, 10}) {
            Plan p = decode_plan(c.batch.rows());
            p.attentionRegs = held, p.attentionStages = stages;
            check_stages(std::string(TypeName<T>::value) + (held ? " held" : "") + " decode plan, " + std::to_string(stages) +
                             " stages, " + rows,
                         kernels, c, p);
        }
    }
}

template <class T>
static void check_tiles(Kernels& kernels, const Case<T>& c, bool quick) {
    const std::string type = TypeName<T>::value;
    const int rows = c.batch.rows();
    for (int batch : {8, 16, 32, 64, 128}) {
        if (batch > 64 && rows < 31) continue;
        for (int cluster : {1, 2, 4, 8}) {
            if (cluster > 2 && (batch > 64 || (!quick && rows > 65))) continue;
            Plan p = decode_plan(rows);
            int stages = cluster == 1 ? 3 : batch == 128 ? 4 : 5;
            p.qkv = p.attentionOut = p.mlpIn = p.mlpOut = {batch, cluster, stages};
            p.head = {std::min(batch, 128), 1, stages};
            check_stages(type + " tile " + p.qkv.text() + ", rows " + std::to_string(rows), kernels, c, p);
        }
    }
    if (rows >= 31 || rows == 1) check_prompt_tiles("rows " + std::to_string(rows), kernels, c, decode_plan(rows));
    check_decode_attention("rows " + std::to_string(rows), kernels, c);
}

// Checks rows of many tokens: the prefill kernel with the generic GEMMs, as on devices before Hopper, and with Hopper's.
template <class T>
static void check_prompts(Kernels& kernels, const Model<T>& model, bool hopper) {
    const std::string type = TypeName<T>::value;
    Case<T> ragged(model, 16, {70, 1, 16, 17, 5, 200, 64, 65}, {70, 1, 1, 17, 0, 33, 64, 65});
    Case<T> chunks(model, 16, {300, 257, 193, 128}, {300, 200, 65, 1});
    Case<T> fives(model, 5, {70, 129, 128}, {70, 129, 1});
    auto check = [&](const std::string& gemms, const Plan& plan) {
        check_stages(type + gemms + " prefill", kernels, ragged, plan);
        check_stages(type + gemms + " prefill of chunks", kernels, chunks, plan);
        check_stages(type + gemms + " prefill, blocks of 5", kernels, fives, plan);
    };
    Plan generic = generic_plan();
    generic.attention = Plan::PREFILL;
    check(" generic", generic);
    check_invariant_bits(kernels, Case<T>(model, 16, {300, 1, 64, 65, 16, 129, 128, 257, 299, 48}, std::vector<int>(10, 1)),
                         hopper);
    if (!hopper) return;
    Plan prefill = prefill_plan(512, 6);
    prefill.attention = Plan::PREFILL;
    check("", prefill);
    prefill.attention = Plan::MIXED, prefill.attentionInvariant = true;
    check_stages(type + " mixed, decode rows bit-identical to prefill", kernels, ragged, prefill);
    prefill.attentionInvariant = false;
    // Prompts of 33, 70 and 129 tokens between decode rows.
    std::vector<int> contexts, news;
    for (int row = 0; row < 70; row++) {
        contexts.push_back(row == 5 ? 70 : row == 31 ? 200 : row == 64 ? 129 : 1 + row);
        news.push_back(row == 5 ? 70 : row == 31 ? 33 : row == 64 ? 129 : 1);
    }
    Case<T> crowd(model, 16, contexts, news);
    for (int warpgroups : {1, 3}) {
        prefill.prefillWarpgroups = warpgroups;
        check_stages(type + " mixed, warpgroups " + std::to_string(warpgroups), kernels, ragged, prefill);
        check_stages(type + " mixed with 67 decode rows, warpgroups " + std::to_string(warpgroups), kernels, crowd, prefill);
        for (float value : {INFINITY, NAN}) check_damaged_value(kernels, model, 16, value, warpgroups);
    }
}

// Compares attention_prefill_wgmma with the reference, in every variant, on few and on all SMs; all with key tiles of one
// length give the same bits. Rows:
// whole prompts and chunks of all lengths, empty ones, ones of a single token, and prompts with many key tiles.
template <class T>
static void check_wgmma_prefill(Kernels& kernels, const Shape& shape, const std::string& what) {
    if (!share.takes()) return;
    Model<T> model(kernels, shape);
    struct Rows {
        const char* name;
        std::vector<int> lengths, news;
    };
    std::vector<int> sparse(70, 0);
    sparse[0] = 17, sparse[31] = 300, sparse[32] = 1, sparse[63] = 65, sparse[69] = 130;
    const Rows all[] = {{"ragged", {70, 1, 16, 17, 5, 200, 64, 65}, {70, 1, 1, 17, 0, 33, 64, 65}},
                        {"chunks", {300, 257, 193, 128}, {300, 200, 65, 1}},
                        {"long", {900, 3, 777}, {900, 3, 129}},
                        {"many", std::vector<int>(40, 19), std::vector<int>(40, 17)},
                        {"sparse", std::vector<int>(70, 300), sparse}};
    const int group = shape.heads / shape.kvHeadCount();
    for (const Rows& rows : all) {
        const Case<T> c(model, 16, rows.lengths, rows.news);
        const int count = c.batch.tokens();
        Runner<T> runner(kernels, model, count, c.batch.rows(), 16, c.blocks, false);
        runner.upload(c.batch);
        runner.pool.upload(c.pool.bytes);
        Plan plan = generic_plan();
        plan.attention = Plan::PREFILL_WGMMA;
        runner.embed(plan);
        runner.qkv(plan, 0);
        std::vector<T> firsts[2];  // by the length of key tiles
        for (int packShift = 0; group % (1 << packShift) == 0; packShift++) {
            for (int warpgroups : {1, 2, 3}) {
                if (warpgroups == 2 && shape.headPad() != 128) continue;
                for (int blocks : {Kernels::NO_LIMIT, 2}) {
                    plan.prefillPackShift = packShift, plan.prefillWarpgroups = warpgroups;
                    kernels.mostBlocks = blocks;
                    runner.attended.fill(0);
                    runner.attention(plan, 0);
                    const std::vector<T> seen = runner.attended.download();
                    const std::string label = what + ", " + rows.name + ", warpgroups " + std::to_string(warpgroups) + ", packs of " +
                                              std::to_string(1 << packShift) + (blocks == 2 ? ", two SMs" : "");
                    std::vector<T>& first = firsts[warpgroups == 2];
                    if (first.empty()) {
                        first = seen;
                        const std::vector<float> attended =
                            from_panels(runner.attended, count, shape.attention(), round_up(count, 8));
                        compare(label, unpad(attended, count, shape.attention(), shape.heads, shape.headSize, shape.headPad()),
                                c.wanted.rows(c.wanted.attended, c.tokens), 2 * TOLERANCE<T>);
                    }
                    report(std::memcmp(seen.data(), first.data(), seen.size() * sizeof(T)) == 0, label,
                           "not the bits of the first variant");
                }
            }
        }
        kernels.mostBlocks = Kernels::NO_LIMIT;
    }
}

// All head sizes, MHA and GQA, windows.
template <class T>
static void check_wgmma_prefills(Kernels& kernels, bool quick) {
    for (int headSize : {64, 128, 50}) {
        for (int group : quick ? std::vector<int>{4} : std::vector<int>{1, 3, 4, 8}) {
            for (int window : quick ? std::vector<int>{INT_MAX, 90} : std::vector<int>{INT_MAX, 150, 90, 24, 1}) {
                Shape s = gated_shape(1, 64, 2 * group, 2, headSize, 96, 300, 1000);
                s.window = window;
                check_wgmma_prefill<T>(kernels, s,
                                       std::string(TypeName<T>::value) + " prefill by wgmma, heads of " + std::to_string(headSize) +
                                           ", groups of " + std::to_string(group) + ", window " + std::to_string(window));
            }
        }
    }
}

template <class T>
static void check_type(Kernels& kernels, bool quick, bool hopper) {
    const std::string type = TypeName<T>::value;
    for (const Shape& s : {Shape{1, 72, 3, 24, 100, 301, 300}, Shape{1, 160, 2, 80, 333, 1001, 300, rose::RELU},
                           Shape{1, 256, 2, 128, 517, 999, 300, rose::GELU_ERF}}) {
        Model<T> model(kernels, s);
        for (int blockSize : {16, 5}) {
            Case<T> c(model, blockSize, {70, 1, 16, 17, 5, 130}, {70, 1, 1, 17, 0, 33});
            check_stages(type + " generic, heads " + std::to_string(s.heads) + " x " + std::to_string(s.headSize), kernels, c,
                         generic_plan());
        }
        if (quick) break;
    }
    Model<T> model(kernels, quick ? Shape{1, 256, 4, 64, 520, 1500, 300} : Shape{1, 768, 12, 64, 3072, 5003, 300});
    for (int rows : quick ? std::vector<int>{1, 33} : std::vector<int>{1, 2, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257}) {
        Case<T> c(model, 16, decode_lengths(rows), std::vector<int>(rows, 1));
        check_stages(type + " generic, rows " + std::to_string(rows), kernels, c, generic_plan());
        if (sizeof(T) == 2 && hopper) check_tiles(kernels, c, quick);
        if constexpr (sizeof(T) == 2) {
            if (hopper && rows == 33) check_bits(kernels, c);
            if (rows == 1 || rows == 33) check_invariant_bits(kernels, c, hopper);
        }
    }
    if constexpr (sizeof(T) == 2) {
        const Case<T> rows = drafted(model);
        if (hopper) check_decode_attention("drafted", kernels, rows);
        check_invariant_bits(kernels, rows, hopper);
        check_prompts(kernels, model, hopper);
        for (int blockSize : {16, 5}) {
            for (float value : {INFINITY, NAN}) check_damaged_value(kernels, model, blockSize, value);
        }
    }
    if (sizeof(T) == 4 || !hopper || quick) return;
    Model<T> odd(kernels, Shape{1, 64 * 5, 5, 64, 1001, 777, 300, rose::RELU});
    Case<T> c(odd, 16, {70, 1, 16, 17, 5, 200}, std::vector<int>(6, 1));
    check_stages(type + " odd widths", kernels, c, decode_plan(40));
}

// Checks the edge cases that `quick` omits, once each in a small model; `quick` and `edges` together fit compute-sanitizer.
//
// Shared memory hazards are local to a block or cluster. So the sweep needs every kernel, full and partial tiles, and ranks
// without work. For each ring and buffer it needs a block that fills it, and a block that reuses it until its mbarrier parity
// flips. Wider matrices and larger vocabularies only add blocks. `quick` runs every kernel in every type with partial or small
// tiles, and prompts and contexts longer than a ring. This part adds, in f16 (bf16 compiles from the same templates):
//      - every tile and cluster with a ring of four stages or three, which 34 panels reuse even if eight blocks split them,
//        and with tiles full: rows 33 for up to 32, 129 for 64, 257 for 128
//      - blocks of the head of 128 rows that compute 3 to 12 column tiles
//      - every line of plans.csv
//      - every prompt tile, by one block and by four in turn, with matrices that end within a tile
//      - two layers, a prompt in chunks, tokens fed back on the device: state carried between steps
static void check_edges(Kernels& kernels) {
    using T = rose::f16;
    Shape shape{1, 384, 6, 64, 2112, 1500, 300};
    Model<T> model(kernels, shape);
    auto rows = [&](int count) { return Case<T>(model, 16, decode_lengths(count), std::vector<int>(count, 1)); };
    const Case<T> some = rows(33), more = rows(129), many = rows(257);
    kernels.mostBlocks = 4;
    for (int batch : {8, 16, 32, 64, 128}) {
        const Case<T>& c = batch < 64 ? some : batch == 64 ? more : many;
        for (int cluster : {1, 2, 4, 8}) {
            if (cluster > (batch == 128 ? 2 : 8)) continue;
            Plan p = decode_plan(c.batch.rows());
            const int stages = batch > 64 ? 3 : 4;
            p.qkv = p.attentionOut = p.mlpIn = p.mlpOut = {batch, cluster, stages};
            p.head = {std::min(batch, 128), 1, stages};
            check_stages("edges, tile " + p.qkv.text(), kernels, c, p);
        }
    }
    check_prompt_tiles("edges", kernels, many, decode_plan(257), {1, 4});
    kernels.mostBlocks = 4;
    for (const PlanLine& line : plan_lines()) {
        if (line.plan == "int8") continue;
        check_stages("edges, " + line.plan + " plan up to " + std::to_string(line.lastMillion) + " million, row " +
                         std::to_string(line.lastRow),
                     kernels, some, line.tiles);
    }
    kernels.mostBlocks = Kernels::NO_LIMIT;
    shape.layers = 2;
    Model<T> two(kernels, shape);
    Plan prompts = prefill_plan(192, 4);
    prompts.attention = Plan::MIXED;
    check_model("edges, two layers", kernels, two, prompts, decode_plan(4), 16, {40, 5, 130, 17}, 2);
}

// Shapes of other model families: RMS norm, full, partial or no RoPE, GQA, QK norm, sliding windows, gated MLPs, with and without
// biases; sizes that are not multiples of tiles.
static std::vector<std::pair<std::string, Shape>> family_shapes() {
    Shape biased = gated_shape(1, 120, 6, 2, 20, 331, 1013, 300);
    biased.biases = true;
    Shape normed = gated_shape(1, 96, 4, 2, 64, 200, 777, 300);
    normed.headNorms = true;
    Shape normedWide = gated_shape(1, 96, 4, 2, 120, 200, 777, 300);
    normedWide.headNorms = true;
    Shape wide = gated_shape(1, 320, 5, 1, 128, 190, 600, 300);
    wide.activation = rose::GELU_TANH;
    Shape partial = gated_shape(1, 160, 2, 2, 80, 333, 1001, 300);
    partial.rotarySize = 20, partial.headNorms = true, partial.window = 24;
    Shape small = gated_shape(1, 84, 7, 1, 12, 100, 500, 300);
    small.window = 1, small.activation = rose::GELU_ERF;
    Shape learned = gated_shape(1, 128, 8, 4, 16, 64, 400, 300);
    learned.rotarySize = 0, learned.activation = rose::RELU;
    Shape huge = gated_shape(1, 72, 3, 3, 256, 65, 300, 300);
    huge.headNorms = true;
    return {{"biased", biased},     {"head norms", normed}, {"head norms of 120", normedWide},  {"one key head", wide}, {"partly rotary", partial},
            {"heads of 12", small}, {"no rotation", learned}, {"heads of 256", huge}};
}

// Checks decode attention with GQA: every cluster size and number of stages, short and long contexts, windows; rows of other
// lengths in between.
template <class T>
static void check_shared_attention(Kernels& kernels, bool quick, bool fp8 = false) {
    const std::string type = std::string(TypeName<T>::value) + (fp8 ? " fp8" : "");
    auto check = [&](const std::string& what, const Case<T>& c) {
        for (int cluster : {1, 2, 4, 8}) {
            Plan p = decode_plan(33);
            p.attention = c.model.shape.headNorms ? Plan::DECODE_GQA_ROPE : Plan::DECODE_GQA, p.attentionCluster = cluster;
            for (int stages : {3, 2}) {
                if (stages == 2 && (cluster > 2 || fp8 || c.model.shape.headPad() != 128)) continue;
                p.attentionGqaStages = stages;
                check_stages(type + " shared attention, " + what + ", cluster " + std::to_string(cluster) + ", " +
                                 std::to_string(stages) + " stages",
                             kernels, c, p);
            }
        }
    };
    for (bool headNorms : {false, true}) {
        const std::string norms = headNorms ? ", head norms" : "";
        for (int headSize : {64, 128, 50}) {
            for (int group : quick ? std::vector<int>{4} : std::vector<int>{1, 3, 7, 8}) {
                Shape s = gated_shape(1, 64, 2 * group, 2, headSize, 96, 300, 300);
                s.fp8 = fp8, s.headNorms = headNorms;
                Model<T> model(kernels, s);
                const std::string heads =
                    "heads of " + std::to_string(headSize) + ", groups of " + std::to_string(group) + norms;
                check(heads, Case<T>(model, 16, decode_lengths(33), std::vector<int>(33, 1)));
                check("drafted, " + heads, drafted(model));
            }
        }
        if (quick) continue;
        for (int window : {INT_MAX, 700, 24}) {
            for (int headSize : {64, 128}) {
                Shape s = gated_shape(1, 64, 4, 1, headSize, 96, 300, 2700);
                s.window = window, s.fp8 = fp8, s.headNorms = headNorms;
                Model<T> model(kernels, s);
                const std::string heads =
                    "heads of " + std::to_string(headSize) + ", window " + std::to_string(window) + norms;
                check("long, " + heads, Case<T>(model, 16, {2641, 1, 705, 256, 257, 1100}, std::vector<int>(6, 1)));
                check("long, drafted, " + heads,
                      Case<T>(model, 16, {2641, 2, 705, 256, 257, 1100}, {8, 2, 16, 7, 4, 5}, true));
            }
        }
    }
}

// Checks prefill attention with GQA: alone with the generic GEMMs, as on every device, and together with decode rows.
template <class T>
static void check_shared_prompts(Kernels& kernels, bool quick, bool hopper, bool fp8 = false) {
    const std::string type = std::string(TypeName<T>::value) + (fp8 ? " fp8" : "");
    for (int headSize : {64, 128, 50}) {
        for (int window : quick ? std::vector<int>{INT_MAX} : std::vector<int>{INT_MAX, 90, 24, 1}) {
            Shape s = gated_shape(1, 64, 6, 2, headSize, 96, 300, 300);
            s.window = window, s.fp8 = fp8;
            Model<T> model(kernels, s);
            const std::string what =
                type + " prefill, shared heads of " + std::to_string(headSize) + ", window " + std::to_string(window) + ", ";
            Case<T> ragged(model, 16, {70, 1, 16, 17, 5, 200, 64, 65}, {70, 1, 1, 17, 0, 33, 64, 65});
            Case<T> chunks(model, 16, {300, 257, 193, 128}, {300, 200, 65, 1});
            Case<T> fives(model, 5, {70, 129, 128}, {70, 129, 1});
            Plan plan = generic_plan();
            plan.attention = Plan::PREFILL_GQA;
            check_stages(what + "ragged", kernels, ragged, plan);
            check_stages(what + "chunks", kernels, chunks, plan);
            check_stages(what + "blocks of 5", kernels, fives, plan);
            if (!hopper) continue;
            plan = prefill_plan(512, 6);
            plan.attention = Plan::MIXED_GQA, plan.attentionCluster = 2;
            check_stages(what + "mixed", kernels, ragged, plan);
            plan.attention = Plan::PREFILL_WGMMA;
            check_stages(what + "chunks by wgmma", kernels, chunks, plan);
        }
    }
}

template <class T>
static void check_families(Kernels& kernels, bool quick, bool hopper) {
    const std::string type = TypeName<T>::value;
    for (const auto& [name, shape] : family_shapes()) {
        Model<T> model(kernels, shape);
        for (int blockSize : {16, 5}) {
            Case<T> c(model, blockSize, {70, 1, 16, 17, 5, 130}, {70, 1, 1, 17, 0, 33});
            check_stages(type + " " + name + ", generic", kernels, c, generic_plan());
        }
        if (quick || !hopper || sizeof(T) == 4) continue;
        Case<T> c(model, 16, decode_lengths(33), std::vector<int>(33, 1));
        Plan plan = for_shape(decode_plan(33), shape);
        check_stages(type + " " + name + ", tiles", kernels, c, plan);
        if constexpr (sizeof(T) == 2) check_prompt_tiles(name, kernels, c, plan);
        plan.fusedNorm = false;
        check_stages(type + " " + name + ", tiles, norm not fused", kernels, c, plan);
        if constexpr (sizeof(T) == 2) check_prompt_tiles(name + ", norm not fused", kernels, c, plan);
    }
    if constexpr (sizeof(T) == 2) check_shared_prompts<T>(kernels, quick, hopper);
    if (sizeof(T) == 4 || !hopper) return;
    if constexpr (sizeof(T) == 2) check_shared_attention<T>(kernels, quick);
    Model<T> model(kernels, gated_shape(1, 576, 9, 3, 64, quick ? 520 : 1536, 1500, 300));
    for (int rows : quick ? std::vector<int>{33} : std::vector<int>{1, 9, 33, 130}) {
        Case<T> c(model, 16, decode_lengths(rows), std::vector<int>(rows, 1));
        for (int batch : {8, 16, 32, 64, 128}) {
            if (batch > 64 && rows < 31) continue;
            for (int cluster : {1, 2, 4, 8}) {
                if (cluster > (batch > 64 ? 2 : 8)) continue;
                Plan p = for_shape(decode_plan(rows), model.shape);
                p.qkv = p.attentionOut = p.mlpIn = p.mlpOut = {batch, cluster, cluster == 1 ? 3 : batch == 128 ? 4 : 5};
                check_stages(type + " gated, tile " + p.qkv.text() + ", rows " + std::to_string(rows), kernels, c, p);
            }
        }
        if constexpr (sizeof(T) == 2) {
            check_prompt_tiles("gated, rows " + std::to_string(rows), kernels, c, for_shape(decode_plan(rows), model.shape));
            if (rows == 33) check_bits(kernels, c);
        }
    }
}

// Checks whole models in the shape of a small served one, cut to a few layers: width 576, 9 query heads, 3 KV heads.
template <class T>
static void check_whole_families(Kernels& kernels, bool hopper) {
    const std::string type = TypeName<T>::value;
    if (!share.takes_any(sizeof(T) == 2 && hopper ? 4 : 2)) return;
    for (bool headNorms : {false, true}) {
        Shape s = gated_shape(4, 576, 9, 3, 64, 1536, 5003, 512);
        s.headNorms = headNorms;
        const std::string name = type + (headNorms ? " gated model with head norms, " : " gated model, ");
        Model<T> model(kernels, s);
        check_model(name + "generic", kernels, model, generic_plan(), generic_plan(), 16, {40, 5, 130, 17}, 2);
        if (sizeof(T) == 4 || !hopper) continue;
        std::vector<int> many;
        for (int r = 0; r < 64; r++) many.push_back(4 + r * 2);
        Plan decode = decode_plan(64);
        decode.attention = Plan::DECODE_GQA, decode.attentionCluster = 2;
        Plan prefill = prefill_plan(512, 64);
        prefill.attention = Plan::MIXED_GQA, prefill.attentionCluster = 2;
        check_model(name + "64 rows", kernels, model, prefill, decode, 16, many, 2);
    }
}

// Checks int8 scales and packed words of a matrix with awkward sizes and values, packed in two parts, against the host.
template <class T>
static void check_byte_packing(Kernels& kernels) {
    if (!share.takes()) return;
    const int headSize = 20, headPad = 32, k = 5 * headSize, n = 70, paddedK = 256, paddedN = 128, border = 23;
    const int element = TypeName<T>::element, none = 0;
    std::vector<T> host = random_array<T>(static_cast<size_t>(n) * k, 41).download();
    for (int i = 0; i < k; i++) host[3 * k + i] = T(0.f), host[4 * k + i] = T(i == 7 ? 1e-30f : 0.f);
    host[5 * k + 11] = T(NAN), host[6 * k + 12] = T(-INFINITY);
    const DeviceArray<T> matrix(host);
    std::vector<int> rows(paddedN, -1);
    for (int i = 0; i < n; i++) rows[(i * 37 + 5) % paddedN] = i;
    DeviceArray<float> scales(paddedN), inverses(paddedN);
    DeviceArray<uint32_t> words(paddedN * paddedK / 4);
    for (int from : {0, border}) {
        const int to = from == 0 ? border : n;
        std::vector<int> part(rows);
        for (int& row : part) row = row >= from && row < to ? row - from : -1;
        const DeviceArray<int> order(part);
        const T* stored = matrix.get() + from * k;
        kernels("int8_scales", {dim3(32 * paddedN / 256), 256, 0, 1, false}, stored, element, k, to - from, none,
                static_cast<const int*>(order.get()), scales.get(), inverses.get(), paddedN);
        kernels("pack_int8", {dim3(paddedN * paddedK / 4 / 256), 256, 0, 1, false}, stored, element, k, to - from, none,
                static_cast<const int*>(order.get()), headSize, headPad, static_cast<const float*>(inverses.get()), words.get(),
                paddedN, paddedK);
        kernels.wait();
    }
    std::vector<int> seen(paddedN * paddedK);
    const std::vector<uint32_t> packed = words.download();
    for (size_t i = 0; i < packed.size(); i++) {
        const rose::Int8Word at = rose::Int8Word::at(i, paddedN);
        for (int upper = 0; upper < 2; upper++) {
            for (int second = 0; second < 2; second++) {
                seen[(at.row + 8 * upper) * paddedK + at.k + second] = rose::int8_weight(packed[i], second, upper == 1);
            }
        }
    }
    const std::vector<float> seenScales = scales.download();
    const std::string what = std::string(TypeName<T>::value) + " to weights of one byte, row ";
    for (int row = 0; row < paddedN; row++) {
        const int from = rows[row];
        float largest = 0;
        for (int i = 0; from >= 0 && i < k; i++) {
            const float magnitude = std::fabs(rose::to_float(host[from * k + i]));
            if (std::isnan(magnitude) || magnitude > largest) largest = magnitude;
            if (std::isnan(largest)) break;
        }
        const float scale = largest / 127, inverse = largest < 1e-25f ? 0 : 127 / largest;
        report(std::isnan(scale) ? std::isnan(seenScales[row]) : seenScales[row] == scale, what + std::to_string(row),
               "scale " + std::to_string(seenScales[row]));
        int wrong = 0;
        for (int column = 0; column < paddedK; column++) {
            const int head = column / headPad, d = column % headPad, i = head * headSize + d;
            int q = 0;
            if (from >= 0 && d < headSize && i < k && std::isfinite(largest)) {
                q = static_cast<int>(std::nearbyint(rose::to_float(host[from * k + i]) * inverse));
            }
            wrong += seen[row * paddedK + column] != q;
        }
        report(wrong == 0, what + std::to_string(row), std::to_string(wrong) + " weights differ");
    }
}

// Checks models with int8 weights, exact in the reference: every tile and cluster, all head sizes, prompts, and bit identity.
// Rings are longer and shorter than a matrix.
static void check_int8(Kernels& kernels, bool quick) {
    using T = rose::bf16;
    check_byte_packing<float>(kernels), check_byte_packing<rose::f16>(kernels), check_byte_packing<T>(kernels);
    for (auto [name, shape] : family_shapes()) {
        if (shape.rotarySize == 0) continue;  // learns positions
        shape.int8 = true;
        Model<T> model(kernels, shape);
        Case<T> c(model, 16, decode_lengths(33), std::vector<int>(33, 1));
        Plan plan = for_shape(decode_plan(33, shape.millions(), true), shape);
        check_stages("int8 " + name, kernels, c, plan);
        plan.fusedNorm = false;
        check_stages("int8 " + name + ", norm not fused", kernels, c, plan);
        if (quick) break;
    }
    Shape shape = gated_shape(1, 576, 9, 3, 64, quick ? 520 : 1536, 1500, 300);
    shape.int8 = true;
    Model<T> model(kernels, shape);
    for (int rows : quick ? std::vector<int>{33} : std::vector<int>{1, 2, 8, 9, 33, 64, 65, 130}) {
        Case<T> c(model, 16, decode_lengths(rows), std::vector<int>(rows, 1));
        for (int batch : {8, 16, 32, 64, 128}) {
            if (batch > 64 && rows < 31) continue;
            for (int cluster : {1, 2, 4, 8}) {
                if (cluster > (batch > 64 ? 2 : 8)) continue;
                Plan p = for_shape(decode_plan(rows, 0, true), shape);
                p.qkv = p.attentionOut = p.mlpIn = p.mlpOut = {batch, cluster, cluster == 1 || batch > 64 ? 3 : 4, true};
                p.head = {std::min(batch, 64), 1, cluster == 1 ? 3 : 2, true};
                check_stages("int8, tile " + p.qkv.text() + ", rows " + std::to_string(rows), kernels, c, p);
            }
        }
        if (rows == 33) check_bits(kernels, c);
    }
    Case<T> ragged(model, 16, {70, 1, 16, 17, 5, 200, 64, 65}, {70, 1, 1, 17, 0, 33, 64, 65});
    Plan prefill = prefill_plan(512, 6, 0, true);
    prefill.attention = Plan::MIXED_GQA, prefill.attentionCluster = 2;
    check_stages("int8 prompts", kernels, ragged, prefill);
    if (quick) return;
    shape = gated_shape(4, 576, 9, 3, 64, 1536, 5003, 512);
    shape.int8 = shape.headNorms = true;
    Model<T> whole(kernels, shape);
    std::vector<int> many;
    for (int r = 0; r < 64; r++) many.push_back(4 + r * 2);
    Plan decode = decode_plan(64, 0, true);
    decode.attention = Plan::DECODE_GQA, decode.attentionCluster = 2;
    check_model("int8 model, 64 rows", kernels, whole, prefill, decode, 16, many, 2);
}

// Checks the fp8 KV cache: all head sizes with the generic kernel, and whole models. Supported sizes also run on the fast kernels,
// at every cluster size and for prompts.
template <class T>
static void check_fp8(Kernels& kernels, bool quick, bool hopper) {
    const std::string type = std::string(TypeName<T>::value) + " fp8 ";
    for (auto [name, shape] : family_shapes()) {
        if (shape.plainAttention()) continue;
        shape.fp8 = true;
        Model<T> model(kernels, shape);
        for (int blockSize : {16, 5}) {
            Case<T> c(model, blockSize, {70, 1, 16, 17, 5, 130}, {70, 1, 1, 17, 0, 33});
            check_stages(type + name + ", generic", kernels, c, generic_plan());
        }
        if constexpr (sizeof(T) == 2) {
            Case<T> c(model, 16, {70, 1, 16, 17, 5, 130}, {70, 1, 1, 17, 0, 33});
            if (hopper) check_prompt_tiles("fp8 " + name, kernels, c, for_shape(decode_plan(33), shape));
        }
        if (quick) break;
    }
    if constexpr (sizeof(T) == 2) {
        check_shared_prompts<T>(kernels, quick, hopper, true);
        if (!hopper) return;
        check_shared_attention<T>(kernels, quick, true);
        for (int headSize : {64, 128}) {
            for (bool headNorms : {false, true}) {
                if (quick) continue;
                Shape s = gated_shape(4, 576, 9, 3, headSize, 1536, 5003, 512);
                s.headNorms = headNorms, s.fp8 = true;
                Model<T> model(kernels, s);
                std::vector<int> many;
                for (int r = 0; r < 64; r++) many.push_back(4 + r * 2);
                Plan decode = decode_plan(64), prefill = prefill_plan(512, 64);
                decode.attention = Plan::DECODE_GQA, decode.attentionCluster = 2;
                prefill.attention = Plan::MIXED_GQA, prefill.attentionCluster = 2;
                check_model(type + "model, heads of " + std::to_string(headSize), kernels, model, prefill, decode, 16, many, 2);
            }
        }
    }
}

// As check_edges, for int8 weights: 34 panels are 4352 columns.
static void check_int8_edges(Kernels& kernels) {
    using T = rose::bf16;
    Shape shape = gated_shape(1, 640, 6, 2, 64, 4352, 1500, 300);
    shape.int8 = true;
    Model<T> model(kernels, shape);
    auto rows = [&](int count) { return Case<T>(model, 16, decode_lengths(count), std::vector<int>(count, 1)); };
    const Case<T> some = rows(33), more = rows(129), many = rows(257);
    for (int batch : {8, 16, 32, 64, 128}) {
        const Case<T>& c = batch < 64 ? some : batch == 64 ? more : many;
        for (int cluster : {1, 2, 4, 8}) {
            if (cluster > (batch == 128 ? 2 : 8)) continue;
            Plan p = for_shape(decode_plan(c.batch.rows(), 0, true), shape);
            p.qkv = p.attentionOut = p.mlpIn = p.mlpOut = {batch, cluster, batch > 64 ? 3 : 4, true};
            p.head = {std::min(batch, 64), 1, 4, true};
            check_stages("edges, int8 tile " + p.qkv.text(), kernels, c, p);
        }
    }
    for (const PlanLine& line : plan_lines()) {
        if (line.plan != "int8") continue;
        check_stages(
            "edges, int8 plan up to " + std::to_string(line.lastMillion) + " million, row " + std::to_string(line.lastRow),
            kernels, some, for_shape(line.tiles, shape));
    }
}

template <class T>
static void check_whole(Kernels& kernels, bool hopper, int layers) {
    const std::string type = TypeName<T>::value;
    if (!share.takes_any(sizeof(T) == 4 ? 1 : hopper ? 6 : 2)) return;
    Model<T> model(kernels, measured_shape(layers));
    check_model(type + " model, generic", kernels, model, generic_plan(), generic_plan(), 16, {40, 5, 130, 17}, 2);
    if constexpr (sizeof(T) == 2) {
        Plan prompts = generic_plan();
        prompts.attention = Plan::PREFILL;
        check_model(type + " model, generic but for prefill", kernels, model, prompts, generic_plan(), 16, {40, 5, 130, 17}, 2);
        if (!hopper) return;
        Plan prefill = prefill_plan(512, 8);
        prefill.attention = Plan::MIXED;
        check_model(type + " model, 1 row", kernels, model, prefill, decode_plan(1), 16, {134}, 3);
        check_model(type + " model, 5 rows", kernels, model, prefill, decode_plan(5), 16, {40, 5, 130, 17, 300}, 3);
        std::vector<int> many;
        for (int r = 0; r < 64; r++) many.push_back(4 + r * 2);
        check_model(type + " model, 64 rows", kernels, model, prefill, decode_plan(64), 16, many, 2);
        for (int r = 64; r < 130; r++) many.push_back(4 + r % 31);
        check_model(type + " model, 130 rows", kernels, model, prefill, decode_plan(130), 16, many, 2);
    }
}

int main(int argc, char** argv) {
    if (argc < 2) {
        std::fprintf(
            stderr,
            "usage: check DIRECTORY [SUFFIX] [quick | sampler | f32 | f16 | bf16 | int8 | fp8 | prefill | edges | families | models | "
            "shallow[:i/n]]\n");
        return 2;
    }
    const std::string suffix = argc > 2 ? argv[2] : ".sm_90a.cubin";
    std::string part = argc > 3 ? argv[3] : "";
    const size_t colon = part.find(':');
    if (colon != std::string::npos) {
        if (std::sscanf(part.c_str() + colon, ":%d/%d", &share.index, &share.count) != 2 || share.count < 1) {
            std::fprintf(stderr, "%s: a share is PART:i/n\n", part.c_str());
            return 2;
        }
        part.resize(colon);
    }
    const bool quick = part == "quick";
    auto wanted = [&](const char* name) { return quick || part.empty() || part == name; };
    Kernels kernels(argv[1], suffix);
    const bool hopper = kernels.has("attention_decode_f16");
    if (wanted("sampler")) {
        const std::vector<int> vocabularies = quick ? std::vector<int>{1500} : std::vector<int>{5, 1023, 1025, 50257, 151936};
        check_sampler(kernels, vocabularies, quick ? 1 : KINDS, report);
        check_reported(kernels, vocabularies, report);
        check_long_completion(kernels, report);
    }
    if (wanted("f32")) check_type<float>(kernels, quick, hopper);
    if (wanted("f16")) check_type<rose::f16>(kernels, quick, hopper);
    if (wanted("bf16")) check_type<rose::bf16>(kernels, quick, hopper);
    if (wanted("int8") && hopper) check_int8(kernels, quick);
    if (wanted("fp8") && suffix.find("sm_80") == std::string::npos) {
        check_fp8<float>(kernels, quick, hopper);
        check_fp8<rose::f16>(kernels, quick, hopper);
        check_fp8<rose::bf16>(kernels, quick, hopper);
    }
    if (wanted("prefill") && hopper) {
        check_wgmma_prefills<rose::f16>(kernels, quick);
        check_wgmma_prefills<rose::bf16>(kernels, quick);
    }
    if (!quick && wanted("edges") && hopper) check_edges(kernels), check_int8_edges(kernels);
    if (part == "edges" && share.takes()) check_sampler(kernels, {5, 1023, 1025, 17001}, KINDS, report);
    if (wanted("families")) {
        check_families<float>(kernels, quick, hopper);
        check_families<rose::f16>(kernels, quick, hopper);
        check_families<rose::bf16>(kernels, quick, hopper);
    }
    if (!quick && wanted("families")) {
        check_whole_families<float>(kernels, hopper);
        check_whole_families<rose::f16>(kernels, hopper);
        check_whole_families<rose::bf16>(kernels, hopper);
    }
    if (!quick && (wanted("models") || part == "shallow")) {
        const int layers = part == "shallow" ? 2 : 12;
        check_whole<float>(kernels, hopper, layers);
        check_whole<rose::f16>(kernels, hopper, layers);
        check_whole<rose::bf16>(kernels, hopper, layers);
    }
    std::printf("%d of %d comparisons failed\n", failures, comparisons);
    return failures > 0;
}
