// See enumeration.hpp.
#include "enumeration.hpp"

#include <cstring>
#include <new>

namespace {

using std::size_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 NONE = 0xFFFFFFFF;

bool gathers_fast() {
#if defined(__x86_64__)
    return __builtin_cpu_is("intel");
#else
    return false;
#endif
}

}  // namespace

Enumeration::Enumeration(const TransfOps& ops, const TransfProblem& problem, int threads,
                         size_t level2, std::function<bool()> interrupted)
    : ops(ops), p(problem), threads(threads), interrupted(std::move(interrupted)) {
    const u64 m = p.letters;
    // Scratch rows stay in the threads' own caches; numbers without rows must not take much.
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
    if (taken(1, HashTable::LEAST) > p.memory) throw std::bad_alloc();
    const u64 most = std::min((p.memory - fixed) / each_bytes + 1, NONE);
    u64 most_slots = HashTable::LEAST;
    while (most_slots * 16 <= p.memory) most_slots *= 2;

    const char* const last = p.generators + (m - 1) * p.degree * p.itemsize;
    last_generator.assign(last, last + p.degree * p.itemsize);
    last_generator.resize(last_generator.size() + 2);
    lists = std::make_unique<Reserved>(list_bytes);
    all.source = lists->as<u64>();
    all.product = reinterpret_cast<u32*>(all.source + products);
    all.rest = all.product + products;
    all.later = all.rest + products;
    scratch = std::make_unique<Reserved>(scratch_bytes);
    candidate = scratch->as<char>();
    candidate_hash = reinterpret_cast<u64*>(candidate + row_bytes);
    slot = candidate_hash + 2 * size_t(most_candidates);
    target = reinterpret_cast<u32*>(slot + most_candidates);
    number = target + most_candidates;
    buffers = std::make_unique<Reserved>(buffer_bytes);
    found.resize((most_parents + per_block - 1) / per_block);

    begins = std::make_unique<Reserved>(most * 8);
    ends = std::make_unique<Reserved>(most * 8);
    rights = std::make_unique<Reserved>(most * m * 4);
    lefts = std::make_unique<Reserved>(most * m * 4);
    hashed = std::make_unique<Reserved>(most * 16);
    table = std::make_unique<HashTable>(most_slots);
    graph = {p.letters, begins->as<TransfPair>(), ends->as<TransfPair>(), rights->as<u32>(),
             lefts->as<u32>()};
    hashes = hashed->as<u64>();
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
    fill_table(table->slots);
}

size_t Enumeration::chunks_left(u64 numbers, u64 slots) const {
    return size_t((p.memory - taken(numbers, slots)) / rows->chunk_bytes());
}

// Before words grow longer: threads take no memory.
void Enumeration::prepare() {
    for (Held& each : held) each.path.resize(starts.size() + 1);
}

// A part of a row, or of a whole map, made from the element's word; zeros follow.
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
    for (u32 x = u32(e); h.numbers[known % held_rows] != x; x = graph.end[x].a, known--) {
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
        const u32 x = h.path[k];
        compose(generator(graph.end[x].b), place(k - 1), place(k), count);
        h.numbers[k % held_rows] = x;
    }
    return place(length);
}

// A part of a row that is kept, or made.
const char* Enumeration::row(u64 e, size_t part, int thread) {
    return e >= rows->kept ? rows->row(e) + part * part_size : made(e, false, part, thread);
}

void Enumeration::hash_part(const char* images, size_t part, u64* sum) const {
    const size_t block = part * part_size / (4 * TRANSF_BLOCK);
    ops.hash(p.key, p.factors, images, part_bytes(part), block, sum);
}

TransfStatus Enumeration::expand(u64 most) {
    const double until = now() + 0.04;
    const size_t level = starts.size();
    TransfStatus status = TransfStatus::done;
    u64 left = std::min(most, starts.back() - expanded), limit = most_parents;
    for (bool some = false; left && starts.size() == level; some = true) {
        const u64 before = expanded;
        limit = std::min(limit, left);
        while ((status = batch(limit)) == TransfStatus::memory && limit > 1) limit /= 2;
        if (status != TransfStatus::done) {
            if (some && status != TransfStatus::interrupted) status = TransfStatus::done;
            break;
        }
        left -= expanded - before;
        if (now() > until) break;
    }
    team.reset();
    return status;
}

// The lists of blocks, one after the other.
void Enumeration::join(u32 blocks) {
    all.computed = all.waiting = 0;
    for (u32 b = 0; b < blocks; b++) {
        const TransfFound& f = found[b];
        std::memmove(all.product + all.computed, f.product, 4 * size_t(f.computed));
        std::memmove(all.rest + all.computed, f.rest, 4 * size_t(f.computed));
        std::memmove(all.later + all.waiting, f.later, 4 * size_t(f.waiting));
        std::memmove(all.source + all.waiting, f.source, 8 * size_t(f.waiting));
        all.computed += f.computed, all.waiting += f.waiting;
    }
}

// Leaves the last parents for another time where there are too many products to compute.
void Enumeration::cut(u32& parents) {
    rate = 0.75 * rate + 0.25 * all.computed / parents;
    if (all.computed <= most_candidates) return;
    parents = all.product[most_candidates] / p.letters;
    const u32 end = parents * p.letters;
    auto below = [&](const u32* list, u32 count) {
        return u32(std::lower_bound(list, list + count, end) - list);
    };
    all.computed = below(all.product, all.computed);
    all.waiting = below(all.later, all.waiting);
}

TransfStatus Enumeration::batch(u64 most) {
    const u32 m = p.letters, from = u32(expanded);
    const u64 guess = u64(most_candidates / (1.1 * rate)) + 1;
    u32 parents = u32(std::min({most, guess, u64(most_parents)}));
    const u32 blocks = (parents + per_block - 1) / per_block;
    bool well = spread(blocks, size_t(parents) * m * 64, [&](size_t b, int) {
        const size_t offset = b * per_block * m;
        found[b] = {all.product + offset, all.rest + offset, all.later + offset,
                    all.source + offset, 0, 0, false};
        const u32 first = from + u32(b) * per_block;
        ops.classify(graph, from, first, std::min(first + per_block, from + parents),
                     u32(left_known), found[b]);
    });
    if (!well) return TransfStatus::interrupted;
    for (u32 b = 0; b < blocks; b++)
        if (found[b].contradiction) return TransfStatus::contradiction;
    join(blocks);
    cut(parents);

    if (parts > 1) std::memset(candidate_hash, 0, 16 * size_t(all.computed));
    well = spread_rows(all.computed, [&](size_t i, size_t part, int thread) {
        product_part(i, part, thread);
    });
    if (!well) return TransfStatus::interrupted;
    for (size_t i = 0; parts > 1 && i < 2 * size_t(all.computed); i++)
        candidate_hash[i] &= p.mask[i % 2];

    if (size + all.computed >= NONE || !make_room(size + all.computed)) return TransfStatus::memory;
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
        return TransfStatus::memory;
    }
    // Rows of parents are kept as long as all rows take less than all else does: then they spare
    // making them for comparisons, and else clearing memory would cost more than that.
    const size_t plenty = std::max(size_t(16) << 20, size_t(taken(end, table->slots) - fixed));
    rows->extend(size, end, chunks_left(end, table->slots), from, plenty);
    collision = false;
    well = spread_rows(all.computed, [&](size_t i, size_t part, int thread) {
        settle_part(from, i, part, thread);
    });
    if (!well || collision) {
        undo();
        return well ? TransfStatus::collision : TransfStatus::interrupted;
    }
    for (u32 k = 0; k < all.waiting; k++)
        graph.right[u64(from) * m + all.later[k]] = graph.right[all.source[k]];

    const u32 after = from + parents;
    if (after == starts.back()) {
        constexpr u32 PART = 4096;
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
            return well ? TransfStatus::contradiction : TransfStatus::interrupted;
        }
        left_known = after;
        if (end > after) starts.push_back(end), prepare();
    }
    computed += all.computed;
    deduced += u64(parents) * m - all.computed;
    // A row is read and one written for each product, and one written again or compared with.
    moved += u64(3) * all.computed * p.width * p.itemsize;
    size = end, expanded = after;
    return TransfStatus::done;
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

// Of a part of a candidate: what is new is stored, what is not compared.
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
    graph.begin[e] = u ? TransfPair{graph.begin[u].a, all.rest[i]} : TransfPair{g, 0};
    graph.end[e] = {u, g};
    std::memcpy(hashes + 2 * u64(e), candidate_hash + 2 * i, 16);
    table->renumber(slot[i], e);
}

// Sees to it that the table has room for so many numbers. Returns false where memory has not.
bool Enumeration::make_room(u64 numbers) {
    const u64 wanted = slots_for(numbers);
    if (wanted == table->slots) return true;
    if (wanted > table->most || taken(size, wanted) > p.memory)
        return numbers <= table->slots / 4 * 3;
    rows->extend(size, size, chunks_left(size, wanted));
    const u64 before = table->slots;
    const bool fits = fill_table(wanted);
    if (!fits) fill_table(before);
    return fits;
}

u64 Enumeration::slots_for(u64 numbers) const {
    u64 slots = table->slots;
    while (numbers > slots / 8 * 5) slots *= 2;
    return slots;
}

// Puts all numbers into a table of so many slots. Returns whether no two hashes are equal.
bool Enumeration::fill_table(u64 slots) {
    table->clear(slots);
    std::atomic<bool> different{true};
    const int shares = table->shares(threads);
    spread(size_t(shares), size * 64, [&](size_t share, int) {
        if (!table->put(p.monoid ? 0 : 1, size, hashes, int(share), shares)) different = false;
    }, false);
    return different;
}
