// A plane of cells as a tree of squares that shares what is equal, and remembers what became of it
// (Gosper 1984).
//
// A square of level n has 2^n x 2^n cells; the root's middle is the corner (0, 0) of cell (0, 0).
// Whatever names squares while others are made lies in `stack_`: making room may give up those that
// are named nowhere.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "memo.hpp"
#include "nodes.hpp"

namespace hashlife {

constexpr int HIGHEST = 250;  // level of a root, at most
constexpr int BATCH = 64;     // squares that are worked on together, at most
constexpr int WIDTH = 9;      // squares that one is spread into

using Place = std::uint16_t;  // in a list of at most WIDTH * BATCH squares

// The number of generations of a step: bit b of `bits[b / 8]`.
struct Generations {
    std::vector<std::uint8_t> bits;
    bool bit(int b) const { return b >> 3 < int(bits.size()) && bits[std::size_t(b >> 3)] >> (b & 7) & 1; }
    int width() const;     // bits up to the highest that is set; 0 for none
    int trailing() const;  // zeros below the lowest; HIGHEST + 8 for none
    std::uint32_t low(int count) const;  // the lowest bits, at most 8 of them
};

enum class Outcome { made, stopped, no_memory };

struct Statistics {
    std::uint64_t steps = 0;        // of squares of level 6, by the circuit
    std::uint64_t results = 0;      // of larger squares
    std::uint64_t collections = 0;  // of garbage
    std::uint64_t abandoned = 0;    // of them that were broken off while they looked for what stays
};

class Tree {
public:
    Tree(const LeafOps& ops, std::uint32_t birth, std::uint32_t survival, std::size_t memory);

    // Asked from time to time during long work: whether to break off.
    std::function<bool()> asked;
    std::chrono::milliseconds pause{10};  // between two times that it is asked, at least

    // Moves the universe on, or leaves it as it was.
    Outcome step(const Generations& generations);

    Id root() const { return stack_[0]; }
    int root_level() const { return level_; }
    // Makes `id`, of a level of at least 6, the root, without empty squares around it.
    void set_root(Id id, int level);
    void restore(Id id, int level) {  // the same, as it is
        stack_[0] = id;
        level_ = level;
        top_ = 1;
    }
    void pad();  // puts the root into the middle of a square of twice its size

    // Returns the square of four of level - 1.
    Id join(Id nw, Id ne, Id sw, Id se, int level) {
        return nodes_.find(nodes_.key(nw, ne, sw, se), level);
    }
    Id leaf(const std::uint32_t* rows) { return leaves_.find(rows); }
    Id empty(int level) const { return empties_[std::size_t(level)]; }
    bool is_empty(Id id) const {
        return id == EMPTY_LEAF || (!is_leaf(id) && id == empties_[std::size_t(nodes_.level(id))]);
    }
    const Id* children(Id id) const { return nodes_.children(id); }
    const std::uint32_t* rows(Id id) const { return leaves_.rows(id); }
    int level(Id id) const { return is_leaf(id) ? LEAF_LEVEL : nodes_.level(id); }

    // Whether a leaf or a node has this name.
    bool names(Id id) const {
        return is_leaf(id) ? (id >> 1) < leaves_.end() : nodes_.names(id);
    }

    // Makes sure that there is room for MARGIN nodes and LEAF_MARGIN leaves, and that nobody has asked
    // to stop: whoever makes squares asks before every few of them. Names are then good only where
    // they stand on the stack or in `held`.
    bool ready();
    // How often squares were given up that nothing named.
    std::uint64_t collections() const { return statistics_.collections; }
    Outcome outcome() const { return outcome_; }
    void begin();  // before the first of a row of calls of ready()
    static constexpr std::size_t MARGIN = 1 << 13, LEAF_MARGIN = 1 << 10, LATER_MARGIN = 1 << 10;

    // Returns room for so many names on the stack.
    Id* push(int count);
    void pop(int count) { top_ -= std::size_t(count); }
    std::vector<Id> held;

    std::size_t bytes() const { return nodes_.bytes() + leaves_.bytes() + later_.table().bytes(); }
    std::size_t squares() const { return nodes_.live() + leaves_.live() + 1; }
    const Statistics& statistics() const { return statistics_; }
    // Whether a collection was broken off while it gave up squares: the next call of ready() ends it.
    bool is_collecting() const { return bool(collection_); }
    void set_memory(std::size_t memory) { memory_ = memory; }

private:
    void trim();
    struct Todo {  // some squares of a list, no two the same
        int count;
        const Place* at;
    };
    // Replaces squares by their middles, later by 2^(level - 2) generations (whole), or by the
    // generations of this step modulo that.
    void advance(Id* slots, int count, int level, bool whole);
    int unknown(Id* slots, int count, bool whole, Place* first, Place* todo) const;
    void grow_older(Id* slots, const Todo& todo, int level, bool whole);
    void leaf_steps(Id* slots, const Todo& todo, int generations, bool kept);
    void middle(Id* slots, int count, int level);  // at once
    void join_middles(Id* slots, int count, int level);
    void spread(const Id* slots, const Todo& todo, int level, Id* nine);
    void combine(Id* nine, int count, int level);
    bool lacks_room() const {
        return nodes_.lacks(MARGIN) || leaves_.lacks(LEAF_MARGIN) || later_.table().is_full(LATER_MARGIN);
    }
    bool is_stopped();  // asks, but not sooner than after a pause
    Outcome make_room();
    std::size_t growth() const;
    bool grow();

    // A collection of garbage: which squares stay, by their numbers, and how far it has come.
    struct Collection {
        std::vector<bool> nodes, leaves;
        std::size_t looked = 0;
        bool stopped = false;
        Leaves::Index::Pass index_of_nodes, index_of_leaves;
        Later::Inside::Pass later;
        std::size_t nodes_left = 0, leaves_left = 0;
        bool keeps(Id id) const { return is_leaf(id) ? leaves[id >> 1] : nodes[id >> 1]; }
    };
    void mark(Id id, Collection& collection);
    bool collect(bool all);
    bool sweep();

    const LeafOps& ops_;
    const std::uint32_t birth_, survival_;
    std::size_t memory_;
    Nodes nodes_;
    Leaves leaves_;
    Later later_;  // what squares become in the generations of `now_`, where they are less than their own
    Generations now_;
    int level_ = LEAF_LEVEL + 1;
    std::array<Id, HIGHEST + 1> empties_{};
    static constexpr std::size_t STACK = WIDTH * BATCH * (HIGHEST + 8);
    Memory stack_memory_;
    Id* stack_;
    std::size_t top_ = 1;
    Outcome outcome_ = Outcome::made;
    std::uint32_t polls_ = 0;
    std::unique_ptr<Collection> collection_;  // one that was broken off after it gave up the first square
    int emptied_ = 0;  // how often all that nothing names was given up, since begin()
    std::chrono::steady_clock::time_point last_;
    Statistics statistics_;
};

}  // namespace hashlife
