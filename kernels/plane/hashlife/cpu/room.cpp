// How a tree makes room: by a larger table of nodes, or by giving up what is not needed any more.
#include <algorithm>
#include <array>
#include <new>

#include "tree.hpp"

namespace hashlife {

namespace {
// How often a step may give up all that is remembered: more often, and it makes the same again and
// again.
constexpr int MOST_EMPTIED = 4;
constexpr std::size_t OFTEN = 1 << 10;  // nodes, or blocks of them, that take less than 10 ms
}

Outcome Tree::make_room() {
    bool collected = false;
    renamings_++;
    while (lacks_room()) {
        const bool nodes = nodes_->live() + MARGIN > nodes_->room();
        const std::size_t taken = bytes();
        if (nodes) {
            std::size_t buckets = 4 * nodes_->buckets();
            while (buckets > nodes_->buckets() && taken + Nodes::bytes_of(buckets) > memory_)
                buckets -= nodes_->buckets();
            if (buckets >= 2 * nodes_->buckets()) {
                if (!grow_nodes(buckets)) return Outcome::stopped;
                continue;
            }
        } else if (taken + leaves_.growth(LEAF_MARGIN) <= memory_) {
            leaves_.grow(LEAF_MARGIN);
            continue;
        }
        if (collected) return Outcome::no_memory;
        collected = true;
        if (!collect(false)) return Outcome::stopped;
        // Where little was given up, all is that the universe does not need.
        if (4 * nodes_->live() > 3 * nodes_->room() || leaves_.is_full(leaves_.live() / 4 + LEAF_MARGIN)) {
            if (++emptied_ > MOST_EMPTIED) return Outcome::no_memory;
            if (!collect(true)) return Outcome::stopped;
        }
    }
    return Outcome::made;
}

void Tree::mark(Id id, std::vector<std::uint8_t>& nodes, std::vector<bool>& leaves) const {
    if (id == NOTHING) return;
    if (is_leaf(id)) {
        leaves[id >> 2] = true;
        return;
    }
    std::uint8_t& marks = nodes[id >> 2];
    if (marks >> (id & 3) & 1) return;
    marks |= std::uint8_t(1 << (id & 3));
    for (int i = 0; i < 4; i++) mark(children(id)[i], nodes, leaves);
}

// Gives up squares that nothing names, and, if all, also those that were found again since the last
// collection. Returns false where somebody asked to stop: nothing has been given up then.
bool Tree::collect(bool all) {
    std::vector<std::uint8_t> nodes(nodes_->buckets() + 1);
    std::vector<bool> leaves(leaves_.count());
    leaves_.expect_losses();
    for (std::size_t i = 0; i < top_; i++) mark(stack_[i], nodes, leaves);
    for (Id id : held) mark(id, nodes, leaves);
    for (Id id : empties_) mark(id, nodes, leaves);
    std::size_t looked = 0;
    bool stopped = is_stopped();
    if (!all)
        nodes_->each([&](Id id) {
            stopped = stopped || (++looked % OFTEN == 0 && is_stopped());
            if (stopped || !nodes_->found_again(id)) return;
            mark(id, nodes, leaves);
            mark(nodes_->result(id), nodes, leaves);
        });
    if (stopped) return false;
    statistics_.collections++;
    auto marked = [&](Id id) {
        return is_leaf(id) ? bool(leaves[id >> 2]) : bool(nodes[id >> 2] >> (id & 3) & 1);
    };
    memo_.rename([&](Id id, Id later) { return marked(id) && marked(later); });
    nodes_->each([&](Id id) {
        if (!marked(id)) nodes_->remove(id);
        else if (!marked(nodes_->result(id))) nodes_->result(id) = NOTHING;
    });
    nodes_->forget_found();
    leaves_.keep(leaves);
    return true;
}

// Moves all nodes into a table of so many buckets, children before their parents, some dozens at
// once, so that they wait for memory together. Returns false where somebody asked to stop: all is as
// it was then.
bool Tree::grow_nodes(std::size_t buckets) {
    Nodes grown(buckets);
    std::vector<Id> now(4 * (nodes_->buckets() + 1), NOTHING), order(nodes_->live());
    std::array<std::size_t, HIGHEST + 2> start{};
    const auto stopped = [&] { return is_stopped(); };
    if (!nodes_->each([&](Id id) { start[std::size_t(nodes_->level(id)) + 1]++; }, stopped)) return false;
    for (std::size_t level = 1; level < start.size(); level++) start[level] += start[level - 1];
    if (!nodes_->each([&](Id id) { order[start[std::size_t(nodes_->level(id))]++] = id; }, stopped))
        return false;
    auto renamed = [&](Id id) { return id == NOTHING || is_leaf(id) ? id : now[id]; };

    constexpr std::size_t BLOCK = 32;
    Key keys[BLOCK];
    std::size_t blocks = 0;
    for (std::size_t first = 0; first < order.size();) {
        // Of one level: no node is another's child.
        const int level = nodes_->level(order[first]);
        if (++blocks % OFTEN == 0 && is_stopped()) return false;
        std::size_t count = 0;
        for (; count < BLOCK && first + count < order.size(); count++) {
            const Id id = order[first + count];
            if (nodes_->level(id) != level) break;
            const Id* const child = children(id);
            keys[count] = grown.key(renamed(child[0]), renamed(child[1]), renamed(child[2]), renamed(child[3]));
            if (first + count + BLOCK < order.size()) nodes_->prefetch(order[first + count + BLOCK]);
        }
        for (std::size_t i = 0; i < count; i++) {
            const Id id = order[first + i], moved = grown.find(keys[i], level);
            now[id] = moved;
            grown.result(moved) = nodes_->result(id);
            if (nodes_->found_again(id)) grown.bucket(moved).flags |= std::uint8_t(1 << (moved & 3));
        }
        first += count;
    }
    if (!grown.each([&](Id id) { grown.result(id) = renamed(grown.result(id)); }, stopped)) return false;
    for (std::size_t i = 0; i < top_; i++) stack_[i] = renamed(stack_[i]);
    for (Id& id : held) id = renamed(id);
    for (Id& id : empties_) id = renamed(id);
    memo_.rename([&](Id& id, Id& later) {
        id = renamed(id), later = renamed(later);
        return true;
    });
    nodes_->swap(grown);
    return true;
}

}  // namespace hashlife
