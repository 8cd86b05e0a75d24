// How cells of the Generations family age, on any word type (kernels/bits.hpp).
//
// Inside of a pass a cell has one bit that says whether it is live (state 1), which is all that its
// neighbours look at, and beside it the bits of its age: all zero for states 0 and 1. They are such
// that growing older takes few operations. Outside, in memory, a state is its binary digits.
#pragma once
#include "../bits.hpp"

namespace {

BITS_FN constexpr int bits_of(int number) {
    int bits = 0;
    for (; number; number >>= 1) bits++;
    return bits;
}

// Returns a | b | c.
template <class W>
BITS_FN W or3(W a, W b, W c) { return lut3<0xFE>(a, b, c); }

// Returns where any of COUNT words has a one, two words at a time.
template <int COUNT, class W>
BITS_FN W any_of(const W* words) {
    if constexpr (COUNT == 0) return W{};
    else if constexpr (COUNT == 1) return words[0];
    else if constexpr (COUNT == 2) return words[0] | words[1];
    else return or3(words[COUNT - 2], words[COUNT - 1], any_of<COUNT - 2>(words));
}

// Sets OUT bits of a number in each cell to those of IN bits plus a constant, modulo 2^OUT.
template <int IN, int OUT, class W>
BITS_FN void add_constant(const W* x, u32 constant, W* sum) {
    W carry{};
    for (int i = 0; i < OUT; i++) {
        const W bit = i < IN ? x[i] : W{};
        if (constant >> i & 1) {
            sum[i] = ~(bit ^ carry);
            carry = bit | carry;
        } else {
            sum[i] = bit ^ carry;
            carry = bit & carry;
        }
    }
}

// The ages of a rule of 3 or 4 states: one bit for each of states 2 and 3. A cell that grows older
// has its one in the next bit.
template <int STATES>
struct ShiftedAges {
    static constexpr int PLANES = STATES - 2, DIGITS = 2;

    // Moves cells on: `was` is where they are live, `found` what the table says of them. Sets
    // their next ages, and returns where they are live then.
    template <class W>
    BITS_FN W step(W was, W found, const W* age, W* next) const {
        next[0] = was & ~found;
        if constexpr (PLANES == 1) return found & ~age[0];
        else {
            next[1] = age[0];
            return lut3<0x10>(found, age[0], age[1]);
        }
    }

    // Sets ages from binary digits, and returns where cells are live.
    template <class W>
    BITS_FN W encode(const W* digits, W* age) const {
        if constexpr (PLANES == 1) age[0] = digits[1];
        else age[0] = digits[1] & ~digits[0], age[1] = digits[1] & digits[0];
        return digits[0] & ~digits[1];
    }

    template <class W>
    BITS_FN void decode(W live, const W* age, W* digits) const {
        if constexpr (PLANES == 1) digits[0] = live, digits[1] = age[0];
        else digits[0] = live | age[1], digits[1] = age[0] | age[1];
    }
};

// The ages of a rule of 5 states or more, as counters of K bits that end with all ones, so that the
// next number is zero. The rule is said by `Start`: its `states`, known when this is compiled or
// not, and how it has a counter begin.
template <int K, int DIGITS_, class Start>
struct CountedAges {
    static constexpr int PLANES = K, DIGITS = DIGITS_;
    Start start;

    // As of ShiftedAges.
    template <class W>
    BITS_FN W step(W was, W found, const W* age, W* next) const {
        const W rest = any_of<K - 1>(age + 1), begun = start.begun(was, found);
        next[0] = start.template begin<0>(rest & ~age[0], begun, was, found);
        count<1>(age, age[0], begun, was, found, next);
        return lut3<0x10>(found, rest, age[0]);
    }

    template <class W>
    BITS_FN W encode(const W* digits, W* age) const {
        const W rest = any_of<DIGITS - 1>(digits + 1);
        add_constant<DIGITS, K>(digits, (1u << K) - u32(start.states()), age);
        for (int i = 0; i < K; i++) age[i] = age[i] & rest;
        return digits[0] & ~rest;
    }

    template <class W>
    BITS_FN void decode(W live, const W* age, W* digits) const {
        const W old = any_of<K>(age);
        add_constant<K, DIGITS>(age, u32(start.states()) - (1u << K), digits);
        for (int i = 0; i < DIGITS; i++) digits[i] = digits[i] & old;
        digits[0] = digits[0] | live;
    }

private:
    // Counts bit I and those above it, where bits 0 to I - 1 are all ones in `carry`.
    template <int I, class W>
    BITS_FN void count(const W* age, W carry, W begun, W was, W found, W* next) const {
        if constexpr (I < K) next[I] = start.template begin<I>(age[I] ^ carry, begun, was, found);
        if constexpr (I + 1 < K) {
            const W above = lut3<0x78>(age[I + 1], age[I], carry);  // age[I + 1] ^ (age[I] & carry)
            next[I + 1] = start.template begin<I + 1>(above, begun, was, found);
        }
        if constexpr (I + 2 < K)
            count<I + 2>(age, lut3<0x80>(age[I + 1], age[I], carry), begun, was, found, next);
    }
};

// Returns the number with which a counter of K bits begins.
BITS_FN constexpr u32 first_age(int states, int k) { return (1u << k) - u32(states - 2); }

// The beginning of counters of a rule that is known when this is compiled.
template <int STATES>
struct StaticStart {
    static BITS_FN constexpr int states() { return STATES; }
    template <class W>
    BITS_FN W begun(W was, W) const { return was; }
    template <int BIT, class W>
    BITS_FN W begin(W counted, W, W was, W found) const {
        if constexpr (first_age(STATES, bits_of(STATES - 2)) >> BIT & 1)
            return lut3<0xF4>(counted, was, found);  // counted | (was & ~found)
        else return counted;
    }
};

// The same for one that is known only when this runs: the first age as words of zeros or ones.
template <int K, class W>
struct DynamicStart {
    int states_;
    W mask[K];
    explicit DynamicStart(int states) : states_(states) {
        for (int i = 0; i < K; i++) mask[i] = first_age(states, K) >> i & 1 ? ~W{} : W{};
    }
    BITS_FN int states() const { return states_; }
    BITS_FN W begun(W was, W found) const { return was & ~found; }
    template <int BIT>
    BITS_FN W begin(W counted, W begun, W, W) const {
        return lut3<0xF8>(counted, begun, mask[BIT]);  // counted | (begun & mask)
    }
};

template <int STATES, bool SHIFTED = (STATES <= 4)>
struct StaticAgesOf { using type = ShiftedAges<STATES>; };
template <int STATES>
struct StaticAgesOf<STATES, false> {
    using type = CountedAges<bits_of(STATES - 2), bits_of(STATES - 1), StaticStart<STATES>>;
};

// The ages of a rule whose number of states is known when this is compiled.
template <int STATES>
using StaticAges = typename StaticAgesOf<STATES>::type;

}  // namespace
