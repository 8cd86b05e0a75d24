// A step up a pyramid of densities: levels of blocks, and the live cells of blocks of twice the
// side. Part of cells.cpp, which is compiled once per CPU level.
#pragma once
#include "../../bits.hpp"
#include "cells.hpp"

namespace {

// As many elements of a type as a register holds, from any address.
template <class T>
struct Many {
    typedef T Type __attribute__((vector_size(sizeof(VECTOR)), aligned(sizeof(T)), may_alias));
    static constexpr std::size_t COUNT = sizeof(VECTOR) / sizeof(T);
};

// Sets `to` to 255 times the live share of each block of 2^scale x 2^scale cells, a half rounded
// up, but 0 only where no cell lives and 255 only where all do.
template <class Live>
void levels_of(const Live* __restrict live, std::size_t columns, int scale, std::uint8_t* __restrict to) {
    const std::uint32_t cells = std::uint32_t(1) << (2 * scale), half = cells / 2;
    for (std::size_t c = 0; c < columns; c++) {
        const std::uint32_t x = live[c], level = (x * 255 + half) >> (2 * scale);
        const std::uint32_t least = x > 0 ? 1 : 0, most = x < cells ? 254 : 255;
        const std::uint32_t up = level > least ? level : least;
        to[c] = std::uint8_t(up < most ? up : most);
    }
}

// The same of blocks of 8 x 8: (255 x + 32) / 64 is 4 x, or 1 less where x is above 32.
void levels_of_8(const std::uint8_t* live, std::size_t columns, std::uint8_t* to) {
    using Bytes = Many<std::uint8_t>;
    std::size_t c = 0;
    for (; c + Bytes::COUNT <= columns; c += Bytes::COUNT) {
        const auto x = *(const Bytes::Type*)(live + c);
        *(Bytes::Type*)(to + c) = (x << 2) + (Bytes::Type)(x > 32);
    }
    levels_of(live + c, columns - c, 3, to + c);
}

// The same of blocks of 16 x 16: (255 x + 128) / 256 is x, or 1 less where x is above 128.
void levels_of_16(const std::uint16_t* live, std::size_t columns, std::uint8_t* to) {
    using Live = Many<std::uint16_t>;
    typedef std::uint8_t Half __attribute__((vector_size(sizeof(VECTOR) / 2), aligned(1), may_alias));
    std::size_t c = 0;
    for (; c + Live::COUNT <= columns; c += Live::COUNT) {
        const auto x = *(const Live::Type*)(live + c);
        *(Half*)(to + c) = __builtin_convertvector(x + (Live::Type)(x > 128), Half);
    }
    levels_of(live + c, columns - c, 4, to + c);
}

// Adds up the two halves of each element.
template <class T>
BITS_FN typename Many<T>::Type halves(typename Many<T>::Type x) {
    constexpr int BITS = 4 * sizeof(T);
    return (x & T((T(1) << BITS) - 1)) + (x >> BITS);
}

// Adds up pairs of columns of two rows, from column `first` on; a missing row is dead.
template <class Live, class Above>
void pairs_of(const Live* upper, const Live* lower, std::size_t first, std::size_t columns, Above* to) {
    for (std::size_t c = first; c < columns; c++) {
        const Above sum = Above(Above(upper[c]) + (lower ? lower[c] : 0));
        to[c / 2] = c % 2 ? Above(to[c / 2] + sum) : sum;
    }
}

// The same, a register at a time: a pair of columns is one element of twice the width.
template <class Live, class Pair, class Above>
void add_pairs(const Live* upper, const Live* lower, std::size_t columns, Above* to) {
    using Pairs = Many<Pair>;
    typedef Above Sums __attribute__((vector_size(Pairs::COUNT * sizeof(Above)), aligned(sizeof(Above)),
                                      may_alias));
    std::size_t c = 0;
    if (lower)
        for (; c + 2 * Pairs::COUNT <= columns; c += 2 * Pairs::COUNT) {
            const auto a = *(const typename Pairs::Type*)(upper + c);
            const auto b = *(const typename Pairs::Type*)(lower + c);
            *(Sums*)(to + c / 2) = __builtin_convertvector(halves<Pair>(a) + halves<Pair>(b), Sums);
        }
    pairs_of(upper, lower, c, columns, to);
}

template <class Live, class Above, class Levels, class Pairs>
void each_row(const CellsClimb& c, Levels levels, Pairs pairs) {
    const Live* live = static_cast<const Live*>(c.live);
    Above* above = static_cast<Above*>(c.above);
    for (std::size_t r = 0; r < c.rows; r++, live += c.stride) {
        levels(live, c.levels + r * c.columns);
        if (!above || r % 2) continue;
        pairs(live, r + 1 < c.rows ? live + c.stride : nullptr, above);
        above += (c.columns + 1) / 2;
    }
}

void climb(const CellsClimb& c) {
    using std::uint16_t;
    using std::uint32_t;
    using std::uint8_t;
    const std::size_t columns = c.columns;
    const auto levels = [&](const auto* live, uint8_t* to) { levels_of(live, columns, c.scale, to); };
    const auto narrow = [&](const uint16_t* upper, const uint16_t* lower, uint16_t* to) {
        add_pairs<uint16_t, uint32_t>(upper, lower, columns, to);
    };
    if (c.scale == 3)
        each_row<uint8_t, uint16_t>(
            c, [&](const uint8_t* live, uint8_t* to) { levels_of_8(live, columns, to); },
            [&](const uint8_t* upper, const uint8_t* lower, uint16_t* to) {
                add_pairs<uint8_t, uint16_t>(upper, lower, columns, to);
            });
    else if (c.scale == 4)
        each_row<uint16_t, uint16_t>(
            c, [&](const uint16_t* live, uint8_t* to) { levels_of_16(live, columns, to); }, narrow);
    else if (c.scale < 7)
        each_row<uint16_t, uint16_t>(c, levels, narrow);
    else if (c.scale == 7)
        each_row<uint16_t, uint32_t>(c, levels, [&](const uint16_t* upper, const uint16_t* lower, uint32_t* to) {
            pairs_of(upper, lower, 0, columns, to);
        });
    else
        each_row<uint32_t, uint32_t>(c, levels, [&](const uint32_t* upper, const uint32_t* lower, uint32_t* to) {
            pairs_of(upper, lower, 0, columns, to);
        });
}

}  // namespace
