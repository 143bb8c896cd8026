#pragma once
// The structs that the host and the sampling kernel exchange, in C and C++ alike. A field is added in three places, and none can be
// forgotten: here, in structs.def and in SampleStructs.java.
#include <assert.h>
#include <stddef.h>

#define MAX_LOGPROBS 20

// One sample's parameters, written by the host with the step's inputs. Names and ranges as SamplingParams.
typedef struct SampleRequest {
    unsigned long long seed;
    float temperature;  // 0: the most likely token
    int topK;           // 0: all
    float topP;
    float minP;
    float repetitionPenalty;
    float presencePenalty;
    float frequencyPenalty;
    int position;       // tokens the request has so far: the number of its draw
    int historyStart;   // its tokens in `history`, prompt first, read by penalties only; below zero as for embed: ~index of a
    int historyLength;  // sample of the step before
    int promptLength;
    int logprobs;  // most likely tokens to report beside the chosen one; below zero: no report
    int reserved[2];
} SampleRequest;

// The log-probabilities of one sample, in mapped host memory.
typedef struct SampleReport {
    float logprob;
    int tokens[MAX_LOGPROBS];
    float logprobs[MAX_LOGPROBS];
    int reserved[3];
} SampleReport;

#define STRUCT(S, BYTES) static_assert(sizeof(S) == BYTES, #S " has not the size that contract/structs.def says");
#define FIELD(S, F, OFFSET, BYTES)                                         \
    static_assert(offsetof(S, F) == OFFSET && sizeof(((S*)0)->F) == BYTES, \
                  #S "." #F " does not lie where contract/structs.def says");
#include "structs.def"
#undef FIELD
#undef STRUCT
