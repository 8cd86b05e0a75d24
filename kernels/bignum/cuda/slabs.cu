// What else is done to batches in slabs: comparing, shifting, choosing, summing up. Each thread
// has one number. Every access of a warp is one cache line, but where numbers are gathered.
#include "slabs.hpp"

namespace {

using i64 = long long;

BITS_FN unsigned long long bit_length(const Number& a) {
    const u32 n = length(a);
    return n ? 32ull * n - u32(__clz(int(a[n - 1]))) : 0;
}

}  // namespace

extern "C" __global__ void slabs_compare(const u32* __restrict__ a,
                                         const u32* __restrict__ a_negative, u32 a_width,
                                         u32 a_form, const u32* __restrict__ b,
                                         const u32* __restrict__ b_negative, u32 b_width,
                                         u32 b_form, signed char* __restrict__ order, u64 count) {
    const u64 k = thread_index();
    if (k >= count) return;
    const Number x = number(a, a_negative, a_width, a_form, k, true);
    const Number y = number(b, b_negative, b_width, b_form, k, true);
    if (x.negative != y.negative) order[k] = x.negative ? -1 : 1;
    else order[k] = (signed char)(x.negative ? compare_magnitudes(y, x) : compare_magnitudes(x, y));
}

extern "C" __global__ void slabs_sign(const u32* __restrict__ a,
                                      const u32* __restrict__ a_negative, u32 a_width, u32 a_form,
                                      signed char* __restrict__ sign, u64 count) {
    const u64 k = thread_index();
    if (k >= count) return;
    const Number x = number(a, a_negative, a_width, a_form, k, true);
    sign[k] = !length(x) ? 0 : x.negative ? -1 : 1;
}

extern "C" __global__ void slabs_bit_length(const u32* __restrict__ a, u32 a_width, u32 a_form,
                                            i64* __restrict__ lengths, u64 count) {
    const u64 k = thread_index();
    if (k >= count) return;
    lengths[k] = i64(bit_length(number(a, nullptr, a_width, a_form, k, true)));
}

// Raises most[0] to the greatest of the bit lengths, if it is less.
extern "C" __global__ void slabs_longest(const u32* __restrict__ a, u32 a_width, u32 a_form,
                                         u64 count, unsigned long long* __restrict__ most) {
    const u64 k = thread_index();
    if (k / SLAB * SLAB >= count) return;
    unsigned long long bits = bit_length(number(a, nullptr, a_width, a_form, k, k < count));
    for (u32 by = SLAB / 2; by; by /= 2) bits = max(bits, __shfl_xor_sync(ALL, bits, by));
    if (k % SLAB == 0 && bits > most[0]) atomicMax(most, bits);
}

// Lowers first[0] to the least index of a zero, if it is greater.
extern "C" __global__ void slabs_first_zero(const u32* __restrict__ a, u32 a_width, u32 a_form,
                                            u64 count, unsigned long long* __restrict__ first) {
    const u64 k = thread_index();
    if (k / SLAB * SLAB >= count) return;
    const bool zero = k < count && !length(number(a, nullptr, a_width, a_form, k, true));
    const u32 zeros = __ballot_sync(ALL, zero);
    if (k % SLAB == 0 && zeros) atomicMin(first, (unsigned long long)(k + __ffs(int(zeros)) - 1));
}

extern "C" __global__ void slabs_negate(const u32* __restrict__ a,
                                        const u32* __restrict__ a_negative, u32 a_width,
                                        u32 a_form, u32* __restrict__ result,
                                        u32* __restrict__ negative, u64 count) {
    const u64 k = thread_index();
    if (k / SLAB * SLAB >= count) return;
    const Number x = number(a, a_negative, a_width, a_form, k, k < count);
    u32* to = result + word_of(k, a_width);
    u32 any = 0;
    for (u32 i = 0; i < a_width; i++) {
        const u32 word = x[i];
        any |= word;
        to[i * SLAB] = word;
    }
    store_signs(negative, k, any && !x.negative);
}

// Takes a[i] where bit i of the mask is one, else b[i]. Signs are written if there are any.
extern "C" __global__ void slabs_select(const u32* __restrict__ mask, const u32* __restrict__ a,
                                        const u32* __restrict__ a_negative, u32 a_width,
                                        u32 a_form, const u32* __restrict__ b,
                                        const u32* __restrict__ b_negative, u32 b_width,
                                        u32 b_form, u32* __restrict__ result,
                                        u32* __restrict__ negative, u32 width, u64 count) {
    const u64 k = thread_index();
    if (k / SLAB * SLAB >= count) return;
    const bool first = mask[k / SLAB] >> (k % SLAB) & 1;
    const Number x = first ? number(a, a_negative, a_width, a_form, k, k < count)
                           : number(b, b_negative, b_width, b_form, k, k < count);
    u32* to = result + word_of(k, width);
    for (u32 i = 0; i < width; i++) to[i * SLAB] = x[i];
    if ((a_form | b_form) & SIGNED) store_signs(negative, k, x.negative);
}

// Sets number at + t of the result to number indices[t] of a or, without indices, to number
// start + t * step, for t < count. Lanes past the last are set to zero; what stands before `at`
// in its slab stays. signs: 1 where the result has them.
extern "C" __global__ void slabs_take(const u32* __restrict__ a,
                                      const u32* __restrict__ a_negative, u32 a_width, u32 a_form,
                                      const i64* __restrict__ indices, u32 indexed, i64 start,
                                      i64 step, u32* __restrict__ result,
                                      u32* __restrict__ negative, u32 width, u32 signs, u64 at,
                                      u64 count) {
    const u64 k = at / SLAB * SLAB + thread_index();
    if (k / SLAB * SLAB >= at + count) return;
    const bool before = k < at, live = !before && k < at + count;
    const u64 t = k - at;
    const u64 from = !live ? 0 : indexed ? u64(indices[t]) : u64(start + i64(t) * step);
    const Number x = number(a, a_negative, a_width, a_form, from, live);
    if (!before) {
        u32* to = result + word_of(k, width);
        for (u32 i = 0; i < width; i++) to[i * SLAB] = x[i];
    }
    if (!signs) return;
    const u32 own = k / SLAB == at / SLAB ? ALL << at % SLAB : ALL;
    const u32 minus = __ballot_sync(ALL, x.negative);
    if (k % SLAB == 0) {
        u32* to = negative + k / SLAB;
        *to = own == ALL ? minus : minus | (*to & ~own);
    }
}

// Shifts left by counts[i] bits, or by `shift` where that is the same for all; right where it is
// negative, rounding down. Signs are written if a has them.
extern "C" __global__ void slabs_shift(const u32* __restrict__ a,
                                       const u32* __restrict__ a_negative, u32 a_width, u32 a_form,
                                       const i64* __restrict__ counts, u32 same, i64 shift,
                                       u32* __restrict__ result, u32* __restrict__ negative,
                                       u32 width, u64 count) {
    const u64 k = thread_index();
    if (k / SLAB * SLAB >= count) return;
    const Number x = number(a, a_negative, a_width, a_form, k, k < count);
    const i64 by = same ? shift : k < count ? counts[k] : 0;
    // Bit i of the result is bit i - by of a; words are taken as if there were some below.
    const i64 words = by >= 0 ? -(by >> 5) - ((by & 31) != 0) : -by >> 5;
    const u32 bits = u32(0 - u64(by)) & 31;
    const auto word = [&](i64 i) { return u64(i) < x.width ? x[u32(i)] : 0; };
    u32 carry = 0, any = 0;
    if (x.negative && by < 0) {  // the bits that are cut off round the magnitude up
        const u32 cut = words < i64(x.width) ? u32(words) : x.width;
        for (u32 i = 0; i < cut; i++) any |= x[i];
        carry = (any | (word(words) & ((1u << bits) - 1))) != 0;
        any = 0;
    }
    u32* to = result + word_of(k, width);
    u32 low = word(words);
#pragma unroll 4
    for (u32 i = 0; i < width; i++) {
        const u32 high = word(words + 1 + i);
        const u32 out = __funnelshift_r(low, high, bits) + carry;
        carry &= out == 0;
        any |= out;
        to[i * SLAB] = out;
        low = high;
    }
    if (a_form & SIGNED) store_signs(negative, k, any && x.negative);
}

// Adds the words i of all numbers of `slabs` slabs, with their signs, to columns[i]: a sum of
// fewer than 2^31 words, which needs no carry (Bainville). A warp has one i and `each` slabs.
extern "C" __global__ void slabs_columns(const u32* __restrict__ a,
                                         const u32* __restrict__ a_negative, u32 a_width,
                                         u32 a_form, u64 slabs, u64 each,
                                         unsigned long long* __restrict__ columns) {
    const u64 unit = thread_index() / SLAB;
    const u32 lane = threadIdx.x % SLAB, i = u32(unit % a_width);
    const u64 first = unit / a_width * each;
    if (first >= slabs) return;
    const u64 end = first + each < slabs ? first + each : slabs;
    unsigned long long sum = 0;  // of signed terms, modulo 2^64
#pragma unroll 4
    for (u64 slab = first; slab < end; slab++) {
        const u64 word = a[(slab * a_width + i) * SLAB + lane];
        const bool minus = a_form & SIGNED && a_negative[slab] >> lane & 1;
        sum += minus ? 0 - word : word;
    }
    for (u32 by = SLAB / 2; by; by /= 2) sum += __shfl_xor_sync(ALL, sum, by);
    if (lane == 0) atomicAdd(columns + i, sum);
}

// Writes the number whose word i is columns[i], which is signed and not yet carried. One warp.
extern "C" __global__ void slabs_carry(const i64* __restrict__ columns, u32 columns_width,
                                       u32* __restrict__ result, u32* __restrict__ negative,
                                       u32 width) {
    if (threadIdx.x) {
        for (u32 i = 0; i < width; i++) result[i * SLAB + threadIdx.x] = 0;
        return;
    }
    i64 carry = 0;
    for (u32 i = 0; i < width; i++) {
        carry += i < columns_width ? columns[i] : 0;
        result[i * SLAB] = u32(carry);
        carry >>= 32;
    }
    negative[0] = carry < 0;
    if (carry >= 0) return;
    u32 borrow = 1;  // from two's complement to the magnitude
    for (u32 i = 0; i < width; i++) {
        const u32 word = ~result[i * SLAB] + borrow;
        borrow &= word == 0;
        result[i * SLAB] = word;
    }
}
