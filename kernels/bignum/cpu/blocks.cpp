#include "blocks.hpp"

#include <cstdint>
#include <cstdlib>
#include <iterator>
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
constexpr std::size_t MOST_HELD = std::size_t(256) << 20;  // bytes of these that the system cannot take

struct Kept {
    std::mutex mutex;
    std::list<char*> held, lent;  // in each the one given last is the first
    std::size_t held_bytes = 0, bytes = 0;
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

// Takes the least block that is large enough, and not much larger, from a list, or null.
char* taken(std::list<char*>& blocks, std::size_t size) {
    auto best = blocks.end();
    for (auto it = blocks.begin(); it != blocks.end(); ++it)
        if (size_of(*it) >= size && size_of(*it) <= size + size / 4 + 2 * HUGE_PAGE &&
            (best == blocks.end() || size_of(*it) < size_of(*best)))
            best = it;
    if (best == blocks.end()) return nullptr;
    char* const block = *best;
    blocks.erase(best);
    return block;
}

void free_all(std::list<char*>& blocks) {
    for (char* block : blocks) std::free(block);
    blocks.clear();
}

}  // namespace

void* take_block(std::size_t bytes) {
    const std::size_t size = bytes + HEAD;
    if (size >= LARGE) {
        Kept& all = kept();
        std::lock_guard<std::mutex> lock(all.mutex);
        char* block = taken(all.held, size);
        if (block)
            all.held_bytes -= size_of(block);
        else
            block = taken(all.lent, size);
        if (block) {
            all.bytes -= size_of(block);
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
    Kept& all = kept();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.held.push_front(block);
    all.held_bytes += size;
    all.bytes += size;
    while (all.held_bytes > MOST_HELD) {
        char* const oldest = all.held.back();
        all.held_bytes -= size_of(oldest);
        lend_to_system(oldest);
        all.lent.splice(all.lent.begin(), all.held, std::prev(all.held.end()));
    }
    while (all.bytes > MOST) {
        all.bytes -= size_of(all.lent.back());
        std::free(all.lent.back());
        all.lent.pop_back();
    }
}

void drop_blocks() {
    Kept& all = kept();
    std::lock_guard<std::mutex> lock(all.mutex);
    free_all(all.held);
    free_all(all.lent);
    all.held_bytes = all.bytes = 0;
}

}  // namespace bignum
