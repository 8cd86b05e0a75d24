// Things of one size that are each kept once: numbered in the order in which they were made, and
// found by a table of their hashes. Numbers stay as long as the things do. Several threads may find and
// make things at the same time, each with a reserve of numbers; all else is done by one alone.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>

#include "memory.hpp"
#include "spin.hpp"
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

// Numbers for new things that one thread has for itself.
struct Reserve {
    static constexpr int MOST = 128;
    std::uint32_t numbers[MOST];  // the last is the next to be given
    int left = 0;
    int counted = 0;  // of those that are left, and of those that were given after them
    std::size_t made() const { return std::size_t(counted - left); }  // but not counted yet
};

template <std::size_t SIZE>  // bytes of each
class Kept {
public:
    static constexpr std::size_t MOST = std::size_t(1) << 31;

    Kept(std::size_t room, int table_bits) : room_(room), table_(table_bits) { memory_.grow(SIZE * room); }

    std::size_t live() const { return table_.live(); }
    std::size_t end() const { return end_.load(std::memory_order_relaxed); }  // all numbers are below; 0 is none, or not in the table
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
    void forget_none() { free_ = 0, spare_ = 0; }
    // Gives up the place of a number, which the table does not name any more.
    void forget(std::size_t number) {
        std::memset(at(number), 0, SIZE);
        std::memcpy(at(number) + LINK, &free_, sizeof(free_));
        free_ = number;
        spare_++;
    }

    void share(bool shared) { table_.share(shared); }
    // Counts what was made with a reserve.
    void count(Reserve& reserve) {
        table_.added(reserve.made());
        reserve.counted = reserve.left;
    }
    // Makes a reserve empty, before forget_none() or at the end of its thread.
    void drop(Reserve& reserve) {
        count(reserve);
        reserve.left = reserve.counted = 0;
    }
    void give_back(Reserve& reserve) {
        for (int i = 0; i < reserve.left; i++) forget(reserve.numbers[i]);
        drop(reserve);
    }

protected:
    char* at(std::size_t number) const { return static_cast<char*>(memory_.data()) + SIZE * number; }
    // The name of the first thing of a hash that it might be; NOTHING where there is none.
    Id guess(std::uint32_t hash) const {
        for (std::size_t place = table_.place(hash);; place = table_.next(place)) {
            const std::uint64_t entry = table_.at(place);
            if (!entry || UpperHalf::of(entry) == hash) return Id(entry);
        }
    }
    // Returns the name of a thing of a hash that is(name) is true for. Where there is none, that is
    // what make(number) makes and names.
    template <class Is, class Make>
    Id find(std::uint32_t hash, Reserve& reserve, Is is, Make make) {
        Id id = NOTHING;  // of what was made, but has no place yet
        for (std::size_t place = table_.place(hash);; place = table_.next(place)) {
            std::uint64_t entry = table_.at(place);
            if (!entry) {
                if (!id) {
                    if (!reserve.left) refill(reserve);
                    id = make(reserve.numbers[reserve.left - 1]);
                }
                entry = table_.enter(place, std::uint64_t(hash) << 32 | id);
                if (!entry) {
                    reserve.left--;
                    return id;
                }
            }
            if (UpperHalf::of(entry) == hash && is(Id(entry))) return Id(entry);
        }
    }
    void prefetch_place(std::uint32_t hash) const { table_.prefetch(hash); }

private:
    static constexpr std::size_t LINK = 8;  // where a free place names the next one

    bool lacks_room(std::size_t more) const {
        return spare_.load(std::memory_order_relaxed) + (room_ - end()) < more;
    }
    __attribute__((noinline)) void refill(Reserve& reserve) {
        count(reserve);
        const std::lock_guard<Spin> alone(taking_);
        int found = 0;
        for (; found < Reserve::MOST && free_; found++) {
            reserve.numbers[found] = std::uint32_t(free_);
            std::memcpy(&free_, at(free_) + LINK, sizeof(free_));
        }
        spare_.store(spare_.load(std::memory_order_relaxed) - std::size_t(found), std::memory_order_relaxed);
        std::size_t number = end();
        while (found < Reserve::MOST && number < room_) reserve.numbers[found++] = std::uint32_t(number++);
        end_.store(number, std::memory_order_relaxed);
        if (!found) throw std::bad_alloc();  // nobody asked for room
        std::reverse(reserve.numbers, reserve.numbers + found);
        reserve.left = reserve.counted = found;
    }

    Memory memory_;
    std::size_t room_;
    std::atomic<std::size_t> end_{1}, spare_{0};
    std::size_t free_ = 0;  // the first of the places that were given up
    Spin taking_;           // held by who takes numbers
    Index table_;
};

}  // namespace hashlife
