// Rounds of a plane: all tiles are visited in which, or near which, something is other than SLOTS
// rounds ago, a warp each.
//
// A visit lists its tile for the next round if that is other there than SLOTS rounds before, and each
// neighbour within 16 cells of which something is, which is made where it is not there. All other tiles
// hold the cells of the round's end already: those of SLOTS rounds ago, none where there is no tile.
//
// The blocks of rounds() wait for each other, so that the host looks on only now and then: all of them
// must have room on the device at once, or it is to be launched once for each phase of each round.
//
// Macros: CIRCUIT the rule, statements that return the next state (kernels/life/circuits/circuit.py), or
// TABLE (kernels/life/circuit.hpp), and then CONWAY 1 for B3/S23.
#include "../../../life/cuda/rule.hpp"
#include "window.hpp"

namespace {

constexpr u32 VISIT = 1, TIDY = 2, BOTH = 3;  // phases
constexpr word64 TIDY_ROUNDS = 32;            // between two rounds that free tiles

// Waits for all threads of the grid.
__device__ void meet(word64* state) {
    __syncthreads();
    if (gridDim.x > 1 && threadIdx.x == 0) {
        __threadfence();
        const word64 all = gridDim.x, arrived = atomicAdd(state + ARRIVED, word64(1));
        const word64 wanted = (arrived / all + 1) * all;
        while (*static_cast<volatile word64*>(state + ARRIVED) < wanted) {
        }
        __threadfence();
    }
    __syncthreads();
}

// Of lanes 0 to 7 the neighbour in that direction, of lane 8 the tile itself. Neighbours of a new tile may
// be visited at the same time and not find it yet: nothing lives in it at the beginning of the round.
__device__ __forceinline__ u32 near_of(const Plane& plane, Tile* t, u32 i, u32 lane) {
    u32 near = __ldcg(t->near + (lane & 7));
    if (!agreed(__ldcg(&t->linked) != 0)) near = plane.link(t, i, lane);
    return lane < 8 ? near : i;
}

__device__ __forceinline__ void run(Window& window, int steps) {
    if (window.empty()) return;
#pragma unroll 1
    for (int g = 0; g < steps; g++) window.advance<LifeRule>();
}

__device__ void visit(const Plane& plane, u32 i, word64 round) {
    const u32 lane = threadIdx.x & 31;
    Tile* const t = plane.tile(i);
    u32 near = near_of(plane, t, i, lane);
    const u32 from = u32(round % SLOTS), to = u32((round + 1) % SLOTS);
    Window window;
    window.load(plane, near, from, lane);
    const Old old(t, to, lane);
    run(window, ROUND);
    const Stored found = store(window, t, to, old, lane);
    const bool reached = lane < 8 && found.changed >> lane & 1;
    if (reached && !near) near = plane.make(t->x + dx_of(int(lane)), t->y + dy_of(int(lane)), round);
    __syncwarp();
    const u32 wanted = reached || (lane == 8 && found.changed) ? near : 0;
    if (lane == 0) {
        t->life[to] = (unsigned short)found.life;
        t->changed = found.changed;
        t->changed_at = round + 1;
        if (!found.changed && !t->lives) plane.rest(t, i);
    }
    plane.list(wanted, round + 1);
}

// Frees tiles in which nothing has lived for SLOTS rounds, and which will not be visited.
__device__ void tidy(const Plane& plane, word64 round) {
    const word64 count = __ldcg(plane.state + IDLE);
    const word64 threads = word64(gridDim.x) * blockDim.x;
    for (word64 n = word64(blockIdx.x) * blockDim.x + threadIdx.x; n < count; n += threads) {
        const u32 i = __ldcg(plane.idle() + n);
        Tile* const t = plane.tile(i);
        if (!atomicExch(&t->idle, 0u)) continue;  // freed already, if not used again
        if (!t->there || (!t->lives && t->listed != round)) plane.free(t, i);
    }
}

}  // namespace

// Moves on by `count` rounds from round `first` on, or fewer: until nothing is left to visit, or there is
// no room for a tile or in the table, which FAILED tells by the round. phases: BOTH; or one only, of one round.
extern "C" __global__ void __launch_bounds__(512, 1)
rounds(PLANE_PARAMETERS, unsigned long long first, u32 count, u32 phases) {
    __shared__ word64 chunk_addresses[32];
    if (threadIdx.x < 32) chunk_addresses[threadIdx.x] = chunks[threadIdx.x];
    __syncthreads();
    const Plane plane{state, chunk_addresses, table, lists, room, log2};
    const bool one = blockIdx.x == 0 && threadIdx.x == 0;
    const u32 step = gridDim.x * (blockDim.x / 32);
    for (word64 round = first; round < first + count; round++) {
        if (phases & VISIT) {
            if (one) state[COUNTS + (round + 2) % 3] = 0;
            const word64 active = __ldcg(state + COUNTS + round % 3);
            for (word64 n = blockIdx.x + gridDim.x * (threadIdx.x / 32); n < active; n += step)
                visit(plane, __ldcg(plane.list(round) + n), round);
        }
        if (phases == BOTH) meet(state);
        if (phases & TIDY) {
            if (round % TIDY_ROUNDS == TIDY_ROUNDS - 1) {
                tidy(plane, round + 1);
                if (one && plane.is_crowded()) state[FAILED] = round;
                if (phases == BOTH) {
                    meet(state);
                    if (one) state[IDLE] = 0;
                    meet(state);
                }
            }
            if (one) state[NUMBER] = round + 1;
        }
        // Both stay as they are until all blocks have met again.
        if (!__ldcg(state + COUNTS + (round + 1) % 3) || __ldcg(state + FAILED) == round) break;
    }
}

// Moves all tiles on by fewer generations than a round, from `slot` to slot NOW.
extern "C" __global__ void __launch_bounds__(512, 1) part(PLANE_PARAMETERS, u32 slot, u32 generations) {
    const Plane plane = PLANE;
    each_tile(plane, [&](u32 i, Tile* t) {
        const u32 lane = threadIdx.x & 31;
        const u32 near = near_of(plane, t, i, lane);
        Window window;
        window.load(plane, near, slot, lane);
        run(window, int(generations));
        const Stored found = store(window, t, NOW, Old(t, NOW, lane), lane);
        if (lane == 0) t->life_now = found.life;
    });
}
