// Quotients and remainders of slabs of numbers; lanes of a warp share a number.
//
// The words of the remainder stand still in the lanes' registers, and the divisor moves past them,
// a word down with each word of the quotient. The topmost word of the remainder is then done with,
// and the word that is brought down takes its place (ring.hpp). That is in the topmost lane: after
// a turn of B rows all words of the remainder move up by as many.
//
// A word of the quotient is found from the topmost words as the topmost lane knows them: words
// below may carry into them. So it is hardly ever too small, and then by one. Whether it was is
// seen from the topmost words of what is left, and the rows are left for a while: the remainder is
// added up, the divisor is taken off where it fits, and the rows go on.
//
// Macros: those of ring.hpp; BLOCKS, of a multiprocessor; QUOTIENT and REMAINDER, 1 where it is
// asked for.
#include "divide.hpp"
#include "ring.hpp"

#ifndef BLOCKS
#define BLOCKS 8
#endif
#ifndef QUOTIENT
#define QUOTIENT 1
#endif
#ifndef REMAINDER
#define REMAINDER 1
#endif

namespace {

constexpr u32 BLOCK = 64;
constexpr u32 B = W < 20 ? W - 4 : 16;  // rows of a turn, which are written out
static_assert(B >= 4 && B <= 16, "at least eight words of a lane");
// Words of a lane which the topmost words do not wait for: what they carry is only counted in a
// turn.
constexpr u32 LOWER = W - B - 4;
constexpr u32 common(u32 a, u32 b) { return b ? common(b, a % b) : a; }  // the greatest divisor
constexpr u32 CYCLES = common(W, B);
constexpr int EACH = (B + T - 1) / T;               // words of a turn that a lane brings down
constexpr int NEXT = EACH * int(T);                 // of all lanes, in shared memory
constexpr int PITCH = NEXT + int(N) + 1;            // words of a team there

// Quotients of two words and the uppermost words of a divisor, a word above them.
struct Reciprocal {
    u64 room;    // 2^64 - 1 less the uppermost two words of the divisor
    u32 v1, v0;  // (2^128 - 1) / (2^64 - room) - 2^64

    WORDS_FN void set(u32 high, u32 low) {
        room = ~pair_of(low, high);
        v1 = v0 = 0;
        if (!room) return;
        const u64 above = 0 - room;
        const u32 words[2] = {low_word(above), high_word(above)};
        Divisor<2> divisor;
        divisor.set(words);
        u32 rest[2] = {~words[0], ~words[1]};
        v1 = divisor.digit(rest, ~0u);
        v0 = divisor.digit(rest, ~0u);
    }

    // Returns floor(2^32 (high, low) / (2^64 - room)) or one less, where that is a word.
    WORDS_FN u32 estimate(u32 high, u32 low) const {
        const u64 lower = mad_cc(low, v1, u64(high) * v0);
        const u64 upper = u64(high) * v1 + pair_of(high_word(lower), addc(0, 0));
        add_cc(low_word(upper), low);
        return addc(high_word(upper), high);
    }
};

// A remainder. The factor is 2^(32 N) less the divisor, so that adding it subtracts the divisor.
// The topmost lane has the seam.
struct Remainder : Ring {
    u32 beside[B];  // the next lane's words of the factor, which come to this lane
    u32 seam;       // all ones in the topmost lane
    u32 middle, upper;  // to be added to words LOWER and LOWER + 1
    // What the topmost lane knows of the topmost words: two of them, and above them what the sum of
    // the words in the ring makes, which is negative where words below carry it to zero.
    u32 high, low, over;
    u32 rest;   // of `over`, what no pair has
    u32 digit;  // the next word of the quotient
    Reciprocal reciprocal;

    WORDS_FN explicit Remainder(const Team<T>& team)
        : Ring(team), seam(mask_of(team.rank == T - 1)), middle(0), upper(0) {}

    // Subtracts the divisor, as often as the next word of the quotient says, one word below the row
    // before, and finds the word after that one. The word `next` is brought down. The topmost word
    // is word W - k of the topmost lane: of row 0, word 0 of the lowest. Gives in `more` whether
    // the divisor still fits into the remainder of any team.
    WORDS_FN void row(int k, u32 next, bool& more) {
        u64& fresh = pair[(W - k) % W];
        u64& highest = pair[W - 1 - k];
        u64& second = pair[W - 2 - k];
        u64& third = pair[W - 3 - k];
        // The word that is brought down, and upper halves of zero, so that nothing is carried on.
        highest = word_or(seam, low, highest);
        second = without_high(seam, second);
        if (k == 0) late &= ~seam, later &= ~seam;
        fresh = word_or(k ? seam : mask_of(team.rank == 0), next, fresh);
        const auto moved = [&](u32 p) {
            return p + k < W ? factor[(p + k) % W] : beside[(p + k) % W % B];
        };
        add_multiple<LOWER, W>(moved, digit, late, later);
        rest = high - digit;
        over = rest + high_word(highest);
        low = add_cc(low_word(second), high_word(third));
        high = addc_cc(high_word(second), low_word(highest));
        over = addc(over, 0);
        const u32 times = digit;
        find();
        // The topmost words with `over` are more than those of the divisor: over - 1 and the carry
        // of (high, low) less these are not negative.
        add_cc(low, low_word(reciprocal.room));
        addc_cc(high, high_word(reciprocal.room));
        const u32 excess = addc(over, ALL) | ~seam;
        more = Team<T>::any(int(excess) >= 0);
        if constexpr (LOWER > 0) add_multiple<0, LOWER>(moved, times, middle, upper);
    }

    // Finds the next word of the quotient.
    WORDS_FN void find() { digit = Team<T>::get(reciprocal.estimate(high, low) & ~over, T - 1); }

    // Tells whether move_up() might have to carry further than a pair, in any team.
    WORDS_FN bool full() const {
        const u32 first = high_word(pair[0]), other = high_word(pair[LOWER]);
        return Team<T>::any((first < other ? other : first) > ALL - 2 * B);
    }

    // Moves the words up by B, so that after row B - 1 row 0 comes.
    WORDS_FN void move_up() {
        const u32 one = from_below(late), two = from_below(later);
        const u32 low = add_cc(low_word(pair[0]), one);
        pair[0] = pair_of(low, addc(high_word(pair[0]), two));
        late = later = 0;
        if constexpr (LOWER > 0) {
            const u32 word = add_cc(low_word(pair[LOWER]), middle);
            pair[LOWER] = pair_of(word, addc(high_word(pair[LOWER]), upper));
            middle = upper = 0;
        }
#pragma unroll
        for (u32 start = 0; start < CYCLES; start++) {  // round each cycle, so that few are held
            u64 held = pair[start];
#pragma unroll
            for (u32 n = 0; n < W / CYCLES; n++) {
                const u32 from = (start + n * B) % W, to = (from + B) % W;
                const u64 next = pair[to];
                if (to < from)  // of the next lane
                    held = pair_of(from_below(low_word(held)), from_below(high_word(held)));
                pair[to] = held;
                held = next;
            }
        }
    }

    // Sets the words of the remainder to those that lanes have in their order, before row k.
    // `room`: N + 1 words of the team in shared memory.
    WORDS_FN void spread(int k, const u32 (&word)[W], u32* room) {
        store(room, word);
        high = room[N - 1], low = room[N - 2];
#pragma unroll
        for (u32 p = 0; p < W; p++) pair[p] = room[place(k, p)];
        late = later = middle = upper = over = rest = 0;
        find();
    }

    // Gives the words of the remainder before row k to lanes in their order. Returns what is above.
    WORDS_FN u32 collect(int k, u32 (&word)[W], u32* room) const {
        u32 more[W];
        __syncwarp();
#pragma unroll
        for (u32 p = 0; p < W; p++) room[place(k, p)] = low_word(pair[p]);
        load(word, room);
        if (team.rank == 0) room[0] = 0;
        __syncwarp();
#pragma unroll
        for (u32 p = 0; p < W; p++) room[place(k, p) + 1] = high_word(pair[p]);
        load(more, room);
        u32 above = room[N], left = add_words(word, more);
#pragma unroll
        for (u32 p = 0; p < W; p++) more[p] = 0;
        store(room, more);
        if (team.rank == 0) room[N] = 0;
        __syncwarp();
        const u32 end = place(k, W - 1) + 1;
        room[end] = late;
        if (end < N) room[end + 1] = later;
        if constexpr (LOWER > 0) {
            room[place(k, LOWER)] = middle;
            room[place(k, LOWER + 1)] = upper;
        }
        load(more, room);
        left += add_words(word, more);
        above += room[N];
        above += settle(word, left, 0);
        return above + Team<T>::get(rest, T - 1);
    }

    // Sets the factor to words that lanes have in their order.
    WORDS_FN void set_factor(const u32 (&word)[W]) {
#pragma unroll
        for (u32 p = 0; p < W; p++) factor[p] = word[p];
#pragma unroll
        for (u32 p = 0; p < B; p++) beside[p] = from_above(word[p]);
    }

    // Takes the divisor off words that lanes have in their order, where it fits. over: what is
    // above them. Returns whether it fits.
    WORDS_FN bool reduce(u32 (&word)[W], u32 over) const {
        u32 less[W];
#pragma unroll
        for (u32 p = 0; p < W; p++) less[p] = word[p];
        const u32 left = add_words(less, factor);
        const bool fits = over + settle(less, left, 0) != 0;
#pragma unroll
        for (u32 p = 0; p < W; p++) word[p] = fits ? less[p] : word[p];
        return fits;
    }

    // Moves the lanes' words to shared memory, and from there.
    WORDS_FN void store(u32* room, const u32 (&word)[W]) const {
        __syncwarp();
#pragma unroll
        for (u32 p = 0; p < W; p++) room[team.rank * W + p] = word[p];
        __syncwarp();
    }
    WORDS_FN void load(u32 (&word)[W], const u32* room) const {
        __syncwarp();
#pragma unroll
        for (u32 p = 0; p < W; p++) word[p] = room[team.rank * W + p];
        __syncwarp();
    }

private:
    // Returns which word of the remainder is word p of the lane before row k.
    WORDS_FN u32 place(int k, u32 p) const { return (team.rank * W + N + p + u32(k) - 1) % N; }
};

// Words of a number that a lane has, and the one below, which are loaded at once.
struct Part {
    u32 word[W], below;

    WORDS_FN Part(const Number& x, int at) : below(word_at(x, at - 1)) {
#pragma unroll
        for (u32 p = 0; p < W; p++) word[p] = word_at(x, at + int(p));
    }

    WORDS_FN void shift_up(u32 (&to)[W], u32 bits) const {
        to[0] = __funnelshift_l(below, word[0], bits);
#pragma unroll
        for (u32 p = 1; p < W; p++) to[p] = __funnelshift_l(word[p - 1], word[p], bits);
    }
};

// Adds 1 to a number in memory from word i on.
WORDS_FN void increment(u32* q, int i, int width) {
    for (; i < width; i++)
        if (++q[i * STEP]) break;
}

}  // namespace

// Divides. Signs are set where a result is negative; they are zero before.
extern "C" __global__ void __launch_bounds__(BLOCK, BLOCKS)
divide_lanes(const u32* a_words, const u32* a_negative, u32 a_width, u32 a_form,
             const u32* b_words, const u32* b_negative, u32 b_width, u32 b_form,
             u32* q_words, u32* q_negative, u32 q_width, u32 q_signed,
             u32* r_words, u32* r_negative, u32 r_width, u32 r_signed, u64 count) {
    __shared__ u32 rooms[BLOCK / T * PITCH];
    u32* const room = rooms + threadIdx.x / T * PITCH;
    const Team<T> team(threadIdx.x % WARP);
    const u64 k = thread_index() / T;
    if (k / SLAB * SLAB >= count) return;
    const bool live = k < count;
    const Number a = number(a_words, a_negative, a_width, a_form, k, live);
    const Number b = number(b_words, b_negative, b_width, b_form, k, live);
    u32* const q = QUOTIENT ? q_words + word_of(k, q_width) : nullptr;

    const u32 length = bit_length(b), bits = bit_length(a), least = length ? length : 32 * N;
    const Shift shift(32 * N - length);
    const int steps = int(most(bits > least ? (bits - least + 31) / 32 : 0));
    const int skipped = int((B - u32(steps) % B) % B);
    Remainder ring(team);
    u32 word[W], digit;  // the last word of the quotient
    const int own = int(team.rank * W) - shift.words;
    const Part divisor(b, own), dividend(a, own + steps);
    divisor.shift_up(word, shift.bits);
    if (!length && team.rank == T - 1) word[W - 1] = 1u << 31;  // past the last number
    ring.reciprocal.set(Team<T>::get(word[W - 1], T - 1), Team<T>::get(word[W - 2], T - 1));
    ring.negate(word, ALL);
    ring.set_factor(word);
    dividend.shift_up(word, shift.bits);
    digit = ring.reduce(word, 0);
    if (QUOTIENT)
        for (int i = steps + int(team.rank); i < int(q_width); i += T)
            q[i * STEP] = i == steps && digit;
    ring.spread(skipped, word, room);

    // Words are loaded a turn before they are brought down.
    u32 next[EACH + 1];
    const auto fetch = [&](int i) {
#pragma unroll
        for (int j = 0; j <= EACH; j++)
            next[j] = word_at(a, i - int(team.rank) * EACH - j - shift.words);
    };
    fetch(steps + skipped - 1);
    int first = skipped;
    for (int i = steps + skipped; i > 0; i -= int(B), first = 0) {
        u32* const to = QUOTIENT ? q + (i - 1) * STEP : nullptr;
        __syncwarp();
#pragma unroll
        for (int j = 0; j < EACH; j++)
            room[int(team.rank) * EACH + j] = __funnelshift_l(next[j + 1], next[j], shift.bits);
        __syncwarp();
        fetch(i - 1 - int(B));
        for (;;) {
            bool more = false;
#pragma unroll
            for (int k = 0; k < int(B); k++) {
                if (k < first) continue;
                digit = ring.digit;
                if (QUOTIENT && team.rank == T - 1) to[-k * STEP] = digit;
                ring.row(k, room[k], more);
                if (__builtin_expect(more, 0)) {
                    first = k + 1;
                    break;
                }
            }
            if (!more) {
                if (__builtin_expect(!ring.full(), 1)) break;
                first = int(B);
            }
            const u32 over = ring.collect(first, word, room + NEXT);
            const bool fits = ring.reduce(word, over);
            digit |= fits;
            if (QUOTIENT && fits && team.rank == 0) increment(q, i - first, int(q_width));
            ring.spread(first, word, room + NEXT);
        }
        ring.move_up();
    }

    const u32 over = ring.collect(0, word, room);
    const bool fits = ring.reduce(word, over);
    u32 left = 0;
#pragma unroll
    for (u32 p = 0; p < W; p++) left |= word[p];
    const bool some = team.votes(left != 0) != 0;
    const bool opposite = a.negative != b.negative && some;
    const bool any = bits > length || digit || fits || opposite;  // the quotient is not zero
    if (QUOTIENT && live && team.rank == 0) {
        if (fits) increment(q, 0, int(q_width));
        if (opposite) increment(q, 0, int(q_width));
        if (q_signed && a.negative != b.negative && any)
            atomicOr(q_negative + k / SLAB, 1u << k % SLAB);
    }
    if (REMAINDER) {
        if (Team<T>::any(opposite)) {  // the divisor less the remainder
            u32 other[W];
#pragma unroll
            for (u32 p = 0; p < W; p++) other[p] = word[p];
            ring.settle(other, add_words(other, ring.factor), 0);
            ring.negate(other, ALL);
#pragma unroll
            for (u32 p = 0; p < W; p++) word[p] = opposite ? other[p] : word[p];
        }
        ring.store(room, word);
        room[N] = 0;
        __syncwarp();
        u32* const r = r_words + word_of(k, r_width);
        for (int j = int(team.rank); j < int(r_width); j += T) {
            const int from = j + shift.words;
            r[j * STEP] =
                from < int(N) ? __funnelshift_r(room[from], room[from + 1], shift.bits) : 0;
        }
        if (r_signed && some && b.negative && live && team.rank == 0)
            atomicOr(r_negative + k / SLAB, 1u << k % SLAB);
    }
}
