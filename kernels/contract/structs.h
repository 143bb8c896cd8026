#pragma once
// Structs exchanged between the host and the sampling kernel, in C and C++. The table at the end is their layout: the compiler checks
// the structs against it, and a test the layout of SampleStructs.java.
#include <assert.h>
#include <stddef.h>

#define MAX_LOGPROBS 20

// Parameters of one sample, written by the host with the step's inputs. Names and ranges as in SamplingParams.
typedef struct SampleRequest {
    unsigned long long seed;
    float temperature;  // 0: greedy
    int topK;           // 0: all
    float topP;
    float minP;
    float repetitionPenalty;
    float presencePenalty;
    float frequencyPenalty;
    int position;       // tokens of the request so far: the index of its random number
    int historyStart;   // its tokens in `history`, prompt first, read by penalties only; negative as in embed: ~index of a
    int historyLength;  // sample of the previous step
    int promptLength;
    int logprobs;  // most likely tokens to report in addition to the sampled one; negative: no report
    int maskStart;  // in `history`, a bit per token, 1 if allowed: token t is bit t % 32 of word t / 32; negative: all allowed
    int biasStart;  // in `history`, the number of biases, their tokens, their values; negative: none. A token has at most one
                    // finite bias; -INFINITY forbids it
    int reported;   // the token to report instead of drawing one, which needs `logprobs`; negative: draw
    int reserved;
} SampleRequest;

// The log-probabilities of one sample, in mapped host memory.
typedef struct SampleReport {
    float logprob;
    int tokens[MAX_LOGPROBS];
    float logprobs[MAX_LOGPROBS];
    int rank;  // of a reported token by likelihood, from 1; ties go to the lower id
    int reserved[2];
} SampleReport;

#define STRUCT(S, BYTES) static_assert(sizeof(S) == BYTES, #S " differs in size from the table of contract/structs.h");
#define FIELD(S, F, OFFSET, BYTES)                                         \
    static_assert(offsetof(S, F) == OFFSET && sizeof(((S*)0)->F) == BYTES, \
                  #S "." #F " differs in offset or size from the table of contract/structs.h");
STRUCT(SampleRequest, 72)
FIELD(SampleRequest, seed, 0, 8)
FIELD(SampleRequest, temperature, 8, 4)
FIELD(SampleRequest, topK, 12, 4)
FIELD(SampleRequest, topP, 16, 4)
FIELD(SampleRequest, minP, 20, 4)
FIELD(SampleRequest, repetitionPenalty, 24, 4)
FIELD(SampleRequest, presencePenalty, 28, 4)
FIELD(SampleRequest, frequencyPenalty, 32, 4)
FIELD(SampleRequest, position, 36, 4)
FIELD(SampleRequest, historyStart, 40, 4)
FIELD(SampleRequest, historyLength, 44, 4)
FIELD(SampleRequest, promptLength, 48, 4)
FIELD(SampleRequest, logprobs, 52, 4)
FIELD(SampleRequest, maskStart, 56, 4)
FIELD(SampleRequest, biasStart, 60, 4)
FIELD(SampleRequest, reported, 64, 4)
FIELD(SampleRequest, reserved, 68, 4)
STRUCT(SampleReport, 176)
FIELD(SampleReport, logprob, 0, 4)
FIELD(SampleReport, tokens, 4, 80)
FIELD(SampleReport, logprobs, 84, 80)
FIELD(SampleReport, rank, 164, 4)
FIELD(SampleReport, reserved, 168, 8)
#undef FIELD
#undef STRUCT
