// What is asked of the squares of a tree: how many cells live, and where.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "tree.hpp"

namespace hashlife {

// A number below 2^512: more than a square of the highest level has cells.
using Count = std::array<std::uint64_t, 8>;

// A value for each square that there is, zero at first. It takes memory as far as values are set.
template <class Value>
class BySquare {
public:
    explicit BySquare(const Tree& tree)
        : nodes_(sizeof(Value) * tree.nodes_end()), leaves_(sizeof(Value) * tree.leaves_end()) {}
    Value& operator[](Id id) const {
        return static_cast<Value*>((is_leaf(id) ? leaves_ : nodes_).data())[id >> 1];
    }
    std::size_t bytes() const { return nodes_.bytes() + leaves_.bytes(); }

private:
    Memory nodes_, leaves_;
};

// All questions raise Interrupted where Tree::look() does.

// Populations of squares; good as long as no square is made.
class Census {
public:
    explicit Census(Tree& tree) : tree_(tree), small_(tree) {}
    Count population(Id id);
    double about(Id id);  // rounded where it is 2^53 or more
    std::size_t bytes() const { return small_.bytes() + large_.bytes(); }

private:
    static constexpr int SMALL = 31;  // the highest level of which a count fits 64 bits
    std::uint64_t small(Id id);

    Tree& tree_;
    BySquare<std::uint64_t> small_;  // populations and one; 0: not known
    Memo<Count> large_;
};

enum class Side { west, east, north, south };

// Returns how far the outermost live cell lies from a side of the root, as the bits of a number,
// the highest first, one for each level. Not for an empty root.
std::vector<std::uint8_t> distance_bits(Tree& tree, Side side);

// A tree as a list, children before their parents. Squares are numbered: 0 is any empty one, then
// come the leaves, then the others; the root is the last.
struct Listing {
    std::vector<Id> leaves;
    std::vector<std::uint8_t> levels;                // of the others
    std::vector<std::array<std::uint32_t, 4>> four;  // their children's numbers
};
Listing list(Tree& tree);

}  // namespace hashlife
