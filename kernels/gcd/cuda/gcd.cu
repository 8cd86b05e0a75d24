// Greatest common divisors on a CUDA device; see gcd.hpp and, for the layout, Slabs.
//
// Macros:
//   WORDS    in registers, for operands of at most so many words; without it limbs are in
//            shared memory, for operands of any width
//   SCRATCH  in global memory instead
//   CHUNK    limbs in memory that are read at a time, ahead of use
//   TEAM     threads that have a pair together, in memory: a power of two, up to 32
//   FIND     a kernel that lists pairs with a common factor, not one that has results
#include "gcd.hpp"

#if defined(WORDS)
#include "registers.hpp"
#else
#include "memory.hpp"
#endif

#if !defined(DYNAMIC_SHARED)
#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
#endif

// Copies numbers without their words above `width`.
extern "C" __global__ void gcd_narrow(const u32* __restrict__ from, u32 from_width,
                                      u32* __restrict__ to, u32 width, u64 slabs) {
    const u64 slab = u64(blockIdx.x) * (blockDim.x / LANES) + threadIdx.x / LANES;
    if (slab >= slabs) return;
    const u32 lane = threadIdx.x % LANES;
    from += slab * from_width * LANES + lane;
    to += slab * width * LANES + lane;
    for (u32 i = 0; i < width; i++) to[i * LANES] = from[i * LANES];
}

// Where limbs are in memory, a block is one warp.
#if defined(SCRATCH)
#define ROOM uint2* const room = scratch + u64(blockIdx.x) * limbs * PAIRS
#else
#define ROOM DYNAMIC_SHARED(uint2, room)
#endif

#if !defined(FIND)

// Computes the GCDs of two batches. A warp takes one set of PAIRS after the other. a_step,
// b_step: 0 where one number stands for all, else 1. longest: becomes the bits of the longest
// result; it is zero before. scratch: 2 * PAIRS * limbs words for each block, with SCRATCH.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gcd_slabs(const u32* __restrict__ a_words, u32 a_width, u32 a_step,
              const u32* __restrict__ b_words, u32 b_width, u32 b_step, u32* __restrict__ out,
              u32 width, u32* longest, u64 count, [[maybe_unused]] uint2* scratch, int limbs) {
    ROOM;
    const u32 warps = blockDim.x / LANES, thread = threadIdx.x % LANES;
    const u64 first = u64(blockIdx.x) * warps + threadIdx.x / LANES;
    const u64 units = (count + LANES - 1) / LANES * TEAM;
    for (u64 unit = first; unit < units; unit += u64(gridDim.x) * warps) {
        const u64 slab = unit / TEAM, lane = unit % TEAM * PAIRS + thread % PAIRS;
        const bool live = slab * LANES + lane < count;
        const Words a = {a_words + a_step * (slab * a_width * LANES + lane), live ? a_width : 0};
        const Words b = {b_words + b_step * (slab * b_width * LANES + lane), live ? b_width : 0};
        const Operands operands = take_twos(a, b, max(a_width, b_width));
        Division division(room, limbs);
        division.run(operands);
        Result result(out + slab * width * LANES + lane, width, operands.words, operands.bits);
        if (thread < PAIRS) {
            division.write(result);
            result.fill();
        }
        result.finish(longest);
    }
}

#else

// Lists pairs whose GCD is above 1, as i << 32 | k, in no order: number i of b, all
// of which are odd, with
// - number k of a, for the lanes k of slab tasks[.] % 2^32 of a; i is tasks[.] >> 32.
//   With `triangle` only those below i.
// - without tasks: the residue of group k for it. Slab t * (slabs of b) + i / 32 of a has
//   those of group k = first_group + t. With `triangle` only groups below i / 32.
// work: tasks, or slabs of residues. found: how many pairs there are; `list` has room for
// `room_for` of them.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    gcd_find(const u32* __restrict__ a_words, u32 a_width, u64 a_count,
             const u32* __restrict__ b_words, u32 b_width, u64 b_count,
             const u64* __restrict__ tasks, u32 listed, u64 first_group, u32 triangle, u64 work,
             u64* __restrict__ list, u64* found, u64 room_for, [[maybe_unused]] uint2* scratch,
             int limbs) {
    ROOM;
    const u32 warps = blockDim.x / LANES, thread = threadIdx.x % LANES;
    const u64 first = u64(blockIdx.x) * warps + threadIdx.x / LANES;
    for (u64 unit = first; unit < work * TEAM; unit += u64(gridDim.x) * warps) {
        const u64 w = unit / TEAM, lane = unit % TEAM * PAIRS + thread % PAIRS;
        u64 i, k, slab;
        bool live;
        if (listed) {
            i = tasks[w] >> 32;
            slab = u32(tasks[w]);
            k = slab * LANES + lane;
            live = k < a_count && !(triangle && k >= i);
        } else {
            const u64 slabs = (b_count + LANES - 1) / LANES;
            i = w % slabs * LANES + lane;
            slab = w;
            k = first_group + w / slabs;
            live = i < b_count;
            if (triangle && k >= i / LANES) continue;
        }
        const Words a = {a_words + slab * a_width * LANES + lane, live ? a_width : 0};
        const Words b = {b_words + i / LANES * b_width * LANES + i % LANES, live ? b_width : 0};
        const Operands operands = take_twos(a, b, max(a_width, b_width));
        Division division(room, limbs);
        division.run(operands);
        const bool shared = division.above_one();
        __syncwarp();
        if (shared && thread < PAIRS) {
            const u64 at = atomicAdd(reinterpret_cast<unsigned long long*>(found), 1ull);
            if (at < room_for) list[at] = i << 32 | k;
        }
    }
}

#endif
