// The CPU backend of CKY parsing.
//
// Symbols are renumbered by what they can span (plan.py): first those of one token only, then
// those of one token and of more, then those of more only. So the cells of one token hold the
// symbols [0, single), and wider cells hold [first, first + wide). A chart lies column by
// column: the wide cells (0, j) .. (j - 2, j), and then (j - 1, j).
#pragma once
#include <cstddef>
#include <cstdint>

// Rules in order of their left side A, then of B, for one kind of right child and one kind of
// left child. Symbols are counted from the first that cells of their kind hold.
struct CkyRows {
    std::uint32_t entries;
    const std::uint32_t* head;   // the A of each entry
    const std::uint32_t* left;   // the B of each
    const std::uint32_t* right;  // (entries, arity): the C's of each, some perhaps twice
};

// The matrix Q[A, B] of ORs of a right child's words, in tiles of CKY_BLOCK A's and `chunk`
// B's. An operand is a word of the child or, where there are tables, of these: table g has
// all ORs of the next bits[g] words of the child.
constexpr std::uint32_t CKY_BLOCK = 8, CKY_COUNTS = 10, CKY_SCALE = 8;
struct CkyMatrix {
    std::uint32_t tables;
    const std::uint32_t* bits;
    // Tile by tile: how many of its places have 0, 1, .. 8 and more operands; then, in this
    // order, the places (B * CKY_BLOCK + A), the operands, and how many there are where they
    // are more than 8. Places and operands are multiplied by CKY_SCALE, which spares an
    // instruction.
    const std::uint32_t* counts;
    const std::uint16_t* place;
    const std::uint16_t* operand;
    const std::uint16_t* more;
};

struct CkyPlan {
    std::uint32_t symbols, first, wide, single, terminals;
    const std::uint32_t* old;            // (symbols): their original numbers
    const std::uint32_t* lexical_start;  // (terminals + 1)
    const std::uint32_t* lexical;        // the symbols of each terminal
    std::uint32_t below;              // symbols B of wide cells with units: below this
    const std::uint32_t* unit_right;  // (below): the B of each
    const std::uint32_t* unit_start;  // (below + 1)
    const std::uint32_t* unit_left;   // the A's of each
    bool dense;
    // Indexed by the kind of the right child (one token, or more), then by that of the left
    // child.
    CkyRows rows[2][2];
    std::uint32_t arity;  // 1, 2 or 4
    CkyMatrix matrix[2];
    std::uint32_t chunk, tables;  // B's of a tile; words of the larger set of tables
    // Tells whether all cells hold the same symbols.
    bool uniform() const { return first == 0 && wide == single; }
};

// The strings of one group: those with the numbers order[0 .. count).
struct CkyGroup {
    const std::uint32_t* tokens;
    const std::int64_t* offsets;
    const std::int64_t* order;
    std::int64_t count, longest;
    const volatile bool* cancelled;
};

// The functions for one word type.
struct CkyWordOps {
    std::int64_t lanes;  // of a word, for 32 strings each
    std::size_t (*scratch_bytes)(const CkyPlan& plan, std::int64_t length);
    // Finds, for each string s, the greatest k up to its length for which the symbol
    // (renumbered) derives its first k tokens, longest[s]; or whether it derives them all,
    // accepted[s].
    void (*recognise)(const CkyPlan& plan, const CkyGroup& group, std::uint32_t symbol,
                      std::int32_t* longest, std::uint8_t* accepted, void* scratch);
    // Writes the words of a chart: (cells, symbols, lanes), with the symbols' original
    // numbers.
    void (*chart)(const CkyPlan& plan, const CkyGroup& group, std::uint32_t* words, void* scratch);
};

// What each CPU level exports, as `extern const CkyOps cky_LEVEL`. Scratch is aligned to 64
// bytes.
struct CkyOps {
    CkyWordOps narrow, wide;
};
