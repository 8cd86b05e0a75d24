// A hash table of 64-bit entries that grows and is cleared out in passes over consecutive memory.
//
// An entry lies at the place that the highest bits of its hash say, or at the first free place
// behind it. So a table of twice the size has its entries in the same order, and is filled from the
// first to the last. All passes can be broken off, and gone on with later.
//
// Several threads may look for entries and put in new ones at the same time (share()); in passes only
// one thread uses the table.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "memory.hpp"

namespace hashlife {

// Hash::of(entry): 32 bits. An entry is never 0, which marks a free place.
template <class Hash>
class Table {
public:
    using Entry = std::uint64_t;

    explicit Table(int bits) : memory_(sizeof(Entry) << bits), bits_(bits) { adopt(); }

    std::size_t place(std::uint32_t hash) const { return hash >> (32 - bits_); }
    std::size_t next(std::size_t at) const { return (at + 1) & mask_; }
    Entry at(std::size_t place) const { return __atomic_load_n(entries_ + place, __ATOMIC_ACQUIRE); }
    void prefetch(std::uint32_t hash) const { __builtin_prefetch(entries_ + place(hash)); }
    // Puts an entry at a free place and returns 0, or returns what another thread has put there just
    // before. Whoever puts entries in counts them, and says so now and then (added()).
    Entry enter(std::size_t place, Entry entry) {
        Entry found = 0;
        if (!shared_) entries_[place] = entry;
        else if (!__atomic_compare_exchange_n(entries_ + place, &found, entry, false, __ATOMIC_ACQ_REL,
                                              __ATOMIC_ACQUIRE))
            return found;
        return 0;
    }
    void added(std::size_t count) { live_.fetch_add(count, std::memory_order_relaxed); }
    void share(bool shared) { shared_ = shared; }  // whether several threads use it at the same time

    std::size_t live() const { return live_.load(std::memory_order_relaxed); }
    std::size_t size() const { return mask_ + 1; }
    std::size_t bytes() const { return sizeof(Entry) * (size() + (larger_.data() ? 2 * size() : 0)); }
    // Whether there is too little room for so many more.
    bool is_full(std::size_t more) const { return (live() + more) * 8 > size() * 5; }
    // Bytes that grow() takes beside those that are taken.
    std::size_t growth() const { return larger_.data() ? 0 : 2 * sizeof(Entry) * size(); }

    // Takes all entries out.
    void clear() {
        give_up_growth();
        std::memset(entries_, 0, sizeof(Entry) * size());
        live_ = 0;
    }
    // Doubles the size. Returns false where is_stopped(), which is asked now and then, became
    // true: the table is as it was, and the next call goes on from there. Raises bad_alloc.
    template <class Stopped>
    bool grow(Stopped is_stopped) {
        if (bits_ == MOST_BITS) throw std::bad_alloc();
        if (!larger_.data() || moved_live_ != live()) {
            Memory fresh(2 * sizeof(Entry) * size());
            larger_.swap(fresh);
            moved_ = 0;
            moved_live_ = live();
        }
        auto* const to = static_cast<Entry*>(larger_.data());
        const std::size_t mask = 2 * mask_ + 1;
        while (moved_ <= mask_) {
            const std::size_t end = moved_ + OFTEN < size() ? moved_ + OFTEN : size();
            for (; moved_ < end; moved_++) {
                const Entry entry = entries_[moved_];
                if (!entry) continue;
                std::size_t at = Hash::of(entry) >> (31 - bits_);
                while (to[at]) at = (at + 1) & mask;
                to[at] = entry;
            }
            if (moved_ <= mask_ && is_stopped()) return false;
        }
        memory_.swap(larger_);
        bits_++;
        adopt();
        give_up_growth();
        return true;
    }

    // Where a pass of keep() is.
    struct Pass {
        bool begun = false;
        std::size_t first = 0, done = 0;
    };
    // Removes the entries that keep(entry) is false for. Returns false where is_stopped(): the next
    // call with the same `pass` goes on. In between all entries are found.
    template <class Keep, class Stopped>
    bool keep(Pass& pass, Keep keep, Stopped is_stopped) {
        if (!pass.begun) {
            give_up_growth();
            // From a free place on: no entry that is met lies before its own place.
            while (entries_[pass.first]) pass.first++;
            pass.begun = true;
        }
        std::size_t until = OFTEN;
        while (pass.done <= mask_) {
            const std::size_t at = (pass.first + pass.done++) & mask_;
            const Entry entry = entries_[at];
            if (!entry) {
                if (pass.done < until) continue;
                until = pass.done + OFTEN;
                if (is_stopped()) return false;
                continue;
            }
            entries_[at] = 0;
            if (keep(entry)) insert(entry);
            else live_--;
        }
        return true;
    }

private:
    void insert(Entry entry) {
        std::size_t at = place(Hash::of(entry));
        while (entries_[at]) at = next(at);
        entries_[at] = entry;
    }
    static constexpr int MOST_BITS = 31;
    static constexpr std::size_t OFTEN = 1 << 16;  // places, which take less than a millisecond or two

    void adopt() {
        entries_ = static_cast<Entry*>(memory_.data());
        mask_ = (std::size_t(1) << bits_) - 1;
    }
    void give_up_growth() {
        Memory none;
        larger_.swap(none);
    }

    Memory memory_, larger_;
    Entry* entries_ = nullptr;
    int bits_;
    bool shared_ = false;
    std::size_t mask_ = 0, moved_ = 0, moved_live_ = 0;
    std::atomic<std::size_t> live_{0};
};

// Entries whose upper half is their hash.
struct UpperHalf {
    static std::uint32_t of(std::uint64_t entry) { return std::uint32_t(entry >> 32); }
};

}  // namespace hashlife
