// Memory of zeros that grows without being copied where the system can do that.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace hashlife {

class Memory {
public:
    Memory() = default;
    explicit Memory(std::size_t bytes) { grow(bytes); }
    ~Memory() { release(); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    void swap(Memory& other) {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
    }

    void* data() const { return data_; }
    std::size_t bytes() const { return bytes_; }

    // Makes it at least so long; what it holds stays, at another address. What is new is zero, and
    // takes memory of the machine only once it is used, a page at a time. Raises bad_alloc where
    // there is none; then all is as it was.
    void grow(std::size_t bytes) {
        const std::size_t unit = bytes < LARGE ? SMALL : LARGE;
        bytes = (bytes + unit - 1) / unit * unit;
        if (bytes <= bytes_) return;
#if defined(__linux__)
        void* const block = mmap(nullptr, bytes + LARGE, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (block == MAP_FAILED) throw std::bad_alloc();
        char* const from = static_cast<char*>(block);
        const std::size_t skipped = (LARGE - reinterpret_cast<std::uintptr_t>(from) % LARGE) % LARGE;
        char* const to = from + skipped;
        if (skipped) munmap(from, skipped);
        munmap(to + bytes, LARGE - skipped);
        if (bytes_ && mremap(data_, bytes_, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
            munmap(to, bytes);
            throw std::bad_alloc();
        }
#if defined(MADV_HUGEPAGE)
        // Large pages save look-ups of addresses. For less memory, small ones come cheaper: a virtual
        // machine may have to ask its host for each large one.
        if (bytes >= MANY) madvise(to, bytes, MADV_HUGEPAGE);
#endif
        data_ = to;
#else
        void* const to = std::calloc(bytes, 1);
        if (!to) throw std::bad_alloc();
        if (bytes_) std::memcpy(to, data_, bytes_);
        std::free(data_);
        data_ = to;
#endif
        bytes_ = bytes;
    }

private:
    static constexpr std::size_t SMALL = std::size_t(1) << 12, LARGE = std::size_t(1) << 21, MANY = 16 * LARGE;

    void release() {
        if (!data_) return;
#if defined(__linux__)
        munmap(data_, bytes_);
#else
        std::free(data_);
#endif
    }

    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace hashlife
