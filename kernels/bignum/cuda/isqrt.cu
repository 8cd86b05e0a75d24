// Integer square roots of slabs of numbers on a CUDA device; each lane has one number.
//
// The root comes a word at a time, as in division (Knuth 2, 4.3.1, algorithm D) by twice the
// root so far, which grows by that word. The number is first shifted left by an even count of
// bits, so that the topmost two are not both zero; the root then comes out shifted by half as
// many. Each warp has memory of its own, and takes one slab after the other.
#include "divide.hpp"

namespace {

// Returns floor(sqrt(x)), found bit by bit.
WORDS_FN u32 root_of(u64 x) {
    u32 root = 0;
    for (u32 bit = 1u << 31; bit; bit >>= 1) {
        const u32 with = root | bit;
        if (u64(with) * with <= x) root = with;
    }
    return root;
}

}  // namespace

// Computes roots. scratch: 3 n words for each thread, where n is the words of a root of a_width
// words.
extern "C" __global__ void __launch_bounds__(64)
isqrt(const u32* a_words, u32 a_width, u32 a_form, u32* out_words, u32 out_width, u32* scratch,
      u64 count) {
    const int n = int(a_width + 1) / 2;
    const u64 stride = u64(gridDim.x) * blockDim.x;
    u32* const u = scratch + word_of(thread_index(), u32(3 * n));
    u32* const s = u + u64(2 * n) * SLAB;
    for (u64 k = thread_index(); k / SLAB * SLAB < count; k += stride) {
        const Number a = number(a_words, a_words, a_width, a_form, k, k < count);
        const u32 length = bit_length(a), up = (64 * u32(n) - length) & ~1u;
        const Shift shift(up);
        shift_up(u, 2 * n, a, shift);
        if (!length) u[(2 * n - 1) * STEP] = 1u << 31;  // past the last number

        // What is left of the words so far is at most twice the root, so it may have one
        // bit more than the root.
        const u64 top = pair_of(u[(2 * n - 2) * STEP], u[(2 * n - 1) * STEP]);
        const u32 first = root_of(top);
        const u64 left = top - u64(first) * first;
        u[(2 * n - 2) * STEP] = u32(left), u[(2 * n - 1) * STEP] = u32(left >> 32);
        s[(n - 1) * STEP] = first;
        Divisor<2> divisor;
        for (int j = n - 2; j >= 0; j--) {
            // The next word is about (left, two words more) / (2 root, 0), from the
            // uppermost words of both, halved.
            const int words = n - 1 - j;
            u32* const r = u + 2 * j * STEP;
            if (words <= 2) {
                const u32 upper[2] = {words > 1 ? s[(n - 2) * STEP] : 0, first};
                divisor.set(upper);
            }
            const u32 r3 = r[(words + 2) * STEP], r2 = r[(words + 1) * STEP], r1 = r[words * STEP];
            const u32 r0 = r[(words - 1) * STEP];
            u32 q = divisor.guess(__funnelshift_r(r2, r3, 1), __funnelshift_r(r1, r2, 1),
                                  __funnelshift_r(r0, r1, 1));
            // r -= q (2 root 2^32 + q)
            u64 carry = u64(q) * q;
            u32 borrow = 0, below = 0;
            for (int i = 0; i <= words + 1; i++) {
                if (i > 0) {
                    const u32 word = i <= words ? s[(j + i) * STEP] : 0;
                    carry += u64(q) * (word << 1 | below);
                    below = word >> 31;
                }
                const u64 rest = u64(r[i * STEP]) - u32(carry) - borrow;
                borrow = u32(rest >> 63);
                carry >>= 32;
                r[i * STEP] = u32(rest);
            }
            u32 over = r[(words + 2) * STEP] - u32(carry) - borrow;
            while (over) {  // q is too large: add 2 root 2^32 + 2 q - 1 to r
                u64 sum = 2 * u64(q) - 1;
                for (int i = 0; i <= words + 1; i++) {
                    if (i > 0 && i <= words) sum += 2 * u64(s[(j + i) * STEP]);
                    sum += r[i * STEP];
                    r[i * STEP] = u32(sum);
                    sum >>= 32;
                }
                over += u32(sum);
                q--;
            }
            r[(words + 2) * STEP] = 0;
            s[j * STEP] = q;
        }

        if (!length) s[(n - 1) * STEP] = 0;
        shift_down(out_words + word_of(k, out_width), int(out_width), s, n, Shift(up / 2));
    }
}
