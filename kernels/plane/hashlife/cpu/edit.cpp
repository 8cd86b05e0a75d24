#include "edit.hpp"

#include <algorithm>
#include <new>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hashlife {

namespace {

Edited edited(Outcome outcome) {
    return outcome == Outcome::made      ? Edited::made
           : outcome == Outcome::stopped ? Edited::stopped
                                         : Edited::no_memory;
}

class Putter {
public:
    Putter(Tree& tree, const std::int64_t* places, const std::uint64_t* squares)
        : tree_(tree), places_(places), squares_(squares) {}

    // Replaces the square in *slot by one with the squares of [first, last) put into it.
    void put(Id* slot, int level, std::size_t* first, std::size_t* last, bool is_root) {
        if (first == last || contradicted || !tree_.ready()) return;
        if (level == SQUARE_LEVEL) {
            contradicted = last - first > 1;
            *slot = square(squares_ + 64 * *first);
            return;
        }
        // Bit `axis` says on which side of the middle a place lies, in two's complement; on the
        // root's own middle lies the sign.
        auto beyond = [&](std::size_t i, int axis) {
            const std::int64_t at = places_[2 * i + std::size_t(axis)];
            const int bit = level - SQUARE_LEVEL - 1;
            return is_root ? at >= 0 : bool(at >> std::min(bit, 63) & 1);
        };
        std::size_t* const south = std::stable_partition(first, last, [&](std::size_t i) { return !beyond(i, 1); });
        std::size_t* const ends[5] = {
            first, std::stable_partition(first, south, [&](std::size_t i) { return !beyond(i, 0); }), south,
            std::stable_partition(south, last, [&](std::size_t i) { return !beyond(i, 0); }), last};
        Id* const four = tree_.push(4);
        std::copy_n(tree_.children(*slot), 4, four);
        for (int i = 0; i < 4; i++) put(four + i, level - 1, ends[i], ends[i + 1], false);
        if (tree_.outcome() == Outcome::made) *slot = tree_.join(four[0], four[1], four[2], four[3], level);
        tree_.pop(4);
    }
    bool contradicted = false;

private:
    Id square(const std::uint64_t* words) {
        Id four[4];
        std::uint32_t rows[LEAF_ROWS];
        for (int i = 0; i < 4; i++) {
            for (int r = 0; r < LEAF_ROWS; r++)
                rows[r] = std::uint32_t(words[LEAF_ROWS * (i >> 1) + r] >> 32 * (i & 1));
            four[i] = tree_.leaf(rows);
        }
        return tree_.join(four[0], four[1], four[2], four[3], SQUARE_LEVEL);
    }

    Tree& tree_;
    const std::int64_t* places_;
    const std::uint64_t* squares_;
};

}  // namespace

Edited put(Tree& tree, const std::int64_t* places, const std::uint64_t* squares, std::size_t count) {
    tree.begin();
    Id* const frame = tree.push(2);
    frame[0] = tree.root();
    const int level = tree.root_level();
    Putter putter(tree, places, squares);
    try {
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), std::size_t(0));
        std::int64_t farthest = 0;
        for (std::size_t i = 0; i < 2 * count; i++)
            farthest = std::max(farthest, places[i] < 0 ? -(places[i] + 1) : places[i]);
        if (tree.ready()) {
            while (tree.root_level() <= SQUARE_LEVEL ||
                   farthest >> (std::min(tree.root_level(), 69) - SQUARE_LEVEL - 1))
                tree.pad();
            frame[1] = tree.root();
            putter.put(frame + 1, tree.root_level(), order.data(), order.data() + count, true);
        }
    } catch (const std::bad_alloc&) {
        tree.restore(frame[0], level);
        return Edited::no_memory;
    }
    if (tree.outcome() != Outcome::made || putter.contradicted) {
        tree.restore(frame[0], level);
        return putter.contradicted ? Edited::contradiction : edited(tree.outcome());
    }
    tree.set_root(frame[1], tree.root_level());
    tree.begin();
    return Edited::made;
}

namespace {

// Writes the 32 rows of a square of level 5 of the list.
class LeafWriter {
public:
    LeafWriter(const std::int64_t* four, const std::uint64_t* leaves) : four_(four), leaves_(leaves) {}
    void write(std::size_t i, std::uint32_t* rows) const {
        std::fill_n(rows, LEAF_ROWS, 0u);
        for (int q = 0; q < 4; q++) {
            const std::size_t square = std::size_t(four_[4 * i + std::size_t(q)]);
            if (!square) continue;
            for (int p = 0; p < 4; p++) {
                const std::uint64_t cells = leaves_[std::size_t(four_[4 * square + std::size_t(p)])];
                const int x = 16 * (q & 1) + 8 * (p & 1), y = 16 * (q >> 1) + 8 * (p >> 1);
                for (int r = 0; r < 8; r++) rows[y + r] |= std::uint32_t(cells >> 8 * r & 255) << x;
            }
        }
    }

private:
    const std::int64_t* four_;
    const std::uint64_t* leaves_;
};

bool contradicts(const std::uint8_t* levels, const std::int64_t* four, const std::uint64_t* leaves,
                 std::size_t count) {
    if (count < 2 || levels[count - 1] < SQUARE_LEVEL || leaves[0]) return true;
    for (std::size_t i = 1; i < count; i++) {
        if (levels[i] < 3 || levels[i] > HIGHEST) return true;
        if (levels[i] == 3) continue;
        for (std::size_t q = 0; q < 4; q++) {
            const std::int64_t child = four[4 * i + q];
            if (child < 0 || std::size_t(child) >= i) return true;
            if (child && levels[child] != levels[i] - 1) return true;
        }
    }
    return false;
}

}  // namespace

Edited build(Tree& tree, const std::uint8_t* levels, const std::int64_t* four,
             const std::uint64_t* leaves, std::size_t count) {
    if (contradicts(levels, four, leaves, count)) return Edited::contradiction;
    tree.begin();
    try {
        const LeafWriter writer(four, leaves);
        tree.held.assign(count, NOTHING);
        for (std::size_t i = 1; i < count && tree.ready(); i++) {
            if (levels[i] < LEAF_LEVEL) continue;
            if (levels[i] == LEAF_LEVEL) {
                std::uint32_t rows[LEAF_ROWS];
                writer.write(i, rows);
                tree.held[i] = tree.leaf(rows);
                continue;
            }
            Id child[4];
            for (std::size_t q = 0; q < 4; q++) {
                const std::int64_t j = four[4 * i + q];
                child[q] = j ? tree.held[std::size_t(j)] : tree.empty(levels[i] - 1);
            }
            tree.held[i] = tree.join(child[0], child[1], child[2], child[3], levels[i]);
        }
        if (tree.outcome() == Outcome::made) tree.set_root(tree.held[count - 1], levels[count - 1]);
    } catch (const std::bad_alloc&) {
        tree.held = {};
        return Edited::no_memory;
    }
    tree.held = {};
    return edited(tree.outcome());
}

namespace {

// Makes the squares of a universe that has moved by a row: of each pair, one above the other, the
// one that lies a row off the upper (up) or the lower (down) of them.
class Mover {
public:
    Mover(Tree& tree, bool down) : tree_(tree), down_(down) {}

    // Replaces pair[0], the upper one, by the square that comes of it and pair[1].
    void move(Id* pair, int level) {
        if (pair[0] == pair[1] && tree_.is_empty(pair[0])) return;
        if (level == LEAF_LEVEL) {
            pair[0] = leaf(pair[0], pair[1]);
            return;
        }
        if (!tree_.ready()) return;
        if (collections_ != tree_.collections()) {
            collections_ = tree_.collections();
            known_.clear();
        }
        const std::pair<Id, Id> key(pair[0], pair[1]);
        if (const auto found = known_.find(key); found != known_.end()) {
            pair[0] = found->second;
            return;
        }
        const Id *above = tree_.children(pair[0]), *below = tree_.children(pair[1]);
        // The quarters of the square, from the west, the upper before the lower of each pair.
        Id quarters[8] = {above[0], above[2], above[1], above[3], above[2], below[0], above[3], below[1]};
        if (down_) {
            const Id lower[8] = {above[2], below[0], above[3], below[1],
                                 below[0], below[2], below[1], below[3]};
            std::copy_n(lower, 8, quarters);
        }
        Id* const at = tree_.push(8);
        std::copy_n(quarters, 8, at);
        for (int i = 0; i < 4; i++) move(at + 2 * i, level - 1);
        if (tree_.outcome() == Outcome::made) {
            const Id moved = tree_.join(at[0], at[2], at[4], at[6], level);
            if (collections_ == tree_.collections()) known_[key] = moved;
            pair[0] = moved;
        }
        tree_.pop(8);
    }

private:
    Id leaf(Id upper, Id lower) {
        std::uint32_t rows[LEAF_ROWS];
        const std::uint32_t *above = tree_.rows(upper), *below = tree_.rows(lower);
        for (int r = 0; r < LEAF_ROWS; r++)
            rows[r] = down_ ? (r ? below[r - 1] : above[LEAF_ROWS - 1])
                            : (r + 1 < LEAF_ROWS ? above[r + 1] : below[0]);
        return tree_.leaf(rows);
    }
    struct Hash {
        std::size_t operator()(const std::pair<Id, Id>& pair) const {
            return std::size_t(mixed(pair.first, pair.second ^ 0xA0761D6478BD642Fu));
        }
    };

    Tree& tree_;
    const bool down_;
    std::uint64_t collections_ = 0;
    std::unordered_map<std::pair<Id, Id>, Id, Hash> known_;
};

}  // namespace

Edited move_a_row(Tree& tree, bool down) {
    tree.begin();
    Id* const frame = tree.push(4);
    frame[0] = tree.root();
    const int level = tree.root_level();
    try {
        if (level + 1 > HIGHEST) throw std::bad_alloc();
        if (tree.ready()) {
            tree.pad();
            const Id outside = tree.empty(tree.root_level());
            frame[1] = down ? outside : tree.root();
            frame[2] = down ? tree.root() : outside;
            Mover(tree, down).move(frame + 1, tree.root_level());
        }
    } catch (const std::bad_alloc&) {
        tree.restore(frame[0], level);
        return Edited::no_memory;
    }
    if (tree.outcome() != Outcome::made) {
        tree.restore(frame[0], level);
        return edited(tree.outcome());
    }
    tree.set_root(frame[1], tree.root_level());
    tree.begin();
    return Edited::made;
}

}  // namespace hashlife
