// Residues of the products of groups of numbers modulo each of many odd moduli, by Montgomery's
// reduction: one residue stands for 32 GCDs, and costs a few.
//
// Macros: LIMBS of a number in a thread, BITS of a limb, TEAM of neighbouring threads that
// have a number together, THREADS of a block. 2^(BITS * LIMBS * TEAM) is above every number.
//
// Limbs are short enough for sums of products to fit 64 bits: a place of the sum gets one in
// each row, and is gone after LIMBS * TEAM rows. So no carry is looked at before the end.
#include "../../bits.hpp"

#if !defined(DYNAMIC_SHARED)
#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
#endif

namespace {

constexpr u32 LANES = 32;  // numbers of a slab
constexpr u32 MASK = (1u << BITS) - 1;
constexpr u32 ROWS = LIMBS * TEAM;
static_assert(ROWS < 1u << (63 - 2 * BITS), "sums would overflow");
static_assert(LANES % TEAM == 0, "a team is in one warp");

// Returns limb i of a number of `width` words, LANES apart.
__device__ __forceinline__ u32 limb_of(const u32* words, u32 width, u32 i) {
    const u32 bit = BITS * i, j = bit / 32;
    const u32 low = j < width ? words[j * LANES] : 0;
    const u32 high = j + 1 < width ? words[(j + 1) * LANES] : 0;
    return __funnelshift_r(low, high, bit % 32) & MASK;
}

// Returns a b + c, in one instruction (see gcd.hpp).
__device__ __forceinline__ u64 mad_wide(u32 a, u32 b, u64 c) {
#if defined(__CUDA_ARCH__)
    u64 r;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(a), "r"(b));
    return r + c;
#else
    return u64(a) * b + c;
#endif
}

// Returns the value of the next thread of the team; in the last thread, `last`.
__device__ __forceinline__ u64 from_next(u64 value, u32 last) {
    if constexpr (TEAM == 1) return last;
    const u64 next = __shfl_down_sync(ALL, value, 1, TEAM);
    return threadIdx.x % TEAM == TEAM - 1 ? last : next;
}

// Makes one row of Montgomery's reduction: t becomes (t + m n) / 2^BITS, with the m that makes
// this whole, and `next` comes in at the top. inverse: -1 / n modulo 2^BITS.
__device__ __forceinline__ void reduce(u64 (&t)[LIMBS], const u32 (&n)[LIMBS], u32 inverse,
                                       u32 next) {
    u32 m = u32(t[0]) * inverse & MASK;
    if constexpr (TEAM > 1) m = __shfl_sync(ALL, m, 0, TEAM);
    const u64 low = mad_wide(n[0], m, t[0]);
#pragma unroll
    for (int k = 1; k < LIMBS; k++) t[k - 1] = mad_wide(n[k], m, t[k]);
    t[LIMBS - 1] = from_next(low, next);
    if (threadIdx.x % TEAM == 0) t[0] += low >> BITS;  // its low bits are zero
}

// Carries, so that each limb has its BITS bits; no carry leaves the top.
__device__ __forceinline__ void normalise(const u64 (&t)[LIMBS], u32 (&limbs)[LIMBS]) {
    u64 carry = 0;
#pragma unroll
    for (int k = 0; k < LIMBS; k++) {
        carry += t[k];
        limbs[k] = u32(carry) & MASK;
        carry >>= BITS;
    }
    for (u32 thread = 1; thread < TEAM; thread++) {  // as far as a carry may have to go
        carry = __shfl_up_sync(ALL, carry, 1, TEAM);
        if (threadIdx.x % TEAM == 0) carry = 0;
#pragma unroll
        for (int k = 0; k < LIMBS; k++) {
            carry += limbs[k];
            limbs[k] = u32(carry) & MASK;
            carry >>= BITS;
        }
    }
}

}  // namespace

// Computes the product of each group, a slab of `others`: number blockIdx.x of `products`, of
// LANES * ROWS limbs, which may be above 2^BITS by 2. columns: as many sums, in the block's own
// memory.
extern "C" __global__ void pairs_products(const u32* __restrict__ others, u32 width, u64 count,
                                          u64 first_group, u32* products, u64* columns) {
    __shared__ u32 factor[ROWS];
    constexpr u32 LENGTH = LANES * ROWS;
    const u64 group = first_group + blockIdx.x;
    const u32 terms = u32(min(u64(LANES), count - group * LANES));
    others += group * width * LANES;
    products += u64(blockIdx.x) * LENGTH;
    columns += u64(blockIdx.x) * LENGTH;
    for (u32 k = threadIdx.x; k < LENGTH; k += blockDim.x) products[k] = k == 0;
    for (u32 j = 0; j < terms; j++) {
        for (u32 k = threadIdx.x; k < ROWS; k += blockDim.x)
            factor[k] = limb_of(others + j, width, k);
        __syncthreads();
        const u32 length = (j + 1) * ROWS;
        for (u32 k = threadIdx.x; k < length; k += blockDim.x) {
            u64 sum = 0;
            const u32 some = min(k + 1, ROWS);
            for (u32 i = 0; i < some; i++) sum = mad_wide(factor[i], products[k - i], sum);
            columns[k] = sum;
        }
        __syncthreads();
        // Carries go one place up, and two, and then one again; what is then left of
        // them may stay.
        for (u32 k = threadIdx.x; k < length; k += blockDim.x) {
            u32 limb = u32(columns[k]) & MASK;
            if (k > 0) limb += u32(columns[k - 1] >> BITS) & MASK;
            if (k > 1) limb += u32(columns[k - 2] >> 2 * BITS);
            products[k] = limb;
        }
        __syncthreads();
        for (u32 k = threadIdx.x; k < length; k += blockDim.x)
            columns[k] = (products[k] & MASK) + (k > 0 ? products[k - 1] >> BITS : 0);
        __syncthreads();
        for (u32 k = threadIdx.x; k < length; k += blockDim.x) products[k] = u32(columns[k]);
    }
}

// Computes product t = blockIdx.y modulo each number i of `moduli`: number i of batch t of
// `residues`, in `width` words. It is at most the modulus, and multiplied by a power of 2. The
// product is that of group first_group + t; with `triangle` only groups below i / 32 are wanted.
extern "C" __global__ void __launch_bounds__(THREADS)
    pairs_residues(const u32* __restrict__ moduli, u32 modulus_width, u64 count,
                   const u32* __restrict__ products, u64 first_group, u32 triangle,
                   u32* __restrict__ residues, u32 width) {
    constexpr u32 NUMBERS = THREADS / TEAM, LENGTH = LANES * ROWS;
    DYNAMIC_SHARED(u32, shared);  // the product; then the block's residues, [ROWS][NUMBERS]
    const u32 own = threadIdx.x / TEAM, part = threadIdx.x % TEAM;
    const u64 i = u64(blockIdx.x) * NUMBERS + own;
    const u64 last = u64(blockIdx.x + 1) * NUMBERS - 1;
    if (triangle && first_group + blockIdx.y >= last / LANES) return;
    products += u64(blockIdx.y) * LENGTH;
    for (u32 k = threadIdx.x; k < LENGTH; k += THREADS) shared[k] = products[k];
    __syncthreads();
    u32 n[LIMBS];
    u64 t[LIMBS];
    const bool live = i < count;
    const u32* words = moduli + i / LANES * modulus_width * LANES + i % LANES;
#pragma unroll
    for (int k = 0; k < LIMBS; k++) {
        n[k] = limb_of(words, live ? modulus_width : 0, part * LIMBS + k);
        t[k] = shared[part * LIMBS + k];
    }
    u32 inverse = n[0];  // by Newton: 3, 6, 12, 24, 48 bits are right
    for (int k = 0; k < 4; k++) inverse *= 2 - n[0] * inverse;
    for (u32 row = ROWS; row < LENGTH; row++) reduce(t, n, 0 - inverse, shared[row]);
    for (u32 row = 0; row < ROWS; row++) reduce(t, n, 0 - inverse, 0);
    u32 limbs[LIMBS];
    normalise(t, limbs);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < LIMBS; k++) shared[(part * LIMBS + k) * NUMBERS + own] = limbs[k];
    __syncwarp();
    if (!live) return;
    const u64 slabs = (count + LANES - 1) / LANES;
    residues += (blockIdx.y * slabs + i / LANES) * width * LANES + i % LANES;
    for (u32 j = part; j < width; j += TEAM) {
        // Writes word j, which may come from three limbs.
        const u32 first = 32 * j / BITS, offset = 32 * j % BITS;
        u64 word = 0;
        for (u32 k = 0; k < 3 && first + k < ROWS; k++)
            word |= u64(shared[(first + k) * NUMBERS + own]) << (BITS * k);
        residues[j * LANES] = u32(word >> offset);
    }
}

// Lowers `even` to the least index of an even number.
extern "C" __global__ void pairs_first_even(const u32* __restrict__ words, u32 width, u64 count,
                                            u64* even) {
    const u64 i = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < count && !(words[i / LANES * width * LANES + i % LANES] & 1))
        atomicMin(reinterpret_cast<unsigned long long*>(even), i);
}
