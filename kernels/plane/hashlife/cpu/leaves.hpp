// The leaves of a tree, each kept once, found by their cells.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kept.hpp"
#include "leaf.hpp"

namespace hashlife {

constexpr Id EMPTY_LEAF = 1;
constexpr std::size_t LEAF_BYTES = 4 * LEAF_ROWS;

inline bool is_leaf(Id id) { return id & 1; }

class Leaves : public Kept<LEAF_BYTES> {
public:
    Leaves() : Kept(1 << 12, 12) {}  // number 0 has no live cells

    const std::uint32_t* rows(Id id) const { return reinterpret_cast<const std::uint32_t*>(at(id >> 1)); }
    void prefetch(Id id) const {
        __builtin_prefetch(at(id >> 1));
        __builtin_prefetch(at(id >> 1) + LEAF_BYTES / 2);
    }

    // A leaf is found in three steps, so that one can wait for memory for many at a time: hash(),
    // ask(), and find().
    std::uint32_t hash(const std::uint32_t* rows) const {
        const std::uint32_t hash = hash_of(rows);
        prefetch_place(hash);
        return hash;
    }
    void ask(std::uint32_t hash) const { prefetch(guess(hash)); }
    // Returns the leaf with such cells, 32 rows, made where there is none. There must be room.
    Id find(const std::uint32_t* rows, std::uint32_t hash, Reserve& reserve) {
        if (empty(rows)) return EMPTY_LEAF;
        return Kept::find(
            hash, reserve, [&](Id id) { return std::memcmp(this->rows(id), rows, LEAF_BYTES) == 0; },
            [&](std::size_t number) {
                std::memcpy(at(number), rows, LEAF_BYTES);
                return Id(number) << 1 | 1;
            });
    }

private:
    static std::uint32_t hash_of(const std::uint32_t* rows) {
        std::uint64_t words[16], hash = 0x9E3779B97F4A7C15u;
        std::memcpy(words, rows, LEAF_BYTES);
        constexpr std::uint64_t K[4] = {0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu,
                                        0x8EBC6AF09C88C6E3u, 0x589965CC75374CC3u};
        for (int i = 0; i < 16; i += 4)
            hash = mixed(hash ^ mixed(words[i] ^ K[0], words[i + 1] ^ K[1]),
                         K[2] ^ mixed(words[i + 2] ^ K[2], words[i + 3] ^ K[3]));
        return std::uint32_t(mixed(hash, K[1]) >> 32);
    }
    static bool empty(const std::uint32_t* rows) {
        std::uint32_t any = 0;
        for (int r = 0; r < LEAF_ROWS; r++) any |= rows[r];
        return !any;
    }
};

}  // namespace hashlife
