// Things of one size that are each kept once: numbered in the order in which they were made, and
// found by a table of their hashes. Numbers stay as long as the things do.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "memory.hpp"
#include "table.hpp"

namespace hashlife {

// Names a square: twice its number among leaves and one, or twice its number among nodes. 0 names nothing.
using Id = std::uint32_t;
constexpr Id NOTHING = 0;

// The upper half of a product and its lower half, mixed: a change of any bit changes many.
inline std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return std::uint64_t(product) ^ std::uint64_t(product >> 64);
}

template <std::size_t SIZE>  // bytes of each
class Kept {
public:
    static constexpr std::size_t MOST = std::size_t(1) << 31;

    Kept(std::size_t room, int table_bits) : room_(room), table_(table_bits) { memory_.grow(SIZE * room); }

    std::size_t live() const { return table_.live(); }
    std::size_t end() const { return end_; }  // all numbers are below; 0 is none, or not in the table
    std::size_t bytes() const { return SIZE * room_ + table_.bytes(); }

    // Whether more cannot be made without grow().
    bool lacks(std::size_t more) const { return lacks_room(more) || table_.is_full(more); }
    // Bytes that grow() takes at least, beside those that are taken.
    std::size_t growth(std::size_t more) const {
        return (lacks_room(more) ? SIZE * more : 0) + (table_.is_full(more) ? table_.growth() : 0);
    }
    // Makes room for more, with at most so many bytes beside those that are taken, which are not fewer
    // than growth(). Returns false where is_stopped() came true: another call goes on. Raises
    // bad_alloc where the machine has no memory; all is as it was then.
    template <class Stopped>
    bool grow(std::size_t more, std::size_t most, Stopped is_stopped) {
        if (lacks_room(more)) {
            const std::size_t table = table_.is_full(more) ? table_.growth() : 0;
            const std::size_t added = std::min(std::max(more, room_ / 8), (most - table) / SIZE);
            if (room_ + added > MOST) throw std::bad_alloc();
            if (SIZE * (room_ + added) > memory_.bytes()) memory_.grow(SIZE * (room_ + added + room_ / 2));
            room_ += added;
        }
        return !table_.is_full(more) || table_.grow(is_stopped);
    }

    using Index = Table<UpperHalf>;  // entries: a hash, and a name below
    Index& index() { return table_; }
    // Gives up all places that were given up, so that forget() can be called for each anew.
    void forget_none() { free_ = spare_ = 0; }
    // Gives up the place of a number, which the table does not name any more.
    void forget(std::size_t number) {
        std::memset(at(number), 0, SIZE);
        std::memcpy(at(number) + LINK, &free_, sizeof(free_));
        free_ = number;
        spare_++;
    }

protected:
    char* at(std::size_t number) const { return static_cast<char*>(memory_.data()) + SIZE * number; }
    // Returns a number for something new, which the table will name at a free place.
    std::size_t take() {
        std::size_t number = free_;
        if (number) {
            std::memcpy(&free_, at(number) + LINK, sizeof(free_));
            spare_--;
        } else {
            if (end_ >= room_) throw std::bad_alloc();  // nobody asked for room
            number = end_++;
        }
        return number;
    }
    // The name of the first thing of a hash that it might be; NOTHING where there is none.
    Id guess(std::uint32_t hash) const {
        for (std::size_t place = table_.place(hash);; place = table_.next(place)) {
            const std::uint64_t entry = table_.at(place);
            if (!entry || UpperHalf::of(entry) == hash) return Id(entry);
        }
    }
    // Returns the name of a thing of a hash that is(name) is true for, or what make() names.
    template <class Is, class Make>
    Id find(std::uint32_t hash, Is is, Make make) {
        for (std::size_t place = table_.place(hash);; place = table_.next(place)) {
            const std::uint64_t entry = table_.at(place);
            if (!entry) {
                const Id id = make();
                table_.enter(place, std::uint64_t(hash) << 32 | id);
                return id;
            }
            if (UpperHalf::of(entry) == hash && is(Id(entry))) return Id(entry);
        }
    }
    void prefetch_place(std::uint32_t hash) const { table_.prefetch(hash); }

private:
    static constexpr std::size_t LINK = 8;  // where a free place names the next one

    bool lacks_room(std::size_t more) const { return spare_ + (room_ - end_) < more; }

    Memory memory_;
    std::size_t room_, end_ = 1, spare_ = 0;
    std::size_t free_ = 0;  // the first of the places that were given up
    Index table_;
};

}  // namespace hashlife
