// The enumeration of a semigroup of maps, level by level, in arrays that grow in place.
//
// A batch of parents goes through these phases, each spread over threads. Products are deduced,
// or listed. Those listed are computed and hashed into scratch rows. They are looked up and put
// into the table, each shard of it by one thread. What is new is numbered in order. New rows are
// copied, and others compared. Nothing of a batch can be seen until the end: whatever goes wrong
// before, only slots of the table have to be emptied again.
#pragma once
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "enumerate.hpp"
#include "memory.hpp"
#include "table.hpp"
#include "../../team.hpp"

// What EnumerationProblem of kernels.transformations.contract, and hashing.HashKey, have. All
// that pointers lead to must outlive the enumeration.
struct SemigroupProblem {
    const char* generators;
    std::size_t itemsize, degree;
    std::uint32_t letters;
    const std::uint32_t* points;
    std::size_t width, stride;
    bool whole, monoid, compare;
    std::uint64_t memory;
    const std::uint32_t* key;
    const std::uint64_t* factors;
    std::uint64_t mask[2];
};

// Thrown where the memory given is less than the beginning takes.
struct TooLittleMemory : std::bad_alloc {
    explicit TooLittleMemory(std::uint64_t needed) : needed(needed) {}
    std::uint64_t needed;
};

enum class SemigroupStatus { done, memory, collision, contradiction, interrupted };

class Enumeration {
public:
    // Begins an enumeration. interrupted: asked now and then whether to stop. level2: bytes
    // of a core's cache. Raises TooLittleMemory where the memory given is too little,
    // std::bad_alloc where there is no more.
    Enumeration(const SemigroupOps& ops, const SemigroupProblem& problem, int threads,
                std::size_t level2, std::function<bool()> interrupted);

    // Makes the products of the next numbers. on: goes on with the next levels where there
    // is time for them, as far as `most` allows.
    SemigroupStatus expand(std::uint64_t most, bool on);

    // Goes on from tables that kernels.transformations.tables has checked; once, at the
    // beginning.
    SemigroupStatus resume(const std::vector<std::uint64_t>& starts, std::uint64_t size,
                        std::uint64_t expanded, const std::uint32_t* first,
                        const std::uint32_t* suffix, const std::uint32_t* prefix,
                        const std::uint32_t* last, const std::uint32_t* right,
                        std::uint64_t left_known, const std::uint32_t* left,
                        const std::uint64_t* hashes);

    // The functions below expect numbers of elements.
    SemigroupStatus maps(const std::uint64_t* numbers, std::size_t count, char* out);
    SemigroupStatus positions(const char* maps, std::size_t count, std::int64_t* out);
    // Finds the least k for which words[k] times letters[k] is not others[k], and a point
    // where they differ. place: k and the point; k = count if there is none.
    SemigroupStatus differ(const std::uint32_t* words, const std::uint32_t* letters,
                        const std::uint32_t* others, std::size_t count, std::uint64_t place[2]);

    std::uint64_t size = 1, expanded = 0, left_known = 0;
    std::uint64_t computed = 0, deduced = 0, moved = 0;
    std::vector<std::uint64_t> starts{0, 1};
    std::uint64_t kept() const { return rows->kept; }
    std::uint64_t nbytes() const { return taken(size, table->slots) + rows->nbytes(); }

    SemigroupGraph graph;
    std::uint64_t* hashes = nullptr;  // (numbers, 2)

private:
    // Work of fewer than LITTLE bytes is over before other threads have heard of it. They are not begun for work of
    // fewer than MUCH bytes, while there are fewer than MANY numbers: that is over before they run.
    static constexpr std::size_t LITTLE = 1 << 17, MUCH = 1 << 19, MANY = 1 << 14;

    static double now() {
        using namespace std::chrono;
        return duration<double>(steady_clock::now().time_since_epoch()).count();
    }

    using u32 = std::uint32_t;
    using u64 = std::uint64_t;
    using size_t = std::size_t;

    SemigroupStatus batch(u64 most);
    void join(u32 blocks);
    void cut(u32& parents);
    void product_part(size_t i, size_t part, int thread);
    template <class Work>
    bool spread_rows(size_t count, Work work);
    void settle_part(u32 from, size_t i, size_t part, int thread);
    void undo();
    bool reach(u64 numbers);
    SemigroupStatus make_room(u64 numbers);
    bool lay_out(u32 parents, u32 candidates);
    SemigroupStatus fill_table(u64 slots);
    SemigroupStatus whole_table();
    bool leaving(int thread);
    u64 slots_for(u64 numbers) const;
    bool same(u64 e, const char* map, int thread);
    void prepare();
    void hash_part(const char* images, size_t part, u64* sum) const;

    u64 taken(u64 numbers, u64 slots) const { return fixed + 8 * slots + numbers * each_bytes; }
    size_t chunks_left(u64 numbers, u64 slots) const;
    const char* row(u64 e, size_t part, int thread);
    const char* made(u64 e, bool all_points, size_t part, int thread);
    // Returns a generator's images. The last one has a copy, behind which there is something
    // that can be read.
    const char* generator(size_t g) const {
        return g + 1 < p.letters ? p.generators + g * p.degree * p.itemsize : last_generator.data();
    }
    size_t part_bytes(size_t part) const {
        return std::min(part_size, p.stride - part * part_size);
    }
    void compose(const void* g, const void* x, void* y, size_t count) const {
        compose_images(g, x, y, count);
    }
    char* buffer(int thread, size_t which) const {
        return buffers->as<char>() + ((held_rows + 1) * size_t(thread) + which) * part_size;
    }
    // Return the number of the first image in a part of a row, or of a whole map, and how
    // many images it has.
    size_t part_first(size_t part) const { return part * part_size / p.itemsize; }
    size_t part_count(size_t part, size_t width) const {
        return std::min(part_size / p.itemsize, width - part_first(part));
    }
    size_t map_parts() const { return (p.degree * p.itemsize + part_size - 1) / part_size; }

    // Calls work(i, thread) for all i < count, on threads if `bytes` of work are enough for
    // that. Returns false if it was stopped, which only happens to what is `stoppable`. Work
    // that takes long asks leaving() itself, and ends where that is true: nothing that it
    // made is used.
    template <class Work>
    bool spread(size_t count, size_t bytes, Work work, bool stoppable = true);

    const SemigroupOps& ops;
    const SemigroupProblem p;
    void (*compose_images)(const void* g, const void* x, void* y, std::size_t count);
    std::vector<char> last_generator;
    const int threads;
    std::function<bool()> interrupted;
    std::unique_ptr<Team> team;

    size_t part_size, parts;
    u32 most_parents, most_candidates;    // of a batch, in the end,
    u32 these_parents, these_candidates;  // and now: few semigroups ever need the former
    u64 fixed, each_bytes, most_numbers;
    double rate;  // products computed for each parent

    std::unique_ptr<Growing> begins, ends, rights, lefts, hashed;
    std::unique_ptr<Rows> rows;
    std::unique_ptr<HashTable> table;
    // The state of the table while it is filled, which an interrupt may leave for the next
    // call to go on with: how many slots are cleared, the number to be put in next, and the
    // slots of the last table that was whole.
    bool is_whole = false, is_begun = false;
    u64 clear_slots = 0, next_number = 0, whole_slots = HashTable::LEAST;
    std::atomic<bool> stop{false};  // whether what is spread now is to end
    double asked = 0;

    // Rows that were made last, a part of each: those of the words that begin the last word,
    // by length mod held_rows. Numbers that follow on each other share most of these.
    struct Held {
        std::vector<u32> numbers;
        std::vector<u32> path;
        bool all_points = false;
        size_t part = ~size_t(0);
    };
    size_t held_rows;
    std::vector<Held> held;

    // The batch under way.
    std::unique_ptr<Growing> lists, scratch, buffers;
    std::vector<SemigroupFound> found;
    SemigroupFound all{};
    char* candidate = nullptr;                       // rows of products
    u64 *candidate_hash = nullptr, *slot = nullptr;  // slot: of what is new, in the table; else 0
    u32 *number = nullptr, *target = nullptr;        // of what is new; what others are the same as
    u32 per_block = 1;
    std::atomic<bool> collision{false};
};

// Tells whether what is spread is to end. It is asked now and then by the first thread, which
// asks Python.
inline bool Enumeration::leaving(int thread) {
    if (thread == 0 && !stop.load(std::memory_order_relaxed)) {
        const double time = now();
        if (time - asked > 0.05) {
            asked = time;
            if (interrupted()) stop = true;
        }
    }
    return stop.load(std::memory_order_relaxed);
}

template <class Work>
bool Enumeration::spread(std::size_t count, std::size_t bytes, Work work, bool stoppable) {
    using std::size_t;
    std::atomic<size_t> next{0};
    stop = false;
    auto loop = [&](int thread) {
        for (size_t i; !stop.load(std::memory_order_relaxed) && (i = next++) < count;) {
            work(i, thread);
            if (stoppable) leaving(thread);
        }
    };
    const bool alone = bytes < LITTLE || (!team && size < MANY && bytes < MUCH);
    if (threads == 1 || count == 1 || alone) {
        loop(0);
    } else {
        if (!team) team = std::make_unique<Team>(threads);
        team->run(loop);
    }
    return !stop;
}

// Calls work(i, part, thread) for each part of `count` rows. Each thread takes some rows that
// follow on each other, the same part of each.
template <class Work>
bool Enumeration::spread_rows(std::size_t count, Work work) {
    using std::size_t;
    const size_t group = std::max(size_t(parts > 1 ? 8 : 1), (size_t(1) << 16) / part_bytes(0));
    const size_t groups = (count + group - 1) / group;
    return spread(groups * parts, count * p.stride, [&](size_t k, int thread) {
        const size_t first = k / parts * group, last = std::min(first + group, count);
        for (size_t i = first; i < last; i++) work(i, k % parts, thread);
    });
}
