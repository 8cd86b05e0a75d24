// The nodes of a tree above its leaves, each kept once, found by their four children.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "leaves.hpp"

namespace hashlife {

struct Node {
    Id child[4];  // north-west, north-east, south-west, south-east; of one that was given up: 0
    Id result;    // 2^(level - 2) generations later, its middle; 0: not known
    std::uint8_t level;
    bool found_again;  // since the last collection of garbage
    bool claimed;      // by a worker, which finds out the result
};

// Four children, the hash of them, and the node that probably has them, if any.
struct Key {
    Id child[4];
    std::uint32_t hash;
    Id guess;
};

class Nodes : public Kept<sizeof(Node)> {
public:
    Nodes() : Kept(1 << 14, 13) {}  // number 0 is no node

    Node& numbered(std::size_t number) const { return *reinterpret_cast<Node*>(at(number)); }
    const Id* children(Id id) const { return numbered(id >> 1).child; }
    Id result(Id id) const { return __atomic_load_n(&numbered(id >> 1).result, __ATOMIC_ACQUIRE); }
    void set_result(Id id, Id result) {
        __atomic_store_n(&numbered(id >> 1).result, result, __ATOMIC_RELEASE);
    }
    // Tells whether nobody else finds out the result, and from now on this caller does, until it gives the
    // claim up.
    bool claim(Id id) const {
        return !__atomic_exchange_n(&numbered(id >> 1).claimed, true, __ATOMIC_ACQ_REL);
    }
    bool is_claimed(Id id) const { return __atomic_load_n(&numbered(id >> 1).claimed, __ATOMIC_ACQUIRE); }
    void give_up_claim(Id id) const {
        __atomic_store_n(&numbered(id >> 1).claimed, false, __ATOMIC_RELEASE);
    }
    int level(Id id) const { return numbered(id >> 1).level; }
    void prefetch(Id id) const {
        __builtin_prefetch(at(id >> 1));
        __builtin_prefetch(at(id >> 1) + sizeof(Node) - 4);
    }

    // A node is found in three steps, as a leaf is.
    Key key(Id nw, Id ne, Id sw, Id se) const {
        const std::uint64_t hash = mixed((nw | std::uint64_t(ne) << 32) ^ 0xA0761D6478BD642Fu,
                                         (sw | std::uint64_t(se) << 32) ^ 0xE7037ED1A0B428DBu);
        const Key key = {{nw, ne, sw, se}, std::uint32_t(mixed(hash, 0x8EBC6AF09C88C6E3u) >> 32), NOTHING};
        prefetch_place(key.hash);
        return key;
    }
    void ask(Key* keys, int count) const {
        for (int i = 0; i < count; i++) {
            keys[i].guess = guess(keys[i].hash);
            prefetch(keys[i].guess);
        }
    }
    // Returns the node of a key, made where there is none. There must be room.
    inline __attribute__((always_inline)) Id find(const Key& key, int level, Reserve& reserve) {
        const auto is = [&](Id id) { return std::memcmp(children(id), key.child, sizeof(key.child)) == 0; };
        if (key.guess && is(key.guess)) return again(key.guess);
        std::size_t made = 0;
        const Id id = Kept::find(key.hash, reserve, is, [&](std::size_t number) {
            made = number;
            Node& node = numbered(number);
            std::memcpy(node.child, key.child, sizeof(key.child));
            node.result = NOTHING;
            node.level = std::uint8_t(level);
            node.found_again = false;
            node.claimed = false;
            return Id(number) << 1;
        });
        return id >> 1 == made ? id : again(id);
    }
    bool names(Id id) const { return id >> 1 && (id >> 1) < end() && children(id)[0]; }

private:
    Id again(Id id) const {
        bool* const found_again = &numbered(id >> 1).found_again;
        if (!__atomic_load_n(found_again, __ATOMIC_RELAXED))
            __atomic_store_n(found_again, true, __ATOMIC_RELAXED);
        return id;
    }
};

}  // namespace hashlife
