// Memory that grows in place: addresses are reserved for as much as there may ever be, and
// pages taken when they are first written to.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <new>
#include <vector>

class Reserved {
public:
    Reserved() = default;
    explicit Reserved(std::size_t bytes) : bytes(std::max(bytes, std::size_t(1))) {
        memory = mmap(nullptr, this->bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
#if defined(MADV_HUGEPAGE)
        // From the second one on: what is small would only wait for a page to be cleared.
        const std::uintptr_t from = (address() + 2 * HUGE - 1) / HUGE * HUGE;
        const std::uintptr_t to = (address() + this->bytes) / HUGE * HUGE;
        if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#endif
    }
    Reserved(const Reserved&) = delete;
    Reserved& operator=(const Reserved&) = delete;
    ~Reserved() { munmap(memory, bytes); }

    template <class T>
    T* as() const { return static_cast<T*>(memory); }

    // Whole pages within are given back, and are zero when they are read again.
    void release(std::size_t first, std::size_t last) const {
        const std::uintptr_t from = (address() + first + PAGE - 1) / PAGE * PAGE;
        const std::uintptr_t to = (address() + last) / PAGE * PAGE;
        if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
    }

private:
    static constexpr std::uintptr_t PAGE = 4096, HUGE = 1 << 21;
    std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(memory); }
    void* memory = nullptr;
    std::size_t bytes = 0;
};

// Rows of the latest numbers, in chunks of 2^shift; the oldest chunk makes room for a new one.
class Rows {
public:
    Rows(std::size_t stride, int shift, std::size_t bytes)
        : stride(stride), shift(shift), memory(bytes) {}

    // Numbers from this one on have a row.
    std::uint64_t kept = 0;

    std::size_t chunk_bytes() const { return stride << shift; }
    std::size_t nbytes() const { return chunks.size() * chunk_bytes(); }

    char* row(std::uint64_t e) const {
        const std::size_t slot = chunks[(e >> shift) - first];
        return memory.as<char>() + (slot << shift) * stride +
               std::size_t(e & ((std::uint64_t(1) << shift) - 1)) * stride;
    }

    // Makes room for numbers size .. end - 1, with at most so many chunks in all. From `plenty`
    // bytes on, chunks that end before `useful` are used again.
    void extend(std::uint64_t size, std::uint64_t end, std::size_t most, std::uint64_t useful = 0,
                std::size_t plenty = 0) {
        while (chunks.size() > most) {
            const std::size_t start = chunks.front() * chunk_bytes();
            drop();
            memory.release(start, start + chunk_bytes());
        }
        for (std::uint64_t c = first + chunks.size(); size < end && c <= (end - 1) >> shift; c++) {
            if (most == 0) {
                first = c + 1;
                continue;
            }
            const bool enough = nbytes() >= plenty && (first + 1) << shift <= useful;
            if (enough || chunks.size() == most) drop();
            if (free.empty()) free.push_back(slots++);
            chunks.push_back(free.back());
            free.pop_back();
        }
        kept = std::max(kept, first << shift);
    }
    // Begins anew with number e.
    void restart(std::uint64_t e) {
        while (!chunks.empty()) drop();
        first = e >> shift;
        kept = e;
    }

private:
    void drop() {
        free.push_back(chunks.front());
        chunks.pop_front();
        first++;
    }

    std::size_t stride;
    int shift;
    Reserved memory;
    std::deque<std::size_t> chunks;  // the slot of each, from chunk `first` on
    std::uint64_t first = 0;
    std::vector<std::size_t> free;
    std::size_t slots = 0;
};
