// How a tree makes room: by more memory, or by giving up what is not needed any more.
#include <algorithm>
#include <new>

#include "tree.hpp"

namespace hashlife {

namespace {
// How often a step may give up all that is remembered: more often, and it makes the same again and
// again.
constexpr int MOST_EMPTIED = 4;
}

Outcome Tree::make_room() {
    crew_.each([&](Worker& worker) {
        nodes_.count(worker.new_nodes);
        leaves_.count(worker.new_leaves);
    });
    if (collection_ && !sweep()) return Outcome::stopped;
    bool collected = false;
    while (lacks_room()) {
        if (bytes() + growth() <= memory_) {
            if (!grow()) return Outcome::stopped;
            continue;
        }
        if (collected) return Outcome::no_memory;
        collected = true;
        if (!collect(false)) return Outcome::stopped;
        // Where little was given up, all is that the universe does not need.
        if (nodes_.lacks(nodes_.live() / 3 + for_all(MARGIN)) ||
            leaves_.lacks(leaves_.live() / 4 + for_all(LEAF_MARGIN))) {
            if (++emptied_ > MOST_EMPTIED) return Outcome::no_memory;
            if (!collect(true)) return Outcome::stopped;
        }
    }
    return Outcome::made;
}

// Bytes that grow() takes at least.
std::size_t Tree::growth() const {
    const Later::Inside& later = later_.table();
    return nodes_.growth(for_all(MARGIN)) + leaves_.growth(for_all(LEAF_MARGIN)) +
           (later.is_full(for_all(LATER_MARGIN)) ? later.growth() : 0);
}

// Returns false where somebody asked to stop: another call goes on then.
bool Tree::grow() {
    const auto stopped = [&] { return is_stopped(); };
    const std::size_t more = memory_ - bytes() - growth();  // than is needed
    const std::size_t nodes = for_all(MARGIN), leaves = for_all(LEAF_MARGIN);
    if (nodes_.lacks(nodes) && !nodes_.grow(nodes, nodes_.growth(nodes) + more, stopped)) return false;
    if (leaves_.lacks(leaves) && !leaves_.grow(leaves, leaves_.growth(leaves), stopped)) return false;
    return !later_.table().is_full(for_all(LATER_MARGIN)) || later_.table().grow(stopped);
}

void Tree::mark(Id id, Collection& collection) {
    if (id == NOTHING || collection.stopped) return;
    if (is_leaf(id)) {
        collection.leaves[id >> 1] = true;
        return;
    }
    if (collection.nodes[id >> 1]) return;
    if (++collection.looked % OFTEN == 0 && is_stopped()) {
        collection.stopped = true;
        return;
    }
    collection.nodes[id >> 1] = true;
    for (int i = 0; i < 4; i++) mark(children(id)[i], collection);
}

// Gives up squares that nothing names, and, if all, also those that were found again since the last
// collection. Returns false where somebody asked to stop: then nothing has been given up, or the rest
// is before the next square is made.
bool Tree::collect(bool all) {
    auto collection = std::make_unique<Collection>();
    collection->nodes.resize(nodes_.end());
    collection->leaves.resize(leaves_.end());
    collection->leaves[EMPTY_LEAF >> 1] = true;
    crew_.each([&](const Worker& worker) {
        for (Id id : worker.stack) mark(id, *collection);
    });
    for (Id id : held) mark(id, *collection);
    for (Id id : empties_) mark(id, *collection);
    for (std::size_t i = 1; !all && i < nodes_.end() && !collection->stopped; i++) {
        if (i % OFTEN == 0 && is_stopped()) collection->stopped = true;
        const Node& node = nodes_.numbered(i);
        if (!node.child[0] || !node.found_again) continue;
        mark(Id(i) << 1, *collection);
        mark(node.result, *collection);
    }
    if (collection->stopped) {
        crew_.first.statistics.abandoned++;
        return false;
    }
    crew_.first.statistics.collections++;
    crew_.each([&](Worker& worker) {
        nodes_.drop(worker.new_nodes);
        leaves_.drop(worker.new_leaves);
    });
    collection->nodes_left = nodes_.end();
    collection->leaves_left = leaves_.end();
    collection_ = std::move(collection);
    return sweep();
}

// Gives up what a collection found not to be needed: first in the tables, of which entries are whole
// as long as squares are, then the squares. Returns false where somebody asked to stop.
bool Tree::sweep() {
    Collection& collection = *collection_;
    const auto stopped = [&] { return is_stopped(); };
    const auto kept = [&](std::uint64_t entry) { return collection.keeps(Id(entry)); };
    const auto both = [&](std::uint64_t entry) { return kept(entry) && kept(entry >> 32); };
    if (!later_.table().keep(collection.later, both, stopped) ||
        !nodes_.index().keep(collection.index_of_nodes, kept, stopped) ||
        !leaves_.index().keep(collection.index_of_leaves, kept, stopped))
        return false;
    // From the last to the first, so that places are taken again from the first to the last.
    if (collection.nodes_left == nodes_.end()) nodes_.forget_none();
    while (collection.nodes_left > 1) {
        const std::size_t i = --collection.nodes_left;
        Node& node = nodes_.numbered(i);
        if (!collection.nodes[i]) nodes_.forget(i);
        else if (!collection.keeps(node.result)) node.result = NOTHING;
        node.found_again = false;
        if (i % OFTEN == 0 && is_stopped()) return false;
    }
    if (collection.leaves_left == leaves_.end()) leaves_.forget_none();
    while (collection.leaves_left > 1) {
        const std::size_t i = --collection.leaves_left;
        if (!collection.leaves[i]) leaves_.forget(i);
        if (i % OFTEN == 0 && is_stopped()) return false;
    }
    collection_.reset();
    return true;
}

}  // namespace hashlife
