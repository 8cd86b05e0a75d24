// The table of hashes of an enumeration: how room is made in it, and how it is filled.
#include <new>

#include "enumeration.hpp"

namespace {

using std::size_t;
using u64 = std::uint64_t;

}  // namespace

// Sees to it that the table has room for so many numbers; returns `memory` where there is too
// little.
SemigroupStatus Enumeration::make_room(u64 numbers) {
    if (!reach(numbers)) return SemigroupStatus::memory;
    const u64 wanted = slots_for(numbers);
    if (wanted == table->slots) return whole_table();
    if (wanted > table->most || taken(size, wanted) > p.memory) {
        const SemigroupStatus status = whole_table();
        if (status != SemigroupStatus::done) return status;
        return numbers <= table->slots / 4 * 3 ? status : SemigroupStatus::memory;
    }
    rows->extend(size, size, chunks_left(size, wanted));
    SemigroupStatus status = fill_table(wanted);
    if (status == SemigroupStatus::done || status == SemigroupStatus::interrupted) return status;
    status = whole_table();
    return status == SemigroupStatus::done ? SemigroupStatus::memory : status;
}

u64 Enumeration::slots_for(u64 numbers) const {
    u64 slots = table->slots;
    while (numbers > slots / 8 * 5) slots *= 2;
    return slots;
}

// Goes on with a table that an interrupt has left half filled; where it cannot be filled, makes
// one of as many slots as there were before.
SemigroupStatus Enumeration::whole_table() {
    const SemigroupStatus status = fill_table(table->slots);
    return status == SemigroupStatus::contradiction ? fill_table(whole_slots) : status;
}

// Puts all numbers into a table of so many slots, or goes on with that after an interrupt.
// Returns `contradiction` where two hashes are equal or a shard is full.
SemigroupStatus Enumeration::fill_table(u64 slots) {
    constexpr u64 PART = u64(1) << 15;  // each number may meet a page that is not there yet
    const u64 first = p.monoid ? 0 : 1;
    if (slots != table->slots || !(is_whole || is_begun)) {
        if (!table->begin(slots)) return SemigroupStatus::memory;
        is_whole = false, is_begun = true;
        clear_slots = 0, next_number = first;
    }
    if (is_whole) return SemigroupStatus::done;
    for (const u64 all = table->unclear(); clear_slots < all;) {
        const u64 from = clear_slots, last = std::min(from + 128 * PART, all);
        const u64 each = 2 * PART, tasks = (last - from + each - 1) / each;
        spread(size_t(tasks), 8 * size_t(last - from), [&](size_t i, int) {
            table->clear(from + i * each, std::min(from + (i + 1) * each, last));
        }, false);
        clear_slots = last;
        if (last < all && leaving(0)) return SemigroupStatus::interrupted;
    }
    table->cleared();
    std::atomic<bool> different{true};
    const int shares = table->shares(threads);
    while (next_number < size) {
        const u64 from = next_number, last = std::min(from + PART, size);
        spread(size_t(shares), size_t(last - from) * 64, [&](size_t share, int) {
            if (!table->put(from, last, hashes, int(share), shares)) different = false;
        }, false);
        if (!different) {
            is_begun = false;
            return SemigroupStatus::contradiction;
        }
        next_number = last;
        if (last < size && leaving(0)) return SemigroupStatus::interrupted;
    }
    is_whole = true, is_begun = false, whole_slots = slots;
    return SemigroupStatus::done;
}
