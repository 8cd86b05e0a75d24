// Batches of mixed lengths: signs and bit lengths, and sums of few long numbers.
#include "team.hpp"

namespace {

constexpr u32 BLOCK = 256;

// A sum, or a product (in ntt.cu), of which every warp has a stretch.
struct LongPair {
    u64 a, a_length, b, b_length, to, room;  // room: words, at most those of its stretches
};

TEAM_FN u64 thread_number() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

}  // namespace

// Writes the bit length of number i, negated where the number is negative.
extern "C" __global__ void rows_bits(const u32* __restrict__ words, const u64* __restrict__ starts,
                                     const u64* __restrict__ lengths,
                                     const u32* __restrict__ negative, u32 with_signs, u64 count,
                                     long long* __restrict__ bits) {
    const u64 i = thread_number();
    if (i >= count) return;
    u64 n = lengths[i];
    const u32* at = words + starts[i];
    while (n && !at[n - 1]) n--;
    const long long found = n ? (long long)(32 * n) - __clz(int(at[n - 1])) : 0;
    bits[i] = with_signs && (negative[i / 32] >> (i % 32) & 1) ? -found : found;
}

// Sums of long numbers in three launches: stretches of `stretch` words for themselves
// (long_add), the carries between them (long_scan), and their coming in (long_carry).
// The same prefix scan that goes through a warp here goes through all of them (Langer
// 2015, 3.3). blockIdx.y is the sum of a batch.

// Computes words[to, to + room) = a + b, or a - b, for each stretch by itself. marks[warp]: 1
// where the stretch makes a carry, 2 where it would pass one on.
extern "C" __global__ void __launch_bounds__(BLOCK)
    long_add(const u32* __restrict__ a_words, const u32* __restrict__ b_words,
             const LongPair* __restrict__ longs, const u32* __restrict__ subtract,
             u32* __restrict__ words, u32 stretch, u32 stretches, u32* __restrict__ marks) {
    const Team<WARP> team(threadIdx.x % WARP);
    const u32 part = u32(thread_number() / WARP);
    if (part >= stretches) return;
    const LongPair item = longs[blockIdx.y];
    const bool minus = subtract[blockIdx.y] != 0;
    const u64 begin = u64(part) * stretch;
    u32 carry = minus && part == 0;  // a - b = a + ~b + 1
    bool ones = true;
    for (u32 first = 0; first < stretch && begin + first < item.room; first += WARP) {
        const u64 k = begin + first + team.rank;
        const u32 x = k < item.a_length ? a_words[item.a + k] : 0;
        const u32 y = k < item.b_length ? b_words[item.b + k] : 0;
        u32 s = x + (minus ? ~y : y);
        s += team.ripple(s < x, s == ALL, carry);
        if (k < item.room) words[item.to + k] = s;
        ones = ones && team.votes(s == ALL) == ALL;
    }
    if (team.rank == 0) marks[u64(blockIdx.y) * stretches + part] = carry | (ones ? 2 : 0);
}

// Turns marks from what stretches do to carries into the carries that come into each. One warp.
extern "C" __global__ void long_scan(u32* __restrict__ marks, u32 stretches) {
    const Team<WARP> team(threadIdx.x);
    u32* at = marks + u64(blockIdx.y) * stretches;
    u32 carry = 0;
    for (u32 first = 0; first < stretches; first += WARP) {
        const u32 i = first + team.rank, mark = i < stretches ? at[i] : 0;
        const u32 in = team.ripple(mark & 1, mark == 2, carry);
        if (i < stretches) at[i] = in;
    }
}

// Adds the carries that come in. lengths[blockIdx.y] becomes the length; it was zero before.
extern "C" __global__ void __launch_bounds__(BLOCK)
    long_carry(u32* __restrict__ words, const LongPair* __restrict__ longs,
               const u32* __restrict__ marks, u32 stretch, u32 stretches,
               unsigned long long* __restrict__ lengths) {
    const Team<WARP> team(threadIdx.x % WARP);
    const u32 part = u32(thread_number() / WARP);
    if (part >= stretches) return;
    const LongPair item = longs[blockIdx.y];
    const u64 begin = u64(part) * stretch;
    u32 carry = marks[u64(blockIdx.y) * stretches + part];
    u64 length = 0;
    for (u32 first = 0; first < stretch && begin + first < item.room; first += WARP) {
        const u64 k = begin + first + team.rank;
        u32 s = k < item.room ? words[item.to + k] : 0;
        if (carry) {
            s += team.ripple(false, s == ALL, carry);
            if (k < item.room) words[item.to + k] = s;
        }
        const u32 filled = team.votes(k < item.room && s);
        if (filled) length = begin + first + 32 - u32(__clz(int(filled)));
    }
    if (team.rank == 0 && length) atomicMax(lengths + blockIdx.y, (unsigned long long)length);
}
