#include "arenas.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>

#if defined(__linux__)
#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>
#endif

#if defined(__linux__) && defined(MADV_FREE) && defined(MADV_HUGEPAGE)
#define HAVE_ARENAS
#endif

namespace bignum {
namespace {

#if defined(HAVE_ARENAS)

// A region has arenas side by side; two of them are a page, a large one of the system's where that pays.
constexpr int ARENAS = 32;
constexpr std::uint32_t FULL = ~std::uint32_t(0);
constexpr std::size_t PAGE = 2 * ARENA, REGION = ARENAS * ARENA;
constexpr std::size_t MOST = std::size_t(256) << 20;  // bytes kept
constexpr double WORTH_WHILE = 2 << 20;               // bytes

struct Region {
    std::uint32_t used = 0;   // a bit for each arena
    std::uint32_t kept = 0;   // a bit for each page that is unused, and has not gone back to the system
    std::uint32_t large = 0;  // a bit for each page that was to be a large one when it was last made
};

using ByAddress = std::map<char*, Region>;  // by their first byte

struct Regions {
    std::mutex mutex;
    ByAddress all;
    ByAddress::iterator next = all.end();  // where to look for an unused arena first, if anywhere
    ArenaCount count = {0, 0};
    double lost = 0;  // seconds that large pages took longer than small ones would have
};

// Returns the regions. They are never destroyed: objects may outlive what the process tears down at its end.
Regions& regions() {
    static Regions& only = *new Regions;
    return only;
}

// Returns a new region, aligned to large pages, or null.
char* map_region() {
    void* const mapped =
        mmap(nullptr, REGION + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    char* const first = static_cast<char*>(mapped);
    const std::size_t before = (PAGE - reinterpret_cast<std::uintptr_t>(first) % PAGE) % PAGE;
    if (before) munmap(first, before);
    munmap(first + before + REGION, PAGE - before);
    return first + before;
}

double seconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

// Has the system make a page, a large one unless those have turned out to be slow: they take a tenth of the time of
// small ones, but ten times as long in a virtual machine that gives free memory back to its host. Returns whether it
// was to be a large one.
bool make_page(Regions& all, char* page) {
    constexpr double SMALL_ONES = 3e-4, MOST_LOST = 3e-3;  // seconds
    if (all.lost > MOST_LOST) {
        madvise(page, PAGE, MADV_NOHUGEPAGE);
        return false;
    }
    madvise(page, PAGE, MADV_HUGEPAGE);
    const double start = seconds();
    *static_cast<volatile char*>(page) = 0;
    all.lost = std::max(0.0, all.lost + seconds() - start - SMALL_ONES);
    return true;
}

// Returns a region with an unused arena, or the end of all.
ByAddress::iterator with_room(Regions& all) {
    if (all.next != all.all.end() && all.next->second.used != FULL) return all.next;
    auto at = all.all.begin();
    while (at != all.all.end() && at->second.used == FULL) ++at;
    if (at == all.all.end()) {
        char* const fresh = map_region();
        if (!fresh) return at;
        try {
            at = all.all.emplace(fresh, Region()).first;
        } catch (const std::bad_alloc&) {
            munmap(fresh, REGION);
        }
    }
    return at;
}

// Gives a region back where nothing is used nor kept.
void unmap_if_empty(Regions& all, ByAddress::iterator at) {
    if (at->second.used || at->second.kept) return;
    if (all.next == at) all.next = all.all.end();
    munmap(at->first, REGION);
    all.all.erase(at);
}

// As PyObjectArenaAllocator in Python's headers, which is none of its stable ABI.
struct Allocator {
    void* context;
    void* (*take)(void* context, std::size_t bytes);
    void (*give)(void* context, void* memory, std::size_t bytes);
};

thread_local int many = 0;  // how many ManyObjects there are

// Has Python ask here for arenas, from the first call on: those that came from here must come back, whenever that
// may be. What is not ours goes to whoever was asked before.
void ask_here() {
    using Function = void (*)(Allocator*);
    static Allocator before = {nullptr, nullptr, nullptr};
    static const bool done = [] {
        const auto get = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "PyObject_GetArenaAllocator"));
        const auto set = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, "PyObject_SetArenaAllocator"));
        if (!get || !set) return false;
        get(&before);
        Allocator ours = {nullptr,
                          [](void*, std::size_t bytes) -> void* {
                              void* const arena = many && bytes == ARENA ? take_arena() : nullptr;
                              return arena ? arena : before.take(before.context, bytes);
                          },
                          [](void*, void* memory, std::size_t bytes) {
                              if (bytes != ARENA || !give_arena(memory)) before.give(before.context, memory, bytes);
                          }};
        set(&ours);
        return true;
    }();
    (void)done;
}

#endif

}  // namespace

#if defined(HAVE_ARENAS)

void* take_arena() {
    Regions& all = regions();
    std::lock_guard<std::mutex> lock(all.mutex);
    all.next = with_room(all);
    if (all.next == all.all.end()) return nullptr;
    char* const first = all.next->first;
    Region& region = all.next->second;
    const int arena = __builtin_ctz(~region.used), page = arena / 2;
    const std::uint32_t bit = std::uint32_t(1) << page;
    if (region.kept & bit) {
        region.kept ^= bit;
        all.count.kept -= PAGE;
    } else if (!(region.used >> 2 * page & 3)) {
        region.large &= ~bit;
        if (make_page(all, first + std::size_t(page) * PAGE)) region.large |= bit;
    }
    region.used |= std::uint32_t(1) << arena;
    all.count.used++;
    return first + std::size_t(arena) * ARENA;
}

bool give_arena(void* memory) {
    Regions& all = regions();
    std::lock_guard<std::mutex> lock(all.mutex);
    auto at = all.all.upper_bound(static_cast<char*>(memory));
    if (at == all.all.begin()) return false;
    --at;
    char* const first = at->first;
    const std::size_t distance = std::size_t(static_cast<char*>(memory) - first);
    if (distance >= REGION) return false;
    Region& region = at->second;
    const int arena = int(distance / ARENA), page = arena / 2;
    region.used &= ~(std::uint32_t(1) << arena);
    all.next = at;
    all.count.used--;
    if (region.used >> 2 * page & 3) return true;  // the page's other half is in use
    char* const begin = first + std::size_t(page) * PAGE;
    if (all.count.kept + PAGE <= MOST) {
        // The system may take a large one that is kept, until somebody uses it. To offer it small ones costs more than
        // all that is gained.
        if (region.large >> page & 1) madvise(begin, PAGE, MADV_FREE);
        region.kept |= std::uint32_t(1) << page;
        all.count.kept += PAGE;
    } else {
        madvise(begin, PAGE, MADV_DONTNEED);
        unmap_if_empty(all, at);
    }
    return true;
}

void drop_arenas() {
    Regions& all = regions();
    std::lock_guard<std::mutex> lock(all.mutex);
    for (auto at = all.all.begin(); at != all.all.end();) {
        const auto next = std::next(at);
        for (int page = 0; page < ARENAS / 2; page++)
            if (at->second.kept >> page & 1) madvise(at->first + std::size_t(page) * PAGE, PAGE, MADV_DONTNEED);
        at->second.kept = 0;
        unmap_if_empty(all, at);
        at = next;
    }
    all.count.kept = 0;
}

ArenaCount count_arenas() {
    Regions& all = regions();
    std::lock_guard<std::mutex> lock(all.mutex);
    return all.count;
}

ManyObjects::ManyObjects(double bytes) : worth_while(bytes >= WORTH_WHILE) {
    if (!worth_while) return;
    ask_here();
    many++;
}

ManyObjects::~ManyObjects() {
    if (worth_while) many--;
}

#else

void* take_arena() { return nullptr; }
bool give_arena(void*) { return false; }
void drop_arenas() {}
ArenaCount count_arenas() { return {0, 0}; }
ManyObjects::ManyObjects(double) : worth_while(false) {}
ManyObjects::~ManyObjects() {}

#endif

}  // namespace bignum
