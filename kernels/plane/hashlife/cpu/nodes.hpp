// The nodes of a tree above its leaves, each kept once, found by their four children.
//
// A node lies where its children's names say, in a bucket of one cache line with two others, so
// that it is found, and what became of it is known, with one access to memory. Its name is its
// place; it changes only when the table grows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "leaves.hpp"

namespace hashlife {

constexpr int PER_BUCKET = 3;

struct alignas(64) Bucket {
    Id child[PER_BUCKET][4];  // north-west, north-east, south-west, south-east; a free place: 0
    Id result[PER_BUCKET];    // 2^(level - 2) generations later, its middle; 0: not known
    std::uint8_t level[PER_BUCKET];
    std::uint8_t flags;  // a bit for each node that was found again, and OVERFLOW
};
constexpr std::uint8_t OVERFLOWN = 128;  // a node that belongs here lies further on

// Four children, and where a node of them belongs.
struct Key {
    Id child[4];
    std::size_t bucket;
};

class Nodes {
public:
    explicit Nodes(std::size_t buckets) { allocate(buckets); }
    ~Nodes() { std::free(block_); }
    Nodes(const Nodes&) = delete;
    Nodes& operator=(const Nodes&) = delete;

    Bucket& bucket(Id id) const { return buckets_[id >> 2]; }
    const Id* children(Id id) const { return bucket(id).child[id & 3]; }
    Id& result(Id id) const { return bucket(id).result[id & 3]; }
    int level(Id id) const { return bucket(id).level[id & 3]; }
    void prefetch(Id id) const { __builtin_prefetch(buckets_ + (id >> 2)); }

    Key key(Id nw, Id ne, Id sw, Id se) const {
        const std::uint64_t hash = mixed((nw | std::uint64_t(ne) << 32) ^ 0xA0761D6478BD642Fu,
                                         (sw | std::uint64_t(se) << 32) ^ 0xE7037ED1A0B428DBu);
        const std::uint64_t upper = mixed(hash, 0x8EBC6AF09C88C6E3u) >> 32;
        const Key key = {{nw, ne, sw, se}, 1 + std::size_t(upper * count_ >> 32)};
        __builtin_prefetch(buckets_ + key.bucket);
        return key;
    }

    // Returns the node of a key, made where there is none.
    Id find(const Key& key, int level) {
        std::uint64_t upper, lower;
        std::memcpy(&upper, key.child, 8);
        std::memcpy(&lower, key.child + 2, 8);
        Id free = NOTHING;
        for (std::size_t at = key.bucket;; at = at < count_ ? at + 1 : 1) {
            Bucket& bucket = buckets_[at];
            for (int i = 0; i < PER_BUCKET; i++) {
                std::uint64_t u, l;
                std::memcpy(&u, bucket.child[i], 8);
                std::memcpy(&l, bucket.child[i] + 2, 8);
                if (u == upper && l == lower) {
                    if (!(bucket.flags >> i & 1)) bucket.flags |= std::uint8_t(1 << i);
                    return Id(at << 2 | std::size_t(i));
                }
                if (!free && !bucket.child[i][0]) free = Id(at << 2 | std::size_t(i));
            }
            if (bucket.flags & OVERFLOWN) continue;
            if (free) return put(free, key.child, level);
            bucket.flags |= OVERFLOWN;
        }
    }

    bool names(Id id) const {
        return id >> 2 && (id >> 2) <= count_ && buckets_[id >> 2].child[id & 3][0];
    }
    std::size_t live() const { return live_; }
    std::size_t buckets() const { return count_; }
    std::size_t bytes() const { return bytes_of(count_); }
    static std::size_t bytes_of(std::size_t buckets) { return sizeof(Bucket) * (buckets + 1); }
    // Nodes up to which accesses are few.
    std::size_t room() const { return count_ * PER_BUCKET / 4 * 3; }

    // Calls visit(id) for every node.
    template <class Visit>
    void each(Visit visit) const {
        each(visit, [] { return false; });
    }
    // The same, until is_stopped(), which is asked now and then. Returns false where it is.
    template <class Visit, class Stopped>
    bool each(Visit visit, Stopped is_stopped) const {
        constexpr std::size_t OFTEN = 1 << 14;  // buckets, which take less than 10 ms
        for (std::size_t at = 1; at <= count_; at++) {
            if (at % OFTEN == 0 && is_stopped()) return false;
            for (int i = 0; i < PER_BUCKET; i++)
                if (buckets_[at].child[i][0]) visit(Id(at << 2 | std::size_t(i)));
        }
        return true;
    }

    bool found_again(Id id) const { return bucket(id).flags >> (id & 3) & 1; }
    void forget_found() {
        for (std::size_t at = 1; at <= count_; at++) buckets_[at].flags &= OVERFLOWN;
    }
    void remove(Id id) {
        std::memset(bucket(id).child[id & 3], 0, sizeof(Id) * 4);
        live_--;
    }
    Id put(Id id, const Id* child, int level) {
        std::memcpy(bucket(id).child[id & 3], child, sizeof(Id) * 4);
        result(id) = NOTHING;
        bucket(id).level[id & 3] = std::uint8_t(level);
        live_++;
        return id;
    }
    void swap(Nodes& other) {
        std::swap(block_, other.block_);
        std::swap(buckets_, other.buckets_);
        std::swap(count_, other.count_);
        std::swap(live_, other.live_);
    }

private:
    void allocate(std::size_t buckets) {
        constexpr std::size_t HUGE = std::size_t(1) << 21;  // pages of it save look-ups of addresses
        std::size_t bytes = bytes_of(buckets);
        const std::size_t unit = bytes < HUGE ? 64 : HUGE;
        bytes = (bytes + unit - 1) / unit * unit;
        // Large blocks come as zeros from the system, page by page as they are first used.
        block_ = std::calloc(bytes + unit, 1);
        if (!block_) throw std::bad_alloc();
        const auto address = (reinterpret_cast<std::uintptr_t>(block_) + unit - 1) / unit * unit;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
        if (unit == HUGE) madvise(reinterpret_cast<void*>(address), bytes, MADV_HUGEPAGE);
#endif
        buckets_ = reinterpret_cast<Bucket*>(address);
        count_ = buckets;
    }

    void* block_ = nullptr;
    Bucket* buckets_ = nullptr;
    std::size_t count_ = 0, live_ = 0;
};

}  // namespace hashlife
