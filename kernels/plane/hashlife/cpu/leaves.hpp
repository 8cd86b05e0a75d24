// The leaves of a tree, each kept once, found by their cells.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

#include "leaf.hpp"

namespace hashlife {

// Names a leaf, where the two lowest bits are set, or else a node. 0 names nothing.
using Id = std::uint32_t;
constexpr Id NOTHING = 0, EMPTY_LEAF = 3;

inline bool is_leaf(Id id) { return (id & 3) == 3; }

// The upper half of a product and its lower half, mixed: a change of any bit changes many.
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return std::uint64_t(product) ^ std::uint64_t(product >> 64);
}

class Leaves {
public:
    static constexpr std::size_t BYTES = 4 * LEAF_ROWS, MOST = std::size_t(1) << 30;

    Leaves() {
        reserve(1 << 14);
        std::memset(cells_, 0, BYTES);
        count_ = 1;
        index_.assign(1 << 15, 0);
    }
    ~Leaves() { std::free(block_); }
    Leaves(const Leaves&) = delete;
    Leaves& operator=(const Leaves&) = delete;

    const std::uint32_t* rows(Id id) const { return cells_ + std::size_t(id >> 2) * LEAF_ROWS; }
    void prefetch(Id id) const {
        __builtin_prefetch(rows(id));
        __builtin_prefetch(rows(id) + LEAF_ROWS / 2);
    }

    // Returns the leaf with such cells, made where there is none. rows: 32, aligned to 8 bytes.
    // There must be room (is_full()).
    Id find(const std::uint32_t* rows) { return find(rows, hash_of(rows)); }
    Id find(const std::uint32_t* rows, std::uint64_t hash) {
        if (empty(rows)) return EMPTY_LEAF;
        const std::uint64_t tag = hash >> 32 << 32;
        const std::size_t mask = index_.size() - 1;
        for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
            const std::uint64_t entry = index_[at];
            if (!entry) return add(rows, at, tag);
            const Id number = Id(entry);
            if ((entry ^ tag) >> 32 == 0 && same(cells_ + std::size_t(number) * LEAF_ROWS, rows))
                return number << 2 | 3;
        }
    }

    // What find() wants to know, and asks memory for.
    std::uint64_t hash(const std::uint32_t* rows) const {
        const std::uint64_t hash = hash_of(rows);
        __builtin_prefetch(index_.data() + (hash & (index_.size() - 1)));
        return hash;
    }

    // Whether so many more leaves need more memory than there is now.
    bool is_full(std::size_t more) const { return lacks_index(more) || lacks_cells(more); }
    // Bytes that grow() takes at its height, beside those that are taken.
    std::size_t growth(std::size_t more) const {
        return (lacks_cells(more) ? BYTES * capacity_ : 0) + (lacks_index(more) ? 16 * index_.size() : 0);
    }
    void grow(std::size_t more) {
        if (lacks_cells(more)) {
            if (2 * capacity_ > MOST) throw std::bad_alloc();
            reserve(2 * capacity_);
        }
        if (lacks_index(more)) {
            std::vector<std::uint64_t> index(2 * index_.size());
            enter(index);
            index_.swap(index);
        }
    }
    std::size_t bytes() const {
        return BYTES * capacity_ + 8 * index_.size() + sizeof(Id) * free_.capacity();
    }
    std::size_t live() const { return live_; }

    // Numbers of leaves are below this.
    std::size_t count() const { return count_; }

    // Takes the memory that keep() needs.
    void expect_losses() { free_.reserve(count_); }
    // Gives up the leaves that are not marked, by their numbers; the empty one stays.
    void keep(const std::vector<bool>& marked) {
        free_.clear();
        live_ = 1;
        for (std::size_t i = 1; i < count_; i++) {
            if (i < marked.size() && marked[i]) live_++;
            else {
                free_.push_back(Id(i));
                std::memset(cells_ + i * LEAF_ROWS, 0, BYTES);
            }
        }
        std::fill(index_.begin(), index_.end(), 0);
        enter(index_);
    }

private:
    bool lacks_index(std::size_t more) const { return 2 * (live_ + more) > index_.size(); }
    bool lacks_cells(std::size_t more) const {
        return free_.size() + (capacity_ - count_) < more;
    }
    static bool same(const std::uint32_t* x, const std::uint32_t* y) {
        return std::memcmp(x, y, BYTES) == 0;
    }
    static std::uint64_t hash_of(const std::uint32_t* rows) {
        std::uint64_t words[16], hash = 0x9E3779B97F4A7C15u;
        std::memcpy(words, rows, BYTES);
        constexpr std::uint64_t K[4] = {0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu,
                                        0x8EBC6AF09C88C6E3u, 0x589965CC75374CC3u};
        for (int i = 0; i < 16; i += 4)
            hash = mixed(hash ^ mixed(words[i] ^ K[0], words[i + 1] ^ K[1]),
                         K[2] ^ mixed(words[i + 2] ^ K[2], words[i + 3] ^ K[3]));
        return mixed(hash, K[1]);
    }

    Id add(const std::uint32_t* rows, std::size_t at, std::uint64_t tag) {
        Id number;
        if (!free_.empty()) {
            number = free_.back();
            free_.pop_back();
        } else {
            if (count_ >= capacity_) throw std::bad_alloc();  // nobody asked is_full()
            number = Id(count_++);
        }
        std::memcpy(cells_ + std::size_t(number) * LEAF_ROWS, rows, BYTES);
        index_[at] = tag | number;
        live_++;
        return number << 2 | 3;
    }
    static bool empty(const std::uint32_t* rows) {
        std::uint32_t any = 0;
        for (int r = 0; r < LEAF_ROWS; r++) any |= rows[r];
        return !any;
    }

    void reserve(std::size_t capacity) {
        void* block = std::realloc(block_, BYTES * capacity + 64);
        if (!block) throw std::bad_alloc();
        // Aligned anew: realloc() keeps no alignment of its own.
        auto* cells = reinterpret_cast<std::uint32_t*>((std::uintptr_t(block) + 63) / 64 * 64);
        const std::ptrdiff_t was = block_ ? reinterpret_cast<char*>(cells_) - block_ : 0;
        char* const from = static_cast<char*>(block) + was;
        if (from != reinterpret_cast<char*>(cells)) std::memmove(cells, from, BYTES * count_);
        block_ = static_cast<char*>(block);
        cells_ = cells;
        capacity_ = capacity;
    }

    void enter(std::vector<std::uint64_t>& index) const {
        for (std::size_t i = 1; i < count_; i++) {
            const std::uint32_t* rows = cells_ + i * LEAF_ROWS;
            if (empty(rows)) continue;
            const std::uint64_t hash = hash_of(rows);
            std::size_t at = hash & (index.size() - 1);
            while (index[at]) at = (at + 1) & (index.size() - 1);
            index[at] = hash >> 32 << 32 | i;
        }
    }

    char* block_ = nullptr;
    std::uint32_t* cells_ = nullptr;
    std::size_t capacity_ = 0, count_ = 0, live_ = 1;
    std::vector<std::uint64_t> index_;  // the hash's upper half, then a leaf's number; 0: free
    std::vector<Id> free_;
};

}  // namespace hashlife
