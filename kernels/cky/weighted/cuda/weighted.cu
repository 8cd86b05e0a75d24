// Weighted CKY parsing on a CUDA device: a block takes one string after another.
//
// Macros: RING, a struct of semiring.hpp, with residues of 1, 2 or 4 primes at a time; UNITS,
// whether there are unit rules or cycles; THREADS of a block.
//
// A chart has less than 2^32 values, and pairs times tokens are fewer than that, too. A string's
// chart lies by width, then by symbol, then by start. Spans of one width are computed together:
// first a thread has a pair of symbols and a start at a time, then a symbol and a start. Sums
// are made in the order in which weighted.cpp makes them.
#include "../semiring.hpp"

#ifndef RING
#define RING Plain<false>
#endif
#ifndef UNITS
#define UNITS 1
#endif
#ifndef THREADS
#define THREADS 128
#endif

namespace {

using Ring = RING;
using Value = Ring::Value;
using Sum = Ring::Sum;
using Widths = unsigned long long;  // the type that atomics take

constexpr u32 AHEAD = sizeof(Value) > 8 ? 2 : 4;  // loads that are under way at a time

// Returns how many values of one symbol, in a chart of strings of this length, are of spans
// narrower than `width`.
__device__ __forceinline__ u32 before(u32 length, u32 width) {
    return (width - 1) * length - u32(u64(width - 1) * (width - 2) / 2);
}

// Computes the weighted sum over a row of the values that `from` (numbers, starts) has at a
// start; only those stamped with the width count. Returns whether there are any.
__device__ __forceinline__ bool row_sum(const Ring& ring, const u32* __restrict__ rows,
                                        const u32* __restrict__ numbers,
                                        const Value* __restrict__ weights, u32 row,
                                        const Value* from, const u32* stamps, u32 width, u32 starts,
                                        u32 start, Value& value, bool& outside) {
    const Value nothing = ring.value(Ring::zero(), outside);
    Sum sum = Ring::zero();
    bool any = false;
    u32 r = rows[row];
    const u32 end = rows[row + 1];
    for (; r + AHEAD <= end; r += AHEAD) {
        Value x[AHEAD];
#pragma unroll
        for (u32 n = 0; n < AHEAD; n++) {
            const u32 number = numbers[r + n];
            const bool there = stamps[number] == width;
            x[n] = nothing;
            if (there) x[n] = from[number * starts + start];
            any |= there;
        }
#pragma unroll
        for (u32 n = 0; n < AHEAD; n++) ring.add(sum, weights[r + n], x[n]);
    }
    for (; r < end; r++) {
        const u32 number = numbers[r];
        if (stamps[number] != width) continue;
        any = true;
        ring.add(sum, weights[r], from[number * starts + start]);
    }
    value = ring.value(sum, outside);
    return any;
}

// Adds a pair's products over the ways to split a span with `from` to `to` - 1 tokens on the
// left. From one way to the next, the places of both parts change by a step that itself changes.
__device__ __forceinline__ void add_splits(const Ring& ring, Sum& sum, const Value* chart,
                                           u32 symbols, u32 length, u32 width, u32 start, u32 b,
                                           u32 c, u32 from, u32 to) {
    const u32 right = width - from;
    u32 x = symbols * before(length, from) + b * (length - from + 1) + start;
    u32 y = symbols * before(length, right) + c * (length - right + 1) + start + from;
    u32 x_step = symbols * (length - from + 1) - b;
    u32 y_step = symbols * (length - right + 2) - c - 1;
    u32 left = from;
    for (; left + AHEAD <= to; left += AHEAD) {
        Value p[AHEAD], q[AHEAD];
#pragma unroll
        for (u32 n = 0; n < AHEAD; n++) {
            p[n] = chart[x], q[n] = chart[y];
            x += x_step, y -= y_step;
            x_step -= symbols, y_step += symbols;
        }
#pragma unroll
        for (u32 n = 0; n < AHEAD; n++) ring.add(sum, p[n], q[n]);
    }
    for (; left < to; left++) {
        ring.add(sum, chart[x], chart[y]);
        x += x_step, y -= y_step;
        x_step -= symbols, y_step += symbols;
    }
}

// Notes that the symbol derives something of this width. Widths above 64 are not asked for.
__device__ __forceinline__ void mark(Widths* widths, u32 symbol, u32 width, const Value& x) {
    const Widths bit = Widths(1) << ((width - 1) & 63);
    if (!Ring::is_zero(x) && !(widths[symbol] & bit)) atomicOr(widths + symbol, bit);
}

}  // namespace

// Computes values. pairs: (pairs, 2), B and C. rule_rows, rule_pairs: the pairs of each symbol.
// unit_rows, unit_symbols: what each symbol derives, itself among them. lexical_rows,
// lexical_symbols: of each terminal. tokens, offsets: of `count` strings, none of them empty.
// next: zero. memory: slot_bytes for each block, which hold a chart, pairs and, with UNITS,
// symbols by starts; at its end, for each pair and symbol the last width that has it, and the
// widths of each symbol. whole: compute all of the last chart, zeros too. done[s]: whether
// results[s] is right; it is not where numbers of this kind do not suffice.
extern "C" __global__ void __launch_bounds__(THREADS, THREADS < 1024 ? 1024 / THREADS : 1)
    cky_weighted(const u32* __restrict__ pairs, u32 pair_count, const u32* __restrict__ rule_rows,
                 const u32* __restrict__ rule_pairs, const Value* __restrict__ rule_weights,
                 const u32* __restrict__ unit_rows, const u32* __restrict__ unit_symbols,
                 const Value* __restrict__ unit_weights, const u32* __restrict__ lexical_rows,
                 const u32* __restrict__ lexical_symbols, const Value* __restrict__ lexical_weights,
                 u32 symbols, u32 terminals, const u32* __restrict__ constants,
                 const u32* __restrict__ tokens, const u64* __restrict__ offsets, u32 count,
                 u32* next, u32 symbol, u32 whole, char* memory, u64 slot_bytes, u64 chart_values,
                 u64 pair_values, Ring::Result* results, u32* done) {
    const u32 t = threadIdx.x;
    const Ring ring = Ring::of(constants);
    Value* const chart = reinterpret_cast<Value*>(memory + blockIdx.x * slot_bytes);
    Value* const by_pair = chart + chart_values;
    Value* const raw = by_pair + pair_values;
    Widths* const widths =
        reinterpret_cast<Widths*>(memory + (blockIdx.x + 1) * slot_bytes) - symbols;
    u32* const raw_stamps = reinterpret_cast<u32*>(widths) - symbols;
    u32* const pair_stamps = raw_stamps - pair_count;
    __shared__ u32 taken;

    while (true) {
        __syncthreads();
        if (!t) taken = atomicAdd(next, 1u);
        __syncthreads();
        const u32 s = taken;
        if (s >= count) return;
        const u32* const string = tokens + offsets[s];
        const u32 length = u32(offsets[s + 1] - offsets[s]);
        // Whether all of the chart is written; if not, `widths` tells what is.
        const bool full = whole || length > 64;
        bool outside = false, known = true;

        Value* const words = UNITS ? raw : chart;
        for (u32 i = t; i < symbols * length; i += THREADS)
            words[i] = ring.value(Ring::zero(), outside);
        for (u32 a = t; a < symbols; a += THREADS) widths[a] = raw_stamps[a] = 0;
        for (u32 p = t; p < pair_count; p += THREADS) pair_stamps[p] = 0;
        for (u32 start = t; start < length; start += THREADS) {
            const u32 terminal = string[start];
            known = known && terminal < terminals &&
                    lexical_rows[terminal] < lexical_rows[terminal + 1];
        }
        known = __syncthreads_and(known);
        for (u32 start = t; start < length; start += THREADS) {
            const u32 terminal = string[start];
            if (terminal >= terminals) continue;
            for (u32 r = lexical_rows[terminal]; r < lexical_rows[terminal + 1]; r++) {
                words[lexical_symbols[r] * length + start] = lexical_weights[r];
                if (UNITS) raw_stamps[lexical_symbols[r]] = 1;
                else mark(widths, lexical_symbols[r], 1, lexical_weights[r]);
            }
        }
        bool stopped = false;
        for (u32 width = 1; width <= length && (known || whole); width++) {
            const u32 starts = length - width + 1;
            Value* const here = chart + symbols * before(length, width);
            for (u32 i = t; width > 1 && i < pair_count * starts; i += THREADS) {
                const u32 pair = i / starts, start = i - pair * starts;
                const u32 b = pairs[2 * pair], c = pairs[2 * pair + 1];
                Sum sum = Ring::zero();
                if (full) {
                    add_splits(ring, sum, chart, symbols, length, width, start, b, c, 1, width);
                } else {
                    // Bit n: whether there is a value with n + 1 tokens on
                    // the left and the others on the right.
                    Widths both = widths[b] & __brevll(widths[c]) >> (65 - width);
                    if (!both) continue;
                    while (both) {
                        const u32 from = __ffsll(both), to = from + __ffsll(~(both >> (from - 1))) - 1;
                        add_splits(ring, sum, chart, symbols, length, width, start, b, c, from, to);
                        both &= ~Widths(0) << (to - 1);
                    }
                }
                by_pair[i] = ring.value(sum, outside);
                pair_stamps[pair] = width;
            }
            __syncthreads();
            Value* const derived = UNITS ? raw : here;
            for (u32 i = t; width > 1 && i < symbols * starts; i += THREADS) {
                const u32 a = i / starts, start = i - a * starts;
                Value found;
                const bool any = row_sum(ring, rule_rows, rule_pairs, rule_weights, a, by_pair,
                                         pair_stamps, width, starts, start, found, outside);
                if (any || (full && !UNITS)) derived[i] = found;
                if (any && UNITS) raw_stamps[a] = width;
                if (any && !UNITS) mark(widths, a, width, found);
            }
#if UNITS
            __syncthreads();
            for (u32 i = t; i < symbols * starts; i += THREADS) {
                const u32 a = i / starts, start = i - a * starts;
                Value found;
                const bool any = row_sum(ring, unit_rows, unit_symbols, unit_weights, a, raw,
                                         raw_stamps, width, starts, start, found, outside);
                if (any || full) here[i] = found;
                if (any) mark(widths, a, width, found);
            }
#endif
            stopped = __syncthreads_or(outside);
            if (stopped) break;
        }
        if (!t) {
            Value found = ring.value(Ring::zero(), outside);
            if (known && !stopped && (full || widths[symbol] >> (length - 1)))
                found = chart[symbols * before(length, length) + symbol];
            results[s] = ring.result(found);
            done[s] = !stopped;
        }
    }
}
