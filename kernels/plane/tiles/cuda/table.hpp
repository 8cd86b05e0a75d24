// Where the tiles of a plane are found, made and freed.
#pragma once
#include "tile.hpp"

namespace {

constexpr word64 EMPTY = 0;
constexpr word64 GONE = word64(1) << 32;  // where a tile was that has been freed
constexpr u32 FIRST = 16;                 // tiles of the first chunk; log2 is 4

// Tile 0 is empty, and stands for all tiles that are not there.
//
// Tiles lie in chunks: FIRST of them, as many again, and then each chunk as many as all before it.
// The table has entries of 64 bits, part of a hash above a tile's number; open addressing. While tiles
// are made, none is freed, and the other way round: between the two all threads meet.
struct Plane {
    word64* state;
    const word64* chunks;  // addresses: of each, as if tile 0 lay in it; in any memory
    word64* table;
    u32* lists;  // `room` numbers each: those of rounds of either parity, spare ones, those that may be freed
    u32 room, log2;  // tiles, tile 0 among them; places in the table

    __device__ __forceinline__ Tile* tile(u32 i) const {
        const u32 chunk = 32 - u32(__clz(int(i / FIRST)));
        return reinterpret_cast<Tile*>(chunks[chunk] + word64(i) * TILE_BYTES);
    }
    __device__ __forceinline__ u32* list(word64 round) const { return lists + (round & 1) * room; }
    __device__ __forceinline__ u32* spare() const { return lists + word64(2) * room; }
    __device__ __forceinline__ u32* idle() const { return lists + word64(3) * room; }

    __device__ static word64 mixed(i64 x, i64 y) {
        word64 h = word64(x) * 0x9E3779B97F4A7C15ull ^ word64(y) * 0xC2B2AE3D27D4EB4Full;
        h ^= h >> 32;
        h *= 0x9E3779B97F4A7C15ull;
        return h ^ h >> 29;
    }
    __device__ __forceinline__ word64 place(word64 mix) const { return mix & ((word64(1) << log2) - 1); }
    __device__ __forceinline__ word64 next(word64 at) const { return (at + 1) & ((word64(1) << log2) - 1); }
    __device__ __forceinline__ static word64 entry(word64 mix, u32 i) { return (mix >> 32) << 32 | i; }

    // Whether the table is to be made anew. A quarter of it at most is taken from one time that tiles
    // are freed to the next.
    __device__ bool is_crowded() const { return __ldcg(state + TAKEN) >= word64(1) << (log2 - 1); }

    // Whether an entry is that of tile (x, y).
    __device__ __forceinline__ bool is(word64 there, word64 mix, i64 x, i64 y) const {
        if ((there ^ mix) >> 32 || !u32(there)) return false;
        const Tile* t = tile(u32(there));
        return __ldcg(&t->x) == x && __ldcg(&t->y) == y;
    }

    // Tile (x, y), or 0.
    __device__ u32 find(i64 x, i64 y) const {
        const word64 mix = mixed(x, y);
        for (word64 at = place(mix);; at = next(at)) {
            const word64 there = __ldcg(table + at);
            if (there == EMPTY) return 0;
            if (is(there, mix, x, y)) return u32(there);
        }
    }

    // Looks for tile (x, y): returns its number, or 0 and the first place that can be had, with what is
    // there.
    __device__ u32 look(i64 x, i64 y, word64 mix, word64& free, word64& was) const {
        free = ~word64(0);
        for (word64 at = place(mix);; at = next(at)) {
            const word64 there = __ldcg(table + at);
            if (is(there, mix, x, y)) return u32(there);
            if (free == ~word64(0) && (there == EMPTY || there == GONE)) free = at, was = there;
            if (there == EMPTY) return 0;
        }
    }

    // Puts tile `mine` into the table at a place that look() has found, unless others are quicker;
    // returns the tile that is at (x, y) then. All choose the first place, so that none is there twice.
    __device__ u32 enter(i64 x, i64 y, word64 mix, u32 mine, word64 free, word64 was) const {
        while (atomicCAS(table + free, was, entry(mix, mine)) != was)
            if (const u32 there = look(x, y, mix, free, was)) return there;
        if (was == EMPTY) atomicAdd(state + TAKEN, word64(1));
        return mine;
    }

    // A new, empty tile at (x, y), or the one that is there. Returns 0 where there is no room, and
    // says so by `stamp`. Its neighbours do not know of it before link() is called.
    __device__ u32 make(i64 x, i64 y, word64 stamp) const {
        const word64 mix = mixed(x, y);
        word64 free, was;
        if (const u32 there = look(x, y, mix, free, was)) return there;
        const i64 left = i64(atomicAdd(state + SPARE, ~word64(0)));
        if (left <= 0) {
            atomicAdd(state + SPARE, word64(1));
            state[FAILED] = stamp;
            return 0;
        }
        const u32 mine = __ldcg(spare() + left - 1);
        Tile* const t = tile(mine);
        t->x = x, t->y = y;
        t->listed = t->changed_at = 0;
        t->lives = 0;
        t->life_now = t->changed = t->idle = t->linked = 0;
        for (int d = 0; d < 8; d++) t->near[d] = 0;
        t->there = 1;
        __threadfence();
        const u32 there = enter(x, y, mix, mine, free, was);
        if (there != mine) {  // another thread has made it meanwhile
            t->there = 0;
            rest(t, mine);
        }
        return there;
    }

    // Tells a tile and its neighbours of each other; returns those, to lanes 0 to 7. All lanes call it.
    __device__ u32 link(Tile* t, u32 i, u32 lane) const {
        const u32 other = lane < 8 ? find(t->x + dx_of(int(lane)), t->y + dy_of(int(lane))) : 0;
        if (other) t->near[lane] = other, tile(other)->near[7 - lane] = i;
        if (lane == 0) t->linked = 1;
        return other;
    }

    // Notes that a tile may be freed.
    __device__ void rest(Tile* t, u32 i) const {
        if (t->idle) return;
        t->idle = 1;
        idle()[atomicAdd(state + IDLE, word64(1))] = i;
    }

    // Takes a tile out of the table, and keeps it for another place.
    __device__ void free(Tile* t, u32 i) const {
        if (t->there) {
            for (int d = 0; d < 8; d++)
                if (const u32 other = t->near[d]) tile(other)->near[7 - d] = 0;
            const word64 mix = mixed(t->x, t->y);
            word64 at = place(mix);
            while (__ldcg(table + at) != entry(mix, i)) at = next(at);
            const bool last = __ldcg(table + next(at)) == EMPTY;
            table[at] = last ? EMPTY : GONE;
            if (last) atomicAdd(state + TAKEN, ~word64(0));
            t->there = 0;
        }
        spare()[atomicAdd(state + SPARE, word64(1))] = i;
    }

    // Lists tiles for a round, of each lane one, or 0. All lanes call it.
    __device__ void list(u32 i, word64 round) const {
        const bool is_new = i && atomicExch(&tile(i)->listed, round) != round;
        const u32 lane = threadIdx.x & 31, votes = __ballot_sync(ALL, is_new);
        if (!votes) return;
        word64 first = 0;
        if (lane == 0) first = atomicAdd(state + COUNTS + round % 3, word64(__popc(votes)));
        first = __shfl_sync(ALL, first, 0);
        if (is_new) list(round)[first + u32(__popc(votes & ((1u << lane) - 1)))] = i;
    }
};

#define PLANE_PARAMETERS                                                                     \
    unsigned long long *state, const unsigned long long *chunks, unsigned long long *table,  \
        u32 *lists, u32 room, u32 log2
#define PLANE Plane{state, chunks, table, lists, room, log2}

// What lane 0 has: for all lanes to decide alike about what other threads may change meanwhile.
__device__ __forceinline__ bool agreed(bool mine) { return __shfl_sync(ALL, u32(mine), 0) != 0; }

// Calls use(number, tile) with all tiles that are there, a warp each. Others may be made meanwhile.
template <class Use>
__device__ __forceinline__ void each_tile(const Plane& plane, Use use) {
    const u32 warps = gridDim.x * (blockDim.x / 32);
    for (u32 i = 1 + blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; i < plane.room; i += warps) {
        Tile* const t = plane.tile(i);
        if (agreed(__ldcg(&t->there) != 0)) use(i, t);
    }
}

}  // namespace
