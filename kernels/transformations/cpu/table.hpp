// Finds numbers by the hashes of their rows: open addressing, in shards. Each shard is changed
// by one thread at a time, so that what is found does not depend on how many threads there are.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "memory.hpp"

class HashTable {
    using u32 = std::uint32_t;
    using u64 = std::uint64_t;

public:
    static constexpr u64 LEAST = 64;
    static constexpr u32 EMPTY = 0xFFFFFFFF;  // no number

    // Begins without a number. most: slots, a power of two from LEAST on.
    explicit HashTable(u64 most) : most(most), memory(8 * most) {}

    u64 slots = LEAST;
    const u64 most;

    // Returns how many shares of the shards are changed at once, where there are so many
    // threads.
    int shares(int threads) const { return slots >= SHARDED ? std::min(threads, int(SHARDS)) : 1; }

    // Begins anew with so many slots: those below unclear() are to be cleared before any is
    // used. Returns false, and leaves everything as it was, where there is no memory for so
    // many.
    bool begin(u64 new_slots) {
        if (!memory.grow(8 * new_slots)) return false;
        entries = memory.as<u64>();
        // New pages are cleared, too: else the first numbers that are put in would ask
        // for nearly all of them at once.
        used = std::max({used, slots, new_slots});
        slots = new_slots;
        std::fill(filled, filled + SHARDS, 0);
        return true;
    }
    u64 unclear() const { return used; }
    void clear(u64 first, u64 last) { std::memset(entries + first, 0, (last - first) * 8); }
    void cleared() { used = 0; }

    // Puts numbers first .. last - 1 into the shards of a share, by hashes (last, 2).
    // Returns whether they have room and no two hashes are equal.
    bool put(u64 first, u64 last, const u64* hashes, int share, int all) {
        constexpr u64 AHEAD = 16;
        u64 mixes[AHEAD], numbers[AHEAD], seen = 0;
        bool different = true;
        for (u64 e = first; e < last; e++) {
            const u64 mix = mixed(hashes + 2 * e);
            const Place place(mix, slots);
            if (int(place.shard % u64(all)) != share) continue;
            __builtin_prefetch(entries + place.slot(), 1);
            const u64 ring = seen++ % AHEAD;
            if (seen > AHEAD) different &= put_one(mixes[ring], numbers[ring], hashes);
            mixes[ring] = mix, numbers[ring] = e;
        }
        for (u64 k = seen - std::min(seen, AHEAD); k < seen; k++)
            different &= put_one(mixes[k % AHEAD], numbers[k % AHEAD], hashes);
        return different;
    }

    // Looks candidates up, in order, in the shards of a share, by hashes (count, 2);
    // candidate k counts as number size + k. Those that are not found are put in, and
    // taken[k] becomes their slot, from 1. For others found[k] becomes the number with the
    // same hash. Returns false where the table is full.
    bool insert(const u64* hashes, u64 size, const u64* candidates, u32 count, u64* taken,
                u32* found, int share, int all) {
        constexpr u32 AHEAD = 12;
        u64 mixes[AHEAD];
        for (u32 k = 0; k < std::min(count, AHEAD); k++) mixes[k] = mixed(candidates + 2 * k);
        for (u32 k = 0; k < count; k++) {
            const u64 mix = mixes[k % AHEAD];
            if (k + AHEAD < count) {
                const u64 next = mixed(candidates + 2 * (u64(k) + AHEAD));
                mixes[k % AHEAD] = next;
                __builtin_prefetch(entries + Place(next, slots).slot(), 1);
            }
            Place place(mix, slots);
            if (int(place.shard % u64(all)) != share) continue;
            const u64 *const hash = candidates + 2 * u64(k), tag = mix << 32;
            for (;; place.next()) {
                const u64 entry = entries[place.slot()];
                if (!entry) {
                    if (filled[place.shard] >= place.mask) return false;
                    filled[place.shard]++;
                    entries[place.slot()] = tag | (size + k + 1);
                    taken[k] = place.slot() + 1;
                    break;
                }
                if ((entry ^ tag) >> 32) continue;
                const u64 e = number(entry);
                if (equal(e < size ? hashes + 2 * e : candidates + 2 * (e - size), hash)) {
                    found[k] = u32(e);
                    break;
                }
            }
        }
        return true;
    }
    void renumber(u64 slot, u64 e) {
        entries[slot - 1] = (entries[slot - 1] >> 32 << 32) | (e + 1);
    }
    // Undoes an insertion; all later ones must be undone, too.
    void remove(u64 slot, const u64* hash) {
        entries[slot - 1] = 0;
        filled[Place(mixed(hash), slots).shard]--;
    }

    // Returns the number that has a hash, or EMPTY.
    u32 find(const u64* hash, const u64* hashes) const {
        const u64 mix = mixed(hash), tag = mix << 32;
        for (Place place(mix, slots); entries[place.slot()]; place.next()) {
            const u64 entry = entries[place.slot()], e = number(entry);
            if ((entry ^ tag) >> 32 == 0 && equal(hashes + 2 * e, hash)) return u32(e);
        }
        return EMPTY;
    }

private:
    static constexpr u64 SHARDS = 64, SHARDED = 1 << 16;

    // Mixes a hash, as hashes are not evenly spread in all their bits.
    static u64 mixed(const u64* hash) {
        const u64 h = (hash[0] ^ hash[1] * 0x9E3779B97F4A7C15) * 0xD6E8FEB86659FD93;
        return (h ^ h >> 32) * 0xD6E8FEB86659FD93;
    }
    static bool equal(const u64* a, const u64* b) { return a[0] == b[0] && a[1] == b[1]; }
    static u64 number(u64 entry) { return (entry & 0xFFFFFFFF) - 1; }

    // Where a hash belongs: its shard, and its place there.
    struct Place {
        u64 shard, base, mask, at;
        Place(u64 mix, u64 slots) {
            const u64 home = mix >> (64 - __builtin_ctzll(slots));
            const u64 each = slots >= SHARDED ? slots / SHARDS : slots;
            shard = home / each, base = shard * each, mask = each - 1, at = home & mask;
        }
        u64 slot() const { return base + at; }
        void next() { at = (at + 1) & mask; }
    };

    bool put_one(u64 mix, u64 e, const u64* hashes) {
        Place place(mix, slots);
        const u64 tag = mix << 32;
        for (; entries[place.slot()]; place.next()) {
            const u64 entry = entries[place.slot()];
            if ((entry ^ tag) >> 32 == 0 && equal(hashes + 2 * number(entry), hashes + 2 * e))
                return false;
        }
        if (filled[place.shard] >= place.mask) return false;  // one stays empty, to end searches
        filled[place.shard]++;
        entries[place.slot()] = tag | (e + 1);
        return true;
    }

    Growing memory;
    u64* entries = nullptr;  // tag, a part of the mixed hash, above the number + 1; 0 is empty
    u64 filled[SHARDS] = {};
    u64 used = 0;  // slots to be cleared
};
