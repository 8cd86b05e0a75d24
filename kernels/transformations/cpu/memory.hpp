// Memory that grows. It is small at first, as most semigroups are. Then addresses are reserved
// for as much as there may ever be, and pages are taken when they are first written to. Where
// addresses are limited (ulimit -v), only as many are taken as are needed, and the kernel moves
// the pages to others.
#pragma once
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <new>
#include <utility>
#include <vector>

class Growing {
public:
    // Begins without memory. most: bytes that there may ever be.
    explicit Growing(std::size_t most) : most(std::max(most, std::size_t(1))) {}
    Growing(const Growing&) = delete;
    Growing& operator=(const Growing&) = delete;
    ~Growing() { free(memory, bytes); }

    template <class T>
    T* as() const { return static_cast<T*>(memory); }

    // Makes it at least so many bytes, of which new ones are zero; what is there may move.
    // Returns false, and changes nothing, where no more can be had.
    bool grow(std::size_t need) {
        if (need <= bytes) return true;
        if (need > most) return false;
        const std::size_t twice = std::min(most, std::max(need, 2 * bytes));
        if (twice <= SMALL) return take(std::max(twice, std::min(LEAST, most))) || take(need);
        if (!limited() && take(rounded(most))) return true;
        return take(rounded(twice)) || take(rounded(need));
    }

    // Gives whole pages within this range back; they are zero when they are read again.
    void release(std::size_t first, std::size_t last) const {
        if (!is_mapped(bytes)) return;
        const std::uintptr_t from = (address() + first + PAGE - 1) / PAGE * PAGE;
        const std::uintptr_t to = (address() + last) / PAGE * PAGE;
        if (from < to) madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
    }

private:
    static constexpr std::size_t LEAST = 1 << 10, SMALL = 1 << 18;
    static constexpr std::uintptr_t PAGE = 4096, HUGE = 1 << 21;
    static bool is_mapped(std::size_t bytes) { return bytes > SMALL; }
    static std::size_t rounded(std::size_t bytes) {
        return std::max((bytes + PAGE - 1) / PAGE * PAGE, SMALL + PAGE);
    }
    static bool limited() {
        rlimit limit;
        return getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    }
    static void free(void* memory, std::size_t bytes) {
        if (is_mapped(bytes)) munmap(memory, bytes);
        else std::free(memory);
    }
    std::uintptr_t address() const { return reinterpret_cast<std::uintptr_t>(memory); }

    bool take(std::size_t wanted) {
        void* found = nullptr;
        if (!is_mapped(wanted)) {
            found = std::calloc(wanted, 1);
            if (!found) return false;
        } else if (is_mapped(bytes)) {
            found = moved(wanted);
            if (found == MAP_FAILED) return false;
            memory = found, bytes = wanted;
            advise(0);
            return true;
        } else {
            found = mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (found == MAP_FAILED) return false;
        }
        if (bytes) std::memcpy(found, memory, bytes);
        free(memory, bytes);
        memory = found, bytes = wanted;
        // Small memory would only wait until a huge page is cleared.
        if (is_mapped(wanted)) advise(wanted == rounded(most) ? 2 * HUGE - 1 : 0);
        return true;
    }

    // Moves to more addresses, and the pages with them; nothing is copied where the kernel
    // can do that.
    void* moved(std::size_t wanted) const {
#if defined(__linux__)
        return mremap(memory, bytes, wanted, MREMAP_MAYMOVE);
#else
        void* const found = mmap(nullptr, wanted, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (found == MAP_FAILED) return found;
        std::memcpy(found, memory, bytes);
        munmap(memory, bytes);
        return found;
#endif
    }

    // Asks for huge pages from so many bytes on. Memory that may grow on must be alike all
    // over, or mremap() refuses.
    void advise(std::size_t skipped) const {
#if defined(MADV_HUGEPAGE)
        const std::uintptr_t from = skipped ? (address() + skipped) / HUGE * HUGE : address();
        const std::uintptr_t to = skipped ? (address() + bytes) / HUGE * HUGE : address() + bytes;
        if (from < to && bytes >= 2 * HUGE)
            madvise(reinterpret_cast<void*>(from), to - from, MADV_HUGEPAGE);
#endif
    }

    std::size_t most;
    void* memory = nullptr;
    std::size_t bytes = 0;
};

// The rows of the latest numbers, in chunks of 2^shift. A new chunk takes the place of the
// oldest.
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

    // Makes room for numbers size .. end - 1, with at most so many chunks in all. Where
    // there are `plenty` bytes or more, chunks that end before `useful` are used again.
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
            if (slots && free.empty() && !memory.grow((slots + 1) * chunk_bytes())) {
                // No more addresses can be had: the chunks that there are have
                // to suffice.
                if (chunks.empty()) {
                    first = c + 1;
                    continue;
                }
                drop();
            }
            if (free.empty()) free.push_back(slots++);
            chunks.push_back(free.back());
            free.pop_back();
        }
        kept = std::max(kept, first << shift);
        // Only as much of the first chunk is used as is needed: most semigroups need no
        // more.
        if (slots == 1 && !chunks.empty() && size < end) {
            const std::uint64_t last = (end - 1) & ((std::uint64_t(1) << shift) - 1);
            if (!memory.grow((last + 1) * stride)) restart(end);
        }
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
    Growing memory;
    std::deque<std::size_t> chunks;  // the slot of each, from chunk `first` on
    std::uint64_t first = 0;
    std::vector<std::size_t> free;
    std::size_t slots = 0;
};
