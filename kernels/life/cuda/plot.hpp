// Cells that stay on a multiprocessor: a plot, whose generations are made in place.
//
// Layout. A plot has WARPS x 32 x WORDS columns and 32 x ROWS rows. Thread t holds columns t WORDS
// to t WORDS + WORDS - 1. A word is one column of 32 rows that are ROWS apart: bit b of the word of
// row r is row b ROWS + r of the plot. So the neighbours above and below are in the words of the
// rows r - 1 and r + 1 of the same thread, and no shift is needed but between the last row and
// the first, once a generation. The first HELD rows are in registers, the others in shared memory.
//
// The plot's opposite sides meet: cells near a side that is no side of the universe get wrong from
// the outside in.
//
// Macros: WORDS, ROWS, HELD, WARPS; the rule as life.cu takes it; PLANE 1 where cells beyond the edges of the
// universe are dead, and then BEFORE_X, AFTER_X, BEFORE_Y, AFTER_Y: the column and the row of a plot right
// beyond each edge, in plots that have it.
#pragma once
#include "rule.hpp"
#if !defined(DYNAMIC_SHARED)
#define DYNAMIC_SHARED(T, name) extern __shared__ T name[]
#endif

#ifndef WORDS
#define WORDS 4
#endif
#ifndef ROWS
#define ROWS 4
#endif
#ifndef HELD
#define HELD ROWS
#endif
#ifndef WARPS
#define WARPS 1
#endif
#ifndef PLANE
#define PLANE 0
#endif
#ifndef BEFORE_X
#define BEFORE_X -1
#define AFTER_X -1
#define BEFORE_Y -1
#define AFTER_Y -1
#endif

namespace {

constexpr int THREADS = WARPS * 32, COLUMNS = THREADS * WORDS, PLOT_WORDS = ROWS * WORDS * THREADS;

// Returns how many of the rows in shared memory are made in one turn of a loop: so many that all
// turns are alike, and not more than fit the cache of instructions.
constexpr int unrolled(int rows) {
    int best = 1;
    for (int n = 2; n <= 9; n++)
        if (rows % n == 0) best = n;
    return best > 2 ? best : 4;
}

constexpr int UNROLL = HELD < ROWS - 1 ? unrolled(ROWS - 1 - HELD) : 1;
constexpr int VECTOR = WORDS % 4 == 0 ? 4 : WORDS % 2 == 0 ? 2 : 1;  // words moved at once

// Stores a word where a condition holds, without a branch.
__device__ __forceinline__ void store_where(bool here, u32* shared, u32 word) {
#if defined(__CUDA_ARCH__)
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.shared.u32 [%0], %1; }" ::"r"(
                     u32(__cvta_generic_to_shared(shared))), "r"(word), "r"(u32(here)) : "memory");
#else
    if (here) *shared = word;
#endif
}

// Cells of one row of a thread, those on either side, and their row sums.
struct Row {
    u32 c[WORDS], l, r, x[WORDS], m[WORDS];

    __device__ __forceinline__ RowState<u32> state(int w) const {
        return {x[w], m[w], w ? c[w ? w - 1 : 0] : l, c[w], w < WORDS - 1 ? c[w < WORDS - 1 ? w + 1 : w] : r};
    }
    __device__ __forceinline__ void add_up() {
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            RowState<u32> s = row_state(state(w).l, c[w], state(w).r);
            x[w] = s.x, m[w] = s.m;
        }
    }
    // The row whose words are turned: the row after the last, or before the first.
    __device__ __forceinline__ Row turned(int n) const {
        Row t;
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            t.c[w] = rotate_up(c[w], n);
            t.x[w] = rotate_up(x[w], n), t.m[w] = rotate_up(m[w], n);
        }
        t.l = rotate_up(l, n), t.r = rotate_up(r, n);
        return t;
    }
};

// A thread's part of a plot.
class Plot {
  public:
    // Words of shared memory that a plot takes.
    static constexpr int SHARED = (ROWS - HELD) * WORDS * THREADS + (WARPS > 1 ? (4 * WARPS + 1) * ROWS : 0);

    // left, right, top, bottom: which edges of a plane the plot has.
    __device__ __forceinline__ Plot(u32* shared, bool left, bool right, bool top, bool bottom)
        : lane(threadIdx.x & 31), warp(threadIdx.x / 32), rows(shared + threadIdx.x * VECTOR),
          sides(shared + (ROWS - HELD) * WORDS * THREADS) {
        inner_l = lane != 0, inner_r = lane != 31;
#if defined(__CUDA_ARCH__)
        asm("" : "+r"(inner_l));  // or selections are made of what multiplications do on another pipe
        asm("" : "+r"(inner_r));
#endif
        if (PLANE) {
            before_x = left && int(threadIdx.x) == BEFORE_X / WORDS ? 0 : ALL;
            after_x = right && int(threadIdx.x) == AFTER_X / WORDS ? 0 : ALL;
            before_y = top ? ~(1u << BEFORE_Y / ROWS) : ALL;
            after_y = bottom ? ~(1u << AFTER_Y / ROWS) : ALL;
        }
        if (WARPS > 1)
            for (int r = threadIdx.x; r < ROWS; r += THREADS) sides[4 * WARPS * ROWS + r] = 0;
    }

    // Word w of row r, where r is a constant if it is less than HELD.
    __device__ __forceinline__ u32& word(int r, int w) {
        return r < HELD ? held[r < HELD ? r : 0][w] : rows[place(r, w)];
    }

    // The word of a column of the plot, in a row from HELD on: any thread may have it after a barrier.
    __device__ __forceinline__ u32& shared_word(int r, int column) {
        const int thread = column / WORDS - int(threadIdx.x);  // from this one on
        return rows[place(r, column % WORDS) + thread * VECTOR];
    }

    // Calls f(r, w, word) for all words of the thread.
    template <class F>
    __device__ __forceinline__ void each(F f) {
#pragma unroll
        for (int r = 0; r < HELD; r++)
#pragma unroll
            for (int w = 0; w < WORDS; w++) f(r, w, held[r][w]);
#pragma unroll 1
        for (int r = HELD; r < ROWS; r++)
#pragma unroll
            for (int w = 0; w < WORDS; w++) f(r, w, rows[place(r, w)]);
    }

    // Lets other warps see the outer words of all rows, when cells have been set.
    __device__ __forceinline__ void show() {
        if (WARPS == 1) return;
        aim(parity ^ 1);
        each([&](int r, int w, u32& word) {
            if (w == 0) store_where(lane == 0, to_l + r, word);
            if (w == WORDS - 1) store_where(lane == 31, to_r + r, word);
        });
        __syncthreads();
    }

    // Moves on by a generation.
    __device__ __forceinline__ void step() {
        aim(parity);
        Row top = row(ROWS - 1);
        top.add_up();
        top = top.turned(1);
        Row mid = row(0);
        mid.add_up();
        const Row first = mid;
        Row next = row(ROWS > 1 ? 1 : 0);  // one row ahead of its use
        auto advance = [&](int r) {
            Row low = next;
            low.add_up();
            if (r + 2 < ROWS) next = row(r + 2);
            make(r, top, mid, low);
            top = mid, mid = low;
        };
#pragma unroll
        for (int r = 0; r < (HELD < ROWS ? HELD : ROWS - 1); r++) advance(r);
        if (HELD < ROWS) {
#pragma unroll UNROLL
            for (int r = HELD; r < ROWS - 1; r++) advance(r);
        }
        make(ROWS - 1, top, mid, first.turned(31));
        parity ^= 1;
        if (WARPS > 1) __syncthreads();
    }

    const int lane, warp;

  private:
    // Where a word of this thread stands in shared memory: a thread's words side by side, as many as
    // are moved at once.
    __device__ __forceinline__ static int place(int r, int w) {
        return ((r - HELD) * (WORDS / VECTOR) + w / VECTOR) * THREADS * VECTOR + w % VECTOR;
    }

    // Points to the outer words of the neighbouring warps, and to where this warp shows its own of
    // the next generation. Lanes that have neighbours in their warp read zeros.
    __device__ __forceinline__ void aim(int now) {
        u32* old = sides + now * 2 * WARPS * ROWS;
        u32* next = sides + (now ^ 1) * 2 * WARPS * ROWS;
        const u32* zeros = sides + 4 * WARPS * ROWS;
        from_l = lane == 0 ? old + (warp + WARPS - 1) % WARPS * ROWS : zeros;
        from_r = lane == 31 ? old + (WARPS + (warp + 1) % WARPS) * ROWS : zeros;
        to_r = next + warp * ROWS;
        to_l = next + (WARPS + warp) * ROWS;
    }

    __device__ __forceinline__ Row row(int r) {
        Row f;
        if (r < HELD) {
#pragma unroll
            for (int w = 0; w < WORDS; w++) f.c[w] = held[r < HELD ? r : 0][w];
        } else {
#pragma unroll
            for (int w = 0; w < WORDS; w += VECTOR) {
                const u32* p = rows + place(r, w);
                if constexpr (VECTOR == 4) {
                    uint4 v = *reinterpret_cast<const uint4*>(p);
                    f.c[w] = v.x, f.c[w + 1] = v.y, f.c[w + 2] = v.z, f.c[w + 3] = v.w;
                } else if constexpr (VECTOR == 2) {
                    uint2 v = *reinterpret_cast<const uint2*>(p);
                    f.c[w] = v.x, f.c[w + 1] = v.y;
                } else {
                    f.c[w] = *p;
                }
            }
        }
        f.l = __shfl_sync(ALL, f.c[WORDS - 1], (lane + 31) & 31);
        f.r = __shfl_sync(ALL, f.c[0], (lane + 1) & 31);
        if (WARPS > 1) {
            f.l = f.l * inner_l + from_l[r];
            f.r = f.r * inner_r + from_r[r];
        }
        return f;
    }

    // Sets row r to its next generation.
    __device__ __forceinline__ void make(int r, const Row& top, const Row& mid, const Row& low) {
        u32 out[WORDS];
#pragma unroll
        for (int w = 0; w < WORDS; w++) {
            out[w] = LifeRule()(top.state(w), mid.state(w), low.state(w));
            if (PLANE && w == BEFORE_X % WORDS) out[w] &= before_x;
            if (PLANE && w == AFTER_X % WORDS) out[w] &= after_x;
        }
        if (PLANE && (r == BEFORE_Y % ROWS || r == AFTER_Y % ROWS)) {
            u32 mask = r == BEFORE_Y % ROWS ? before_y : ALL;
            if (r == AFTER_Y % ROWS) mask &= after_y;
#pragma unroll
            for (int w = 0; w < WORDS; w++) out[w] &= mask;
        }
        if (r < HELD) {
#pragma unroll
            for (int w = 0; w < WORDS; w++) held[r < HELD ? r : 0][w] = out[w];
        } else {
#pragma unroll
            for (int w = 0; w < WORDS; w += VECTOR) {
                u32* p = rows + place(r, w);
                if constexpr (VECTOR == 4)
                    *reinterpret_cast<uint4*>(p) = make_uint4(out[w], out[w + 1], out[w + 2], out[w + 3]);
                else if constexpr (VECTOR == 2)
                    *reinterpret_cast<uint2*>(p) = make_uint2(out[w], out[w + 1]);
                else
                    *p = out[w];
            }
        }
        if (WARPS > 1) {
            store_where(lane == 31, to_r + r, out[WORDS - 1]);
            store_where(lane == 0, to_l + r, out[0]);
        }
    }

    u32 held[HELD][WORDS];
    u32* const rows;   // of this thread, in shared memory: those from HELD on
    u32* const sides;  // [2 generations][2 sides][WARPS][ROWS] outer words, and ROWS zeros
    int parity = 0;
    u32 inner_l, inner_r;
    const u32 *from_l = nullptr, *from_r = nullptr;
    u32 *to_l = nullptr, *to_r = nullptr;
    u32 before_x = ALL, after_x = ALL, before_y = ALL, after_y = ALL;
};

}  // namespace
