// Moves strings, as they lie in a batch, into the charts of groups, and results out of them, on
// a CUDA device.
//
// String s is terminals[offsets[s] - start .. offsets[s + 1] - start). order (groups * 32 *
// LANES): which string has each place, NONE for none. Place p is bit p % 32 of word p / 32 %
// LANES of group p / 32 / LANES. A chart is (cells(length), symbols / SIDE, LANES, SIDE) words.
//
// Macros: LANES, words of a group; SIDE, symbols side by side; TOKEN_BYTES, of a token.
#include "../../bits.hpp"

#ifndef LANES
#define LANES 32
#endif
#ifndef SIDE
#define SIDE 1
#endif
#ifndef TOKEN_BYTES
#define TOKEN_BYTES 4
#endif
#if TOKEN_BYTES == 1
using Token = unsigned char;
#elif TOKEN_BYTES == 2
using Token = unsigned short;
#else
using Token = u32;
#endif

constexpr u32 NONE = ALL;
constexpr u32 STRINGS = 32 * LANES;  // of a group
constexpr u32 TOKENS = 8;            // of a block of pack(): as many as a memory sector holds

namespace {
BITS_FN u64 cell(u32 i, u32 j) { return u64(j) * (j - 1) / 2 + i; }
// Returns where in a cell the word of a symbol and a lane is.
BITS_FN u32 word_of(u32 symbol, u32 lane) {
    return symbol / SIDE * (SIDE * LANES) + lane * SIDE + symbol % SIDE;
}
}  // namespace

// Sets the lexical bits of the cells (j - 1, j). The symbols of terminal t are symbol[first[t]]
// .. symbol[first[t + 1] - 1]; from `terminals` on there are none. A block has TOKENS tokens of
// a group.
extern "C" __global__ void cky_pack(u32* chart, u32 length, u32 symbols,
                                    const Token* __restrict__ tokens,
                                    const u64* __restrict__ offsets, u64 start,
                                    const u32* __restrict__ order, u32 terminals,
                                    const u32* __restrict__ first,
                                    const u32* __restrict__ symbol) {
    const u32 stride = symbols * LANES, from = blockIdx.y * TOKENS;
    const u32 until = from + TOKENS < length ? from + TOKENS : length;
    chart += u64(blockIdx.x) * cell(0, length + 1) * stride;
    for (u32 i = from; i < until; i++)
        for (u32 t = threadIdx.x; t < stride; t += blockDim.x)
            chart[cell(i, i + 1) * stride + t] = 0;
    __syncthreads();

    const u32 bit = threadIdx.x % 32;
    for (u32 lane = threadIdx.x / 32; lane < LANES; lane += blockDim.x / 32) {
        const u32 s = order[blockIdx.x * u64(STRINGS) + lane * 32 + bit];
        const Token* string = tokens;
        u32 many = 0;
        if (s != NONE) string += offsets[s] - start, many = u32(offsets[s + 1] - offsets[s]);
        for (u32 i = from; i < until; i++) {
            u32* const x = chart + cell(i, i + 1) * stride;
            const u32 t = i < many ? string[i] : NONE;
            u32 k = 0, end = 0;
            if (t < terminals) k = first[t], end = first[t + 1];
            // Each lane has a list of symbols. In each turn, all lanes that are at
            // the same symbol go on.
            for (u32 waiting; (waiting = __ballot_sync(ALL, k < end));) {
                const u32 mine = k < end ? symbol[k] : NONE;
                const u32 leader = u32(__ffs(int(waiting))) - 1;
                const u32 a = __shfl_sync(ALL, mine, leader);
                const u32 bits = __ballot_sync(ALL, mine == a);
                if (bit == leader) atomicOr(x + word_of(a, lane), bits);
                k += mine == a;
            }
        }
    }
}

namespace {
// What belongs to the string at a place: its number, its length, and where the word of one
// symbol is in its chart.
struct Row {
    u32 s, many;
    const u32* word;
};
BITS_FN Row row_of(u64 place, const u32* chart, u32 length, u32 symbols, u32 wanted,
                   const u64* offsets, const u32* order) {
    const u32 s = order[place];
    if (s == NONE) return {s, 0, nullptr};
    const u64 g = place / STRINGS;
    chart += g * cell(0, length + 1) * symbols * LANES + word_of(wanted, place / 32 % LANES);
    return {s, u32(offsets[s + 1] - offsets[s]), chart};
}
}  // namespace

// Sets bit s % 32 of accepted[s / 32] where the symbol derives string s. Clears none.
extern "C" __global__ void cky_accept(const u32* __restrict__ chart, u32 length, u32 symbols,
                                      u32 wanted, const u64* __restrict__ offsets,
                                      const u32* __restrict__ order, u64 places, u32* accepted) {
    const u64 place = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= places) return;
    const Row row = row_of(place, chart, length, symbols, wanted, offsets, order);
    if (!row.many) return;
    if (row.word[cell(0, row.many) * symbols * LANES] >> place % 32 & 1)
        atomicOr(accepted + row.s / 32, 1u << row.s % 32);
}

// Writes longest[s]: the greatest k for which the symbol derives the first k tokens of string s,
// or 0.
extern "C" __global__ void cky_longest(const u32* __restrict__ chart, u32 length, u32 symbols,
                                       u32 wanted, const u64* __restrict__ offsets,
                                       const u32* __restrict__ order, u64 places, u32* longest) {
    const u64 place = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (place >= places) return;
    const Row row = row_of(place, chart, length, symbols, wanted, offsets, order);
    u32 k = row.many;
    while (k && !(row.word[cell(0, k) * symbols * LANES] >> place % 32 & 1)) k--;
    if (row.s != NONE) longest[row.s] = k;
}

extern "C" __global__ void cky_clear(u32* words, u64 many) {
    const u64 t = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (t < many) words[t] = 0;
}
