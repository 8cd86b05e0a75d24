// Tables from the names of squares to something that is known of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "leaves.hpp"

namespace hashlife {

template <class Value>
class Memo {
public:
    // Returns what is known of a square, nullptr where that is nothing.
    const Value* get(Id key) const {
        const std::size_t mask = entries_.size() - 1;
        for (std::size_t at = place(key);; at = (at + 1) & mask) {
            const Entry& entry = entries_[at];
            if (entry.key == key) return &entry.value;
            if (!entry.key) return nullptr;
        }
    }
    void put(Id key, const Value& value) {
        if (2 * (live_ + 1) > entries_.size()) {
            std::vector<Entry> old(2 * entries_.size());
            old.swap(entries_);
            live_ = 0;
            for (const Entry& entry : old)
                if (entry.key) insert(entry.key, entry.value);
        }
        insert(key, value);
    }
    void clear() {
        live_ = 0;
        entries_.assign(LEAST, Entry());
    }
    // Bytes that it takes, or will take once it has grown the next time.
    std::size_t bytes() const { return 3 * sizeof(Entry) * entries_.size(); }

private:
    struct Entry {
        Id key = NOTHING;
        Value value{};
    };
    static constexpr std::size_t LEAST = 1 << 10;

    std::size_t place(Id key) const {
        return std::size_t(mixed(key, 0x9E3779B97F4A7C15u)) & (entries_.size() - 1);
    }
    void insert(Id key, const Value& value) {
        const std::size_t mask = entries_.size() - 1;
        std::size_t at = place(key);
        while (entries_[at].key && entries_[at].key != key) at = (at + 1) & mask;
        live_ += !entries_[at].key;
        entries_[at] = {key, value};
    }
    std::vector<Entry> entries_ = std::vector<Entry>(LEAST);
    std::size_t live_ = 0;
};

// What squares become, as a table that grows and is cleared out in passes.
class Later {
public:
    Later() { clear(); }
    // Returns what a square becomes, NOTHING where that is not known.
    Id get(Id key) const {
        for (std::size_t at = table_->place(Key::of(key));; at = table_->next(at)) {
            const std::uint64_t entry = table_->at(at);
            if (Id(entry) == key) return Id(entry >> 32);
            if (!entry) return NOTHING;
        }
    }
    void prefetch(Id key) const { table_->prefetch(Key::of(key)); }
    // Returns whether that was new, for table().added(). There must be room (is_full()).
    bool put(Id key, Id later) {
        const std::uint64_t entry = std::uint64_t(later) << 32 | key;
        for (std::size_t at = table_->place(Key::of(key));; at = table_->next(at)) {
            std::uint64_t known = table_->at(at);
            if (!known) known = table_->enter(at, entry);
            if (!known) return true;
            if (Id(known) == key) return false;
        }
    }
    void clear() {
        if (table_ && table_->size() == std::size_t(1) << LEAST_BITS) table_->clear();
        else table_ = std::make_unique<Inside>(LEAST_BITS);
    }

    // A square's hash, of its name in the lower half of an entry.
    struct Key {
        static std::uint32_t of(std::uint64_t entry) {
            return std::uint32_t(mixed(Id(entry), 0x9E3779B97F4A7C15u));
        }
    };
    using Inside = Table<Key>;
    Inside& table() { return *table_; }
    const Inside& table() const { return *table_; }

private:
    static constexpr int LEAST_BITS = 11;
    std::unique_ptr<Inside> table_;
};

}  // namespace hashlife
