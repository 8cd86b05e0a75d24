#include "worker.hpp"

#include <algorithm>
#include <utility>

#include "crew.hpp"

namespace hashlife {

namespace {

template <std::size_t... I>
constexpr std::array<Place, sizeof...(I)> counted(std::index_sequence<I...>) {
    return {Place(I)...};
}
// A list of fewer squares of a low level is not worth sharing.
constexpr int LOW = 9, MANY = 16;
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

// The squares of level - 1 that lie half a square apart are named so, and those that four of them
// make:
//     0 1 2        0 1
//     3 4 5        2 3
//     6 7 8
//
// Waiting for memory is most of what takes time. So many squares are worked on together, level by
// level, and what they need is asked for, for all of them, before any is gone on with.

void Worker::spread(const Id* slots, const Todo& todo, int level, Id* nine) {
    for (int j = 0; j < todo.count; j++)
        for (int i = 0; i < 4; i++) nodes_.prefetch(nodes_.children(slots[todo.at[j]])[i]);
    Key keys[BATCH][5];
    for (int j = 0; j < todo.count; j++) {
        const Id* const four = nodes_.children(slots[todo.at[j]]);
        const Id *nw = nodes_.children(four[0]), *ne = nodes_.children(four[1]), *sw = nodes_.children(four[2]),
                 *se = nodes_.children(four[3]);
        keys[j][0] = nodes_.key(nw[1], ne[0], nw[3], ne[2]);
        keys[j][1] = nodes_.key(nw[2], nw[3], sw[0], sw[1]);
        keys[j][2] = nodes_.key(nw[3], ne[2], sw[1], se[0]);
        keys[j][3] = nodes_.key(ne[2], ne[3], se[0], se[1]);
        keys[j][4] = nodes_.key(sw[1], se[0], sw[3], se[2]);
    }
    nodes_.ask(keys[0], 5 * todo.count);
    for (int j = 0; j < todo.count; j++, nine += WIDTH) {
        const Id* const four = nodes_.children(slots[todo.at[j]]);
        nine[0] = four[0], nine[2] = four[1], nine[6] = four[2], nine[8] = four[3];
        nine[1] = nodes_.find(keys[j][0], level - 1, new_nodes);
        nine[3] = nodes_.find(keys[j][1], level - 1, new_nodes);
        nine[4] = nodes_.find(keys[j][2], level - 1, new_nodes);
        nine[5] = nodes_.find(keys[j][3], level - 1, new_nodes);
        nine[7] = nodes_.find(keys[j][4], level - 1, new_nodes);
    }
}

// Replaces `count` times nine squares by `count` times four, from the first place on.
void Worker::combine(Id* nine, int count, int level) {
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
        for (int i = 0; i < 4; i++) nine[4 * j + i] = nodes_.find(keys[j][i], level, new_nodes);
    std::fill(nine + 4 * count, nine + WIDTH * count, NOTHING);
}

void Worker::leaf_steps(Id* slots, const Todo& todo, int generations, bool kept) {
    for (int j = 0; j < todo.count; j++)
        for (int i = 0; i < 4; i++) leaves_.prefetch(nodes_.children(slots[todo.at[j]])[i]);
    alignas(64) std::uint32_t out[BATCH][LEAF_ROWS];
    std::uint32_t hashes[BATCH];
    for (int j = 0; j < todo.count; j++) {
        const Id* const four = nodes_.children(slots[todo.at[j]]);
        const std::uint32_t* rows[4];
        for (int i = 0; i < 4; i++) rows[i] = leaves_.rows(four[i]);
        squares_.ops.advance(rows, generations, squares_.rule, out[j]);
        hashes[j] = leaves_.hash(out[j]);
    }
    for (int j = 0; j < todo.count; j++) leaves_.ask(hashes[j]);
    for (int j = 0; j < todo.count; j++) {
        Id& slot = slots[todo.at[j]];
        const Id later = leaves_.find(out[j], hashes[j], new_leaves);
        if (kept) nodes_.set_result(slot, later);
        slot = later;
    }
    statistics.steps += std::uint64_t(todo.count);
}

void Worker::middle(Id* slots, int count, int level) {
    for (int first = 0; first < count; first += BATCH) {
        if (!crew_.ready(*this)) return;
        const int part = std::min(BATCH, count - first);
        if (level == LEAF_LEVEL + 1) leaf_steps(slots + first, {part, IN_ORDER.data()}, 0, false);
        else join_middles(slots + first, part, level);
    }
}

void Worker::join_middles(Id* slots, int count, int level) {
    for (int i = 0; i < count; i++)
        for (int q = 0; q < 4; q++) nodes_.prefetch(nodes_.children(slots[i])[q]);
    Key keys[BATCH];
    for (int i = 0; i < count; i++) {
        const Id* const four = nodes_.children(slots[i]);
        keys[i] = nodes_.key(nodes_.children(four[0])[3], nodes_.children(four[1])[2], nodes_.children(four[2])[1],
                             nodes_.children(four[3])[0]);
    }
    nodes_.ask(keys, count);
    for (int i = 0; i < count; i++) slots[i] = nodes_.find(keys[i], level - 1, new_nodes);
}

// Replaces squares of which that is known by what becomes of them. Of the others, the first of each
// name is one of those to do; first[i] says where square i stands first.
int Worker::unknown(Id* slots, int count, bool whole, Place* first, Place* todo) const {
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
void Worker::advance(Id* slots, int count, int level, bool whole) {
    if (!whole && squares_.now.trailing() >= level - 2) return middle(slots, count, level);
    Place first[WIDTH * BATCH], todo[WIDTH * BATCH];
    const int found = unknown(slots, count, whole, first, todo);
    if (found) {
        List list = {slots, {found, todo}, level, whole, {}};
        work_off(list);
    }
    for (int i = 0; found && i < count; i++) slots[i] = slots[first[i]];
}

// Works on a list until nothing is left of it, while others may take parts of it.
void Worker::work_off(List& list) {
    {
        const std::lock_guard<Spin> alone(lists_busy_);
        lists_[std::size_t(list_count_++)] = &list;
    }
    for (;;) {
        Todo todo;
        {
            const std::lock_guard<Spin> alone(lists_busy_);
            todo = take(list, true);
            if (!todo.count) list_count_--;
        }
        if (!todo.count) break;
        work_on(list, todo);
    }
    // Helpers of helpers: what they left in their lists is of lower levels.
    crew_.help_until(*this, list.level, [&] { return list.away.load(std::memory_order_acquire) == 0; });
}

// Takes a part of what is left of a list: of one's own all that can be worked on at once, but if others
// have nothing to do, they are left their share.
Worker::Todo Worker::take(List& list, bool own) const {
    const int left = list.left.count, others = own ? crew_.idle() : 1;
    int count = std::min(left, BATCH);
    if (others) {
        const int least = list.level < LOW ? MANY : 1;
        count = std::min(count, std::max(least, (left + others) / (others + 1)));
    }
    const Todo part = {count, list.left.at};
    list.left = {left - count, list.left.at + count};
    return part;
}

// Gives another worker a part of a list of at most such a level, the highest that there is.
bool Worker::give(int highest, Part& part) {
    const std::lock_guard<Spin> alone(lists_busy_);
    for (int i = 0; i < list_count_; i++) {
        List& list = *lists_[std::size_t(i)];
        if (list.level > highest || !list.left.count) continue;
        part = {&list, take(list, false)};
        list.away.fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    return false;
}

void Worker::work_on(const List& list, const Todo& todo) {
    try {
        if (!crew_.ready(*this)) return;
        if (list.level == LEAF_LEVEL + 1)
            leaf_steps(list.slots, todo, list.whole ? LONGEST_LEAF_STEP : int(squares_.now.low(4)), list.whole);
        else if (list.whole && crew_.helpers())
            grow_older_shared(list.slots, todo, list.level);
        else
            grow_older(list.slots, todo, list.level, list.whole);
    } catch (const std::bad_alloc&) {
        crew_.fail(Outcome::no_memory);
    }
}

// Leaves squares that another worker is busy with to that one: side by side, all workers would come to
// the same squares at the same time. Who waits holds claims of higher levels only, and whoever it waits
// for only waits for lower ones: so nobody waits for ever.
void Worker::grow_older_shared(Id* slots, const Todo& todo, int level) {
    Place left[BATCH];
    int count = todo.count;
    std::copy_n(todo.at, count, left);
    while (count && crew_.outcome() == Outcome::made) {
        Place mine[BATCH];
        const int claimed = claim(slots, left, count, mine);
        if (claimed) {
            const Claims claims(nodes_, slots, mine, claimed);
            grow_older(slots, {claimed, mine}, level, true);
        }
        for (int j = 0; j < count; j++) {
            // What was found may be given up again with the garbage, before it is seen here.
            const Id id = slots[left[j]];
            const auto done = [&] { return !nodes_.is_claimed(id) || crew_.outcome() != Outcome::made; };
            if (!done()) crew_.help_until(*this, level - 1, done);
        }
    }
}

// Sorts out what is left to do of a list: replaces what is known by now, puts what is this worker's from
// here on into `mine`, and keeps in `left` what others have. Returns how many are this worker's.
int Worker::claim(Id* slots, Place* left, int& count, Place* mine) {
    for (int j = 0; j < count; j++) nodes_.prefetch(slots[left[j]]);
    int claimed = 0, others = 0;
    for (int j = 0; j < count; j++) {
        Id& slot = slots[left[j]];
        const bool is_mine = !nodes_.result(slot) && nodes_.claim(slot);
        if (const Id later = nodes_.result(slot)) {  // it may just have been found
            if (is_mine) nodes_.give_up_claim(slot);
            slot = later;
        } else if (is_mine) {
            mine[claimed++] = left[j];
        } else {
            left[others++] = left[j];
        }
    }
    count = others;
    return claimed;
}

void Worker::grow_older(Id* slots, const Todo& todo, int level, bool whole) {
    const int count = todo.count;
    Id* const nine = stack.push(WIDTH * count);
    spread(slots, todo, level, nine);
    if (whole || squares_.now.bit(level - 3)) advance(nine, WIDTH * count, level - 1, true);
    else middle(nine, WIDTH * count, level - 1);
    if (crew_.ready(*this)) {
        combine(nine, count, level - 1);
        advance(nine, 4 * count, level - 1, whole);
    }
    if (crew_.ready(*this)) {
        Key keys[BATCH];
        for (int j = 0; j < count; j++) {
            const Id* const n = nine + 4 * j;
            keys[j] = nodes_.key(n[0], n[1], n[2], n[3]);
        }
        nodes_.ask(keys, count);
        std::size_t added = 0;
        for (int j = 0; j < count; j++) {
            Id& slot = slots[todo.at[j]];
            const Id later = nodes_.find(keys[j], level - 1, new_nodes);
            if (whole) nodes_.set_result(slot, later);
            else added += later_.put(slot, later);
            slot = later;
        }
        if (added) later_.table().added(added);
        statistics.results += std::uint64_t(count);
    }
    stack.pop(WIDTH * count);
}

}  // namespace hashlife
