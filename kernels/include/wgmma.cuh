#pragma once
// wgmma (sm_90a): asynchronous product of two shared memory tiles by a warpgroup of 128 threads.
//
//      d[64 x N] += a[64 x 16] · b[N x 16]^T        a and b in the panel layout (128-byte swizzle, k contiguous)
//
// Thread t of the warpgroup holds, for j < N / 8 and with lane = t % 32, warp = t / 32:
//      d[4j + 0], d[4j + 1]   at row 16·warp + lane / 4,       columns 8j + 2·(lane % 4) + {0, 1}
//      d[4j + 2], d[4j + 3]   at row 16·warp + lane / 4 + 8,   the same columns
//
// The first operand may be in registers (`a` of multiply): thread t holds four pairs of neighbors along k,
//      a[0], a[1]             at row 16·warp + lane / 4, and at that row + 8,      k 2·(lane % 4) + {0, 1}
//      a[2], a[3]             the same rows,                                       k 2·(lane % 4) + 8 + {0, 1}
// which must stay unchanged until a wait for the product.
//
// The register lists are written out because asm statements have no loops.
#include "ptx.cuh"

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

namespace rose {

// Descriptor of a tile with 128-byte rows and consecutive 8-row groups; `address` is 1024-byte aligned plus 32 bytes per 16
// elements along k.
__device__ __forceinline__ uint64_t tile_descriptor(uint32_t address) {
    constexpr uint64_t SWIZZLE_128 = 1ull << 62;
    constexpr uint64_t GROUP_STRIDE = static_cast<uint64_t>(1024 >> 4) << 32;
    return SWIZZLE_128 | GROUP_STRIDE | 1ull << 16 | (address & 0x3FFFF) >> 4;
}

// Descriptor of a tile whose rows are k (WgmmaByRows): groups of 64 columns, each a tile as above, are `panelBytes` apart.
__device__ __forceinline__ uint64_t tile_descriptor_by_rows(uint32_t address, int panelBytes) {
    return tile_descriptor(address) & ~(0x3FFFull << 16) | static_cast<uint64_t>(panelBytes >> 4) << 16;
}

__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int PENDING>
__device__ __forceinline__ void wgmma_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// Keeps arithmetic on registers, which touches no memory, on its side of a wait or fence: products use them asynchronously.
template <int COUNT>
__device__ __forceinline__ void wgmma_pin(float (&d)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) asm volatile("" : "+f"(d[i])::"memory");
}
template <int COUNT>
__device__ __forceinline__ void wgmma_pin(uint32_t (&d)[COUNT]) {
#pragma unroll
    for (int i = 0; i < COUNT; i++) asm volatile("" : "+r"(d[i])::"memory");
}

// Waits for all products.
template <int COUNT>
__device__ __forceinline__ void wgmma_wait_for(float (&d)[COUNT]) {
    wgmma_wait<0>();
    wgmma_pin(d);
}

template <class T, int N>
struct Wgmma;

#define ROSE_REGISTERS_8 "%0,%1,%2,%3"
#define ROSE_REGISTERS_16 ROSE_REGISTERS_8 ",%4,%5,%6,%7"
#define ROSE_REGISTERS_32 ROSE_REGISTERS_16 ",%8,%9,%10,%11,%12,%13,%14,%15"
#define ROSE_REGISTERS_64 ROSE_REGISTERS_32 ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define ROSE_REGISTERS_128                                             \
    ROSE_REGISTERS_64                                                  \
    ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47" \
    ",%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define ROSE_REGISTERS_192                                             \
    ROSE_REGISTERS_128                                                 \
    ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79" \
    ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"
#define ROSE_REGISTERS_256                                                         \
    ROSE_REGISTERS_128                                                             \
    ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79"             \
    ",%80,%81,%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95"             \
    ",%96,%97,%98,%99,%100,%101,%102,%103,%104,%105,%106,%107,%108,%109,%110,%111" \
    ",%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123,%124,%125,%126,%127"
#define ROSE_ACC4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define ROSE_ACC16(i) ROSE_ACC4(i), ROSE_ACC4(i + 4), ROSE_ACC4(i + 8), ROSE_ACC4(i + 12)
#define ROSE_ACC64(i) ROSE_ACC16(i), ROSE_ACC16(i + 16), ROSE_ACC16(i + 32), ROSE_ACC16(i + 48)
#define ROSE_OUT_8 ROSE_ACC4(0)
#define ROSE_OUT_16 ROSE_ACC4(0), ROSE_ACC4(4)
#define ROSE_OUT_32 ROSE_ACC16(0)
#define ROSE_OUT_64 ROSE_ACC16(0), ROSE_ACC16(16)
#define ROSE_OUT_128 ROSE_ACC64(0)
#define ROSE_OUT_192 ROSE_ACC64(0), ROSE_ACC16(64), ROSE_ACC16(80)
#define ROSE_OUT_256 ROSE_ACC64(0), ROSE_ACC64(64)

// A and B: operand numbers of the two descriptors, after the N / 2 accumulators; C: of ADD, or of `keep`. Without it the product
// overwrites d.
#define ROSE_WGMMA(T, NAME, N, A, B, C)                                                                          \
    template <>                                                                                                  \
    struct Wgmma<T, N> {                                                                                         \
        template <int ADD = 1>                                                                                   \
        static __device__ __forceinline__ void multiply(float (&d)[N / 2], uint64_t a, uint64_t b) {             \
            asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." NAME "." NAME " {" ROSE_REGISTERS_##N \
                         "}, %" #A ", %" #B ", %" #C ", 1, 1, 0, 0;"                                             \
                         : ROSE_OUT_##N                                                                          \
                         : "l"(a), "l"(b), "n"(ADD));                                                            \
        }                                                                                                        \
        static __device__ __forceinline__ void multiply(float (&d)[N / 2], uint64_t a, uint64_t b, bool keep) {  \
            asm volatile("{\n.reg .pred keep;\nsetp.ne.b32 keep, %" #C ", 0;\n"                                  \
                         "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." NAME "." NAME " {" ROSE_REGISTERS_##N \
                         "}, %" #A ", %" #B ", keep, 1, 1, 0, 0;\n}"                                             \
                         : ROSE_OUT_##N                                                                          \
                         : "l"(a), "l"(b), "r"(static_cast<int>(keep)));                                         \
        }                                                                                                        \
    };
#define ROSE_WGMMA_BOTH(N, A, B, C) ROSE_WGMMA(f16, "f16", N, A, B, C) ROSE_WGMMA(bf16, "bf16", N, A, B, C)
ROSE_WGMMA_BOTH(8, 4, 5, 6)
ROSE_WGMMA_BOTH(16, 8, 9, 10)
ROSE_WGMMA_BOTH(32, 16, 17, 18)
ROSE_WGMMA_BOTH(64, 32, 33, 34)
ROSE_WGMMA_BOTH(128, 64, 65, 66)
ROSE_WGMMA_BOTH(192, 96, 97, 98)
ROSE_WGMMA_BOTH(256, 128, 129, 130)

// wgmma with the first operand in registers.
template <int N>
struct WgmmaFromRegisters;

// A to D: operand numbers of the four registers; E: of the descriptor.
#define ROSE_WGMMA_FROM_REGISTERS(N, A, B, C, D, E)                                                              \
    template <>                                                                                                  \
    struct WgmmaFromRegisters<N> {                                                                               \
        static __device__ __forceinline__ void multiply(float (&d)[N / 2], const uint32_t (&a)[4], uint64_t b) { \
            asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" ROSE_REGISTERS_##N         \
                         "}, {%" #A ", %" #B ", %" #C ", %" #D "}, %" #E ", 1, 1, 1, 0;"                         \
                         : ROSE_OUT_##N                                                                          \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                  \
        }                                                                                                        \
    };
ROSE_WGMMA_FROM_REGISTERS(8, 4, 5, 6, 7, 8)
ROSE_WGMMA_FROM_REGISTERS(16, 8, 9, 10, 11, 12)
ROSE_WGMMA_FROM_REGISTERS(32, 16, 17, 18, 19, 20)
ROSE_WGMMA_FROM_REGISTERS(64, 32, 33, 34, 35, 36)
ROSE_WGMMA_FROM_REGISTERS(128, 64, 65, 66, 67, 68)

// wgmma with the first operand in registers and the second stored [16][N]: its rows are k, as for softmax weights times values.
template <class T, int N>
struct WgmmaByRows;

#define ROSE_WGMMA_BY_ROWS(T, NAME, N, A, B, C, D, E)                                                            \
    template <>                                                                                                  \
    struct WgmmaByRows<T, N> {                                                                                   \
        static __device__ __forceinline__ void multiply(float (&d)[N / 2], const uint32_t* a, uint64_t b) {      \
            asm volatile("wgmma.mma_async.sync.aligned.m64n" #N "k16.f32." NAME "." NAME " {" ROSE_REGISTERS_##N \
                         "}, {%" #A ", %" #B ", %" #C ", %" #D "}, %" #E ", 1, 1, 1, 1;"                         \
                         : ROSE_OUT_##N                                                                          \
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));                                  \
        }                                                                                                        \
    };
ROSE_WGMMA_BY_ROWS(f16, "f16", 64, 32, 33, 34, 35, 36)
ROSE_WGMMA_BY_ROWS(bf16, "bf16", 64, 32, 33, 34, 35, 36)
ROSE_WGMMA_BY_ROWS(f16, "f16", 128, 64, 65, 66, 67, 68)
ROSE_WGMMA_BY_ROWS(bf16, "bf16", 128, 64, 65, 66, 67, 68)

}  // namespace rose

#endif
