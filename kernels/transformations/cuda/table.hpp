// The hash table, of slots with a tag, taken from the hash, above a number. Open addressing.
//
// Numbers from `size` on are products of the batch under way, whose hashes are in an array of
// their own.
#pragma once
#include "common.hpp"

namespace {

constexpr u64 EMPTY = ~u64(0);

struct Hash {
    u64 low, high;
    SEMIGROUP_FN bool operator==(const Hash& other) const {
        return low == other.low && high == other.high;
    }
};

SEMIGROUP_FN Hash hash_at(const ulonglong2* __restrict__ hashes, u64 i) {
    const ulonglong2 h = hashes[i];
    return {h.x, h.y};
}

struct Table {
    u64* slots;
    u32 log2;  // of their number, at least 1

    SEMIGROUP_FN static u64 mixed(const Hash& h) {
        u64 x = (h.low ^ (h.high * 0x9E3779B97F4A7C15ull)) * 0xBF58476D1CE4E5B9ull;
        x = (x ^ x >> 29) * 0x94D049BB133111EBull;
        return x ^ x >> 32;
    }
    SEMIGROUP_FN u64 place(u64 mix) const { return mix >> (64 - log2); }
    SEMIGROUP_FN u64 next(u64 at) const { return (at + 1) & ((u64(1) << log2) - 1); }
    SEMIGROUP_FN static u64 entry(u64 mix, u32 number) { return mix << 32 | number; }

    // Returns the place of an equal hash, or of the entry for `number` that is put there.
    // `found` becomes what was there before, EMPTY in the second case. of(n): the hash of a
    // number.
    template <class F>
    SEMIGROUP_FN u64 insert(const Hash& h, u32 number, F of, u64& found) {
        const u64 mix = mixed(h), mine = entry(mix, number);
        for (u64 at = place(mix);; at = next(at)) {
            u64 there = __ldcg(slots + at);
            if (there == EMPTY) there = atomicCAS(slots + at, EMPTY, mine);
            found = there;
            if (there == EMPTY || (there >> 32 == mine >> 32 && of(u32(there)) == h)) return at;
        }
    }

    SEMIGROUP_FN u32 find(const Hash& h, const ulonglong2* __restrict__ hashes) const {
        const u64 mix = mixed(h), mine = entry(mix, 0);
        for (u64 at = place(mix);; at = next(at)) {
            const u64 there = slots[at];
            if (there == EMPTY) return NONE;
            if (there >> 32 == mine >> 32 && hash_at(hashes, u32(there)) == h) return u32(there);
        }
    }
};

}  // namespace
