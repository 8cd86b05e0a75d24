// Products of rows by generators, their hashes, and whether rows are equal.
//
// Work comes in pieces: a piece is a block of the hash of one row. `lanes` lanes, which are
// neighbours in a warp, have one piece at a time.
#include "rows.hpp"

namespace {

struct Piece {
    u64 row;
    u32 part, end, lane;  // of its vectors: this lane has `part`, part + lanes … below `end`

    SEMIGROUP_FN Piece(u64 i, u32 vectors, u32 lanes) {
        const u32 parts = (vectors + BLOCK_VECTORS - 1) / BLOCK_VECTORS;
        row = i / parts;
        lane = threadIdx.x % lanes;
        const u32 start = u32(i % parts) * BLOCK_VECTORS;
        part = start + lane;
        end = start + BLOCK_VECTORS < vectors ? start + BLOCK_VECTORS : vectors;
    }
};

SEMIGROUP_FN u64 first_piece(u32 lanes) {
    return (u64(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
}
SEMIGROUP_FN u64 step(u32 lanes) { return u64(gridDim.x) * blockDim.x / lanes; }

// The sums of both halves of the hash of a block, before they are multiplied by factors.
struct Sums {
    u64 low, high;
    // Adds four words, with the key from their place on.
    SEMIGROUP_FN void add(const uint4& v, const uint4* key) {
        low += half(v, key[0]);
        high += half(v, key[1]);
    }
    SEMIGROUP_FN static u64 half(const uint4& v, const uint4& key) {
        return u64(v.x + key.x) * (v.y + key.y) + u64(v.z + key.z) * (v.w + key.w);
    }
};

// Adds what all lanes of a piece have to the row's hash, which was set to zero before. All lanes
// of the warp must call it.
SEMIGROUP_FN void add_hash(Sums sums, const Piece& piece, bool live, u32 lanes, u32 vectors,
                        const ulonglong2* __restrict__ factors, ulonglong2* hashes) {
    for (u32 by = lanes / 2; by; by /= 2) {
        sums.low += __shfl_xor_sync(ALL, sums.low, int(by));
        sums.high += __shfl_xor_sync(ALL, sums.high, int(by));
    }
    if (!live || piece.lane) return;
    const ulonglong2 factor = factors[piece.part / BLOCK_VECTORS];
    sums.low *= factor.x, sums.high *= factor.y;
    if (vectors <= BLOCK_VECTORS) {
        hashes[piece.row] = make_ulonglong2(sums.low, sums.high);
    } else {
        atomicAdd(&hashes[piece.row].x, sums.low);
        atomicAdd(&hashes[piece.row].y, sums.high);
    }
}

SEMIGROUP_FN u32 keys_of(u32 vectors) {
    return (vectors < BLOCK_VECTORS ? vectors : BLOCK_VECTORS) + 1;
}

// Multiplies N vectors of a lane at once, so that their loads overlap.
template <u32 N, class Generator>
SEMIGROUP_FN void multiply_some(const uint4* from, uint4* to, const Generator& generator, u32 at,
                             u32 end, u32 lanes, u32 width, const uint4* key, Sums& sums) {
    uint4 v[N];
#pragma unroll
    for (u32 k = 0; k < N; k++)
        v[k] = at + k * lanes < end ? __ldcs(from + at + k * lanes) : make_uint4(0, 0, 0, 0);
#pragma unroll
    for (u32 k = 0; k < N; k++) v[k] = apply(generator, v[k], at + k * lanes, width);
#pragma unroll
    for (u32 k = 0; k < N; k++) {
        const u32 i = at + k * lanes;
        if (i >= end) break;
        if (to) __stcs(to + i, v[k]);
        sums.add(v[k], key + i % BLOCK_VECTORS);
    }
}

template <class Generator>
SEMIGROUP_FN void multiply_piece(const Rows& rows, const Piece& piece, u32 parent, uint4* to,
                              const Generator& generator, u32 lanes, const uint4* key,
                              Sums& sums) {
    const u32 slot = rows.slot_of(parent), end = piece.end;
    u32 at = piece.part;
    if (parent && slot == NONE) {
        for (; at < end; at += lanes) {
            const uint4 v = apply(generator, rows.by_word(parent, at), at, rows.width);
            if (to) to[at] = v;
            sums.add(v, key + at % BLOCK_VECTORS);
        }
        return;
    }
    const uint4* const from = parent ? rows.row(slot) : rows.empty;
    for (; at + 3 * lanes - piece.lane < end; at += 4 * lanes)
        multiply_some<4>(from, to, generator, at, end, lanes, rows.width, key, sums);
    for (; at + 2 * lanes - piece.lane < end; at += 3 * lanes)
        multiply_some<3>(from, to, generator, at, end, lanes, rows.width, key, sums);
    for (; at - piece.lane < end; at += lanes)
        multiply_some<1>(from, to, generator, at, end, lanes, rows.width, key, sums);
}

}  // namespace

// Computes the row of product c, its number's images by its generator, and adds its hash to
// hashes[c]. The row is stored in its slot, if it has one. in_shared: the generators fit in
// shared memory, behind the key.
extern "C" __global__ void __launch_bounds__(512)
    semigroup_multiply(u64 pieces, u32 lanes, const uint2* __restrict__ products,
                       const u32* __restrict__ slots, ulonglong2* hashes,
                       const uint4* __restrict__ key, const ulonglong2* __restrict__ factors,
                       u32 letters, u32 in_shared, ROWS_PARAMETERS) {
    DYNAMIC_SHARED(uint4, shared);
    const Rows rows = ROWS;
    const u32 vectors = rows.vectors(), keys = keys_of(vectors);
    for (u32 k = threadIdx.x; k < keys; k += blockDim.x) shared[k] = key[k];
    Image* const images = reinterpret_cast<Image*>(shared + keys);
    const u32 copied = in_shared ? letters * degree : 0;
    for (u32 k = threadIdx.x; k < copied; k += blockDim.x) images[k] = generators[k];
    __syncthreads();
    // All lanes of a warp stay together, for the sums over lanes.
    const u32 others = threadIdx.x % WARP / lanes;
    for (u64 i = first_piece(lanes); i - others < pieces; i += step(lanes)) {
        const Piece piece(i, vectors, lanes);
        const bool live = i < pieces;
        Sums sums = {0, 0};
        if (live) {
            const uint2 product = products[piece.row];
            const u32 slot = slots[piece.row];
            uint4* const to = slot != NONE ? rows.row(slot) : nullptr;
            if (in_shared)
                multiply_piece(rows, piece, product.x, to, Shared(images + product.y * degree),
                               lanes, shared, sums);
            else
                multiply_piece(rows, piece, product.x, to, rows.generator(product.y), lanes,
                               shared, sums);
        }
        add_hash(sums, piece, live, lanes, vectors, factors, hashes);
    }
}

// Adds the hash of given row k to hashes[k].
extern "C" __global__ void __launch_bounds__(512)
    semigroup_hash(u64 pieces, u32 lanes, const uint4* __restrict__ given, ulonglong2* hashes,
                   const uint4* __restrict__ key, const ulonglong2* __restrict__ factors,
                   u32 vectors) {
    const u32 others = threadIdx.x % WARP / lanes;
    for (u64 i = first_piece(lanes); i - others < pieces; i += step(lanes)) {
        const Piece piece(i, vectors, lanes);
        const bool live = i < pieces;
        Sums sums = {0, 0};
        for (u32 at = piece.part; live && at < piece.end; at += lanes)
            sums.add(given[piece.row * vectors + at], key + at % BLOCK_VECTORS);
        add_hash(sums, piece, live, lanes, vectors, factors, hashes);
    }
}

// Sets DIFFERS if the row of product others[k] is not that of number targets[k].
extern "C" __global__ void __launch_bounds__(512)
    semigroup_compare(u64 pieces, u32 lanes, const u32* __restrict__ others,
                      const u32* __restrict__ targets, const uint2* __restrict__ products,
                      const u32* __restrict__ slots, u32* counters, ROWS_PARAMETERS) {
    const Rows rows = ROWS;
    const u32 vectors = rows.vectors();
    for (u64 i = first_piece(lanes); i < pieces; i += step(lanes)) {
        const Piece piece(i, vectors, lanes);
        const u32 c = others[piece.row], slot = slots[c], target = targets[piece.row];
        const uint2 product = products[c];
        bool equal = true;
        for (u32 at = piece.part; at < piece.end; at += lanes) {
            const uint4 x = slot != NONE ? rows.row(slot)[at]
                                         : apply(rows.generator(product.y),
                                                 rows.vector(product.x, at), at, width);
            const uint4 y = rows.vector(target, at);
            equal = equal && x.x == y.x && x.y == y.y && x.z == y.z && x.w == y.w;
        }
        if (!equal) counters[DIFFERS] = 1;
    }
}

// Writes out[k], the row of a number.
extern "C" __global__ void __launch_bounds__(512)
    semigroup_rows(u64 pieces, u32 lanes, const u32* __restrict__ numbers, uint4* __restrict__ out,
                   ROWS_PARAMETERS) {
    const Rows rows = ROWS;
    const u32 vectors = rows.vectors();
    for (u64 i = first_piece(lanes); i < pieces; i += step(lanes)) {
        const Piece piece(i, vectors, lanes);
        for (u32 at = piece.part; at < piece.end; at += lanes)
            out[piece.row * vectors + at] = rows.vector(numbers[piece.row], at);
    }
}

// Lowers least[0] to the least k degree + p for which the row of words[k] by a generator is not
// that of others[k] at p.
extern "C" __global__ void __launch_bounds__(512)
    semigroup_differ(u64 pieces, u32 lanes, const u32* __restrict__ words,
                     const u32* __restrict__ letters, const u32* __restrict__ others, u64* least,
                     ROWS_PARAMETERS) {
    const Rows rows = ROWS;
    const u32 vectors = rows.vectors();
    for (u64 i = first_piece(lanes); i < pieces; i += step(lanes)) {
        const Piece piece(i, vectors, lanes);
        for (u32 at = piece.part; at < piece.end; at += lanes) {
            const u64 k = piece.row;
            u32 x[EACH], y[EACH];
            unpack(apply(rows.generator(letters[k]), rows.vector(words[k], at), at, width), x);
            unpack(rows.vector(others[k], at), y);
#pragma unroll
            for (u32 p = EACH; p-- > 0;)
                if (x[p] != y[p]) atomicMin(least, k * width + at * EACH + p);
        }
    }
}

// Clears same[k] where given row k is not that of a number, which may be NONE. All are 1 before.
extern "C" __global__ void __launch_bounds__(512)
    semigroup_same(u64 pieces, u32 lanes, const u32* __restrict__ numbers,
                   const uint4* __restrict__ given, u32* __restrict__ same, ROWS_PARAMETERS) {
    const Rows rows = ROWS;
    const u32 vectors = rows.vectors();
    for (u64 i = first_piece(lanes); i < pieces; i += step(lanes)) {
        const Piece piece(i, vectors, lanes);
        const u32 number = numbers[piece.row];
        bool equal = number != NONE;
        for (u32 at = piece.part; equal && at < piece.end; at += lanes) {
            const uint4 x = given[piece.row * vectors + at], y = rows.vector(number, at);
            equal = x.x == y.x && x.y == y.y && x.z == y.z && x.w == y.w;
        }
        if (!equal) same[piece.row] = 0;
    }
}
