// What is done to the tiles of a plane between rounds.
//
// A kernel that makes tiles puts 1 into FAILED where it had no room; then it has made some of them,
// and is launched again once there is.
#include "squares.hpp"
#include "window.hpp"

namespace {

// The cells of a lane of tile `t`, words of all rows in one, for mask_of().
__device__ __forceinline__ u32 cells_of(const Tile* t, u32 slot, u32 lane) {
    u32 any = 0;
    if (lane < FIRST_LANE || lane > LAST_LANE) return any;
    for (u32 r = 0; r < u32(ROWS); r++) {
        const uint4 row = t->cells_in(slot, 4 * (lane - FIRST_LANE) + r);
        any |= row.x | row.y | row.z | row.w;
    }
    return any;
}

}  // namespace

// Sets words of an array to zero.
extern "C" __global__ void clear(u32* words, unsigned long long count) {
    const word64 threads = word64(gridDim.x) * blockDim.x;
    for (word64 i = word64(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads) words[i] = 0;
}

// Tells where a chunk lies, whose first tile has the number `first`.
extern "C" __global__ void set_chunk(unsigned long long* chunks, u32 chunk, u32* memory, u32 first) {
    if (threadIdx.x == 0 && blockIdx.x == 0)
        chunks[chunk] = reinterpret_cast<word64>(memory) - word64(first) * TILE_BYTES;
}

// Adds tiles to the spare ones, the last number first.
extern "C" __global__ void add_spare(PLANE_PARAMETERS, u32 first, u32 count) {
    const Plane plane = PLANE;
    const u32 threads = gridDim.x * blockDim.x;
    for (u32 n = blockIdx.x * blockDim.x + threadIdx.x; n < count; n += threads)
        plane.spare()[atomicAdd(state + SPARE, word64(1))] = first + count - 1 - n;
}

// Enters all tiles that are there into a new table.
extern "C" __global__ void enter_all(PLANE_PARAMETERS) {
    const Plane plane = PLANE;
    each_tile(plane, [&](u32 i, Tile* t) {
        if (threadIdx.x & 31) return;
        const word64 mix = Plane::mixed(t->x, t->y);
        word64 free, was;
        plane.look(t->x, t->y, mix, free, was);
        plane.enter(t->x, t->y, mix, i, free, was);
    });
}

// Finds out where something lives in each tile, in `slot`.
extern "C" __global__ void survey(PLANE_PARAMETERS, u32 slot) {
    const Plane plane = PLANE;
    each_tile(plane, [&](u32, Tile* t) {
        const u32 lane = threadIdx.x & 31, life = mask_of(cells_of(t, slot, lane));
        if (lane == 0) t->life[slot] = (unsigned short)life;
    });
}

// Forgets all slots but that of round `round`, as if nothing had lived before.
extern "C" __global__ void restart(PLANE_PARAMETERS, unsigned long long round) {
    const Plane plane = PLANE;
    const u32 from = u32(round % SLOTS);
    each_tile(plane, [&](u32, Tile* t) {
        const u32 lane = threadIdx.x & 31;
        for (u32 slot = 0; slot < SLOTS; slot++) {
            if (slot == from || !t->life[slot]) continue;
            for (u32 r = lane; r < SIDE; r += 32)
                *t->row(slot, r) = make_uint4(0, 0, 0, 0);
        }
        __syncwarp();
        if (lane == 0) {
            const unsigned short life = t->life[from];
            t->lives = 0;
            t->life[from] = life;
            t->changed = life;
            t->changed_at = round;
            t->listed = 0;
        }
    });
}

// Tells new tiles and their neighbours of each other.
extern "C" __global__ void link(PLANE_PARAMETERS) {
    const Plane plane = PLANE;
    each_tile(plane, [&](u32 i, Tile* t) {
        if (agreed(!t->linked)) plane.link(t, i, threadIdx.x & 31);
    });
}

// Lists what is to be visited in round `round`, of which all that has changed is known.
extern "C" __global__ void spread(PLANE_PARAMETERS, unsigned long long round) {
    const Plane plane = PLANE;
    each_tile(plane, [&](u32 i, Tile* t) {
        const u32 lane = threadIdx.x & 31;
        if (!agreed(t->changed_at == round)) return;
        const u32 changed = t->changed;
        u32 wanted = lane == 8 && changed ? i : 0;
        if (lane < 8 && changed >> lane & 1) {
            wanted = __ldcg(t->near + lane);
            if (!wanted) wanted = plane.make(t->x + dx_of(int(lane)), t->y + dy_of(int(lane)), 1);
        }
        __syncwarp();
        plane.list(wanted, round);
    });
}

// Lists all tiles for round `round`.
extern "C" __global__ void list_all(PLANE_PARAMETERS, unsigned long long round) {
    const Plane plane = PLANE;
    each_tile(plane, [&](u32 i, Tile*) { plane.list((threadIdx.x & 31) == 0 ? i : 0, round); });
}

// Makes all tiles that something which lives in `slot` can enter in a round.
extern "C" __global__ void reach(PLANE_PARAMETERS, u32 slot) {
    const Plane plane = PLANE;
    each_tile(plane, [&](u32, Tile* t) {
        const u32 lane = threadIdx.x & 31;
        if (lane < 8 && (t->life[slot] >> lane & 1) && !__ldcg(t->near + lane))
            plane.make(t->x + dx_of(int(lane)), t->y + dy_of(int(lane)), 1);
    });
}

// Frees tiles in which nothing lives, or lived in the last rounds, and which round `round` does not visit.
// now: 1 where slot NOW counts, too. No tile is in the list of those that may be freed any more.
extern "C" __global__ void sweep(PLANE_PARAMETERS, unsigned long long round, u32 now) {
    const Plane plane = PLANE;
    const u32 threads = gridDim.x * blockDim.x;
    for (u32 i = 1 + blockIdx.x * blockDim.x + threadIdx.x; i < room; i += threads) {
        Tile* const t = plane.tile(i);
        const bool made_in_vain = !t->there && t->idle;
        t->idle = 0;
        if (made_in_vain || (t->there && !t->lives && !(now && t->life_now) && t->listed != round)) plane.free(t, i);
    }
}

// Makes the cells of slot NOW those of another.
extern "C" __global__ void fold(PLANE_PARAMETERS, u32 slot) {
    const Plane plane = PLANE;
    each_tile(plane, [&](u32, Tile* t) {
        const u32 lane = threadIdx.x & 31;
        for (u32 r = lane; r < SIDE; r += 32)
            *t->row(slot, r) = t->life_now ? t->cells_in(NOW, r) : make_uint4(0, 0, 0, 0);
        if (lane == 0) t->life[slot] = (unsigned short)t->life_now;
    });
}

// Makes the tiles that the live cells of squares need. places: two of each; words: 64 of each.
extern "C" __global__ void make_room(PLANE_PARAMETERS, const long long* places,
                                     const unsigned long long* words, u32 count) {
    const Plane plane = PLANE;
    const u32 lane = threadIdx.x & 31, warps = gridDim.x * (blockDim.x / 32);
    for (u32 s = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; s < count; s += warps)
        for (u32 n = 0; n < 4; n++) {
            const Part part = part_of(places[2 * s], places[2 * s + 1], n);
            const word64 bits = part.columns == u32(SQUARE) ? ~word64(0) : (word64(1) << part.columns) - 1;
            const word64 mask = bits << (part.from & 63);
            word64 any = 0;
            for (u32 r = lane; r < part.rows; r += 32) any |= words[word64(s) * SQUARE + part.top + r] & mask;
            if (__any_sync(ALL, any != 0) && lane == 0) plane.make(part.x, part.y, 1);
        }
}

// Sets the cells of squares in `slot`, in the tiles that are there.
extern "C" __global__ void put(PLANE_PARAMETERS, u32 slot, const long long* places,
                               const unsigned long long* words, u32 count) {
    const Plane plane = PLANE;
    const u32 lane = threadIdx.x & 31, warps = gridDim.x * (blockDim.x / 32);
    for (u32 s = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; s < count; s += warps)
        for (u32 n = 0; n < 4; n++) {
            const Part part = part_of(places[2 * s], places[2 * s + 1], n);
            const u32 i = part.columns && part.rows ? plane.find(part.x, part.y) : 0;
            if (!i) continue;
            Tile* const t = plane.tile(i);
            const u32 mask = ((1u << part.columns / 4) - 1) << part.column / 4;
            for (u32 r = lane; r < part.rows; r += 32) {
                const word64 row = words[word64(s) * SQUARE + part.top + r] >> part.from;
                // Other squares have other bits of these words.
                for (u32 k = 0; k < 4; k++) {
                    u32* const to = reinterpret_cast<u32*>(t->row(slot, part.row + r)) + k;
                    atomicAnd(to, ~mask);
                    atomicOr(to, gathered(row >> k) << part.column / 4 & mask);
                }
            }
        }
}
