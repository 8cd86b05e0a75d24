#include "blocks.hpp"

#include <cstdint>
#include <cstdlib>
#include <list>
#include <mutex>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace bignum {
namespace {

// Every block begins with a cache line that tells its size.
constexpr std::size_t HEAD = 64;
constexpr std::size_t LARGE = std::size_t(1) << 20;       // bytes; malloc() itself keeps smaller ones
constexpr std::size_t HUGE_PAGE = std::size_t(1) << 21;
constexpr std::size_t MOST = std::size_t(1) << 30;        // bytes kept

struct Kept {
    std::mutex mutex;
    std::list<char*> blocks;  // the one given last is the first
    std::size_t bytes = 0;
};

// Returns the blocks that are kept. They are never destroyed: arrays may outlive what the
// process tears down at its end.
Kept& kept() {
    static Kept& only = *new Kept;
    return only;
}

std::size_t& size_of(char* block) { return *reinterpret_cast<std::size_t*>(block); }

// Lets the system take a block's pages while nobody uses it; it gives others when somebody does.
void lend_to_system(char* block) {
#if defined(__linux__) && defined(MADV_FREE)
    const std::size_t page = 4096, size = size_of(block);
    madvise(block + page, size / page * page - page, MADV_FREE);
#else
    (void)block;
#endif
}

char* fresh(std::size_t size) {
    const bool large = size >= LARGE;
    const std::size_t alignment = !large ? HEAD : size >= 2 * HUGE_PAGE ? HUGE_PAGE : 4096;
    size = (size + alignment - 1) / alignment * alignment;
    auto* block = static_cast<char*>(std::aligned_alloc(alignment, size));
    if (!block) return nullptr;
#if defined(__linux__)
    if (alignment == HUGE_PAGE) madvise(block, size, MADV_HUGEPAGE);
#endif
    size_of(block) = size;
    return block;
}

}  // namespace

void* take_block(std::size_t bytes) {
    const std::size_t size = bytes + HEAD;
    if (size >= LARGE) {
        Kept& all = kept();
        std::lock_guard<std::mutex> lock(all.mutex);
        auto best = all.blocks.end();
        for (auto it = all.blocks.begin(); it != all.blocks.end(); ++it)
            if (size_of(*it) >= size && size_of(*it) <= size + size / 4 + 2 * HUGE_PAGE &&
                (best == all.blocks.end() || size_of(*it) < size_of(*best)))
                best = it;
        if (best != all.blocks.end()) {
            char* block = *best;
            all.bytes -= size_of(block);
            all.blocks.erase(best);
            return block + HEAD;
        }
    }
    char* block = fresh(size);
    if (!block) {
        drop_blocks();
        block = fresh(size);
    }
    return block ? block + HEAD : nullptr;
}

void give_block(void* memory) {
    char* block = static_cast<char*>(memory) - HEAD;
    const std::size_t size = size_of(block);
    if (size < LARGE || size > MOST / 2) {
        std::free(block);
        return;
    }
    lend_to_system(block);
    Kept& all = kept();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.blocks.push_front(block);
    all.bytes += size;
    while (all.bytes > MOST) {
        all.bytes -= size_of(all.blocks.back());
        std::free(all.blocks.back());
        all.blocks.pop_back();
    }
}

void drop_blocks() {
    Kept& all = kept();
    std::lock_guard<std::mutex> lock(all.mutex);
    for (char* block : all.blocks) std::free(block);
    all.blocks.clear();
    all.bytes = 0;
}

}  // namespace bignum
