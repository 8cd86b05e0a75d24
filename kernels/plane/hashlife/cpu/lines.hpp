// Reads the lines of macrocell files that are written as nearly all are.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace hashlife {

// Squares as kernels.plane.hashlife.listing has them.
struct Lines {
    std::vector<std::uint8_t> levels;
    std::vector<std::int64_t> children;  // four of each
    std::vector<std::uint64_t> leaves;
    std::size_t end = 0;   // where the first line begins that was not read
    std::size_t last = 0;  // where the last line begins that was
};

// Reads lines of text[start, size), at most `most` of them, up to the first that is no leaf and no
// node of level 4 to `highest` with one space between its numbers, whose children stand before it.
// known: the levels of the squares that stand before `start`, among them the empty square 0.
Lines read_lines(const char* text, std::size_t size, std::size_t start, std::size_t most, int highest,
                 const std::uint8_t* known, std::size_t known_count);

}  // namespace hashlife
