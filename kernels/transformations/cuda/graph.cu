// Numbers, words and graphs of a semigroup that is being enumerated; rows.cu has the rows.
//
// heads[n]: first generator and suffix of number n. edges[n]: its prefix and last generator. A
// batch is numbers u0 … of one level; their pairs with the m generators are numbered (u - u0) m
// + g. Products of those pairs that are computed are numbered in that order, too.
#include "table.hpp"
#include "tiles.hpp"

namespace {

SEMIGROUP_FN u64 thread() { return u64(blockIdx.x) * blockDim.x + threadIdx.x; }

// Tells whether suffix · g is a word: then u · g is not known from lesser ones.
SEMIGROUP_FN bool is_computed(u32 u, u32 g, u32 m, const uint2* __restrict__ heads,
                           const uint2* __restrict__ edges, const u32* __restrict__ right) {
    if (u == 0) return true;
    const u32 s = heads[u].y, r = right[u64(s) * m + g];
    if (r == 0) return false;
    const uint2 edge = edges[r];
    return edge.x == s && edge.y == g;
}

}  // namespace

// Flags the pairs whose product must be computed: a bit for each pair, in whole tiles.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_classify(u32 u0, u32 pairs, u32 m, const uint2* __restrict__ heads,
                       const uint2* __restrict__ edges, const u32* __restrict__ right,
                       u32* __restrict__ flags, u32* __restrict__ sums, u32* counters) {
    __shared__ u32 words[TILE_WORDS], shared[WARPS];
    bool computed[EACH];
#pragma unroll
    for (u32 j = 0; j < EACH; j++) {
        const u32 pair = item(j);
        computed[j] =
            pair < pairs && is_computed(u0 + pair / m, pair % m, m, heads, edges, right);
    }
    set_words(computed, words);
    if (threadIdx.x < TILE_WORDS)
        flags[blockIdx.x * TILE_WORDS + threadIdx.x] = words[threadIdx.x];
    count_tile(words, shared, sums, counters, COMPUTED);
}

// Lists the products that must be computed. products[c]: number and generator. slots: of their
// rows: `reused` ones from the end of the free ones, then fresh ones, and NONE from `taken` on.
// The graph gets NONE for all pairs. Hashes become zero, as their parts will be added.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_list(u32 u0, u32 pairs, u32 m, const u32* __restrict__ flags,
                   const u32* __restrict__ sums, uint2* __restrict__ products,
                   ulonglong2* __restrict__ hashes, u32* __restrict__ slots,
                   const u32* __restrict__ free_slots, u32 reused, u32 fresh, u32 taken,
                   u32* __restrict__ right, u32* counters) {
    __shared__ u32 words[TILE_WORDS], before[TILE_WORDS], shared[WARPS];
    if (threadIdx.x < TILE_WORDS)
        words[threadIdx.x] = flags[blockIdx.x * TILE_WORDS + threadIdx.x];
    __syncthreads();
    u32 ranks[EACH];
    rank_tile(words, before, shared, sums, ranks);
#pragma unroll
    for (u32 j = 0; j < EACH; j++) {
        const u32 pair = item(j), c = ranks[j];
        if (pair >= pairs) break;
        right[u64(u0) * m + pair] = NONE;
        if (!(words[(j * THREADS + threadIdx.x) / WARP] >> threadIdx.x % WARP & 1)) continue;
        products[c] = make_uint2(u0 + pair / m, pair % m);
        hashes[c] = make_ulonglong2(0, 0);
        slots[c] = c < reused ? free_slots[c] : c < taken ? fresh + (c - reused) : NONE;
    }
    if (thread() == 0) counters[FREED] = 0;
}

// Clears the bits of hashes that do not count.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_mask(u32 count, u64 low, u64 high, ulonglong2* __restrict__ hashes) {
    const u64 c = thread();
    if (c >= count) return;
    const ulonglong2 h = hashes[c];
    hashes[c] = make_ulonglong2(h.x & low, h.y & high);
}

// Puts the products into the table, in which the least of equal ones stays, or the number that
// has the hash already. places: where each has come.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_insert(u32 count, u32 size, const ulonglong2* __restrict__ products,
                     const ulonglong2* __restrict__ hashes, u64* slots, u32 log2,
                     u64* __restrict__ places) {
    const u64 c = thread();
    if (c >= count) return;
    Table table = {slots, log2};
    const Hash h = hash_at(products, c);
    const u32 mine = size + u32(c);
    u64 found;
    const u64 at = table.insert(
        h, mine,
        [=](u32 n) { return n < size ? hash_at(hashes, n) : hash_at(products, n - size); }, found);
    if (u32(found) >= size && found != EMPTY) atomicMin(slots + at, Table::entry(found >> 32, mine));
    places[c] = at;
}

// Writes owners[c]: the number with the product's hash, or size plus the least product with it.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_owners(u32 count, u32 size, const u64* __restrict__ places,
                  const u64* __restrict__ slots, u32* __restrict__ owners, u32* __restrict__ sums,
                     u32* counters) {
    __shared__ u32 words[TILE_WORDS], shared[WARPS];
    bool found[EACH];
#pragma unroll
    for (u32 j = 0; j < EACH; j++) {
        const u32 c = item(j);
        found[j] = false;
        if (c >= count) continue;
        const u32 owner = u32(slots[places[c]]);
        owners[c] = owner;
        found[j] = owner == size + c;
    }
    set_words(found, words);
    count_tile(words, shared, sums, counters, FOUND);
}

// Numbers the new products; numbers[c]: of product c if it is new. The others are listed.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_number(u32 count, u32 size, u32 m, const u32* __restrict__ sums,
                     const uint2* __restrict__ products, const ulonglong2* __restrict__ hashes,
                     const u32* __restrict__ slots, const u64* __restrict__ places,
                     const u32* __restrict__ owners, u32* __restrict__ numbers,
                     u32* __restrict__ others, uint2* heads, uint2* __restrict__ edges,
                     ulonglong2* __restrict__ all_hashes, u32* __restrict__ all_slots, u32* right,
                     u64* __restrict__ table) {
    __shared__ u32 words[TILE_WORDS], before[TILE_WORDS], shared[WARPS];
    bool found[EACH];
#pragma unroll
    for (u32 j = 0; j < EACH; j++) {
        const u32 c = item(j);
        found[j] = c < count && owners[c] == size + c;
    }
    set_words(found, words);
    u32 ranks[EACH];
    rank_tile(words, before, shared, sums, ranks);
#pragma unroll
    for (u32 j = 0; j < EACH; j++) {
        const u32 c = item(j);
        if (c >= count) break;
        if (!found[j]) {
            others[c - ranks[j]] = c;
            continue;
        }
        const u32 n = size + ranks[j];
        const uint2 edge = products[c];
        uint2 head = make_uint2(edge.y, 0);
        if (edge.x) {
            const uint2 parent = heads[edge.x];
            head = make_uint2(parent.x, right[u64(parent.y) * m + edge.y]);
        }
        heads[n] = head;
        edges[n] = edge;
        all_hashes[n] = hashes[c];
        all_slots[n] = slots[c];
        right[u64(edge.x) * m + edge.y] = n;
        numbers[c] = n;
        u64* const entry = table + places[c];
        *entry = *entry >> 32 << 32 | n;
    }
}

// Writes the numbers of products that are not new to targets, and lists the slots of their rows.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_repeat(u32 count, u32 size, u32 m, const u32* __restrict__ others,
                     const uint2* __restrict__ products, const u32* __restrict__ slots,
                     const u32* __restrict__ owners, const u32* __restrict__ numbers,
                     u32* __restrict__ right, u32* __restrict__ targets, u32* __restrict__ freed,
                     u32* counters) {
    const u64 k = thread();
    if (k >= count) return;
    const u32 c = others[k], owner = owners[c];
    const u32 n = owner < size ? owner : numbers[owner - size];
    const uint2 product = products[c];
    right[u64(product.x) * m + product.y] = targets[k] = n;
    if (slots[c] != NONE) freed[atomicAdd(counters + FREED, 1u)] = slots[c];
}

// Finds the products that lesser ones decide: with u = f s and s · g = r = p l, u · g is (f · p)
// · l. That may depend on another product of the same batch, which is then followed instead of
// waited for. left_known: how many numbers have their left row.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_deduce(u32 u0, u32 pairs, u32 m, u32 left_known, const uint2* __restrict__ heads,
                     const uint2* __restrict__ edges, const u32* __restrict__ left, u32* right,
                     u32* counters) {
    const u64 pair = thread();
    if (pair >= pairs) return;
    u32* const result = right + u64(u0) * m + pair;
    if (*result != NONE) return;
    u32 u = u0 + u32(pair) / m, g = u32(pair) % m, value;
    while (true) {
        const uint2 head = heads[u];
        const u32 r = right[u64(head.y) * m + g];
        if (r == 0) {
            value = right[head.x];
            break;
        }
        const uint2 edge = edges[r];
        const bool known = edge.x < left_known;
        const u32 q = known ? left[u64(edge.x) * m + head.x] : NONE;
        // This must be less than (u, g), or the tables that the enumeration began from
        // are wrong.
        if (q > u || (q == u && edge.y >= g)) {
            counters[BROKEN] = 1;
            value = 0;
            break;
        }
        value = __ldcg(right + u64(q) * m + edge.y);
        if (value != NONE) break;
        u = q, g = edge.y;
    }
    *result = value;
}

// Computes g · u for pairs of a level's numbers, from u0 on. end: how many numbers have their
// right row.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_left(u32 u0, u32 pairs, u32 m, u32 end, const uint2* __restrict__ edges, u32* left,
                   const u32* __restrict__ right, u32* counters) {
    const u64 pair = thread();
    if (pair >= pairs) return;
    const u32 u = u0 + u32(pair) / m, g = u32(pair) % m;
    u32 value = 0;
    if (u == 0) {
        value = right[g];
    } else {
        const uint2 edge = edges[u];
        const u32 q = left[u64(edge.x) * m + g];
        if (q < end)
            value = right[u64(q) * m + edge.y];
        else
            counters[BROKEN] = 1;
    }
    left[u64(u) * m + g] = value;
}

// Puts numbers from `start` on into a table that has none of them; BROKEN is set if two hashes
// are equal.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_fill(u32 start, u32 count, const ulonglong2* __restrict__ hashes, u64* slots, u32 log2,
                   u32* counters) {
    const u64 i = thread();
    if (i >= count) return;
    Table table = {slots, log2};
    u64 found;
    const u32 n = start + u32(i);
    table.insert(
        hash_at(hashes, n), n, [=](u32 other) { return hash_at(hashes, other); }, found);
    if (found != EMPTY) counters[BROKEN] = 1;
}

extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_find(u32 count, const ulonglong2* __restrict__ wanted,
                   const ulonglong2* __restrict__ hashes, u64* slots, u32 log2,
                   u32* __restrict__ numbers) {
    const u64 i = thread();
    if (i < count) numbers[i] = Table{slots, log2}.find(hash_at(wanted, i), hashes);
}

// Compares hashes; BROKEN is set if they are not the same.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_equal(u32 count, const ulonglong2* __restrict__ a, const ulonglong2* __restrict__ b,
                    u32* counters) {
    const u64 i = thread();
    if (i < count && !(hash_at(a, i) == hash_at(b, i))) counters[BROKEN] = 1;
}

// Sets all bits of words: that is EMPTY in the table, and NONE elsewhere.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_clear(u64 count, u32* __restrict__ words) {
    const u64 i = thread();
    if (i < count) words[i] = ALL;
}

// Takes the slots of numbers from `start` on away; counters[FREED] must be zero before.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_evict(u32 start, u32 count, u32* __restrict__ slots, u32* __restrict__ free_slots,
                    u32* counters) {
    const u64 i = thread();
    if (i >= count || slots[start + i] == NONE) return;
    free_slots[atomicAdd(counters + FREED, 1u)] = slots[start + i];
    slots[start + i] = NONE;
}

// Writes where each segment begins that a block of memory is cut into.
extern "C" __global__ void __launch_bounds__(THREADS)
    semigroup_segments(u32 count, u8* memory, u64 nbytes, u8** __restrict__ segments) {
    const u64 i = thread();
    if (i < count) segments[i] = memory + i * nbytes;
}
