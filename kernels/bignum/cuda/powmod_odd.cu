// Powers of slabs of numbers modulo slabs of odd numbers on a CUDA device; a lane has a number
// (montgomery_lane.hpp), or lanes of a warp share it (montgomery.hpp).
//
// Exponents are taken `window` bits at a time from the top, by a table of the lowest powers, of
// which as many are made as occur; digits that are zero in all numbers of a warp cost no product.
// Each warp has memory of its own for the table, and takes one group of numbers after the other.
//
// Macros: those of montgomery.hpp, or with LANES=1 of montgomery_lane.hpp; BLOCKS, of a
// multiprocessor.
#if defined(LANES) && LANES == 1
#include "montgomery_lane.hpp"
#else
#include "montgomery.hpp"
#endif

#ifndef BLOCKS
#define BLOCKS 8
#endif

namespace {

constexpr u32 TEAMS = WARP / T;
constexpr int ENTRY = W * WARP;  // words of a warp's entry in the table

WORDS_FN u32 exponent_digit(const Number& e, int at, int window) {
    const u32 pair = __funnelshift_r(word_at(e, at / 32), word_at(e, at / 32 + 1), u32(at % 32));
    return pair & ((1u << window) - 1);
}

// What the digits of a warp's exponents are like.
struct Digits {
    int count;
    u32 highest;
    bool mixed;  // some are zero where others are not

    WORDS_FN Digits(const Number& e, int window) : highest(0), mixed(false) {
        count = (int(most(bit_length(e))) + window - 1) / window;
        for (int i = 0; i < count; i++) {
            const u32 digit = exponent_digit(e, i * window, window);
            const u32 votes = __ballot_sync(ALL, digit != 0);
            highest = digit > highest ? digit : highest;
            mixed = mixed || (votes && votes != ALL);
        }
        highest = most(highest);
    }
};

WORDS_FN void store(u32* to, const u32 (&a)[W]) {
#pragma unroll
    for (int j = 0; j < int(W); j++) to[j * STEP] = a[j];
}

// Computes the power of a, which has at most N words. r: 2^(64 N) modulo the modulus. All
// products come through one place, and all squares through one, as these are long: first the
// entries of the table, then squares and digits from the top, and last a 1, which takes the
// 2^(32 N) away.
WORDS_FN void raise(const Residues& residues, u32 (&power)[W], const Number& a, const Number& r,
                    const Number& e, int window, u32* table) {
    const Digits digits(e, window);
    const int entries = int(digits.highest) + 1;
    int entry = digits.mixed || !digits.highest ? 0 : 1, squares = 0;
    int at = (digits.count - 1) * window;
    for (bool last = false; !last;) {
        bool squaring = false;
        if (entry < entries) {
            if (entry < 2) residues.load(power, r);
            if (entry == 0) {
                residues.share_one();
            } else if (entry < 3) {
                u32 factor[W];
                residues.load(factor, a);
#pragma unroll
                for (u32 j = 0; j < W; j++) factor[j] = entry == 1 ? factor[j] : power[j];
                residues.share(factor);
            }
        } else if (squares) {
            squares--;
            squaring = true;
            residues.share_to_square(power);
        } else if (at >= 0) {
            const u32 digit = exponent_digit(e, at, window);
            at -= window;
            squares = at >= 0 ? window : 0;
            if (!Team<T>::any(digit != 0)) continue;
            u32 factor[W];
            ::load(factor, Long{table + int(digit) * ENTRY, int(W)}, 0);
            residues.share(factor);
        } else {
            last = true;
            residues.share_one();
        }
        residues.multiply(power, squaring);
        if (entry < entries) {
            store(table + entry++ * ENTRY, power);
            if (entry < entries) continue;
            const u32 digit = at >= 0 ? exponent_digit(e, at, window) : 0;
            at -= window;
            squares = at >= 0 ? window : 0;
            ::load(power, Long{table + int(digit) * ENTRY, int(W)}, 0);
        }
    }
}

}  // namespace

// Computes powers modulo those of the moduli that are odd; moduli and a have at most N words. r:
// 2^(64 N) modulo each. scratch: W 2^window words for each thread.
extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS)
powmod_odd(const u32* a_words, const u32* a_negative, u32 a_width, u32 a_form,
           const u32* e_words, const u32* e_negative, u32 e_width, u32 e_form,
           const u32* m_words, const u32* m_negative, u32 m_width, u32 m_form,
           const u32* r_words, const u32* r_negative, u32 r_width, u32 r_form,
           u32* out_words, u32* out_negative, u32 out_width, u32 is_signed,
           int window, u32* scratch, u64 count) {
    __shared__ __align__(8) u32 shared[Residues::SHARED];
    const Team<T> team(threadIdx.x % WARP);
    const u64 warp = thread_index() / WARP, warps = u64(gridDim.x) * blockDim.x / WARP;
    u32* const table = scratch + (warp << window) * ENTRY + team.lane;
    for (u64 first = warp * TEAMS; first / SLAB * SLAB < count; first += warps * TEAMS) {
        const u64 k = first + team.lane / T;
        const bool live = k < count;
        const Number a = number(a_words, a_negative, a_width, a_form, k, live);
        const Number e = number(e_words, e_negative, e_width, e_form, k, live);
        const Number m = number(m_words, m_negative, m_width, m_form, k, live);
        const Number r = number(r_words, r_negative, r_width, r_form, k, live);
        const bool odd = word_at(m, 0) & 1;
        if (!Team<T>::any(odd || !live)) continue;
        const Residues residues(team, m, odd, shared);
        u32 power[W], less[W], any = 0;
        raise(residues, power, a, r, e, window, table);

        // An odd power of a negative number, and a negative modulus, each make it m less the power.
#pragma unroll
        for (u32 j = 0; j < W; j++) any |= power[j];
        const bool some = team.votes(any != 0) != 0;
        const bool odd_power = word_at(e, 0) & 1;
        const bool flip = some && m.negative != (a.negative && odd_power);
        minus(team, less, residues.modulus, power);
        const bool mine = odd || !live;  // zeros go to where no number is
        u32* const to = out_words + word_of(k, out_width);
#pragma unroll
        for (u32 j = 0; j < W; j++) {
            const u32 i = team.rank * W + j;
            if (mine && i < out_width) to[i * STEP] = flip ? less[j] : power[j];
        }
        if (mine && is_signed && m.negative && some && team.rank == 0)
            atomicOr(out_negative + k / SLAB, 1u << k % SLAB);
    }
}
