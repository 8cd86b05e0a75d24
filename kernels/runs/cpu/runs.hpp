// Cells as text of run lengths, read into packed words and written from them; see
// kernels/runs/contract.py.
#pragma once
#include <cstddef>
#include <cstdint>

namespace runs {

constexpr std::int64_t MOST_DIGITS = 18;
constexpr std::int64_t MOST_CELLS = std::int64_t(1) << 62;  // all counts together stay below

// Why a walk ended.
enum Fault : int {
    NONE,     // the piece is at its end
    END,      // a `!`
    FOREIGN,  // a character that has no meaning
    DIGITS,   // a count of too many digits, which begins there
    ZERO,     // a count of 0, which begins there
    CELLS,    // with this tag the counts reach MOST_CELLS
    OUTSIDE,  // the run of this tag leaves the words
};

// What is carried from one piece of a text to the next; a row of int64 in Python.
struct State {
    std::int64_t x, y;                              // the next cell
    std::int64_t count, digits, count_at;           // of the count that is being read
    std::int64_t cells;                             // all counts together
    std::int64_t live;                              // whether any cell lived
    std::int64_t left, right, top, bottom;          // live cells; right is past the last column
    std::int64_t widest_at, lowest_at;              // tags of the runs that reach right, bottom
};
constexpr std::size_t FIELDS = sizeof(State) / sizeof(std::int64_t);

// Packed words that live cells are set in; words is null where they are only measured.
struct Canvas {
    std::uint64_t* words;
    std::int64_t stride;         // words from row to row
    std::int64_t left, top;      // the cell of the text that is the first one of the words
    std::int64_t width, height;  // in cells
};

// Goes on through text[first, last), and says where and why it ended.
Fault walk(const char* text, std::int64_t first, std::int64_t last, State& state,
           const Canvas& canvas, std::int64_t& at);

// What is carried from one block of rows to the next while they are written.
struct Pen {
    std::int64_t rows;  // row ends that are due
    std::int64_t line;  // characters in the line so far
};

constexpr std::int64_t LINE = 70;  // the longest line
// Returns the most text that rows of `stride` words take: a run of n cells has at most n
// characters, the end of a row before it at most 20, and a line has more than 32.
std::size_t most_text(std::size_t stride, std::size_t rows);

// How far writing has come in a block of rows: word 0 is the beginning of row y, wherever its
// first column is.
struct Place {
    std::int64_t y, word;
    std::int64_t written;  // columns before it stand in the text
    std::int64_t live;     // where the live run began that has not ended, or -1
    std::uint64_t before;  // the cell before the word
};

// Writes rows of packed words as text, from column `left` on. Ends after about `most` words, or
// when `at` has come to row `rows`; returns how much was written.
std::size_t write(const std::uint64_t* words, std::int64_t stride, std::int64_t rows,
                  std::int64_t left, std::int64_t width, Pen& pen, Place& at, std::int64_t most,
                  char* out);

}  // namespace runs
