#include "tree.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace hashlife {

namespace {

template <std::size_t... I>
constexpr std::array<Place, sizeof...(I)> counted(std::index_sequence<I...>) {
    return {Place(I)...};
}
constexpr auto IN_ORDER = counted(std::make_index_sequence<BATCH>());

}  // namespace

int Generations::width() const {
    for (int b = 8 * int(bits.size()); b-- > 0;)
        if (bit(b)) return b + 1;
    return 0;
}

int Generations::trailing() const {
    for (int b = 0; b < 8 * int(bits.size()); b++)
        if (bit(b)) return b;
    return HIGHEST + 8;
}

std::uint32_t Generations::low(int count) const {
    return bits.empty() ? 0 : bits[0] & ((1u << count) - 1);
}

Tree::Tree(const LeafOps& ops, std::uint32_t birth, std::uint32_t survival, std::size_t memory)
    : ops_(ops), birth_(birth), survival_(survival), memory_(memory),
      stack_memory_(sizeof(Id) * STACK), stack_(static_cast<Id*>(stack_memory_.data())) {
    empties_[LEAF_LEVEL] = EMPTY_LEAF;
    for (int level = LEAF_LEVEL + 1; level <= HIGHEST; level++) {
        const Id below = empty(level - 1);
        empties_[std::size_t(level)] = join(below, below, below, below, level);
    }
    stack_[0] = empty(level_);
}

Id* Tree::push(int count) {
    if (top_ + std::size_t(count) > STACK) throw std::bad_alloc();
    Id* const first = stack_ + top_;
    std::fill(first, first + count, NOTHING);
    top_ += std::size_t(count);
    return first;
}

void Tree::set_root(Id id, int level) {
    stack_[0] = id;
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
    stack_[0] = join(four[0], four[1], four[2], four[3], level_);
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
        stack_[0] = join(four[0], four[1], four[2], four[3], level_);
    }
}

Outcome Tree::step(const Generations& generations) {
    const int width = generations.width();
    if (width == 0) return Outcome::made;
    if (now_.bits != generations.bits) {
        now_ = generations;
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
            advance(frame + 1, 1, level_, false);
        }
    } catch (const std::bad_alloc&) {
        outcome_ = Outcome::no_memory;
    }
    if (outcome_ == Outcome::made) {
        set_root(frame[1], level_ - 1);
        top_ = 1;
    } else {
        restore(frame[0], level);
    }
    return outcome_;
}

void Tree::begin() {
    outcome_ = Outcome::made;
    emptied_ = 0;
    top_ = 1;
    last_ = std::chrono::steady_clock::now();
}

bool Tree::ready() {
    if (outcome_ != Outcome::made) return false;
    if (lacks_room() || collection_) {
        outcome_ = make_room();
        if (outcome_ != Outcome::made) return false;
    }
    if (++polls_ % 256 == 0 && is_stopped()) outcome_ = Outcome::stopped;
    return outcome_ == Outcome::made;
}

bool Tree::is_stopped() {
    if (!asked) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < pause) return false;
    last_ = now;
    return asked();
}

// The squares of level - 1 that lie half a square apart are named so, and those that four of them
// make:
//     0 1 2        0 1
//     3 4 5        2 3
//     6 7 8
//
// Waiting for memory is most of what takes time. So many squares are worked on together, level by
// level, and what they need is asked for, for all of them, before any is gone on with.

void Tree::spread(const Id* slots, const Todo& todo, int level, Id* nine) {
    for (int j = 0; j < todo.count; j++)
        for (int i = 0; i < 4; i++) nodes_.prefetch(children(slots[todo.at[j]])[i]);
    Key keys[BATCH][5];
    for (int j = 0; j < todo.count; j++) {
        const Id* const four = children(slots[todo.at[j]]);
        const Id *nw = children(four[0]), *ne = children(four[1]), *sw = children(four[2]),
                 *se = children(four[3]);
        keys[j][0] = nodes_.key(nw[1], ne[0], nw[3], ne[2]);
        keys[j][1] = nodes_.key(nw[2], nw[3], sw[0], sw[1]);
        keys[j][2] = nodes_.key(nw[3], ne[2], sw[1], se[0]);
        keys[j][3] = nodes_.key(ne[2], ne[3], se[0], se[1]);
        keys[j][4] = nodes_.key(sw[1], se[0], sw[3], se[2]);
    }
    nodes_.ask(keys[0], 5 * todo.count);
    for (int j = 0; j < todo.count; j++, nine += WIDTH) {
        const Id* const four = children(slots[todo.at[j]]);
        nine[0] = four[0], nine[2] = four[1], nine[6] = four[2], nine[8] = four[3];
        nine[1] = nodes_.find(keys[j][0], level - 1);
        nine[3] = nodes_.find(keys[j][1], level - 1);
        nine[4] = nodes_.find(keys[j][2], level - 1);
        nine[5] = nodes_.find(keys[j][3], level - 1);
        nine[7] = nodes_.find(keys[j][4], level - 1);
    }
}

// Replaces `count` times nine squares by `count` times four, from the first place on.
void Tree::combine(Id* nine, int count, int level) {
    Key keys[BATCH][4];
    for (int j = 0; j < count; j++) {
        const Id* const n = nine + WIDTH * j;
        for (int i = 0; i < 4; i++) {
            const int at = i + (i >> 1);
            keys[j][i] = nodes_.key(n[at], n[at + 1], n[at + 3], n[at + 4]);
        }
    }
    nodes_.ask(keys[0], 4 * count);
    for (int j = 0; j < count; j++)
        for (int i = 0; i < 4; i++) nine[4 * j + i] = nodes_.find(keys[j][i], level);
    std::fill(nine + 4 * count, nine + WIDTH * count, NOTHING);
}

void Tree::leaf_steps(Id* slots, const Todo& todo, int generations, bool kept) {
    for (int j = 0; j < todo.count; j++)
        for (int i = 0; i < 4; i++) leaves_.prefetch(children(slots[todo.at[j]])[i]);
    alignas(64) std::uint32_t out[BATCH][LEAF_ROWS];
    std::uint32_t hashes[BATCH];
    for (int j = 0; j < todo.count; j++) {
        const Id* const four = children(slots[todo.at[j]]);
        const std::uint32_t* rows[4];
        for (int i = 0; i < 4; i++) rows[i] = leaves_.rows(four[i]);
        ops_.advance(rows, generations, birth_, survival_, out[j]);
        hashes[j] = leaves_.hash(out[j]);
    }
    for (int j = 0; j < todo.count; j++) leaves_.ask(hashes[j]);
    for (int j = 0; j < todo.count; j++) {
        Id& slot = slots[todo.at[j]];
        const Id later = leaves_.find(out[j], hashes[j]);
        if (kept) nodes_.result(slot) = later;
        slot = later;
    }
    statistics_.steps += std::uint64_t(todo.count);
}

void Tree::middle(Id* slots, int count, int level) {
    for (int first = 0; first < count; first += BATCH) {
        if (!ready()) return;
        const int part = std::min(BATCH, count - first);
        if (level == LEAF_LEVEL + 1) leaf_steps(slots + first, {part, IN_ORDER.data()}, 0, false);
        else join_middles(slots + first, part, level);
    }
}

void Tree::join_middles(Id* slots, int count, int level) {
    for (int i = 0; i < count; i++)
        for (int q = 0; q < 4; q++) nodes_.prefetch(children(slots[i])[q]);
    Key keys[BATCH];
    for (int i = 0; i < count; i++) {
        const Id* const four = children(slots[i]);
        keys[i] = nodes_.key(children(four[0])[3], children(four[1])[2], children(four[2])[1],
                             children(four[3])[0]);
    }
    nodes_.ask(keys, count);
    for (int i = 0; i < count; i++) slots[i] = nodes_.find(keys[i], level - 1);
}

// Replaces squares of which that is known by what becomes of them. Of the others, the first of each
// name is one of those to do; first[i] says where square i stands first.
int Tree::unknown(Id* slots, int count, bool whole, Place* first, Place* todo) const {
    if (!whole)
        for (int i = 0; i < count; i++) later_.prefetch(slots[i]);
    Place seen[4 * WIDTH * BATCH];  // by the hash of a name, the place of the name and one
    int bits = 3;
    while (1 << bits < 2 * count) bits++;
    const unsigned mask = (1u << bits) - 1;
    std::fill_n(seen, mask + 1, Place(0));
    int found = 0;
    for (int i = 0; i < count; i++) {
        first[i] = Place(i);
        if (const Id later = whole ? nodes_.result(slots[i]) : later_.get(slots[i])) {
            slots[i] = later;
            continue;
        }
        unsigned at = slots[i] * 0x9E3779B1u >> (32 - bits);
        while (seen[at] && slots[seen[at] - 1] != slots[i]) at = (at + 1) & mask;
        if (seen[at]) {
            first[i] = Place(seen[at] - 1);
        } else {
            seen[at] = Place(i + 1);
            todo[found++] = Place(i);
        }
    }
    return found;
}

// The generations of a step modulo 2^(level - 2) are made as those of the bit below, if it is set,
// by all nine squares, and then the rest by the four that come of them.
void Tree::advance(Id* slots, int count, int level, bool whole) {
    if (!whole && now_.trailing() >= level - 2) return middle(slots, count, level);
    Place first[WIDTH * BATCH], todo[WIDTH * BATCH];
    const int found = unknown(slots, count, whole, first, todo);
    for (int at = 0; at < found; at += BATCH) {
        const Todo part = {std::min(BATCH, found - at), todo + at};
        if (!ready()) return;
        if (level == LEAF_LEVEL + 1) leaf_steps(slots, part, whole ? LONGEST_LEAF_STEP : int(now_.low(4)), whole);
        else grow_older(slots, part, level, whole);
    }
    for (int i = 0; found && i < count; i++) slots[i] = slots[first[i]];
}

void Tree::grow_older(Id* slots, const Todo& todo, int level, bool whole) {
    const int count = todo.count;
    Id* const nine = push(WIDTH * count);
    spread(slots, todo, level, nine);
    if (whole || now_.bit(level - 3)) advance(nine, WIDTH * count, level - 1, true);
    else middle(nine, WIDTH * count, level - 1);
    if (ready()) {
        combine(nine, count, level - 1);
        advance(nine, 4 * count, level - 1, whole);
    }
    if (ready()) {
        Key keys[BATCH];
        for (int j = 0; j < count; j++) {
            const Id* const n = nine + 4 * j;
            keys[j] = nodes_.key(n[0], n[1], n[2], n[3]);
        }
        nodes_.ask(keys, count);
        for (int j = 0; j < count; j++) {
            Id& slot = slots[todo.at[j]];
            const Id later = nodes_.find(keys[j], level - 1);
            if (whole) nodes_.result(slot) = later;
            else later_.put(slot, later);
            slot = later;
        }
        statistics_.results += std::uint64_t(count);
    }
    pop(WIDTH * count);
}

}  // namespace hashlife
