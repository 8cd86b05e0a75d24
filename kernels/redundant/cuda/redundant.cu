// Carry-free additions on a CUDA device. A thread has 16 bytes of digits.
//
// Macros: WORD, bits of a digit's word: 16, 32 or 64; THREADS of a block, for redundant_sum;
// TILE, digits of a tile when normalising.
// Numbers have whole chunks of 16 bytes; above their last digit there are zeros.
#include "../digits.hpp"

#ifndef WORD
#define WORD 64
#endif
#ifndef THREADS
#define THREADS 256
#endif
#ifndef TILE
#define TILE 1024
#endif

namespace {

#if WORD == 16
using U = unsigned short;
using S = short;
#elif WORD == 32
using U = u32;
using S = int;
#else
using U = u64;
using S = long long;
#endif
using D = Digits<U>;

constexpr int DIGITS = 128 / WORD;  // of a chunk

struct alignas(16) Chunk {
    U digits[DIGITS];
};

__device__ __forceinline__ Chunk load(const U* x, u64 chunks, u64 c) {
    if (c < chunks) return reinterpret_cast<const Chunk*>(x)[c];
    return Chunk{};
}

// Returns the sign of the highest of x[from..to) that is not zero, or zero.
template <class T>
__device__ __forceinline__ signed char sign_below(const T* x, u64 from, u64 to) {
    while (to > from)
        if (const T d = x[--to]) return d < 0 ? -1 : 1;
    return 0;
}

// Returns word i of a number in binary that has `width` words.
__device__ __forceinline__ u64 word(const u64* number, u64 width, u64 i) {
    return i < width ? number[i] : 0;
}

}  // namespace

// Computes z = x + y, or x - y; lengths are in chunks.
extern "C" __global__ void redundant_add(const U* __restrict__ x, u64 x_chunks,
                                         const U* __restrict__ y, u64 y_chunks, u32 subtract,
                                         U* __restrict__ z, u64 chunks) {
    const u64 c = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    const Chunk a = load(x, x_chunks, c), b = load(y, y_chunks, c);
    U below = D::NOTHING;
    if (c) {
        const U xb = c <= x_chunks ? x[c * DIGITS - 1] : U(0);
        const U yb = c <= y_chunks ? y[c * DIGITS - 1] : U(0);
        below = D::moved(U(subtract ? xb - yb : xb + yb));
    }
    Chunk sum;
#pragma unroll
    for (int j = 0; j < DIGITS; j++) {
        const U p = a.digits[j], q = b.digits[j];
        const U here = D::moved(U(subtract ? p - q : p + q));
        sum.digits[j] = D::digit(here, below);
        below = here;
    }
    reinterpret_cast<Chunk*>(z)[c] = sum;
}

// Computes z = -x: digits may be as far below zero as above.
extern "C" __global__ void redundant_negate(const U* __restrict__ x, U* __restrict__ z,
                                            u64 chunks) {
    const u64 c = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (c >= chunks) return;
    Chunk a = load(x, chunks, c);
#pragma unroll
    for (int j = 0; j < DIGITS; j++) a.digits[j] = U(-a.digits[j]);
    reinterpret_cast<Chunk*>(z)[c] = a;
}

// Computes z, the sum of `positive` numbers in binary less the others; at most base / 2 numbers,
// of `width` words each, one after the other. A block computes THREADS - 1 chunks: its first
// thread computes the chunk below them for what comes up out of it.
extern "C" __global__ void __launch_bounds__(THREADS)
    redundant_sum(const u64* __restrict__ numbers, u64 width, u32 count, u32 positive,
                  U* __restrict__ z, u64 chunks) {
    __shared__ U low[THREADS], up[THREADS], up_before[THREADS];
    const u32 t = threadIdx.x;
    const u64 place = u64(blockIdx.x) * (THREADS - 1) + t;  // one more than the number of the chunk
    const u64 first = (place - 1) * (DIGITS * D::LOG);  // the first bit
    Place<U> places[DIGITS];
#pragma unroll
    for (int j = 0; j < DIGITS; j++) places[j] = Place<U>::empty();
    if (place > 0 && place <= chunks) {
        const u64 w = first >> 6;
        const int r = int(first & 63);
        for (u32 i = 0; i < count; i++) {
            const u64* number = numbers + i * width;
            u64 lo = word(number, width, w), hi = word(number, width, w + 1);
            if (r) {
                const u64 top = word(number, width, w + 2);
                lo = shift_down(hi, lo, r);
                hi = shift_down(top, hi, r);
            }
#pragma unroll
            for (int j = 0; j < DIGITS; j++) {
                const int at = j * D::LOG;
                const u64 from = at >= 64          ? hi >> (at & 63)
                                 : at + D::LOG > 64 ? lo >> at | hi << (64 - at)
                                                    : lo >> at;
                const U bits = U(from) & D::MASK;
                if (i < positive) places[j].add(bits);
                else places[j].subtract(bits);
            }
        }
    }
    low[t] = places[DIGITS - 1].low();
    up[t] = places[DIGITS - 1].up;
    up_before[t] = places[DIGITS - 2].up;
    __syncthreads();
    if (!t || place > chunks) return;
    U below = D::moved(U(low[t - 1] + up_before[t - 1])), carried = up[t - 1];
    Chunk sum;
#pragma unroll
    for (int j = 0; j < DIGITS; j++) {
        const U here = D::moved(U(places[j].low() + carried));
        sum.digits[j] = D::digit(here, below);
        below = here;
        carried = places[j].up;
    }
    reinterpret_cast<Chunk*>(z)[place - 1] = sum;
}

// Normalising. A digit borrows from the next if it is negative, or zero and borrowed from:
// the borrow from a place is the sign of the highest digit below it that is not zero.
// Runs of zeros are jumped over by signs of whole tiles, and of tiles of tiles.

// Writes signs[t]: the sign of the highest of TILE digits that is not zero, or zero.
extern "C" __global__ void redundant_signs(const S* __restrict__ x, u64 count,
                                           signed char* __restrict__ signs, u64 tiles) {
    const u64 t = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (t < tiles) signs[t] = sign_below(x, t * TILE, (t + 1) * TILE < count ? (t + 1) * TILE : count);
}
extern "C" __global__ void redundant_tile_signs(const signed char* __restrict__ x, u64 count,
                                                signed char* __restrict__ signs, u64 tiles) {
    const u64 t = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (t < tiles) signs[t] = sign_below(x, t * TILE, (t + 1) * TILE < count ? (t + 1) * TILE : count);
}

// Normalises to two's complement: `words` words for the digits, and one more.
extern "C" __global__ void redundant_normalise(const S* __restrict__ x, u64 digits,
                                               const signed char* __restrict__ tiles,
                                               const signed char* __restrict__ tiles_of_tiles,
                                               u64* __restrict__ result, u64 words) {
    const u64 w = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (w > words) return;
    const u64 start = 64 * w;
    u64 i = w < words ? start / D::LOG : digits;
    const u64 tile = i / TILE, super = tile / TILE;
    signed char sign = sign_below(x, tile * TILE, i);
    if (!sign) sign = sign_below(tiles, super * TILE, tile);
    if (!sign) sign = sign_below(tiles_of_tiles, 0, super);
    S borrow = sign < 0;
    u64 word = 0;
    for (; i < digits && i * D::LOG < start + 64; i++) {
        const S d = S(x[i] - borrow);
        const u64 bits = U(d) & D::MASK, at = i * D::LOG;
        word |= at < start ? bits >> (start - at) : bits << (at - start);
        borrow = d < 0;
    }
    result[w] = w < words ? word : u64(0) - u64(borrow);
}
