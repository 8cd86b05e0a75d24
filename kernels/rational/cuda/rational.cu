// Sums and products of rationals in lowest terms, in one pass over memory: each thread has a
// pair of rationals in registers. For the layout see kernels/bignum/cuda/slabs.hpp.
//
// Gcds are taken only of operands, not of results, which are twice as long (Knuth, TAOCP 2,
// 4.5.1). Divisions are exact, so they go from the lowest word up (Jebelean 1993), and a
// remainder is needed only for a gcd, so that Montgomery's suffices: neither has to guess a
// quotient. Powers of two are kept apart, as both need an odd divisor.
//
// Macro WORDS: of an operand in registers, an even number.
#include "../../bignum/cuda/slabs.hpp"
#include "../../bignum/cuda/words.hpp"
#include "../../gcd/cuda/gcd.hpp"

namespace {

constexpr int W = WORDS;
constexpr int THREADS = 128;                       // of a block
constexpr int BLOCKS = W > 6 ? 4 : W > 2 ? 6 : 8;  // of a multiprocessor
constexpr int LIMBS = 32 * W / 31 + 1;

// --- numbers of N words in registers -------------------------------------------------

// Returns the number of trailing zeros; 32 N for zero.
template <int N>
WORDS_FN u32 twos(const u32 (&x)[N]) {
    u32 bits = 32 * N;
#pragma unroll
    for (int i = N - 1; i >= 0; i--)
        if (x[i]) bits = 32 * i + __ffs(s32(x[i])) - 1;
    return bits;
}

// Computes x >>= bits, for less than 32 N.
template <int N>
WORDS_FN void shift_right(u32 (&x)[N], u32 bits) {
#pragma unroll
    for (int step = 1; step < N; step *= 2) {
        const bool far = bits / 32 & step;
#pragma unroll
        for (int i = 0; i < N; i++) {
            const u32 above = i + step < N ? x[i + step] : 0;
            x[i] = far ? above : x[i];
        }
    }
#pragma unroll
    for (int i = 0; i < N; i++)
        x[i] = __funnelshift_r(x[i], i + 1 < N ? x[i + 1] : 0, bits);
}

// A sum of products of words of equal weight.
struct Column {
    u64 sum;
    u32 top;
    WORDS_FN Column() : sum(0), top(0) {}
    WORDS_FN void add(u32 a, u32 b) {
        sum = mad_cc(a, b, sum);
        top = addc(top, 0);
    }
    WORDS_FN u32 low() const { return low_word(sum); }
    WORDS_FN void next() {
        sum = pair_of(high_word(sum), top);
        top = 0;
    }
};

// Returns 1 / odd modulo 2^32: five bits are right at first, and each step doubles them.
WORDS_FN u32 inverse(u32 odd) {
    u32 x = odd * 3 ^ 2;
#pragma unroll
    for (int i = 0; i < 3; i++) x *= 2 - odd * x;
    return x;
}

// Computes x /= divisor, which is odd and divides x.
template <int N>
WORDS_FN void divide_exactly(u32 (&x)[N], const u32 (&divisor)[W]) {
    const u32 factor = inverse(divisor[0]);
    Column column;
#pragma unroll
    for (int i = 0; i < N; i++) {
#pragma unroll
        for (int j = i < W ? 0 : i - W + 1; j < i; j++) column.add(x[j], divisor[i - j]);
        x[i] = (x[i] - column.low()) * factor;
        column.add(x[i], divisor[0]);
        column.next();
    }
}

// Computes x / 2^(32 N) modulo an odd modulus, which the result may equal (Montgomery 1985).
template <int N>
WORDS_FN void remainder(const u32 (&x)[N], const u32 (&modulus)[W], u32 (&result)[W]) {
    const u32 factor = 0 - inverse(modulus[0]);
    u32 m[N];
    Column column;
#pragma unroll
    for (int i = 0; i < N; i++) {
        column.add(x[i], 1);
#pragma unroll
        for (int j = i < W ? 0 : i - W + 1; j < i; j++) column.add(m[j], modulus[i - j]);
        m[i] = column.low() * factor;
        column.add(m[i], modulus[0]);
        column.next();
    }
#pragma unroll
    for (int i = 0; i < W; i++) {
#pragma unroll
        for (int j = N + i - W + 1; j < N; j++) column.add(m[j], modulus[N + i - j]);
        result[i] = column.low();
        column.next();
    }
}

WORDS_FN void multiply(const u32 (&a)[W], const u32 (&b)[W], u32* product) {
    Rows<W> sum;
    sum.clear();
#pragma unroll
    for (int i = 0; i < W; i++) product[i] = sum.row(a, b[i]);
    u32 top[W];
    sum.finish(top);
#pragma unroll
    for (int i = 0; i < W; i++) product[W + i] = top[i];
}

// --- gcds ----------------------------------------------------------------------------

WORDS_FN void split(const u32 (&words)[W], u32* limbs) {
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        const int j = 31 * i / 32;
        const u32 low = j < W ? words[j] : 0, high = j + 1 < W ? words[j + 1] : 0;
        limbs[i] = __funnelshift_r(low, high, u32(31 * i % 32)) & LIMB;
    }
}

WORDS_FN Tops find_tops(const u32 (&a)[LIMBS], const u32 (&b)[LIMBS]) {
    Tops t;
    t.sa = u32(s32(a[LIMBS - 1]) >> 31);
    t.sb = u32(s32(b[LIMBS - 1]) >> 31);
    t.a0 = a[0];
    t.b0 = b[0];
    t.ah = a[1];
    t.al = a[0];
    t.bh = b[1];
    t.bl = b[0];
    t.many = false;
#pragma unroll
    for (int i = 2; i < LIMBS; i++) {
        if (((a[i] ^ t.sa) | (b[i] ^ t.sb)) & LIMB) {
            t.ah = a[i];
            t.al = a[i - 1];
            t.bh = b[i];
            t.bl = b[i - 1];
            t.many = true;
        }
    }
    t.ah = (t.ah ^ t.sa) & LIMB;
    t.al = (t.al ^ t.sa) & LIMB;
    t.bh = (t.bh ^ t.sb) & LIMB;
    t.bl = (t.bl ^ t.sb) & LIMB;
    return t;
}

// Computes the gcd of two numbers, one of which is odd. All lanes of the warp must take part.
WORDS_FN void odd_gcd(const u32 (&one)[W], const u32 (&other)[W], u32 (&result)[W]) {
    u32 a[LIMBS], b[LIMBS];
    split(one, a);
    split(other, b);
    if (!(b[0] & 1)) {
#pragma unroll
        for (int i = 0; i < LIMBS; i++) {
            const u32 limb = a[i];
            a[i] = b[i];
            b[i] = limb;
        }
    }
    Tops tops;
    for (bool done = false;;) {
        tops = find_tops(a, b);
        const Pair62 x = approximate(tops);
        const bool perhaps = !done && !(x.ah | x.al);
        if (__any_sync(ALL, perhaps)) {
            u32 any = 0;
#pragma unroll
            for (int i = 0; i < LIMBS; i++) any |= a[i];
            done |= perhaps && !any;
            if (__all_sync(ALL, done)) break;
        }
        const Matrix m = find_matrix(x, tops.sa, tops.sb);
        Row to_a = {m.f0, m.g0, 0}, to_b = {m.f1, m.g1, 0};
        to_a(a[0], b[0]);
        to_b(a[0], b[0]);
#pragma unroll
        for (int i = 1; i < LIMBS; i++) {
            const u32 low_a = to_a(a[i], b[i]), low_b = to_b(a[i], b[i]);
            a[i - 1] = low_a;
            b[i - 1] = low_b;
        }
        a[LIMBS - 1] = u32(to_a.carry);
        b[LIMBS - 1] = u32(to_b.carry);
    }
    u32 carry = tops.sb & 1;
#pragma unroll
    for (int i = 0; i < LIMBS; i++) {
        const u32 limb = ((b[i] ^ tops.sb) & LIMB) + carry;
        b[i] = limb & LIMB;
        carry = limb >> 31;
    }
#pragma unroll
    for (int i = 0; i < W; i++) {
        const int j = 32 * i / 31, low = 32 * i % 31;
        result[i] = b[j] >> low | (j + 1 < LIMBS ? b[j + 1] << (31 - low) : 0);
    }
}

// Divides both numbers by their gcd. Precondition: y is not zero.
WORDS_FN void reduce(u32 (&x)[W], u32 (&y)[W]) {
    const u32 bits = min(twos(x), twos(y));
    shift_right(x, bits);
    shift_right(y, bits);
    u32 divisor[W];
    odd_gcd(x, y, divisor);
    divide_exactly(x, divisor);
    divide_exactly(y, divisor);
}

// --- memory --------------------------------------------------------------------------

// Loads number k of a batch.
WORDS_FN void load(const u32* words, u32 width, u32 form, u64 k, u32 (&number)[W]) {
    const u64 at = form & SINGLE ? 0 : k;
    words += word_of(at, width);
#pragma unroll
    for (int i = 0; i < W; i++) number[i] = u32(i) < width ? words[i * SLAB] : 0;
}

WORDS_FN bool sign(const u32* negative, u32 form, u64 k) {
    const u64 at = form & SINGLE ? 0 : k;
    return form & SIGNED && negative[at / SLAB] >> (at % SLAB) & 1;
}

// Stores number k and returns the bits of the longest number of the warp. width: at most N.
template <int N>
WORDS_FN u32 store(const u32 (&number)[N], u32* words, u32 width, u64 k) {
    words += word_of(k, width);
    u32 length = 0;
#pragma unroll
    for (int i = 0; i < N; i++) {
        if (u32(i) < width) words[i * SLAB] = number[i];
        if (number[i]) length = 32 * i + 32 - __clz(s32(number[i]));
    }
    for (int d = 16; d; d >>= 1) length = max(length, __shfl_xor_sync(ALL, length, d));
    return length;
}

template <int N>
WORDS_FN void clear(u32 (&x)[N]) {
#pragma unroll
    for (int i = 0; i < N; i++) x[i] = 0;
}

template <int M, int N>
WORDS_FN void store_all(const u32 (&n)[M], bool negative, const u32 (&d)[N], u32* n_words,
                        u32* n_negative, u32 n_width, u32 is_signed, u32* d_words, u32 d_width,
                        u32* longest, u64 k) {
    const u32 n_bits = store(n, n_words, n_width, k), d_bits = store(d, d_words, d_width, k);
    u32 any = 0;
#pragma unroll
    for (int i = 0; i < M; i++) any |= n[i];
    const u32 signs = __ballot_sync(ALL, negative && any);
    if (k % SLAB == 0) {
        if (is_signed) n_negative[k / SLAB] = signs;
        atomicMax(longest, n_bits);
        atomicMax(longest + 1, d_bits);
    }
}

}  // namespace

// Computes n1 / d1 + n2 / d2, or n1 / d1 - n2 / d2 with `subtract`.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    rational_add(const u32* __restrict__ n1_words, const u32* __restrict__ n1_negative,
                 u32 n1_width, u32 n1_form, const u32* __restrict__ d1_words, u32 d1_width,
                 u32 d1_form, const u32* __restrict__ n2_words,
                 const u32* __restrict__ n2_negative, u32 n2_width, u32 n2_form,
                 const u32* __restrict__ d2_words, u32 d2_width, u32 d2_form, u32 subtract,
                 u32* __restrict__ n_words, u32* __restrict__ n_negative, u32 n_width,
                 u32 is_signed, u32* __restrict__ d_words, u32 d_width, u32* longest,
                 u64 count) {
    const u64 k = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k / SLAB * SLAB >= count) return;
    const bool live = k < count;
    const u64 at = live ? k : 0;  // other threads do the same, for nothing
    u32 d1[W], d2[W], shared[W];
    load(d1_words, d1_width, d1_form, at, d1);
    load(d2_words, d2_width, d2_form, at, d2);
    const u32 bits = min(twos(d1), twos(d2));
    shift_right(d1, bits);
    shift_right(d2, bits);
    odd_gcd(d1, d2, shared);  // the gcd of both is this times 2^bits
    divide_exactly(d1, shared);
    divide_exactly(d2, shared);

    u32 sum[2 * W + 1], term[2 * W + 1];
    {
        u32 n[W];
        load(n1_words, n1_width, n1_form, at, n);
        multiply(n, d2, sum);
        load(n2_words, n2_width, n2_form, at, n);
        multiply(n, d1, term);
    }
    sum[2 * W] = term[2 * W] = 0;
    bool negative = sign(n1_negative, n1_form, at);
    const bool other = sign(n2_negative, n2_form, at) != bool(subtract);
    const u32 flip = negative != other ? ALL : 0;  // the magnitudes are then subtracted
    add_cc(flip, flip);                            // with a carry if they are
#pragma unroll
    for (int i = 0; i < 2 * W + 1; i++) sum[i] = addc_cc(sum[i], term[i] ^ flip);
    if (s32(sum[2 * W]) < 0) {
        negative = other;
        add_cc(ALL, 1);
#pragma unroll
        for (int i = 0; i < 2 * W + 1; i++) sum[i] = addc_cc(~sum[i], 0);
    }

    // The part that the sum has in common with 2^bits and with `shared`.
    const u32 more = min(twos(sum), bits);
    u32 rest[W], divisor[W];
    remainder(sum, shared, rest);
    odd_gcd(rest, shared, divisor);
    shift_right(sum, more);
    divide_exactly(sum, divisor);

    u32 below[2 * W];
    load(d2_words, d2_width, d2_form, at, d2);
    shift_right(d2, more);
    divide_exactly(d2, divisor);
    multiply(d1, d2, below);
    if (!live) {
        clear(sum);
        clear(below);
    }
    store_all(sum, negative, below, n_words, n_negative, n_width, is_signed, d_words, d_width,
              longest, k);
}

// Computes n1 n2 / (d1 d2). Either of n2 and d2 may be negative, as quotients are products, too.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)
    rational_multiply(const u32* __restrict__ n1_words, const u32* __restrict__ n1_negative,
                      u32 n1_width, u32 n1_form, const u32* __restrict__ d1_words,
                      u32 d1_width, u32 d1_form, const u32* __restrict__ n2_words,
                      const u32* __restrict__ n2_negative, u32 n2_width, u32 n2_form,
                      const u32* __restrict__ d2_words, const u32* __restrict__ d2_negative,
                      u32 d2_width, u32 d2_form, u32* __restrict__ n_words,
                      u32* __restrict__ n_negative, u32 n_width, u32 is_signed,
                      u32* __restrict__ d_words, u32 d_width, u32* longest, u64 count) {
    const u64 k = u64(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k / SLAB * SLAB >= count) return;
    const bool live = k < count;
    const u64 at = live ? k : 0;
    u32 n1[W], d1[W], n2[W], d2[W], above[2 * W], below[2 * W];
    load(n1_words, n1_width, n1_form, at, n1);
    load(d2_words, d2_width, d2_form, at, d2);
    reduce(n1, d2);
    load(n2_words, n2_width, n2_form, at, n2);
    load(d1_words, d1_width, d1_form, at, d1);
    reduce(n2, d1);
    multiply(n1, n2, above);
    multiply(d1, d2, below);
    const bool negative = sign(n1_negative, n1_form, at) != sign(n2_negative, n2_form, at);
    if (!live) {
        clear(above);
        clear(below);
    }
    store_all(above, negative != sign(d2_negative, d2_form, at), below, n_words, n_negative,
              n_width, is_signed, d_words, d_width, longest, k);
}
