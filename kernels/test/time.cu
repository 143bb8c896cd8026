// Median times by replay of CUDA graphs: whole decode steps, each kernel in its own chain, prefill of a batch.
//
//      time DIRECTORY steps [ROWS …]                the step at these row counts, with each kernel's share
//      time DIRECTORY prefill [ROWSxLENGTH …]       these prompts in one step
//      time DIRECTORY sweep [ROWS …]                every tile of every GEMM in a separate chain, best first
//      time DIRECTORY tune [ROWS | ROWSxLENGTH …]   the best tiles in the whole step
//      time DIRECTORY gated SHAPE [ROWS@CONTEXT | ROWSxLENGTH …]        the step and its kernels of a gated bf16 model
//      time DIRECTORY gated-tune SHAPE [ROWS@CONTEXT | ROWSxLENGTH …]   the best tiles in its step
//      time DIRECTORY gated-tiles SHAPE [ROWSxLENGTH …]              each matrix of a prompt by every prompt tile
//      time DIRECTORY attention [SHAPE LOAD …]      attention of prompts, by attention_prefill and every attention_prefill_wgmma
//      time DIRECTORY sampling [ROWS …]             the sampling kernel by kind of request
//
// The model is the 124M shape with random weights, f16, context 132. Chains run over 36 layers' distinct weights and KV, more
// than the L2 cache holds. A step reads 247 MB of weights, so nothing survives in L2 from the previous step.
#include "check_sample.cuh"
#include "gated.cuh"

using T = rose::f16;

static constexpr int LAYERS = 12;
static constexpr int CHAIN = 36;

__global__ void measure_clock(long long* out) {
    unsigned long long start, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
    long long cycles = clock64();
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - start < 2000000);
    out[0] = (clock64() - cycles) * 1000 / static_cast<long long>(now - start);
}

static void print_clock() {
    DeviceArray<long long> clock(1);
    measure_clock<<<1, 1>>>(clock.get());
    cudaDeviceProp device;
    CHECK_CUDA(cudaGetDeviceProperties(&device, 0));
    std::printf("%s, SM clock %lld MHz\n", device.name, clock.download()[0]);
}

static void time_steps(Kernels& kernels, const Model<T>& model, int rows) {
    const int context = 132;
    Runner<T> runner(kernels, model, rows, rows, 16, rows * 9 + 1, false);
    fill_pool(runner);
    runner.upload(make_batch(rows, context, 1));
    const Plan plan = decode_plan(rows);
    const double step = median_micros(kernels, [&] { runner.step(plan, LAYERS); });
    kernels.programmatic = false;
    const double plain = median_micros(kernels, [&] { runner.step(plan, LAYERS); });
    kernels.programmatic = true;
    const double floor = (247e6 + rows * context * 36864.0) / COPY_BYTES_PER_MICRO;
    std::printf("STEP rows %4d context %d: %7.1f us (full edges %.1f), floor %.0f us, %.0f tokens/s\n", rows, context, step,
                plain, floor, rows / step * 1e6);

    Plan invariant = invariant_plan(rows);
    std::printf("    with the same bits for every batch:");
    for (int stages : {invariant.attentionStages, 8, 12, 16, 24}) {
        invariant.attentionStages = stages;
        std::printf(" %.1f us with %d stages,", median_micros(kernels, [&] { runner.step(invariant, LAYERS); }), stages);
    }
    invariant.attentionInvariant = false, invariant.attentionStages = 8;
    std::printf(" %.1f with attention_decode,", median_micros(kernels, [&] { runner.step(invariant, LAYERS); }));
    invariant.attention = Plan::PREFILL;
    std::printf(" %.1f with attention_prefill\n", median_micros(kernels, [&] { runner.step(invariant, LAYERS); }));

    struct Part {
        const char* name;
        std::function<void(int)> run;
    };
    const Part parts[] = {{"qkv", [&](int i) { runner.qkv(plan, i); }},
                          {"attention", [&](int i) { runner.attention(plan, i); }},
                          {"attention out", [&](int i) { runner.attentionOut(plan, i); }},
                          {"mlp in", [&](int i) { runner.mlpIn(plan, i); }},
                          {"mlp out", [&](int i) { runner.mlpOut(plan, i); }}};
    for (const Part& part : parts) {
        double chain = median_micros(kernels,
                                     [&] {
                                         for (int i = 0; i < CHAIN; i++) part.run(i);
                                     }) /
                       CHAIN;
        double without = median_micros(kernels, [&] {
            runner.embed(plan);
            for (int i = 0; i < LAYERS; i++) {
                for (const Part& other : parts) {
                    if (&other != &part) other.run(i);
                }
            }
            runner.head(plan), runner.select();
        });
        std::printf("    %-14s %6.2f us in a chain, %6.1f us of the step\n", part.name, chain, step - without);
    }
    double layers = median_micros(kernels, [&] {
        runner.embed(plan);
        for (int i = 0; i < LAYERS; i++) runner.layer(plan, i);
    });
    std::printf("    head + select  %6.1f us of the step; head %.1f us in a chain\n", step - layers, median_micros(kernels, [&] {
                                                                                                         for (int i = 0; i < 4;
                                                                                                              i++)
                                                                                                             runner.head(plan);
                                                                                                     }) / 4);
    for (int stages : {4, 5, 6, 8, 9, 10, -4, -5, -6, -7, -8, -10}) {  // negative: attention_decode_regs
        Plan other = plan;
        other.attentionStages = std::abs(stages);
        other.attentionRegs = stages < 0;
        double chain = median_micros(kernels,
                                     [&] {
                                         for (int i = 0; i < CHAIN; i++) runner.attention(other, i);
                                     }) /
                       CHAIN;
        std::printf("    attention%s with %2d stages: %6.2f us in a chain, step %.1f us\n", stages < 0 ? ", regs," : "",
                    std::abs(stages), chain, median_micros(kernels, [&] { runner.step(other, LAYERS); }));
    }
}

static void time_prefill(Kernels& kernels, const Model<T>& model, const Load& load) {
    const int rows = load.rows, tokens = load.tokens();
    Runner<T> runner(kernels, model, tokens, rows, 16, load.blocks(), false);
    fill_pool(runner);
    runner.upload(load.batch());
    const double scores = rows * (load.context * (load.context + 1.0) / 2);
    // Only QKV of the last layer multiplies every token.
    const double flops = 2.0 * tokens * (LAYERS * 12 - 9) * 768 * 768 + 4.0 * scores * 768 * LAYERS + 2.0 * rows * 50257 * 768;
    const Plan plan = prefill_plan(tokens, rows);
    const double step = median_micros(
        kernels, [&] { runner.step(plan, LAYERS); }, 11, 1);
    std::printf("PREFILL %s: %.0f us, %.0f TFLOP/s\n", load.text().c_str(), step, flops / step * 1e-6);
    struct Part {
        const char* name;
        std::function<void(int)> run;
        double flops;
    };
    const double square = 2.0 * tokens * 768 * 768;
    const Part parts[] = {{"norm + qkv", [&](int i) { runner.qkv(plan, i); }, 3 * square},
                          {"attention", [&](int i) { runner.attention(plan, i); }, 4.0 * scores * 768},
                          {"attention out", [&](int i) { runner.attentionOut(plan, i); }, square},
                          {"norm + mlp in", [&](int i) { runner.mlpIn(plan, i); }, 4 * square},
                          {"mlp out", [&](int i) { runner.mlpOut(plan, i); }, 4 * square}};
    for (const Part& part : parts) {
        double chain = median_micros(
                           kernels,
                           [&] {
                               for (int i = 0; i < LAYERS; i++) part.run(i);
                           },
                           11, 1) /
                       LAYERS;
        std::printf("    %-14s %6.1f us, %.0f TFLOP/s\n", part.name, chain, part.flops / chain * 1e-6);
    }
}

static void sweep(Kernels& kernels, const Model<T>& model, int rows) {
    Runner<T> runner(kernels, model, rows, rows, 16, rows * 9 + 1, false);
    fill_pool(runner);
    runner.upload(make_batch(rows, 132, 1));
    runner.embed(decode_plan(rows));
    struct Part {
        const char* name;
        GemmPlan Plan::*tile;
        std::function<void(const Plan&, int)> run;
        int panels;
        bool head;
    };
    const Part parts[] = {
        {"qkv", &Plan::qkv, [&](const Plan& p, int i) { runner.qkv(p, i); }, 12, false},
        {"attention out", &Plan::attentionOut, [&](const Plan& p, int i) { runner.attentionOut(p, i); }, 12, false},
        {"mlp in", &Plan::mlpIn, [&](const Plan& p, int i) { runner.mlpIn(p, i); }, 12, false},
        {"mlp out", &Plan::mlpOut, [&](const Plan& p, int i) { runner.mlpOut(p, i); }, 48, false},
        {"head", &Plan::head,
         [&](const Plan& p, int i) {
             if (i < 8) runner.head(p);
         },
         12, true}};
    for (const Part& part : parts) {
        std::vector<std::pair<double, std::string>> results;
        for (int batch : {8, 16, 32, 64, 128}) {
            if (batch / 2 >= std::max(rows, 8) || batch * 16 < rows) continue;
            for (int cluster : {1, 2, 4, 8}) {
                if (part.head && cluster > 1) continue;
                if (batch > 64 && cluster > 2) continue;
                int last = 0;
                for (int stages : {3, 4, 6, 8, 12}) {
                    Plan plan = decode_plan(rows);
                    plan.*part.tile = {batch, cluster, stages};
                    TileShape shape = (plan.*part.tile).tile(part.head, part.panels);
                    if (!(plan.*part.tile).fits(part.head) || shape.stages == last) continue;
                    last = shape.stages;
                    const int chain = part.head ? 8 : CHAIN;
                    double micros = median_micros(
                                        kernels,
                                        [&] {
                                            for (int i = 0; i < chain; i++) part.run(plan, i);
                                        },
                                        9, 2) /
                                    chain;
                    results.push_back({micros, (plan.*part.tile).text()});
                }
            }
        }
        std::sort(results.begin(), results.end());
        std::printf("SWEEP rows %d %-13s", rows, part.name);
        for (size_t i = 0; i < std::min<size_t>(results.size(), 9); i++) {
            std::printf("  %s %.2f", results[i].second.c_str(), results[i].first);
        }
        std::printf("\n");
    }
}

// Coordinate descent over the tiles of a whole step, which includes overlap with neighboring kernels, unlike chains.
static void tune(Kernels& kernels, const Model<T>& model, const Load& load, Plan best, int layers) {
    const int tokens = load.tokens();
    Runner<T> runner(kernels, model, tokens, load.rows, 16, load.blocks(), false);
    fill_pool(runner);
    runner.upload(load.batch());
    auto time = [&](const Plan& plan) {
        return median_micros(
            kernels, [&] { runner.step(plan, layers); }, 7, load.decodes() ? 4 : 1);
    };
    double fastest = time(best);
    std::printf("TUNE %s: from %.1f us", load.text().c_str(), fastest);
    auto attempt = [&](const Plan& plan) {
        double micros = time(plan);
        if (micros < fastest * 0.998) fastest = micros, best = plan;
    };
    for (int round = 0; round < 2; round++) {
        for (GemmPlan Plan::*slot : {&Plan::qkv, &Plan::mlpOut, &Plan::mlpIn, &Plan::attentionOut, &Plan::head}) {
            const bool head = slot == &Plan::head;
            const int m = head ? load.rows : tokens;
            for (int batch : {8, 16, 32, 64, 128}) {
                if (batch / 2 >= std::max(m, 8) || batch * 8 < std::min(m, 512) || (head && batch * 4 < m)) continue;
                for (int cluster : {1, 2, 4, 8}) {
                    if (head && cluster > 1 || batch > 64 && cluster > 2) continue;
                    int last = 0;
                    for (int stages : {3, 4, 5, 6, 8, 12}) {
                        Plan plan = best;
                        plan.*slot = {batch, cluster, stages};
                        const int panels = slot == &Plan::mlpOut ? 48 : 12;
                        TileShape shape = (plan.*slot).tile(head, panels);
                        if (!(plan.*slot).fits(head) || shape.stages == last) continue;
                        last = shape.stages;
                        attempt(plan);
                    }
                }
            }
        }
        for (int stages : {4, 5, 6, 7, 8, 9, 10, 12, -4, -5, -6, -7, -8, -9, -10, -12}) {
            if (!load.decodes()) break;
            Plan plan = best;
            plan.attentionStages = std::abs(stages);
            plan.attentionRegs = stages < 0;
            attempt(plan);
        }
    }
    std::printf(" to %.1f us: qkv %s, attention %s%d, out %s, mlp in %s, mlp out %s, head %s\n", fastest, best.qkv.text().c_str(),
                best.attentionRegs ? "held " : "", best.attentionStages, best.attentionOut.text().c_str(),
                best.mlpIn.text().c_str(), best.mlpOut.text().c_str(), best.head.text().c_str());
}

// Times the sampling kernel alone over logits with deviation 3, as of a trained model, or nearly equal, as of random weights. The
// rows come from L2, as after the head.
static void time_sampling(Kernels& kernels, int rows) {
    struct Way {
        const char* name;
        SampleRequest request;
        int logprobs = -1;
        bool masked = false;
    };
    const Way ways[] = {{"greedy", sampling(0)},
                        {"greedy, masked", sampling(0), -1, true},
                        {"temperature 1, masked", sampling(1), -1, true},
                        {"temperature 1", sampling(1)},
                        {"top-k 40", sampling(1, 40)},
                        {"top-p 0.9", sampling(1, 0, .9f)},
                        {"top-k 40, top-p 0.9", sampling(.8f, 40, .9f)},
                        {"top-k 5000", sampling(1, 5000)},
                        {"min-p 0.05", sampling(1, 0, 1, .05f)},
                        {"greedy, logprobs 0", sampling(0), 0},
                        {"greedy, logprobs 20", sampling(0), 20}};
    for (const int vocabulary : {50257, 151936}) {
        const int stride = round_up(vocabulary, 128);
        const size_t size = static_cast<size_t>(rows) * stride;
        DeviceArray<int> sampled(rows), before(rows), step(1);
        DeviceArray<unsigned> seen(static_cast<size_t>(rows) * ((vocabulary + 31) / 32));
        DeviceArray<unsigned long long> tokenSlots(rows);
        DeviceArray<SampleReport> reports(rows);
        DeviceArray<float> logits[] = {random_array<float>(size, 7, -100, 3), random_array<float>(size, 8, 0, .2f)};
        auto copies = DeviceArray<float>::uncleared(size);
        std::mt19937 random(1);
        std::vector<int> masks(ceil_div(vocabulary, 32));
        for (int& word : masks) word = static_cast<int>(random());
        DeviceArray<int> history(masks);
        for (const Way& way : ways) {
            std::vector<SampleRequest> requests(rows, way.request);
            for (int r = 0; r < rows; r++) {
                requests[r].seed = r, requests[r].position = r, requests[r].logprobs = way.logprobs;
                requests[r].biasStart = requests[r].reported = -1;
                requests[r].maskStart = way.masked ? 0 : -1;
            }
            DeviceArray<SampleRequest> parameters(requests);
            std::printf("SAMPLING vocabulary %6d rows %3d %-22s", vocabulary, rows, way.name);
            for (DeviceArray<float>& row : logits) {
                const DeviceArray<unsigned long long> bests(tile_bests(row.download(), stride, vocabulary));
                std::printf("  %6.1f", median_micros(
                                           kernels,
                                           [&] {
                                               kernels("sample", {dim3(rows), 1024, RANKING_BYTES},
                                                       static_cast<const unsigned long long*>(bests.get()), stride / TILE,
                                                       static_cast<const float*>(row.get()), vocabulary, stride,
                                                       static_cast<const SampleRequest*>(parameters.get()),
                                                       static_cast<const int*>(history.get()), seen.get(), copies.get(),
                                                       static_cast<const int*>(step.get()), sampled.get(),
                                                       static_cast<const int*>(before.get()), tokenSlots.get(), reports.get());
                                           },
                                           11));
            }
            std::printf(" us\n");
        }
    }
}

// Times attention of prompts alone, in bf16, a layer of a chain of eight with distinct KV. SHAPE is HEADS:KVHEADS:HEADSIZE[:fp8];
// a load is ROWSxLENGTH, or ROWSxLENGTH+PAST after that many tokens. With fp8 KV the time of widening is included.
static void time_attention(Kernels& kernels, const char* shape, const char* text) {
    int heads, kvHeads, headSize;
    if (std::sscanf(shape, "%d:%d:%d", &heads, &kvHeads, &headSize) != 3) {
        std::fprintf(stderr, "%s: HEADS:KVHEADS:HEADSIZE[:fp8] expected\n", shape);
        std::exit(2);
    }
    const Load load(text);
    const char* plus = std::strchr(text, '+');
    const int past = plus != nullptr ? std::atoi(plus + 1) : 0, context = past + load.context, layers = 8;
    Shape s = gated_shape(layers, 128, heads, kvHeads, headSize, 128, 128, context);
    s.fp8 = std::strstr(shape, ":fp8") != nullptr;
    const Model<rose::bf16> model(kernels, s);
    Runner<rose::bf16> runner(kernels, model, load.tokens(), load.rows, 16, load.rows * ceil_div(context, 16) + 1, false);
    fill_pool(runner);
    fill_random_kernel<<<1024, 256>>>(runner.queries.get(), runner.queries.size(), 0.f, 3 * s.queryScale(), 5);
    Batch batch = make_batch(load.rows, context, load.news);
    std::fill(batch.tokenIds.begin(), batch.tokenIds.end(), 0);
    runner.upload(batch);
    const double flops = 4. * load.rows * heads * headSize * (load.news * (load.news + 1.) / 2 + static_cast<double>(load.news) * past);
    auto time = [&](const std::string& name, const Plan& plan) {
        const double micros = median_micros(
                                  kernels,
                                  [&] {
                                      for (int i = 0; i < layers; i++) runner.attention(plan, i);
                                  },
                                  9, 1) /
                              layers;
        std::printf("ATTENTION %-14s %-10s %-14s %8.2f us %4.0f TFLOP/s\n", shape, text, name.c_str(), micros,
                    flops / micros * 1e-6);
    };
    Plan plan = generic_plan();
    plan.attention = Plan::PREFILL_GQA;
    time("prefill_gqa", plan);
    plan.attention = Plan::PREFILL_WGMMA;
    for (int packShift = 0; heads / kvHeads % (1 << packShift) == 0 && packShift < 4; packShift++) {
        for (int warpgroups : {1, 2, 3}) {
            if (warpgroups == 2 && s.headPad() != 128) continue;
            plan.prefillPackShift = packShift, plan.prefillWarpgroups = warpgroups;
            time("w" + std::to_string(warpgroups) + " pack " + std::to_string(1 << packShift), plan);
        }
    }
    std::fflush(stdout);
}

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr,
                     "usage: time DIRECTORY steps | prefill | tiles | sweep | tune | gated SHAPE | gated-tune SHAPE | "
                     "gated-tiles SHAPE | attention [SHAPE] | sampling [ROWS | ROWSxLENGTH ...]\n");
        return 2;
    }
    Kernels kernels(argv[1], ".sm_90a.cubin");
    if (!std::strcmp(argv[2], "sampling")) {
        std::printf("us for logits of deviation 3, then of 0.2\n");
        for (int i = 3; i < argc; i++) time_sampling(kernels, std::atoi(argv[i]));
        return 0;
    }
    if (!std::strncmp(argv[2], "gated", 5) && argc > 3) {
        const Model<rose::bf16> model(kernels, gated_shape(argv[3]));
        std::printf("%s, ", argv[3]);
        print_clock();
        for (int i = 4; i < argc; i++) {
            const Load load(argv[i]);
            Runner<rose::bf16> runner(kernels, model, load.tokens(), load.rows, 16, load.blocks(), false);
            fill_pool(runner);
            runner.upload(load.batch());
            const Plan plan = gated_plan(kernels, model.shape, load);
            if (std::strcmp(argv[2], "gated") == 0) time_gated(kernels, runner, load, plan);
            else if (std::strcmp(argv[2], "gated-tiles") == 0) time_prompt_tiles(kernels, runner, load, plan);
            else tune_gated(kernels, runner, load, plan);
        }
        return 0;
    }
    if (!std::strcmp(argv[2], "attention")) {
        print_clock();
        if (argc > 4) {
            for (int i = 4; i < argc; i++) time_attention(kernels, argv[3], argv[i]);
            return 0;
        }
        const char* loads[][2] = {{"32:8:64", "1x1024"},  {"16:8:128", "1x1024"}, {"32:8:128", "1x2048"},
                                  {"32:8:128", "1x8192"}, {"32:8:128", "8x1024"}, {"12:12:64", "16x259"}};
        for (const auto& load : loads) time_attention(kernels, load[0], load[1]);
        return 0;
    }
    Model<T> model(kernels, measured_shape(CHAIN));
    print_clock();
    if (!std::strcmp(argv[2], "prefill")) {
        for (int i = 3; i < argc; i++) time_prefill(kernels, model, Load(argv[i]));
    }
    if (!std::strcmp(argv[2], "steps")) {
        for (int i = 3; i < argc; i++) time_steps(kernels, model, std::atoi(argv[i]));
    }
    if (!std::strcmp(argv[2], "tune")) {
        for (int i = 3; i < argc; i++) {
            const Load load(argv[i]);
            tune(kernels, model, load, load.decodes() ? decode_plan(load.rows) : prefill_plan(load.tokens(), load.rows), LAYERS);
        }
    }
    if (!std::strcmp(argv[2], "tiles")) {
        for (int i = 3; i < argc; i++) {
            const Load load(argv[i]);
            Runner<T> runner(kernels, model, load.tokens(), load.rows, 16, load.blocks(), false);
            runner.upload(load.batch());
            time_prompt_tiles(kernels, runner, load, prefill_plan(load.tokens(), load.rows));
        }
    }
    if (!std::strcmp(argv[2], "sweep")) {
        for (int i = 3; i < argc; i++) sweep(kernels, model, std::atoi(argv[i]));
    }
    print_clock();
    return 0;
}
