// Batches of big integers on the CPU: what an operand and a result are, and the loops that are
// compiled once per CPU level. kernels/bignum/numbers.py describes the layout.
#pragma once
#include <cstddef>
#include <cstdint>

#include "gmp.hpp"

namespace bignum {

using u64 = std::uint64_t;
using i64 = std::int64_t;

// Functions below are static, so that the linker gives no level the code of another one.

struct Number {
    const u64* words;
    i64 length;  // the topmost word is not zero
    bool negative;
};

// The numbers of an operand. count 1: that number stands for every index. starts and lengths are
// null for a dense batch.
struct Operand {
    const u64* words;
    const i64 *starts, *lengths;
    i64 count, step, width;
    const bool* negative;  // or null
};

// Where results are written. A dense batch has lengths null and `step` words for each number,
// all of which are written. Else number i has room from starts[i] on, as was planned, and its
// length is written.
struct Result {
    u64* words;
    const i64* starts;
    i64* lengths;
    i64 count, step;
    bool* negative;  // or null, if no number can be negative
};

// What the loops tell about the numbers that they wrote.
struct Found {
    i64 longest = 0;
    bool negative = false;
    bool overflow = false;  // a sum did not fit: then the results are of no use
};

static inline i64 trimmed(const u64* words, i64 length) {
    while (length && !words[length - 1]) length--;
    return length;
}

static inline i64 place(const Operand& x, i64 i) { return x.count == 1 ? 0 : i; }

static inline Number number(const Operand& x, i64 i) {
    i = place(x, i);
    const u64* words = x.words + (x.starts ? x.starts[i] : i * x.step);
    const i64 length = trimmed(words, x.starts ? x.lengths[i] : x.width);
    return {words, length, length && x.negative && x.negative[i]};
}

// Returns numbers first .. first + count - 1 of a dense batch, or the one that stands for all.
static inline Operand part_of(Operand x, i64 first, i64 count) {
    if (x.count == 1) return x;
    x.words += first * x.step;
    if (x.negative) x.negative += first;
    x.count = count;
    return x;
}

static inline u64* room(const Result& out, i64 i) {
    return out.words + (out.lengths ? out.starts[i] : i * out.step);
}

// Ends the writing of number i, whose words below `length` are there: writes its length, zeros
// above it, and its sign.
static inline void finish(const Result& out, i64 i, i64 length, bool negative, Found& found) {
    u64* words = room(out, i);
    length = trimmed(words, length);
    if (out.lengths)
        out.lengths[i] = length;
    else
        for (i64 k = length; k < out.step; k++) words[k] = 0;
    if (out.negative) {
        out.negative[i] = length && negative;
        found.negative |= out.negative[i];
    }
    if (length > found.longest) found.longest = length;
}

// A digit of Python's integers.
using Digit = std::uint32_t;
constexpr int SHIFT = 30;  // bits of it
constexpr Digit MASK = (Digit(1) << SHIFT) - 1;

// What each CPU level exports, as `extern const BignumOps bignum_LEVEL`. Each function works on
// numbers first <= i < last; results overlap no operand.
struct BignumOps {
    // Computes out = a + b, or a - b. Room: one word more than the longer operand. If
    // `tight`, there is none more and the batch is dense: then a sum may not fit.
    void (*add)(const Operand& a, const Operand& b, bool subtract, bool tight, const Result& out,
                i64 first, i64 last, Found& found);
    // Computes out = a * b. Room: the sum of the lengths.
    void (*multiply)(const Operand& a, const Operand& b, const Gmp& gmp, const Result& out,
                     i64 first, i64 last, Found& found);
    // Computes out = a * b + c. Room: the product and c, and one word more if c is longer
    // than a and b. scratch: room for the longest product.
    void (*multiply_add)(const Operand& a, const Operand& b, const Operand& c, const Gmp& gmp,
                         const Result& out, u64* scratch, i64 first, i64 last, Found& found);
    // Adds the positive numbers to sums[0] and the magnitudes of the negative ones to
    // sums[1]. Each sum has `width` words, enough for any carry.
    void (*sum)(const Operand& a, u64* sums, i64 width, i64 first, i64 last);
    // pack_quads() and unpack_quads() of quads.hpp.
    void (*pack)(u64* words, i64 length, const Digit* digits, i64 count);
    void (*unpack)(Digit* digits, i64 count, const u64* words, i64 length);
};

}  // namespace bignum
