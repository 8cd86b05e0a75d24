// A table from the names of squares to something that is known of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <new>
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
    // Replaces all by what rename(key, value) makes of them; where that is false, it is forgotten.
    // All is forgotten where there is no memory for it.
    template <class Rename>
    void rename(Rename rename) {
        std::vector<Entry> old;
        try {
            old.resize(entries_.size());
        } catch (const std::bad_alloc&) {
            clear();
            return;
        }
        old.swap(entries_);
        live_ = 0;
        for (Entry& entry : old)
            if (entry.key && rename(entry.key, entry.value)) insert(entry.key, entry.value);
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

}  // namespace hashlife
