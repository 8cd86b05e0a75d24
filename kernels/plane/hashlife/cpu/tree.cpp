#include "tree.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace hashlife {

Tree::Tree(const LeafOps& ops, const NineCellRule& rule, std::size_t memory, int threads)
    : memory_(memory), squares_{{}, {}, {}, {}, ops, rule},
      most_helpers_(int(std::min(std::size_t(threads), memory / LEAST_FOR_EACH)) - 1) {
    stack().keep(1);
    empties_[LEAF_LEVEL] = EMPTY_LEAF;
    for (int level = LEAF_LEVEL + 1; level <= HIGHEST; level++) {
        const Id below = empty(level - 1);
        empties_[std::size_t(level)] = join(below, below, below, below, level);
    }
    stack()[0] = empty(level_);
}

void Tree::set_root(Id id, int level) {
    stack()[0] = id;
    level_ = level;
    trim();
}

void Tree::pad() {
    if (level_ >= HIGHEST) throw std::bad_alloc();
    const Id outside = empty(level_ - 1);
    Id four[4];
    for (int i = 0; i < 4; i++) {
        Id quarter[4] = {outside, outside, outside, outside};
        quarter[3 - i] = children(root())[i];
        four[i] = join(quarter[0], quarter[1], quarter[2], quarter[3], level_);
    }
    level_++;
    stack()[0] = join(four[0], four[1], four[2], four[3], level_);
}

// Takes away what is empty around the middle of the root.
void Tree::trim() {
    while (level_ > LEAF_LEVEL + 2) {
        Id four[4];
        for (int i = 0; i < 4; i++) {
            const Id* const quarter = children(children(root())[i]);
            for (int j = 0; j < 4; j++)
                if (j != 3 - i && !is_empty(quarter[j])) return;
            four[i] = quarter[3 - i];
        }
        level_--;
        stack()[0] = join(four[0], four[1], four[2], four[3], level_);
    }
}

Outcome Tree::step(const Generations& generations) {
    const int width = generations.width();
    if (width == 0) return Outcome::made;
    if (squares_.now.bits != generations.bits) {
        squares_.now = generations;
        later_.clear();
    }
    begin();
    const int level = level_;
    Id* const frame = push(2);
    frame[0] = root();
    try {
        // What lives is to stay within the middle of the root.
        const int needed = std::max(level_ - 1, width) + 3;
        if (needed > HIGHEST) throw std::bad_alloc();
        if (ready()) {
            while (level_ < needed) pad();
            frame[1] = root();
            is_stepping_ = true;
            crew_.first.advance(frame + 1, 1, level_, false);
        }
    } catch (const std::bad_alloc&) {
        crew_.fail(Outcome::no_memory);
    }
    is_stepping_ = false;
    crew_.end();
    if (outcome() == Outcome::made) {
        set_root(frame[1], level_ - 1);
        stack().keep(1);
    } else {
        restore(frame[0], level);
    }
    return outcome();
}

void Tree::begin() {
    crew_.reset_outcome();
    emptied_ = 0;
    stack().keep(1);
    begun_ = last_ = std::chrono::steady_clock::now();
}

bool Tree::ready() {
    if (outcome() != Outcome::made) return false;
    if (lacks_room() || collection_ || crew_.is_called()) crew_.alone([&] { return make_room(); });
    if (outcome() != Outcome::made) return false;
    if (++polls_ % 256 == 0 && is_stopped()) crew_.fail(Outcome::stopped);
    if (is_stepping_ && polls_ % 16 == 0) call_help();
    return outcome() == Outcome::made;
}

// Starts helpers once a step takes so long that it pays.
void Tree::call_help() {
    if (crew_.helpers() || most_helpers_ < 1) return;
    if (std::chrono::steady_clock::now() - begun_ >= pause / 5) crew_.begin(most_helpers_);
}

bool Tree::is_stopped() {
    if (!asked) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < pause) return false;
    last_ = now;
    return asked();
}

}  // namespace hashlife
