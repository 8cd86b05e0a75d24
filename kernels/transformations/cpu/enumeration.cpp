// What enumeration.hpp declares: memory, rows, and the phases of a batch.
#include "enumeration.hpp"

#include <cstring>
#include <new>

namespace {

using std::size_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 NONE = 0xFFFFFFFF;
// As many parents and products of a batch are enough for the smallest semigroups, and for small ones.
constexpr u32 LEAST = 64, FEW = 256;

bool gathers_fast() {
#if defined(__x86_64__)
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}

}  // namespace

Enumeration::Enumeration(const SemigroupOps& ops, const SemigroupProblem& problem, int threads,
                         size_t level2, std::function<bool()> interrupted)
    : ops(ops), p(problem), threads(threads), interrupted(std::move(interrupted)) {
    const u64 m = p.letters;
    // Scratch rows stay in the caches of the threads' own cores; numbers without rows must
    // not take much memory.
    const size_t room = size_t(std::min(u64(threads) * level2 * 3 / 8, p.memory / 16));
    most_candidates = u32(std::max(m, std::min(u64(room / p.stride), u64(1) << 13)));
    most_parents = u32(std::max(u64(1), std::min({u64(most_candidates), (u64(1) << 18) / m,
                                                  p.memory / 32 / (24 * m)})));
    per_block = u32(std::max(u64(1), 1024 / m));
    const size_t map_bytes = (p.degree * p.itemsize + 15) / 16 * 16;
    part_size = std::min(std::max(p.stride, map_bytes), size_t(1) << 15);
    parts = (p.stride + part_size - 1) / part_size;
    rate = double(m);

    const size_t products = size_t(most_parents) * m;
    const size_t list_bytes = products * 20, row_bytes = most_candidates * p.stride;
    const size_t scratch_bytes = row_bytes + size_t(most_candidates) * 32;
    held_rows = size_t(std::max(u64(2), std::min(u64(32), p.memory / 32 / threads / part_size)));
    const size_t buffer_bytes = (held_rows + 1) * size_t(threads) * part_size;
    fixed = (m + 1) * p.degree * p.itemsize + 4 * p.width + 16 * 1024 + list_bytes + scratch_bytes +
            buffer_bytes;
    each_bytes = 8 * m + 32;
    compose_images = p.itemsize == 2 && ops.gather && gathers_fast() ? ops.gather
                                                                     : ops.compose[p.itemsize >> 1];
    const u64 needed = taken(1, HashTable::LEAST);
    if (needed > p.memory) throw TooLittleMemory(needed);
    const u64 most = most_numbers = std::min((p.memory - fixed) / each_bytes + 1, NONE);
    u64 most_slots = HashTable::LEAST;
    while (most_slots * 16 <= p.memory) most_slots *= 2;

    const char* const last = p.generators + (m - 1) * p.degree * p.itemsize;
    last_generator.assign(last, last + p.degree * p.itemsize);
    last_generator.resize(last_generator.size() + 2);
    buffers = std::make_unique<Growing>(buffer_bytes);
    begins = std::make_unique<Growing>(most * 8);
    ends = std::make_unique<Growing>(most * 8);
    rights = std::make_unique<Growing>(most * m * 4);
    lefts = std::make_unique<Growing>(most * m * 4);
    hashed = std::make_unique<Growing>(most * 16);
    table = std::make_unique<HashTable>(most_slots);
    graph.letters = p.letters;
    const u32 some_candidates = std::min(most_candidates, std::max(p.letters, LEAST));
    if (!buffers->grow(buffer_bytes) || !reach(1) ||
        !lay_out(std::min(most_parents, LEAST), some_candidates))
        throw std::bad_alloc();
    int shift = 0;
    const u64 chunk = std::min(u64(1) << 21, p.memory / 64);
    while (shift < 20 && (p.stride << (shift + 1)) <= chunk) shift++;
    rows = std::make_unique<Rows>(p.stride, shift, p.memory);

    graph.begin[0] = graph.end[0] = {u32(NONE), u32(NONE)};
    rows->extend(0, 1, chunks_left(1, table->slots));
    held.resize(size_t(threads));
    for (Held& each : held) each.numbers.resize(held_rows);
    prepare();
    u64 sum[2] = {0, 0};
    for (size_t part = 0; part < parts; part++) {
        const char* const images = made(0, false, part, 0);
        hash_part(images, part, sum);
        if (rows->kept == 0) std::memcpy(rows->row(0) + part * part_size, images, part_bytes(part));
    }
    for (int i = 0; i < 2; i++) hashes[i] = sum[i] & p.mask[i];
    const SemigroupStatus status = fill_table(table->slots);
    if (status != SemigroupStatus::done) throw std::bad_alloc();
}

// Makes the lists and rows of a batch of so many parents and candidates. Where there is no
// memory, returns false and leaves those that there are.
bool Enumeration::lay_out(u32 parents, u32 candidates) {
    const size_t products = size_t(parents) * p.letters, row_bytes = candidates * p.stride;
    const size_t list_bytes = products * 20, scratch_bytes = row_bytes + size_t(candidates) * 32;
    auto new_lists = std::make_unique<Growing>(list_bytes);
    auto new_scratch = std::make_unique<Growing>(scratch_bytes);  // zero, as the ends of rows are
    if (!new_lists->grow(list_bytes) || !new_scratch->grow(scratch_bytes)) return false;
    found.resize((parents + per_block - 1) / per_block);
    lists = std::move(new_lists), scratch = std::move(new_scratch);
    all.source = lists->as<u64>();
    all.product = reinterpret_cast<u32*>(all.source + products);
    all.rest = all.product + products;
    all.later = all.rest + products;
    candidate = scratch->as<char>();
    candidate_hash = reinterpret_cast<u64*>(candidate + row_bytes);
    slot = candidate_hash + 2 * size_t(candidates);
    target = reinterpret_cast<u32*>(slot + candidates);
    number = target + candidates;
    these_parents = parents, these_candidates = candidates;
    return true;
}

// Makes the arrays long enough for so many numbers, or for as many as there may be. Returns
// false where there is no memory.
bool Enumeration::reach(u64 numbers) {
    const size_t count = size_t(std::min(numbers, most_numbers)), m = p.letters;
    const bool fits = begins->grow(8 * count) && ends->grow(8 * count) &&
                      rights->grow(4 * m * count) && lefts->grow(4 * m * count) &&
                      hashed->grow(16 * count);
    graph.begin = begins->as<SemigroupPair>(), graph.end = ends->as<SemigroupPair>();
    graph.right = rights->as<u32>(), graph.left = lefts->as<u32>();
    hashes = hashed->as<u64>();
    return fits;
}

size_t Enumeration::chunks_left(u64 numbers, u64 slots) const {
    return size_t((p.memory - taken(numbers, slots)) / rows->chunk_bytes());
}

// Makes paths long enough before words grow longer, as threads take no memory by themselves.
void Enumeration::prepare() {
    for (Held& each : held) each.path.resize(starts.size() + 1);
}

// Makes a part of a row, or of a whole map, from the element's word; zeros follow. What it
// returns means nothing where leaving() has become true.
const char* Enumeration::made(u64 e, bool all_points, size_t part, int thread) {
    Held& h = held[size_t(thread)];
    all_points |= p.whole;
    const size_t width = all_points ? p.degree : p.width;
    const size_t first = part_first(part), count = part_count(part, width);
    auto place = [&](size_t length) { return buffer(thread, 1 + length % held_rows); };
    if (h.part != part || h.all_points != all_points) {
        h.part = part, h.all_points = all_points;
        std::fill(h.numbers.begin(), h.numbers.end(), u32(NONE));
        const size_t bytes = count * p.itemsize;
        for (size_t i = 0; i < held_rows; i++) std::memset(place(i) + bytes, 0, -bytes % 16);
    }
    const size_t length =
        size_t(std::upper_bound(starts.begin(), starts.end(), e) - starts.begin()) - 1;
    size_t known = length;
    // After so many letters it asks whether to leave: words may have millions of them.
    constexpr size_t STEPS = size_t(1) << 14;
    const size_t often = std::max(size_t(1), (size_t(1) << 16) / (count + 16));
    for (u32 x = u32(e); h.numbers[known % held_rows] != x; x = graph.end[x].a, known--) {
        if (known % STEPS == 0 && known && leaving(thread)) return place(0);
        h.path[known] = x;
        if (known) continue;
        for (size_t i = 0; i < count; i++) {
            const u32 point = all_points ? u32(first + i) : p.points[first + i];
            std::memcpy(place(0) + i * p.itemsize, &point, p.itemsize);
        }
        h.numbers[0] = 0;
        break;
    }
    for (size_t k = known + 1; k <= length; k++) {
        if (k % often == 0 && leaving(thread)) break;
        const u32 x = h.path[k];
        compose(generator(graph.end[x].b), place(k - 1), place(k), count);
        h.numbers[k % held_rows] = x;
    }
    return place(length);
}

// Returns a part of a row, which is kept, or is made.
const char* Enumeration::row(u64 e, size_t part, int thread) {
    return e >= rows->kept ? rows->row(e) + part * part_size : made(e, false, part, thread);
}

void Enumeration::hash_part(const char* images, size_t part, u64* sum) const {
    const size_t block = part * part_size / (4 * SEMIGROUP_BLOCK);
    ops.hash(p.key, p.factors, images, part_bytes(part), block, sum);
}

SemigroupStatus Enumeration::expand(u64 most, bool on) {
    const double until = now() + 0.04;
    asked = now();
    const size_t level = starts.size();
    SemigroupStatus status = SemigroupStatus::done;
    u64 left = most, limit = most_parents;
    for (bool some = false; left && expanded < size; some = true) {
        if (!on && starts.size() != level) break;
        const u64 before = expanded, waiting = starts.back() - expanded;
        // Where there is no memory it goes on with what there is.
        if (these_parents < most_parents && waiting > FEW / 2)
            lay_out(most_parents, most_candidates);
        else if (these_parents < std::min(most_parents, FEW) && waiting > LEAST / 2)
            lay_out(std::min(most_parents, FEW), std::min(most_candidates, std::max(p.letters, FEW)));
        limit = std::min({limit, left, waiting});
        while ((status = batch(limit)) == SemigroupStatus::memory && limit > 1) limit /= 2;
        if (status != SemigroupStatus::done) {
            if (some && status != SemigroupStatus::interrupted) status = SemigroupStatus::done;
            break;
        }
        left -= expanded - before;
        limit = on ? u64(most_parents) : limit;
        if (now() > until) break;
    }
    team.reset();
    return status;
}

// Joins the lists of all blocks, one after the other.
void Enumeration::join(u32 blocks) {
    all.computed = all.waiting = 0;
    for (u32 b = 0; b < blocks; b++) {
        const SemigroupFound& f = found[b];
        std::memmove(all.product + all.computed, f.product, 4 * size_t(f.computed));
        std::memmove(all.rest + all.computed, f.rest, 4 * size_t(f.computed));
        std::memmove(all.later + all.waiting, f.later, 4 * size_t(f.waiting));
        std::memmove(all.source + all.waiting, f.source, 8 * size_t(f.waiting));
        all.computed += f.computed, all.waiting += f.waiting;
    }
}

// Leaves the last parents for another time, where there are too many products to compute.
void Enumeration::cut(u32& parents) {
    rate = 0.75 * rate + 0.25 * all.computed / parents;
    if (all.computed <= these_candidates) return;
    parents = all.product[these_candidates] / p.letters;
    const u32 end = parents * p.letters;
    auto below = [&](const u32* list, u32 count) {
        return u32(std::lower_bound(list, list + count, end) - list);
    };
    all.computed = below(all.product, all.computed);
    all.waiting = below(all.later, all.waiting);
}

SemigroupStatus Enumeration::batch(u64 most) {
    const u32 m = p.letters, from = u32(expanded);
    const u64 guess = u64(these_candidates / (1.1 * rate)) + 1;
    u32 parents = u32(std::min({most, guess, u64(these_parents)}));
    const u32 blocks = (parents + per_block - 1) / per_block;
    bool well = spread(blocks, size_t(parents) * m * 64, [&](size_t b, int) {
        const size_t offset = b * per_block * m;
        found[b] = {all.product + offset, all.rest + offset, all.later + offset,
                    all.source + offset, 0, 0, false};
        const u32 first = from + u32(b) * per_block;
        ops.classify(graph, from, first, std::min(first + per_block, from + parents),
                     u32(left_known), found[b]);
    });
    if (!well) return SemigroupStatus::interrupted;
    for (u32 b = 0; b < blocks; b++)
        if (found[b].contradiction) return SemigroupStatus::contradiction;
    join(blocks);
    cut(parents);

    if (parts > 1) std::memset(candidate_hash, 0, 16 * size_t(all.computed));
    well = spread_rows(all.computed, [&](size_t i, size_t part, int thread) {
        product_part(i, part, thread);
    });
    if (!well) return SemigroupStatus::interrupted;
    for (size_t i = 0; parts > 1 && i < 2 * size_t(all.computed); i++)
        candidate_hash[i] &= p.mask[i % 2];

    if (size + all.computed >= NONE) return SemigroupStatus::memory;
    const SemigroupStatus room = make_room(size + all.computed);
    if (room != SemigroupStatus::done) return room;
    std::memset(slot, 0, 8 * size_t(all.computed));
    std::atomic<bool> full{false};
    const int shares = all.computed > 256 ? table->shares(threads) : 1;
    spread(size_t(shares), LITTLE, [&](size_t share, int) {
        if (!table->insert(hashes, size, candidate_hash, all.computed, slot, target, int(share),
                           shares))
            full = true;
    }, false);
    u64 end = size;
    for (u32 i = 0; i < all.computed; i++)
        if (slot[i]) number[i] = u32(end++);
    if (full || taken(end, table->slots) > p.memory) {
        undo();
        return SemigroupStatus::memory;
    }
    // Rows of parents are kept as long as all rows take less memory than everything else: up
    // to that they spare making them for comparisons; beyond it, to clear the memory would
    // cost more than that.
    const size_t plenty = std::max(size_t(16) << 20, size_t(taken(end, table->slots) - fixed));
    rows->extend(size, end, chunks_left(end, table->slots), from, plenty);
    collision = false;
    well = spread_rows(all.computed, [&](size_t i, size_t part, int thread) {
        settle_part(from, i, part, thread);
    });
    if (!well || collision) {
        undo();
        return well ? SemigroupStatus::collision : SemigroupStatus::interrupted;
    }
    for (u32 k = 0; k < all.waiting; k++)
        graph.right[u64(from) * m + all.later[k]] = graph.right[all.source[k]];

    const u32 after = from + parents;
    if (after == starts.back()) {
        const u32 PART = std::max(u32(1), (u32(1) << 16) / m);
        const u32 first = u32(starts[starts.size() - 2]);
        std::atomic<bool> wrong{false};
        well = spread((after - first + PART - 1) / PART, size_t(after - first) * m * 16,
                      [&](size_t k, int) {
                          const u32 start = first + u32(k) * PART;
                          if (!ops.left(graph, start, std::min(start + PART, after), after))
                              wrong = true;
                      });
        if (!well || wrong) {
            undo();
            return well ? SemigroupStatus::contradiction : SemigroupStatus::interrupted;
        }
        left_known = after;
        if (end > after) starts.push_back(end), prepare();
    }
    computed += all.computed;
    deduced += u64(parents) * m - all.computed;
    // For each product a row is read and one written, and another written or compared with.
    moved += u64(3) * all.computed * p.width * p.itemsize;
    size = end, expanded = after;
    return SemigroupStatus::done;
}

void Enumeration::product_part(size_t i, size_t part, int thread) {
    const u32 product = all.product[i], g = product % p.letters;
    const u64 u = expanded + product / p.letters;
    char* const to = candidate + i * p.stride + part * part_size;
    if (parts == 1 && i + 1 < all.computed) {
        const u64 next = expanded + all.product[i + 1] / p.letters;
        if (next != u && next >= rows->kept) {
            const char* const at = rows->row(next);
            for (size_t k = 0; k < p.stride; k += 64) __builtin_prefetch(at + k, 0, 2);
        }
    }
    compose(generator(g), row(u, part, thread), to, part_count(part, p.width));
    u64 sum[2] = {0, 0};
    hash_part(to, part, sum);
    u64* const hash = candidate_hash + 2 * i;
    for (int half = 0; half < 2; half++) {
        if (parts == 1) hash[half] = sum[half] & p.mask[half];
        else __atomic_fetch_add(hash + half, sum[half], __ATOMIC_RELAXED);
    }
}

void Enumeration::undo() {
    for (u32 i = 0; i < all.computed; i++)
        if (slot[i]) table->remove(slot[i], candidate_hash + 2 * size_t(i));
}

// Stores a part of a candidate that is new, and compares one that is not.
void Enumeration::settle_part(u32 from, size_t i, size_t part, int thread) {
    const size_t at = part * part_size, bytes = part_bytes(part);
    const char* const mine = candidate + i * p.stride + at;
    const u32 m = p.letters, product = all.product[i];
    u32 e;
    if (slot[i]) {
        e = number[i];
        if (e >= rows->kept) std::memcpy(rows->row(e) + at, mine, bytes);
    } else {
        const bool old = target[i] < size;
        const u64 other = target[i] - size;
        e = old ? target[i] : number[other];
        if (p.compare) {
            const char* const row_of = old ? row(target[i], part, thread)
                                           : candidate + other * p.stride + at;
            if (std::memcmp(mine, row_of, bytes)) collision = true;
        }
    }
    if (part) return;
    graph.right[u64(from) * m + product] = e;
    if (!slot[i]) return;
    const u32 u = from + product / m, g = product % m;
    graph.begin[e] = u ? SemigroupPair{graph.begin[u].a, all.rest[i]} : SemigroupPair{g, 0};
    graph.end[e] = {u, g};
    std::memcpy(hashes + 2 * u64(e), candidate_hash + 2 * i, 16);
    table->renumber(slot[i], e);
}
