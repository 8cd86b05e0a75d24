// A plane of cells as a tree of squares that shares what is equal, and remembers what became of it
// (Gosper 1984).
//
// A square of level n has 2^n x 2^n cells; the root's middle is the corner (0, 0) of cell (0, 0).
// Whatever names squares while others are made lies on the stack: making room may give up those that
// are named nowhere.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "crew.hpp"

namespace hashlife {

// Raised where a question is broken off.
struct Interrupted {};

class Tree {
public:
    // threads: that a step may use, at most. memory: bytes.
    Tree(const LeafOps& ops, const NineCellRule& rule, std::size_t memory, int threads);

    // Asked from time to time during long work: whether to break off.
    std::function<bool()> asked;
    std::chrono::milliseconds pause{10};  // between two times that it is asked, at least; after a fifth
                                          // of it, other threads help with a step

    // Moves the universe on, or leaves it as it was.
    Outcome step(const Generations& generations);

    Id root() const { return stack()[0]; }
    int root_level() const { return level_; }
    // Makes `id`, of a level of at least 6, the root, without empty squares around it.
    void set_root(Id id, int level);
    void restore(Id id, int level) {  // the same, as it is
        stack()[0] = id;
        level_ = level;
        stack().keep(1);
    }
    void pad();  // puts the root into the middle of a square of twice its size

    // Returns the square of four of level - 1.
    Id join(Id nw, Id ne, Id sw, Id se, int level) {
        return crew_.first.join(nw, ne, sw, se, level);
    }
    Id leaf(const std::uint32_t* rows) { return crew_.first.leaf(rows); }
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
    // Whether some worker might not find room.
    bool lacks_room() const {
        return nodes_.lacks(for_all(MARGIN)) || leaves_.lacks(for_all(LEAF_MARGIN)) ||
               later_.table().is_full(for_all(LATER_MARGIN));
    }
    // How often squares were given up that nothing named.
    std::uint64_t collections() const { return statistics().collections; }
    Outcome outcome() const { return crew_.outcome(); }
    void begin();  // before the first of a row of calls of ready(), or of look()
    // What a question calls for every few squares. Raises Interrupted where somebody asked to stop.
    void look() {
        if (++polls_ % OFTEN == 0 && is_stopped()) throw Interrupted();
    }
    static constexpr std::size_t MARGIN = 1 << 11, LEAF_MARGIN = 1 << 10, LATER_MARGIN = 1 << 10;
    static constexpr std::size_t FOR_EACH = 1 << 10;  // squares of either kind that a helper needs room for

    // Returns room for so many names on the stack.
    Id* push(int count) { return stack().push(count); }
    void pop(int count) { stack().pop(count); }
    std::vector<Id> held;

    std::size_t bytes() const { return squares_.bytes(); }
    std::size_t nodes_end() const { return nodes_.end(); }  // numbers of nodes are below
    std::size_t leaves_end() const { return leaves_.end(); }
    std::size_t squares() const {
        const Worker& worker = crew_.first;
        return nodes_.live() + worker.new_nodes.made() + leaves_.live() + worker.new_leaves.made() + 1;
    }
    const Statistics& statistics() const { return crew_.first.statistics; }
    // Whether a collection was broken off while it gave up squares: the next call of ready() ends it.
    bool is_collecting() const { return bool(collection_); }
    void set_memory(std::size_t memory) { memory_ = memory; }

private:
    void trim();
    Stack& stack() { return crew_.first.stack; }
    const Stack& stack() const { return crew_.first.stack; }
    // A margin with what helpers need beside it.
    std::size_t for_all(std::size_t margin) const { return margin + FOR_EACH * crew_.helpers(); }
    bool is_stopped();  // asks, but not sooner than after a pause
    void call_help();
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

    static constexpr std::size_t LEAST_FOR_EACH = std::size_t(4) << 20;  // bytes that a thread must find

    std::size_t memory_;
    Squares squares_;
    const int most_helpers_;
    Nodes& nodes_ = squares_.nodes;
    Leaves& leaves_ = squares_.leaves;
    Later& later_ = squares_.later;
    Crew crew_{*this, squares_};
    int level_ = LEAF_LEVEL + 1;
    std::array<Id, HIGHEST + 1> empties_{};
    bool is_stepping_ = false;
    static constexpr std::uint32_t OFTEN = 1 << 13;  // squares that are looked at in about a millisecond
    std::uint32_t polls_ = 0;
    std::unique_ptr<Collection> collection_;  // one that was broken off after it gave up the first square
    int emptied_ = 0;  // how often all that nothing names was given up, since begin()
    std::chrono::steady_clock::time_point begun_, last_;
};

}  // namespace hashlife
