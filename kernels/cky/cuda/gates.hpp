// How warps of a block that have different tasks wait for one another, and for copies that one
// of them starts. On compute capability 9.0 and later the hardware does both (mbarrier, bulk
// copies); BULK_COPIES 0 has plain C++ for older devices and the emulation.
#pragma once
#include "../../bits.hpp"

#ifndef BULK_COPIES
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define BULK_COPIES 1
#else
#define BULK_COPIES 0
#endif
#endif

#if BULK_COPIES
__device__ __forceinline__ u32 shared_address(const void* p) {
    return u32(__cvta_generic_to_shared(p));
}
#endif

// A gate that opens round by round: round r, counted from 0, as soon as WANTED have come r + 1
// times; round -1 is open from the start. What they did before they came is seen by whoever
// waited for that round. Only the last bit of a round's number is looked at: so one may wait for
// the last round that has opened, or for the one after.
template <int WANTED>
struct Gate {
    u64* at;  // in shared memory

    // Makes the gate. One thread calls it; gates_made() and __syncthreads() must follow.
    __device__ __forceinline__ void init() const {
#if BULK_COPIES
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(at)),
                     "r"(WANTED)
                     : "memory");
#else
        *at = 0;
#endif
    }
    // Comes, for a whole warp: one lane calls it, after __syncwarp().
    __device__ __forceinline__ void come() const {
#if BULK_COPIES
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(at))
                     : "memory");
#else
        volatile u32* const opened = half(1);
        __threadfence_block();
        if (atomicAdd(half(0), 1u) + 1 < WANTED) return;
        *half(0) = 0;
        __threadfence_block();
        *opened = *opened + 1;
#endif
    }
    __device__ __forceinline__ void wait(u32 round) const {
#if BULK_COPIES
        asm volatile(
            "{\n.reg .pred open;\n"
            "again:\nmbarrier.try_wait.parity.shared::cta.b64 open, [%0], %1;\n"
            "@!open bra again;\n}" ::"r"(shared_address(at)),
            "r"(round & 1)
            : "memory");
#else
        volatile u32* const opened = half(1);
        while (!((*opened ^ round) & 1)) __nanosleep(20);
        __threadfence_block();
#endif
    }
#if !BULK_COPIES
    // Returns the count of those that have come (0), or of the rounds that have opened (1).
    __device__ __forceinline__ u32* half(int which) const {
        return reinterpret_cast<u32*>(at) + which;
    }
#else
    // Comes, as come() does, but the round also waits for copies of so many bytes.
    __device__ __forceinline__ void come_with(u32 bytes) const {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                         shared_address(at)),
                     "r"(bytes)
                     : "memory");
    }
    // Starts one of these copies to shared memory; bytes: a multiple of 16, more than 0.
    __device__ __forceinline__ void copy(uint4* to, const u32* from, u32 bytes) const {
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
            "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
            "l"(from), "r"(bytes), "r"(shared_address(at))
            : "memory");
    }
#endif
};

// Lets other warps see the gates. To be called after the last init().
__device__ __forceinline__ void gates_made() {
#if BULK_COPIES
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
}

// Lets bulk copies see what was written to global memory before: the writer must call it, and
// then whoever starts them.
__device__ __forceinline__ void before_copies() {
#if BULK_COPIES
    asm volatile("fence.proxy.async.global;" ::: "memory");
#endif
}
