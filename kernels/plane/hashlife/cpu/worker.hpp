// What becomes of the squares of a tree, found out by one or several threads.
//
// Each thread has a worker. Workers take squares to do from each other's lists. Nobody does anything
// else with the tree meanwhile, but at times when all workers stand still.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
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

struct Statistics {
    std::uint64_t steps = 0;        // of squares of level 6, by the circuit
    std::uint64_t results = 0;      // of larger squares
    std::uint64_t collections = 0;  // of garbage
    std::uint64_t abandoned = 0;    // of them that were broken off while they looked for what stays
    std::uint64_t shared = 0;       // parts of lists that were done by another worker than the list's
    void add(const Statistics& other) {
        steps += other.steps;
        results += other.results;
        shared += other.shared;
    }
};

// What all workers share.
struct Squares {
    Nodes nodes;
    Leaves leaves;
    Later later;      // what squares become in the generations of `now`, where they are less than their own
    Generations now;  // of the step that is made
    const LeafOps& ops;
    const NineCellRule rule;

    void share(bool shared) {  // whether several workers use all this at the same time
        nodes.share(shared);
        leaves.share(shared);
        later.table().share(shared);
    }
    std::size_t bytes() const { return nodes.bytes() + leaves.bytes() + later.table().bytes(); }
};

// Names squares while others are made: making room may give up those that are named nowhere.
class Stack {
public:
    Stack() : memory_(sizeof(Id) * SIZE), names_(static_cast<Id*>(memory_.data())) {}
    Id* push(int count) {
        if (top_ + std::size_t(count) > SIZE) throw std::bad_alloc();
        Id* const first = names_ + top_;
        for (int i = 0; i < count; i++) first[i] = NOTHING;
        top_ += std::size_t(count);
        return first;
    }
    void pop(int count) { top_ -= std::size_t(count); }
    void keep(std::size_t count) { top_ = count; }  // and give up what lies above
    const Id* begin() const { return names_; }
    const Id* end() const { return names_ + top_; }
    Id& operator[](std::size_t i) const { return names_[i]; }

private:
    static constexpr std::size_t SIZE = WIDTH * BATCH * (HIGHEST + 8);
    Memory memory_;
    Id* const names_;
    std::size_t top_ = 0;
};

class Crew;

class Worker {
public:
    Worker(Squares& squares, Crew& crew, int number)
        : number(number), squares_(squares), crew_(crew), nodes_(squares.nodes), leaves_(squares.leaves),
          later_(squares.later) {}

    // Replaces squares by their middles, later by 2^(level - 2) generations (whole), or by the
    // generations of this step modulo that.
    void advance(Id* slots, int count, int level, bool whole);

    Id join(Id nw, Id ne, Id sw, Id se, int level) {
        return squares_.nodes.find(squares_.nodes.key(nw, ne, sw, se), level, new_nodes);
    }
    Id leaf(const std::uint32_t* rows) {
        return squares_.leaves.find(rows, squares_.leaves.hash(rows), new_leaves);
    }
    const int number;  // of the worker
    Stack stack;
    Reserve new_nodes, new_leaves;
    Statistics statistics;

private:
    struct Todo {  // some squares of a list, no two the same
        int count;
        const Place* at;
    };
    // A list that other workers may take squares from.
    struct List {
        Id* slots;
        Todo left;
        int level;
        bool whole;
        std::atomic<int> away{0};  // parts that others work on
    };
    struct Part {
        List* list;
        Todo todo;
    };
    friend class Crew;
    // Claims on squares, given up at the end of a block.
    class Claims {
    public:
        Claims(Nodes& nodes, const Id* slots, const Place* at, int count) : nodes_(nodes), count_(count) {
            for (int j = 0; j < count; j++) claimed_[j] = slots[at[j]];
        }
        ~Claims() {
            for (int j = 0; j < count_; j++) nodes_.give_up_claim(claimed_[j]);
        }
        Claims(const Claims&) = delete;
        Claims& operator=(const Claims&) = delete;

    private:
        Nodes& nodes_;
        Id claimed_[BATCH];
        const int count_;
    };

    int unknown(Id* slots, int count, bool whole, Place* first, Place* todo) const;
    void work_off(List& list);
    Todo take(List& list, bool own) const;
    bool give(int highest, Part& part);
    void work_on(const List& list, const Todo& todo);
    void grow_older(Id* slots, const Todo& todo, int level, bool whole);
    void grow_older_shared(Id* slots, const Todo& todo, int level);
    int claim(Id* slots, Place* left, int& count, Place* mine);
    void leaf_steps(Id* slots, const Todo& todo, int generations, bool kept);
    void middle(Id* slots, int count, int level);  // at once
    void join_middles(Id* slots, int count, int level);
    void spread(const Id* slots, const Todo& todo, int level, Id* nine);
    void combine(Id* nine, int count, int level);

    Squares& squares_;
    Crew& crew_;
    Nodes& nodes_;
    Leaves& leaves_;
    Later& later_;
    Spin lists_busy_;  // held by who looks at the lists
    std::array<List*, HIGHEST> lists_{};
    int list_count_ = 0;
};

}  // namespace hashlife
