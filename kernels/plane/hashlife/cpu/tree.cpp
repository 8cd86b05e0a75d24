#include "tree.hpp"

#include <algorithm>
#include <new>

namespace hashlife {

namespace {
constexpr std::size_t FIRST_BUCKETS = 1 << 15;
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
      nodes_(std::make_unique<Nodes>(FIRST_BUCKETS)), stack_(WIDTH * WIDTH * (HIGHEST + 8)) {
    empties_[LEAF_LEVEL] = EMPTY_LEAF;
    for (int level = LEAF_LEVEL + 1; level <= HIGHEST; level++) {
        const Id below = empty(level - 1);
        empties_[std::size_t(level)] = join(below, below, below, below, level);
    }
    stack_[0] = empty(level_);
}

Id* Tree::push(int count) {
    if (top_ + std::size_t(count) > stack_.size()) throw std::bad_alloc();
    Id* const first = stack_.data() + top_;
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
        memo_.clear();
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
    if (lacks_room()) {
        outcome_ = make_room();
        if (outcome_ != Outcome::made) return false;
    }
    if (++polls_ % 256 == 0 && is_stopped()) outcome_ = Outcome::stopped;
    return outcome_ == Outcome::made;
}

bool Tree::is_stopped() {
    if (!asked) return false;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(10)) return false;
    last_ = now;
    return asked();
}

// The squares of level - 1 that lie half a square apart are named so, and those that four of them
// make:
//     0 1 2        0 1
//     3 4 5        2 3
//     6 7 8
//
// What a square of a list needs from memory is asked for, for all of them, before any is gone on
// with: waiting for memory is most of what takes time.

void Tree::spread(const Id* slots, const Todo& todo, int level, Id* nine) {
    Nodes& nodes = *nodes_;
    for (int j = 0; j < todo.count; j++)
        for (int i = 0; i < 4; i++) nodes.prefetch(children(slots[todo.at[j]])[i]);
    Key keys[WIDTH][5];
    for (int j = 0; j < todo.count; j++) {
        const Id* const four = children(slots[todo.at[j]]);
        const Id *nw = children(four[0]), *ne = children(four[1]), *sw = children(four[2]),
                 *se = children(four[3]);
        keys[j][0] = nodes.key(nw[1], ne[0], nw[3], ne[2]);
        keys[j][1] = nodes.key(nw[2], nw[3], sw[0], sw[1]);
        keys[j][2] = nodes.key(nw[3], ne[2], sw[1], se[0]);
        keys[j][3] = nodes.key(ne[2], ne[3], se[0], se[1]);
        keys[j][4] = nodes.key(sw[1], se[0], sw[3], se[2]);
    }
    for (int j = 0; j < todo.count; j++, nine += WIDTH) {
        const Id* const four = children(slots[todo.at[j]]);
        nine[0] = four[0], nine[2] = four[1], nine[6] = four[2], nine[8] = four[3];
        nine[1] = nodes.find(keys[j][0], level - 1);
        nine[3] = nodes.find(keys[j][1], level - 1);
        nine[4] = nodes.find(keys[j][2], level - 1);
        nine[5] = nodes.find(keys[j][3], level - 1);
        nine[7] = nodes.find(keys[j][4], level - 1);
    }
}

void Tree::combine(Id* nine, int count, int level) {
    Nodes& nodes = *nodes_;
    Key keys[WIDTH][4];
    for (int j = 0; j < count; j++) {
        const Id* const n = nine + WIDTH * j;
        for (int i = 0; i < 4; i++) {
            const int at = i + (i >> 1);
            keys[j][i] = nodes.key(n[at], n[at + 1], n[at + 3], n[at + 4]);
        }
    }
    for (int j = 0; j < count; j++) {
        Id* const n = nine + WIDTH * j;
        for (int i = 0; i < 4; i++) n[i] = nodes.find(keys[j][i], level);
        std::fill(n + 4, n + WIDTH, NOTHING);
    }
}

void Tree::leaf_steps(Id* slots, const Todo& todo, int generations, bool kept) {
    for (int j = 0; j < todo.count; j++)
        for (int i = 0; i < 4; i++) leaves_.prefetch(children(slots[todo.at[j]])[i]);
    alignas(64) std::uint32_t out[WIDTH][LEAF_ROWS];
    std::uint64_t hashes[WIDTH];
    for (int j = 0; j < todo.count; j++) {
        const Id* const four = children(slots[todo.at[j]]);
        const std::uint32_t* rows[4];
        for (int i = 0; i < 4; i++) rows[i] = leaves_.rows(four[i]);
        ops_.advance(rows, generations, birth_, survival_, out[j]);
        hashes[j] = leaves_.hash(out[j]);
    }
    for (int j = 0; j < todo.count; j++) {
        Id& slot = slots[todo.at[j]];
        const Id later = leaves_.find(out[j], hashes[j]);
        if (kept) nodes_->result(slot) = later;
        slot = later;
    }
    statistics_.steps += std::uint64_t(todo.count);
}

Id Tree::known(Id id, bool whole) const {
    if (whole) return nodes_->result(id);
    const Id* const later = memo_.get(id);
    return later ? *later : NOTHING;
}

void Tree::middle(Id* slots, int count, int level) {
    if (!ready()) return;
    if (level == LEAF_LEVEL + 1) {
        Todo all;
        for (; all.count < count; all.count++) all.at[all.count] = all.count;
        leaf_steps(slots, all, 0, false);
        return;
    }
    for (int i = 0; i < count; i++) {
        const Id* const four = children(slots[i]);
        slots[i] = join(children(four[0])[3], children(four[1])[2], children(four[2])[1],
                        children(four[3])[0], level - 1);
    }
}

// The generations of a step modulo 2^(level - 2) are made as those of the bit below, if it is set,
// by all nine squares, and then the rest by the four that come of them.
void Tree::advance(Id* slots, int count, int level, bool whole) {
    if (!whole && now_.trailing() >= level - 2) return middle(slots, count, level);
    Todo todo;
    int first[WIDTH];  // of the same name
    for (int i = 0; i < count; i++) {
        first[i] = i;
        if (const Id later = known(slots[i], whole)) {
            slots[i] = later;
            continue;
        }
        for (int j = 0; j < todo.count && first[i] == i; j++)
            if (slots[todo.at[j]] == slots[i]) first[i] = todo.at[j];
        if (first[i] == i) todo.at[todo.count++] = i;
    }
    if (!todo.count || !ready()) return;
    if (level == LEAF_LEVEL + 1) leaf_steps(slots, todo, whole ? LONGEST_LEAF_STEP : int(now_.low(4)), whole);
    else grow_older(slots, todo, level, whole);
    for (int i = 0; i < count; i++) slots[i] = slots[first[i]];
}

void Tree::grow_older(Id* slots, const Todo& todo, int level, bool whole) {
    const int count = todo.count;
    Id* const nine = push(WIDTH * count);
    spread(slots, todo, level, nine);
    for (int j = 0; j < count && outcome_ == Outcome::made; j++) {
        Id* const n = nine + WIDTH * j;
        if (whole || now_.bit(level - 3)) advance(n, WIDTH, level - 1, true);
        else middle(n, WIDTH, level - 1);
    }
    if (outcome_ == Outcome::made) combine(nine, count, level - 1);
    for (int j = 0; j < count && outcome_ == Outcome::made; j++)
        advance(nine + WIDTH * j, 4, level - 1, whole);
    if (outcome_ == Outcome::made) {
        Key keys[WIDTH];
        for (int j = 0; j < count; j++) {
            const Id* const n = nine + WIDTH * j;
            keys[j] = nodes_->key(n[0], n[1], n[2], n[3]);
        }
        for (int j = 0; j < count; j++) {
            Id& slot = slots[todo.at[j]];
            const Id later = nodes_->find(keys[j], level - 1);
            if (whole) nodes_->result(slot) = later;
            else memo_.put(slot, later);
            slot = later;
        }
        statistics_.results += std::uint64_t(count);
    }
    pop(WIDTH * count);
}

}  // namespace hashlife
