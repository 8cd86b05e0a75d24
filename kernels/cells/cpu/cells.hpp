// What the CPU backend does to packed cells: the random soup, and the survey.
#pragma once
#include <cstddef>
#include <cstdint>

// A block of packed words: row r begins at words + r * stride, counted in words of 8 bytes. Its
// first word is word w0 of row y0 of the universe, both modulo 2^64.
template <class Word>
struct CellsBlock {
    Word* words;
    std::size_t rows, count;
    std::ptrdiff_t stride;
    std::uint64_t y0, w0;
};

struct CellsSurvey {
    std::uint64_t population;
    std::uint64_t low, high;  // the two halves of what the block adds to the digest's sum
};

// How old blocks of 2^scale x 2^scale cells are; the first begins at bit `first` of the rows.
// Where cells are missing for the last row and column of blocks, they are dead. before, counts:
// uint16 for each block: 0 where no cell lives, or 1 + its age. before and known, which are the
// ages and cells as they were then, are null where nothing was seen. levels[i] =
// shades[counts[i]], where shades has 0 .. oldest.
struct CellsAges {
    CellsBlock<const std::uint64_t> block;
    const std::uint64_t* known;
    std::ptrdiff_t known_stride;
    std::size_t first, columns, across;  // across: blocks from one row of all arrays to the next
    int scale;                           // 0 to 3
    std::uint16_t passed, oldest;
    const std::uint16_t* before;
    std::uint16_t* counts;
    const std::uint8_t* shades;
    std::uint8_t* levels;
    std::uint8_t* scratch;  // 2 bytes for each block of a row, and 128
};

// Live cells of blocks of 2^scale x 2^scale cells, scale 3 to 12: uint8 for 3, uint16 to 7, else
// uint32; `stride` of them from row to row. levels, and above unless null, are contiguous.
struct CellsClimb {
    const void* live;
    std::size_t rows, columns;
    std::ptrdiff_t stride;
    int scale;
    std::uint8_t* levels;
    void* above;  // of blocks of twice the side, in the type of theirs
};

// What each CPU level exports, as `extern const CellsOps cells_LEVEL`.
struct CellsOps {
    // Fills in the soup of density digits / 2^32, digits <= 2^32 (lifesim/soup.py has the
    // definition).
    void (*fill_soup)(const CellsBlock<std::uint64_t>& block, std::uint64_t digits,
                      std::uint64_t key);
    // Returns the population and a partial sum of the digest (lifesim/digests.py has the
    // definition). counts, unless null, receives the live cells of each block of 8 x 8
    // cells: 8 * count bytes for every 8 rows, and `across` bytes from one such row to the
    // next.
    CellsSurvey (*survey)(const CellsBlock<const std::uint64_t>& block, std::uint8_t* counts,
                          std::size_t across);
    // Sets levels[r * across + c] to 255 times the live share of block (r, c) of 2^scale x
    // 2^scale cells, a half rounded up, for scale 1 to 3 and r < block.rows >> scale. The
    // first block begins at bit `first` of the block's rows; scratch has room for 2^(3 -
    // scale) rows of words.
    void (*densities)(const CellsBlock<const std::uint64_t>& block, std::size_t first, int scale,
                      std::size_t columns, std::uint8_t* levels, std::size_t across,
                      std::uint64_t* scratch);
    // Finds ages. A block with a cell that lives and did not before is new, of age 0; others
    // in which one lives are older by `passed`, up to `oldest`.
    void (*ages)(const CellsAges& ages);
    // Finds the levels of blocks, and the live cells of blocks of twice the side.
    void (*climb)(const CellsClimb& climb);
};
