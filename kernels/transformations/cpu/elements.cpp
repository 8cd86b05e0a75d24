// Turns the numbers of elements into maps and maps into numbers, and begins an enumeration from
// tables.
#include <cstring>

#include "enumeration.hpp"

namespace {

using std::size_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

void lower(std::atomic<u64>& least, u64 value) {
    u64 before = least;
    while (value < before && !least.compare_exchange_weak(before, value)) {
    }
}

}  // namespace

SemigroupStatus Enumeration::maps(const u64* numbers, size_t count, char* out) {
    constexpr size_t GROUP = 16;
    const size_t bytes = p.degree * p.itemsize, groups = (count + GROUP - 1) / GROUP;
    asked = now();
    const bool well = spread(groups * map_parts(), count * bytes, [&](size_t k, int thread) {
        const size_t part = k % map_parts(), first = k / map_parts() * GROUP;
        for (size_t i = first; i < std::min(first + GROUP, count); i++) {
            const u64 e = numbers[i];
            if (leaving(thread)) return;
            const char* const images = p.whole ? row(e, part, thread) : made(e, true, part, thread);
            std::memcpy(out + i * bytes + part * part_size, images,
                        part_count(part, p.degree) * p.itemsize);
        }
    });
    team.reset();
    return well ? SemigroupStatus::done : SemigroupStatus::interrupted;
}

// Tells whether element e is a given map, in all points.
bool Enumeration::same(u64 e, const char* map, int thread) {
    for (size_t part = 0; part < map_parts(); part++) {
        if (leaving(thread)) return false;
        const char* const images = p.whole ? row(e, part, thread) : made(e, true, part, thread);
        const size_t bytes = part_count(part, p.degree) * p.itemsize;
        if (std::memcmp(map + part * part_size, images, bytes)) return false;
    }
    return true;
}

SemigroupStatus Enumeration::positions(const char* maps, size_t count, std::int64_t* out) {
    const size_t bytes = p.degree * p.itemsize;
    asked = now();
    const SemigroupStatus status = whole_table();
    if (status != SemigroupStatus::done) return status;
    const bool well = spread(count, count * bytes, [&](size_t i, int thread) {
        const char* const map = maps + i * bytes;
        u64 hash[2] = {0, 0};
        for (size_t part = 0; part < parts && !leaving(thread); part++) {
            char* const to = buffer(thread, 0);
            const size_t first = part_first(part), images = part_count(part, p.width);
            for (size_t k = 0; k < images; k++)
                std::memcpy(to + k * p.itemsize, map + p.points[first + k] * p.itemsize,
                            p.itemsize);
            std::memset(to + images * p.itemsize, 0, part_bytes(part) - images * p.itemsize);
            hash_part(to, part, hash);
        }
        for (int half = 0; half < 2; half++) hash[half] &= p.mask[half];
        const u64 e = table->find(hash, hashes);
        out[i] = e < size && same(e, map, thread) ? std::int64_t(e) : -1;
    });
    team.reset();
    return well ? SemigroupStatus::done : SemigroupStatus::interrupted;
}

SemigroupStatus Enumeration::differ(const u32* words, const u32* letters, const u32* others,
                                 size_t count, u64 place[2]) {
    constexpr size_t GROUP = 16;
    std::atomic<u64> least{count};
    asked = now();
    // Returns the first point of a part where both sides differ, or the degree.
    auto compared = [&](size_t k, size_t part, int thread) {
        char* const x = buffer(thread, 0);
        const size_t images = part_count(part, p.degree), each = p.itemsize;
        compose(generator(letters[k]), made(words[k], true, part, thread), x, images);
        const char* const y = made(others[k], true, part, thread);
        if (std::memcmp(x, y, images * each) == 0) return p.degree;
        size_t i = 0;
        while (std::memcmp(x + i * each, y + i * each, each) == 0) i++;
        return part_first(part) + i;
    };
    const size_t all_parts = map_parts(), groups = (count + GROUP - 1) / GROUP;
    const bool well =
        spread(groups * all_parts, count * p.degree * p.itemsize, [&](size_t g, int thread) {
            const size_t first = g / all_parts * GROUP, end = std::min(first + GROUP, count);
            for (size_t k = first; k < end && k < least && !leaving(thread); k++)
                if (compared(k, g % all_parts, thread) < p.degree) lower(least, k);
        });
    team.reset();
    if (!well) return SemigroupStatus::interrupted;
    place[0] = least, place[1] = p.degree;
    for (size_t part = 0; least < count && place[1] == p.degree && !leaving(0); part++)
        place[1] = compared(least, part, 0);
    return stop ? SemigroupStatus::interrupted : SemigroupStatus::done;
}

SemigroupStatus Enumeration::resume(const std::vector<u64>& from_starts, u64 from_size,
                                 u64 from_expanded, const u32* first, const u32* suffix,
                                 const u32* prefix, const u32* last, const u32* right,
                                 u64 from_left_known, const u32* left, const u64* from_hashes) {
    const u64 m = p.letters;
    const u64 slots = slots_for(from_size);
    if (slots > table->most || taken(from_size, slots) > p.memory) return SemigroupStatus::memory;
    if (!reach(from_size)) return SemigroupStatus::memory;
    asked = now();
    const u64 some = std::max(u64(1), (u64(1) << 18) / m), copies = (from_size + some - 1) / some;
    const bool copied = spread(copies, from_size * each_bytes, [&](size_t k, int) {
        const u64 begin = k * some, end = std::min(begin + some, from_size);
        for (u64 e = begin; e < end; e++) {
            graph.begin[e] = {first[e], suffix[e]};
            graph.end[e] = {prefix[e], last[e]};
        }
        auto copy = [&](u32* to, const u32* from, u64 known) {
            if (begin < known)
                std::memcpy(to + begin * m, from + begin * m, 4 * m * (std::min(end, known) - begin));
        };
        copy(graph.right, right, from_expanded);
        copy(graph.left, left, from_left_known);
        std::memcpy(hashes + 2 * begin, from_hashes + 2 * begin, 16 * (end - begin));
    });
    if (!copied) return SemigroupStatus::interrupted;
    starts = from_starts;
    size = from_size, expanded = from_expanded, left_known = from_left_known;
    is_whole = is_begun = false;  // the table is of other numbers
    const SemigroupStatus filled = fill_table(slots);
    if (filled != SemigroupStatus::done) return filled;

    // All hashes were checked; now the rows of numbers that wait for their products are
    // kept.
    prepare();
    rows->restart(expanded);
    rows->extend(expanded, size, chunks_left(size, slots));
    constexpr size_t GROUP = 256;
    std::atomic<bool> wrong{false};
    const size_t groups = (size + GROUP - 1) / GROUP;
    const bool well = spread(groups, size * p.stride, [&](size_t k, int thread) {
        u64 sums[GROUP][2] = {};
        const u64 begin = k * GROUP, end = std::min(begin + GROUP, size);
        for (size_t part = 0; part < parts; part++) {
            if (leaving(thread)) return;
            for (u64 e = begin; e < end; e++) {
                const char* const images = made(e, false, part, thread);
                hash_part(images, part, sums[e - begin]);
                if (e >= rows->kept)
                    std::memcpy(rows->row(e) + part * part_size, images, part_bytes(part));
            }
        }
        for (u64 e = begin; e < end; e++)
            for (u64 half = 0; half < 2; half++)
                if ((sums[e - begin][half] & p.mask[half]) != hashes[2 * e + half]) wrong = true;
    });
    team.reset();
    if (!well) return SemigroupStatus::interrupted;
    return wrong ? SemigroupStatus::contradiction : SemigroupStatus::done;
}
