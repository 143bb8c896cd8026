#pragma once
// Wrappers of PTX instructions without a CUDA C++ intrinsic.
//
// Functions marked sm_90 are empty or absent below it; generic kernels use only cp.async, ldmatrix and mma.sync.
#include "numeric.cuh"

namespace rose {

__device__ __forceinline__ uint32_t shared_address(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

// ---- Programmatic dependent launch -------------------------------------------------------------------------------------------
// A kernel releases its successor at once, and reads earlier kernels' output only after the wait. Every block of every kernel
// waits, so the end of one kernel implies the end of all before it.

__device__ __forceinline__ void release_dependents() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ __forceinline__ void wait_for_predecessors() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// A load that stays above the wait: the compiler may move an ordinary load below it.
__device__ __forceinline__ uint4 load_early16(const void* from) {
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(from)
                 : "memory");
    return v;
}

// Computes an address here, not after a later wait.
template <class T>
__device__ __forceinline__ void compute_early(T*& address) {
    asm volatile("" : "+l"(address)::"memory");
}

// Loads from L2 what another kernel wrote, in program order among asm statements.
__device__ __forceinline__ float4 load_global4(const float* from) {
    float4 v;
    asm volatile("ld.global.cg.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(from) : "memory");
    return v;
}

// ---- cp.async, ldmatrix, mma.sync (sm_80) ------------------------------------------------------------------------------------

// Copies 16 bytes, or writes 16 zero bytes if not `present`.
__device__ __forceinline__ void copy_async16(uint32_t to, const void* from, bool present) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(present ? 16 : 0) : "memory");
}

__device__ __forceinline__ void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int PENDING>
__device__ __forceinline__ void copy_async_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(PENDING) : "memory");
}

__device__ __forceinline__ void load_matrix4(uint32_t (&r)[4], uint32_t row_address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row_address)
                 : "memory");
}

__device__ __forceinline__ void load_matrix4_transposed(uint32_t (&r)[4], uint32_t row_address) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row_address)
                 : "memory");
}

__device__ __forceinline__ uint2 load_shared8(uint32_t address) {
    uint2 v;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(v.x), "=r"(v.y) : "r"(address) : "memory");
    return v;
}

// d[16x8] += a[16x16] · b[16x8]
template <class T>
__device__ __forceinline__ void mma_16x8x16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
    if constexpr (std::is_same_v<T, f16>) {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    } else {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
}

#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)

// Returns true in one lane of a full warp. Unlike with `lane == 0`, the compiler knows that a single lane runs, so instructions
// with uniform operands (mbarriers, bulk copies) need no loop over lanes.
__device__ __forceinline__ bool elect_lane() {
    uint32_t elected;
    asm volatile(
        "{\n.reg .pred is;\n"
        "elect.sync _|is, 0xffffffff;\n"
        "selp.u32 %0, 1, 0, is;\n}"
        : "=r"(elected));
    return elected != 0;
}

// ---- Bulk copies (sm_90) -----------------------------------------------------------------------------------------------------
// They complete on an mbarrier.

__device__ __forceinline__ void barrier_init(uint64_t* barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

// Makes initialized mbarriers visible to the async proxy.
__device__ __forceinline__ void barrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// Arrives and expects `bytes` of copies before the phase completes.
__device__ __forceinline__ void barrier_expect(uint64_t* barrier, uint32_t bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes) : "memory");
}

__device__ __forceinline__ void barrier_arrive(uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// `barrier` is a peer_address. A release at cluster scope would be a GPU-wide fence.
__device__ __forceinline__ void barrier_arrive_peer(uint32_t barrier) {
    asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Waits for a phase, with acquire at block scope. That is enough for peers' stores too: they are st.async, and this mbarrier
// counts their bytes on completion, as it counts a bulk copy's. CUTLASS does the same.
__device__ __forceinline__ void barrier_wait(uint64_t* barrier, uint32_t parity) {
    uint32_t done;
    do {
        asm volatile(
            "{\n.reg .pred complete;\n"
            "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n"
            "selp.u32 %0, 1, 0, complete;\n}"
            : "=r"(done)
            : "r"(shared_address(barrier)), "r"(parity)
            : "memory");
    } while (!done);
}

// Addresses and size are multiples of 16 bytes.
__device__ __forceinline__ void bulk_load(uint32_t to, const void* from, uint32_t bytes, uint32_t barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from), "r"(bytes),
        "r"(barrier)
        : "memory");
}
__device__ __forceinline__ void bulk_load(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
    bulk_load(shared_address(to), from, bytes, shared_address(barrier));
}

// The same to both blocks of a cluster of two, at this block's addresses in each; completes on the mbarrier of each.
__device__ __forceinline__ void bulk_load_pair(void* to, const void* from, uint32_t bytes, uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
            shared_address(to)),
        "l"(from), "r"(bytes), "r"(shared_address(barrier)), "h"(static_cast<uint16_t>(3))
        : "memory");
}

__device__ __forceinline__ void prefetch_map(const void* map) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

// Copies a box of a tensor map to shared memory, from column x and row y on; what is outside of the tensor arrives as zeros.
__device__ __forceinline__ void tensor_load(uint32_t to, const void* map, int x, int y, uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
        "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier))
        : "memory");
}

__device__ __forceinline__ void tensor_load(uint32_t to, const void* map, int x, int y, int z, uint64_t* barrier) {
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];" ::"r"(to),
        "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(barrier))
        : "memory");
}

// Arrives when all earlier cp.async of this thread have completed; counts as one of the mbarrier's arrivals.
__device__ __forceinline__ void copy_async_arrive(uint64_t* barrier) {
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(shared_address(barrier)) : "memory");
}

// Orders ordinary accesses to shared memory, cp.async among them, before later ones of bulk copies and wgmma.
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Sets the registers of each thread of this warpgroup, to fewer or to more than at launch.
template <int COUNT>
__device__ __forceinline__ void lower_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
}
template <int COUNT>
__device__ __forceinline__ void raise_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
}

// ---- Clusters (sm_90) --------------------------------------------------------------------------------------------------------

__device__ __forceinline__ int cluster_rank() {
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return static_cast<int>(rank);
}

__device__ __forceinline__ int cluster_size() {
    uint32_t size;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return static_cast<int>(size);
}

// Arrives at the cluster barrier without ordering memory (a release would cost a GPU-wide fence).
__device__ __forceinline__ void cluster_arrive() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }

// Waits until every thread of the cluster has arrived or exited.
__device__ __forceinline__ void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

// Maps this block's shared address `local` to block `rank` of the cluster.
__device__ __forceinline__ uint32_t peer_address(uint32_t local, int rank) {
    uint32_t address;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(local), "r"(rank));
    return address;
}

// Stores 16 bytes to a peer's shared memory (st.async), completing on its mbarrier.
__device__ __forceinline__ void store_peer4(uint32_t to, float4 v, uint32_t barrier) {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(to),
                 "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w), "r"(barrier)
                 : "memory");
}

#endif

// Sets the registers per thread of a warpgroup, all of whose warps call it (sm_90a).
template <int COUNT>
__device__ __forceinline__ void take_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}
template <int COUNT>
__device__ __forceinline__ void give_registers() {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(COUNT));
#endif
}

// Barrier among `threads` threads of the block, whole warps. Barrier 0 is __syncthreads.
__device__ __forceinline__ void named_barrier(int id, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Arrives at a named barrier without waiting.
__device__ __forceinline__ void named_barrier_arrive(int id, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// Exchanges registers among four lanes: lane q has v[0 … 3], and gets v[q] of lanes 0 … 3.
__device__ __forceinline__ void transpose_quad(uint32_t (&v)[4]) {
    const bool odd = threadIdx.x & 1;
    const bool upper = threadIdx.x & 2;
    const uint32_t r0 = __shfl_xor_sync(~0u, odd ? v[0] : v[1], 1);
    const uint32_t r1 = __shfl_xor_sync(~0u, odd ? v[2] : v[3], 1);
    const uint32_t a0 = odd ? r0 : v[0], a1 = odd ? v[1] : r0, a2 = odd ? r1 : v[2], a3 = odd ? v[3] : r1;
    const uint32_t s0 = __shfl_xor_sync(~0u, upper ? a0 : a2, 2);
    const uint32_t s1 = __shfl_xor_sync(~0u, upper ? a1 : a3, 2);
    v[0] = upper ? s0 : a0, v[1] = upper ? s1 : a1, v[2] = upper ? a2 : s0, v[3] = upper ? a3 : s1;
}

// A position in a ring of shared-memory stages. The parity of a stage's barriers flips each time around.
template <int STAGES>
struct RingPosition {
    int index = 0;
    int parity = 0;

    __device__ __forceinline__ void advance() {
        if (++index == STAGES) index = 0, parity ^= 1;
    }
    // By up to STAGES steps.
    __device__ __forceinline__ void advance(int steps) {
        index += steps;
        if (index >= STAGES) index -= STAGES, parity ^= 1;
    }
};

}  // namespace rose
