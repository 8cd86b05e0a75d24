// Big integers on one CPU level. Compiled once per level, with LEVEL its name. Nothing of the
// standard library may be instantiated here, or the linker could hand AVX-512 code to a machine
// without it.
#include "bignum.hpp"
#include "quads.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace {

using namespace bignum;

#define INLINE inline __attribute__((always_inline))

// Return a + b + carry, and a - b - borrow; the carry or borrow that comes out replaces the one
// that went in.
INLINE u64 add_carry(u64 a, u64 b, unsigned char& carry) {
#if defined(__x86_64__)
    unsigned long long sum;
    carry = _addcarry_u64(carry, a, b, &sum);
    return sum;
#else
    const unsigned __int128 sum = (unsigned __int128)a + b + carry;
    carry = (unsigned char)(sum >> 64);
    return u64(sum);
#endif
}

INLINE u64 subtract_borrow(u64 a, u64 b, unsigned char& borrow) {
#if defined(__x86_64__)
    unsigned long long difference;
    borrow = _subborrow_u64(borrow, a, b, &difference);
    return difference;
#else
    const unsigned __int128 difference = (unsigned __int128)a - b - borrow;
    borrow = (unsigned char)(difference >> 64) & 1;
    return u64(difference);
#endif
}

// Computes r = x + y, for x at least as long as y, and returns the carry. r may be x.
INLINE u64 add_words(u64* r, const u64* x, i64 nx, const u64* y, i64 ny) {
    unsigned char carry = 0;
    i64 i = 0;
    for (; i + 8 <= ny; i += 8) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++) r[i + k] = add_carry(x[i + k], y[i + k], carry);
    }
    for (; i < ny; i++) r[i] = add_carry(x[i], y[i], carry);
    for (; carry && i < nx; i++) r[i] = add_carry(x[i], 0, carry);
    if (r != x)
        for (; i < nx; i++) r[i] = x[i];
    return carry;
}

// Computes r = x - y, for x >= y and x at least as long as y.
INLINE void subtract_words(u64* r, const u64* x, i64 nx, const u64* y, i64 ny) {
    unsigned char borrow = 0;
    i64 i = 0;
    for (; i + 8 <= ny; i += 8) {
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++) r[i + k] = subtract_borrow(x[i + k], y[i + k], borrow);
    }
    for (; i < ny; i++) r[i] = subtract_borrow(x[i], y[i], borrow);
    for (; borrow && i < nx; i++) r[i] = subtract_borrow(x[i], 0, borrow);
    for (; i < nx; i++) r[i] = x[i];
}

INLINE bool less(const Number& x, const Number& y) {
    if (x.length != y.length) return x.length < y.length;
    i64 i = x.length;
    while (i && x.words[i - 1] == y.words[i - 1]) i--;
    return i && x.words[i - 1] < y.words[i - 1];
}

// Computes r = x + y, of any signs, in `room` words. Returns its length, of which the topmost
// words may be zero, or -1 if it does not fit.
INLINE i64 add_signed(u64* r, i64 room, Number x, Number y, bool& negative) {
    if (x.negative == y.negative ? x.length < y.length : less(x, y)) {
        const Number z = x;
        x = y;
        y = z;
    }
    negative = x.negative;
    if (x.negative != y.negative) {
        subtract_words(r, x.words, x.length, y.words, y.length);
        return x.length;
    }
    if (!add_words(r, x.words, x.length, y.words, y.length)) return x.length;
    if (x.length == room) return -1;
    r[x.length] = 1;
    return x.length + 1;
}

// Adds dense numbers of N words each. SIGNS: the operation is not always an addition of
// magnitudes. What is subtracted is then added as a complement, without a branch, as signs are
// random in the worst case.
template <int N, bool SIGNS>
void add_fixed(const Operand& a, const Operand& b, bool subtract, bool tight, const Result& out,
               i64 first, i64 last, Found& found) {
    const i64 a_step = a.count == 1 ? 0 : a.step, b_step = b.count == 1 ? 0 : b.step;
    const u64 *x = a.words + first * a_step, *y = b.words + first * b_step;
    u64* r = out.words + first * out.step;
    u64 carries = 0, tops = 0;
    bool any_negative = false;
    for (i64 i = first; i < last; i++, x += a_step, y += b_step, r += out.step) {
        u64 z[N];
        unsigned char carry = 0;
        if (!SIGNS) {
#pragma GCC unroll 16
            for (int k = 0; k < N; k++) z[k] = add_carry(x[k], y[k], carry);
        } else {
            const bool x_negative = a.negative && a.negative[place(a, i)];
            const bool differ = (b.negative && b.negative[place(b, i)]) ^ subtract ^ x_negative;
            const u64 flip = u64(0) - u64(differ);
            carry = differ;
#pragma GCC unroll 16
            for (int k = 0; k < N; k++) z[k] = add_carry(x[k], y[k] ^ flip, carry);
            // Where no carry came out, the difference is negative, and stands there
            // as a complement.
            const bool borrowed = differ && !carry;
            const u64 back = u64(0) - u64(borrowed);
            unsigned char one = borrowed;
            u64 any = carry &= !differ;
#pragma GCC unroll 16
            for (int k = 0; k < N; k++) any |= z[k] = add_carry(z[k] ^ back, 0, one);
            out.negative[i] = any && x_negative != borrowed;
            any_negative |= out.negative[i];
        }
        for (int k = 0; k < N; k++) r[k] = z[k];
        if (!tight)
            r[N] = carry;
        else if (carry) {
            found.overflow = true;
            return;
        }
        carries |= carry;
        tops |= z[N - 1];
    }
    i64 longest = carries ? N + 1 : tops ? N : 0;
    if (!longest)  // this is rare: the operands are narrower than they say
        for (i64 i = first; i < last; i++) {
            const i64 length = trimmed(out.words + i * out.step, N);
            if (length > longest) longest = length;
        }
    if (longest > found.longest) found.longest = longest;
    found.negative |= any_negative;
}

using AddFixed = void (*)(const Operand&, const Operand&, bool, bool, const Result&, i64, i64,
                          Found&);
constexpr i64 FIXED = 16;
#define BOTH(n) {add_fixed<n, false>, add_fixed<n, true>}
const AddFixed add_fixed_table[FIXED][2] = {BOTH(1),  BOTH(2),  BOTH(3),  BOTH(4),
                                            BOTH(5),  BOTH(6),  BOTH(7),  BOTH(8),
                                            BOTH(9),  BOTH(10), BOTH(11), BOTH(12),
                                            BOTH(13), BOTH(14), BOTH(15), BOTH(16)};
#undef BOTH

void add(const Operand& a, const Operand& b, bool subtract, bool tight, const Result& out,
         i64 first, i64 last, Found& found) {
    if (!a.starts && !b.starts && a.width == b.width && a.width >= 1 && a.width <= FIXED)
        return add_fixed_table[a.width - 1][out.negative != nullptr](a, b, subtract, tight, out,
                                                                     first, last, found);
    for (i64 i = first; i < last; i++) {
        const Number x = number(a, i);
        Number y = number(b, i);
        y.negative = y.length && y.negative != subtract;
        bool negative;
        const i64 wide = (x.length > y.length ? x.length : y.length) + 1;
        const i64 length = add_signed(room(out, i), tight ? out.step : wide, x, y, negative);
        if (length < 0) {
            found.overflow = true;
            return;
        }
        finish(out, i, length, negative, found);
    }
}

// Computes r = x * y and returns its length, of which the topmost word may be zero.
INLINE i64 product(u64* r, const Number& x, const Number& y, const Gmp& gmp) {
    if (!x.length || !y.length) return 0;
    if (x.words == y.words && x.length == y.length)
        gmp.mpn_sqr(r, x.words, x.length);
    else if (x.length >= y.length)
        gmp.mpn_mul(r, x.words, x.length, y.words, y.length);
    else
        gmp.mpn_mul(r, y.words, y.length, x.words, x.length);
    return x.length + y.length;
}

void multiply(const Operand& a, const Operand& b, const Gmp& gmp, const Result& out, i64 first,
              i64 last, Found& found) {
    for (i64 i = first; i < last; i++) {
        const Number x = number(a, i), y = number(b, i);
        const i64 length = product(room(out, i), x, y, gmp);
        finish(out, i, length, x.negative != y.negative, found);
    }
}

void multiply_add(const Operand& a, const Operand& b, const Operand& c, const Gmp& gmp,
                  const Result& out, u64* scratch, i64 first, i64 last, Found& found) {
    for (i64 i = first; i < last; i++) {
        const Number x = number(a, i), y = number(b, i);
        const i64 length = trimmed(scratch, product(scratch, x, y, gmp));
        const Number xy = {scratch, length, length && x.negative != y.negative};
        bool negative;
        const Number z = number(c, i);
        const i64 wide = (length > z.length ? length : z.length) + 1;
        const i64 total = add_signed(room(out, i), wide, xy, z, negative);
        finish(out, i, total, negative, found);
    }
}

void sum(const Operand& a, u64* sums, i64 width, i64 first, i64 last) {
    for (i64 i = first; i < last; i++) {
        const Number x = number(a, i);
        u64* total = sums + (x.negative ? width : 0);
        add_words(total, total, width, x.words, x.length);
    }
}

}  // namespace

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
extern const BignumOps JOIN(bignum_, LEVEL);
const BignumOps JOIN(bignum_, LEVEL) = {add, multiply, multiply_add, sum, pack_quads, unpack_quads};
