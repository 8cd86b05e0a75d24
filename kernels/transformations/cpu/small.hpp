// Small semigroups of maps of at most 256 points, whole, in memory that the caller has: one after
// the other, nothing is taken or given back. A row has a byte a point and is padded with points
// that stay where they are. Rows of up to 64 bytes are in registers.
//
// It finds what enumeration.hpp finds, product by product: the same numbers, words and graphs, of
// as many products computed and deduced. Rows are compared, not only their hashes.
#pragma once
#include <cstddef>
#include <cstdint>

#include "enumerate.hpp"

constexpr std::size_t SMALL_POINTS = 256;

struct SmallProblem {
    const std::uint8_t* generators;  // (letters, degree), images below the degree
    std::uint32_t letters, degree;
    bool monoid;
};

// What one enumeration after the other uses: arrays for `most` numbers, and how far it is.
struct SmallSpace {
    std::uint32_t most;
    SemigroupGraph graph;
    std::uint8_t* generators;  // rows of the generators,
    std::uint8_t* rows;        // and of all numbers
    std::uint32_t* slots;      // numbers + 1 by their rows' hashes: small_slots(most)
    std::uint32_t* starts;     // (most + 1), as in CayleyTables, of which there are `levels`
    // As in Enumerator; size is 0 before it begins. The numbers before `expanded` have their
    // products, those before the level under way also those with generators on the left.
    std::uint32_t size, expanded, levels, computed;
};

enum class SmallStatus { done, full, many, stopped };

struct SmallOps {
    // Goes on until all are found; `full` where space may not suffice for the products of the
    // next number, and one with more of it can go on; `many` where there are more than `limit`
    // numbers. stop: asked now and then.
    SmallStatus (*enumerate)(const SmallProblem&, SmallSpace&, std::uint32_t limit,
                             const volatile bool& stop);
    // Counts the elements e with e e = e of what was enumerated.
    std::uint32_t (*idempotents)(const SmallProblem&, const SmallSpace&);
};

// Returns the bytes of a row: 16, 32, 48, 64, 128 or 256.
constexpr std::size_t small_stride(std::size_t degree) {
    return degree <= 64 ? (degree + 15) / 16 * 16 : degree <= 128 ? 128 : 256;
}
// Returns how many slots there have to be for so many numbers.
constexpr std::uint32_t small_slots(std::uint32_t most) {
    std::uint32_t slots = 64;
    while (slots < 2 * most) slots *= 2;
    return slots;
}
