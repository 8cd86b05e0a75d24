// Products of slabs of numbers; lanes of a warp share a number.
//
// A product is made of three of half as many words: of the lower halves, of the upper ones, and of
// the differences of both (Karatsuba and Ofman, Multiplication of many-digital numbers by automatic
// computers, 1962). Each lane has the same words of all halves, so only carries go between lanes
// when these products are added up.
//
// Macros: those of ring.hpp, for half of a number; EXACT, 1 where both operands have 2 N words, and
// the result 4 N; SIGNS, 1 where the result has signs; BLOCKS, of a multiprocessor.
#include "ring.hpp"

#ifndef EXACT
#define EXACT 0
#endif
#ifndef BLOCKS
#define BLOCKS 8
#endif
#ifndef SIGNS
#define SIGNS 1
#endif

namespace {

constexpr u32 BLOCK = 64;
// Words from a lane's to the next one's in shared memory, which are read four at a time: an odd number
// of fours, so that lanes meet other banks.
constexpr u32 PITCH = W + (W % 8 ? 8 : 4);

// Loads a lane's words from shared memory, or stores them there.
WORDS_FN void load_own(u32 (&to)[W], const u32* from) {
#pragma unroll
    for (u32 p = 0; p < W; p += 4) {
        const uint4 four = *reinterpret_cast<const uint4*>(from + p);
        to[p] = four.x, to[p + 1] = four.y, to[p + 2] = four.z, to[p + 3] = four.w;
    }
}
WORDS_FN void store_own(u32* to, const u32 (&from)[W]) {
#pragma unroll
    for (u32 p = 0; p < W; p += 4)
        *reinterpret_cast<uint4*>(to + p) =
            make_uint4(from[p], from[p + 1], from[p + 2], from[p + 3]);
}

// The sum of the rows of a product. The lowest word is done with each row.
struct Product : Ring {
    u32 carry;  // of the lane that has the seam, to the next word that is done

    WORDS_FN explicit Product(const Team<T>& team) : Ring(team) {}

    // Multiplies the factor by b, which the team has in shared memory, PITCH apart. The lowest
    // words of the product take its place there; gives the others.
    WORDS_FN void multiply(u32* b, u32 (&high)[W]) {
#pragma unroll
        for (u32 p = 0; p < W; p++) pair[p] = 0;
        late = later = carry = 0;
#pragma unroll 1
        for (u32 at = 0; at < T; at++, b += PITCH) {  // lanes, which have the seam
            const u32 seam = mask_of(team.rank == at);
            const u32 next_seam = mask_of((team.rank + 1) % T == at);
            u32 four[4], low[W];
#pragma unroll
            for (int k = 0; k < int(W); k++) {
                if (k % 4 == 0) {
                    const uint4 next = *reinterpret_cast<const uint4*>(b + k);
                    four[0] = next.x, four[1] = next.y, four[2] = next.z, four[3] = next.w;
                }
                low[k] = row(k, seam, next_seam, four[k % 4]);
            }
            __syncwarp();  // all lanes have read b
            if (seam) store_own(b, low);
        }
        __syncwarp();
        finish(high);
    }

private:
    // Adds the factor times b, one word above the row before. Returns the lowest word, which is
    // then done: word k of the lane that has the seam. next_seam: all ones in the lane below that
    // one.
    WORDS_FN u32 row(int k, u32 seam, u32 next_seam, u32 b) {
        u64& highest = pair[(k + W - 1) % W];
        u64& second = pair[(k + W - 2) % W];
        // `highest` was the lowest pair, whose upper half belongs to this word. Now it is the
        // topmost one, and takes over the upper half of the one below.
        u32 met = high_word(highest), more = 0;
        if (k == 0) {
            met = from_below(met);
            carry = from_below(carry + late);
            more = from_below(later);
            highest = word_or(next_seam, high_word(second), highest);
            late &= ~next_seam;
            later &= ~next_seam;
        } else {
            const u32 high = k == 1 ? from_below(high_word(second)) : high_word(second);
            highest = word_or(seam, high, highest);
        }
        second = without_high(k < 2 ? next_seam : seam, second);
        const auto moved = [&](u32 p) { return factor[(p + W - u32(k)) % W]; };
        add_multiple<0, W>(moved, b, late, later);
        const u64 sum = u64(low_word(pair[k])) + met + carry;
        carry = u32(sum >> 32) + more;
        factor[W - 1 - k] = from_below(factor[W - 1 - k]);
        return u32(sum);
    }

    // Gives the words that are in the ring after the last row.
    WORDS_FN void finish(u32 (&word)[W]) const {
        word[0] = low_word(pair[0]);
        word[1] = add_cc(low_word(pair[1]), high_word(pair[0]));
#pragma unroll
        for (u32 p = 2; p < W; p++)  // the topmost word of the ring is done with
            word[p] = addc_cc(p == W - 1 && team.rank == T - 1 ? 0 : low_word(pair[p]),
                              high_word(pair[p - 1]));
        const u64 out = u64(high_word(pair[W - 1])) + late + addc(0, 0) + (u64(later) << 32) +
                        (team.rank == T - 1 ? carry : 0);
        const u32 first = from_below(low_word(out)), second = from_below(high_word(out));
        word[0] = add_cc(word[0], first);
        word[1] = addc_cc(word[1], second);
        carry_on<2>(word, addc(0, 0));
    }
};

// Computes a = |a - b|; returns ALL where a was less, else zero.
WORDS_FN u32 distance(const Ring& ring, u32 (&a)[W], const u32 (&b)[W]) {
    const u32 over = add_words(a, b, ALL);
    const u32 less = ring.settle(a, over, 1) ? 0 : ALL;
    ring.negate(a, less);
    return less;
}

// Adds a word to a number in memory.
WORDS_FN void increase(u32* to, u32 by, int width) {
    for (int i = 0; i < width && by; i++) {
        const u32 sum = to[i * STEP] + by;
        by = sum < by;
        to[i * STEP] = sum;
    }
}

}  // namespace

// Multiplies numbers of at most 2 N words. Signs are set where a result is
// negative; they are zero before.
extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS)
multiply_lanes(const u32* a_words, const u32* a_negative, u32 a_width, u32 a_form,
               const u32* b_words, const u32* b_negative, u32 b_width, u32 b_form,
               u32* out_words, u32* out_negative, u32 out_width, u64 count) {
    __shared__ __align__(16) u32 rooms[3][BLOCK][PITCH];
    const Team<T> team(threadIdx.x % WARP);
    const u64 k = thread_index() / T;
    if (k / SLAB * SLAB >= count) return;
    if (EXACT) a_width = b_width = 2 * N, out_width = 2 * a_width;
    const bool live = k < count;
    const Number a = number(a_words, a_negative, a_width, a_form, k, live);
    const Number b = number(b_words, b_negative, b_width, b_form, k, live);
    u32* const out = out_words + word_of(k, out_width) + team.rank * W * STEP;
    // A factor and then the lower half of a product; the sums of the middle quarters so far.
    u32* const own = rooms[0][threadIdx.x];
    u32* const xs = rooms[1][threadIdx.x];
    u32* const ys = rooms[2][threadIdx.x];
    u32 x_over = 0, y_over = 0, flip = 0, any = 0;
    Product product(team);

    const auto take = [&](u32(&to)[W], const Number& from, int half) {
        const u32* const at = from.at + (half * int(N) + int(team.rank * W)) * STEP;
#pragma unroll
        for (int p = 0; p < int(W); p++)
            to[p] = EXACT ? at[p * STEP] : word_at(from, half * int(N) + int(team.rank * W) + p);
    };
    const auto put = [&](const u32(&word)[W], int quarter) {
#pragma unroll
        for (int p = 0; p < int(W); p++) {
            const int i = quarter * int(N) + p;
            if (EXACT || i + int(team.rank * W) < int(out_width)) out[i * STEP] = word[p];
            if (SIGNS) any |= word[p];
        }
    };

#pragma unroll 1
    for (int which = 0; which < 3; which++) {
        u32 low[W], high[W];
        take(low, b, which > 0);
        take(product.factor, a, which > 0);
        if (which == 2) {
            take(high, b, 0);
            flip = distance(product, low, high);
            take(high, a, 0);
            flip ^= ~distance(product, product.factor, high);  // ALL if their product is positive
        }
        store_own(own, low);
        __syncwarp();
        product.multiply(rooms[0][threadIdx.x - team.rank], high);
        load_own(low, own);
        if (which == 0) {
            put(low, 0);
            store_own(ys, high);
            x_over = add_words(low, high);
            store_own(xs, low);
        } else {
            u32 word[W];
            load_own(word, xs);
            x_over += add_words(word, low, flip);
            if (which == 1) {
                store_own(xs, word);
                put(high, 3);
                load_own(word, ys);
                y_over = add_words(word, low);
                y_over += add_words(word, high);
                store_own(ys, word);
            } else {
                const u32 middle = product.settle(word, x_over, flip & 1);
                put(word, 1);
                load_own(word, ys);
                y_over += add_words(word, high, flip);
                const u32 upper = product.settle(word, y_over, middle) - (flip & 1);
                put(word, 2);
                __syncwarp();  // the topmost quarter is there already
                if (team.rank == 0)
                    increase(out + 3 * int(N) * STEP, upper, int(out_width - 3 * N));
            }
        }
    }
    if (SIGNS) {
        const bool some = team.votes(any != 0) != 0;
        if (some && a.negative != b.negative && live && team.rank == 0)
            atomicOr(out_negative + k / SLAB, 1u << k % SLAB);
    }
}
