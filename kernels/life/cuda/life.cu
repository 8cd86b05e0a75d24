// Life on a CUDA device.
//
// Layout. The universe is cut into `panels`, each of 32 K columns, K = LANES WORDS.
// Column c of a panel is bit c / K of word c % K: the 32 bits of a word are 32
// columns K apart, so that the neighbours of a cell are in the neighbouring words
// and no shift is needed but at the seam between word K - 1 and word 0. Word x of
// a row is held by lane x / WORDS of a team of LANES lanes. A panel computes `useful`
// columns and carries `halo` columns of its neighbours on either side; panel p starts
// at column p useful - halo of the universe (modulo its width on a torus, where the
// last panel may run on into the first: some columns are then computed twice; panels.hpp says
// where they start on a plane).
// Row y of all panels stands together: word (y panels + p) K + x. Cells that age have PARTS bits, as
// AGES says, and a row is so many rows, one after the other: the first says where cells are live.
//
// Time. A team streams down the rows of one segment of one panel. STEPS pipeline
// stages keep the row sums of the last two rows of one generation each in registers,
// so that a row is read once and written once for STEPS generations.
//
// Macros: LANES (8, 16, 32); WORDS (1 to 4) words a lane; ALIGNED 1 where width and
// excess are multiples of it; STEPS generations a pass; the rule as CIRCUIT, statements that
// end with a cell's next state, with TOP_CELLS 1 where they use cells of the row above, or as
// TABLE (circuit.hpp), or CONWAY 1 for B3/S23; PLANE 1 where all outside is dead; FLUSH; MIN_BLOCKS
// resident warps a multiprocessor, which bounds the registers; AGES the class of what cells have
// beside being live (ageing/ages.hpp), by default nothing.
#include "panels.hpp"
#include "rule.hpp"

#ifndef LANES
#define LANES 32
#endif
#ifndef WORDS
#define WORDS 2
#endif
#ifndef ALIGNED
#define ALIGNED 1
#endif
#ifndef STEPS
#define STEPS 8
#endif
#ifndef TOP_CELLS
#define TOP_CELLS 0
#endif
#ifndef PLANE
#define PLANE 0
#endif
#ifndef MIN_BLOCKS
#define MIN_BLOCKS 1
#endif

namespace {

constexpr int K = LANES * WORDS;

// Cells that are live or dead, and nothing else.
struct NoAges {
    static constexpr int PLANES = 0, DIGITS = 1;
    template <class W>
    BITS_FN W step(W, W found, const W*, W*) const { return found; }
    template <class W>
    BITS_FN W encode(const W* digits, W*) const { return digits[0]; }
    template <class W>
    BITS_FN void decode(W live, const W*, W* digits) const { digits[0] = live; }
};
#ifndef AGES
#define AGES NoAges
#endif
using Ages = AGES;
constexpr int PARTS = 1 + Ages::PLANES, DIGITS = Ages::DIGITS;

struct Row { u32 w[WORDS]; };

// Whether cells outside of a plane are set to dead ones, as the type of an argument.
template <bool YES>
struct Masked { static constexpr bool value = YES; };

__device__ __forceinline__ Row load(const u32* p) {
    Row r;
#if WORDS == 4
    uint4 v = *reinterpret_cast<const uint4*>(p);
    r.w[0] = v.x, r.w[1] = v.y, r.w[2] = v.z, r.w[3] = v.w;
#elif WORDS == 2
    uint2 v = *reinterpret_cast<const uint2*>(p);
    r.w[0] = v.x, r.w[1] = v.y;
#else
#pragma unroll
    for (int k = 0; k < WORDS; k++) r.w[k] = p[k];
#endif
    return r;
}

// Rows come through a ring in shared memory, a few of them ahead, past the registers: with two
// warps for each scheduler nothing else would hide the latency of global memory. A lane reads
// only what it has copied itself.
constexpr int RING = 4;

// How many of the rows of a segment are made, in turns of the ring, before rows from below the universe
// are read, of which there are `rows` from the segment's first on.
__device__ __forceinline__ int unmasked(int rows, int segment) {
    if (rows - STEPS >= segment + RING) return segment;
    return max(0, rows - STEPS) / RING * RING;
}

template <int BYTES>
__device__ __forceinline__ void copy_async(u32* shared, const u32* global) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(
                     u32(__cvta_generic_to_shared(shared))), "l"(global), "n"(BYTES));
#else
    for (int i = 0; i < BYTES / 4; i++) shared[i] = global[i];
#endif
}

__device__ __forceinline__ void close_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;");
#endif
}

// Waits for all copies but those of the last RING - 1 groups.
__device__ __forceinline__ void await_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(RING - 1) : "memory");
#endif
}

__device__ __forceinline__ void store(u32* p, const Row& r) {
#if WORDS == 4
    *reinterpret_cast<uint4*>(p) = make_uint4(r.w[0], r.w[1], r.w[2], r.w[3]);
#elif WORDS == 2
    *reinterpret_cast<uint2*>(p) = make_uint2(r.w[0], r.w[1]);
#else
#pragma unroll
    for (int k = 0; k < WORDS; k++) p[k] = r.w[k];
#endif
}

// What a stage keeps of the last two rows of its generation.
struct Stage {
    u32 top_x[WORDS], top_m[WORDS], x[WORDS], m[WORDS], c[WORDS], l, r;
    Row age[PARTS];  // of the last row
#if TOP_CELLS
    u32 top_c[WORDS], top_l, top_r;
#endif
};

// A row of a generation, with the words beyond the lane's own on either side, and the ages.
struct Wide { Row row; u32 l, r; Row age[PARTS]; };

__device__ __forceinline__ void fetch_sides(Wide& in, int lane) {
    u32 l = __shfl_sync(ALL, in.row.w[WORDS - 1], (lane + LANES - 1) % LANES, LANES);
    u32 r = __shfl_sync(ALL, in.row.w[0], (lane + 1) % LANES, LANES);
    // At the seam, the word before word 0 is word K - 1 of the strip before, one bit on. Beyond the
    // first strip and the last are dead cells, or what does not matter.
    in.l = FLUSH ? l << (lane == 0) : rotate_up(l, lane == 0);
    in.r = FLUSH ? r >> (lane == LANES - 1) : rotate_up(r, lane == LANES - 1 ? 31 : 0);
}

// Takes the next row of a generation; returns the row above it, moved on by a generation. The
// outer words come first, so that the shuffles run beside the inner words. MASKED: whether only
// cells `inside` live.
template <bool MASKED>
__device__ __forceinline__ Wide advance(Stage& s, const Wide& in, const u32 inside[WORDS], int lane) {
    Wide out;
#pragma unroll
    for (int n = 0; n < WORDS; n++) {
        const int k = n == 0 ? 0 : n == 1 ? WORDS - 1 : n - 1;
        RowState<u32> low = row_state(k ? in.row.w[k - 1] : in.l, in.row.w[k],
                                      k < WORDS - 1 ? in.row.w[k + 1] : in.r);
#if TOP_CELLS
        RowState<u32> top{s.top_x[k], s.top_m[k], k ? s.top_c[k - 1] : s.top_l, s.top_c[k],
                          k < WORDS - 1 ? s.top_c[k + 1] : s.top_r};
#else
        RowState<u32> top{s.top_x[k], s.top_m[k], 0, 0, 0};
#endif
        RowState<u32> mid{s.x[k], s.m[k], k ? s.c[k - 1] : s.l, s.c[k],
                          k < WORDS - 1 ? s.c[k + 1] : s.r};
        u32 age[PARTS], next[PARTS];
#pragma unroll
        for (int i = 0; i < PARTS - 1; i++) age[i] = s.age[i].w[k];
        out.row.w[k] = Ages().step(s.c[k], LifeRule()(top, mid, low), age, next);
        if (MASKED) out.row.w[k] &= inside[k];
#pragma unroll
        for (int i = 0; i < PARTS - 1; i++) {
            out.age[i].w[k] = next[i];
            s.age[i].w[k] = in.age[i].w[k];
        }
        s.top_x[k] = s.x[k], s.top_m[k] = s.m[k];
        s.x[k] = low.x, s.m[k] = low.m;
        if (n == (WORDS > 1)) fetch_sides(out, lane);
    }
#if TOP_CELLS
#pragma unroll
    for (int k = 0; k < WORDS; k++) s.top_c[k] = s.c[k];
    s.top_l = s.l, s.top_r = s.r;
#endif
#pragma unroll
    for (int k = 0; k < WORDS; k++) s.c[k] = in.row.w[k];
    s.l = in.l, s.r = in.r;
    return out;
}

}  // namespace

// Makes one pass: dst = the universe STEPS generations after src; `width` is the period of the
// layout. A block is one warp, of 32 / LANES teams. The grid has enough of them for panels x
// segments teams; all segments are `segment` rows but the last.
extern "C" __global__ void __launch_bounds__(32, MIN_BLOCKS)
life(const u32* __restrict__ src, u32* __restrict__ dst, int width, int height, int panels,
     int useful, int halo, int segment) {
    const int lane = threadIdx.x % LANES;
    const int team = blockIdx.x * (32 / LANES) + threadIdx.x / LANES;
    const int panel = team % panels;
    // A team too many, in the last block, has no rows of its own and stores none.
    const int last = min(height, (team / panels + 1) * segment);
    const int first = min(height, team / panels * segment), rows = last - first;
    const Panels in_panels{width, panels, useful, halo, K};
    const int x = lane * WORDS;

    // Halo columns are a neighbouring panel's. In each word of this lane at most one bit is
    // of the halo (the host chooses `useful` so): bit `to` of the word, which is column `at`
    // of panel `other`.
    int other = -1, at = 0, to = 0;
    if (x < halo) {
        if (!FLUSH || panel) {
            other = panel ? panel - 1 : panels - 1;
            at = x + in_panels.step(other);
        }
    } else {
        to = (halo + useful - x + K - 1) / K;
        int column = x + K * to;
        if (column < 2 * halo + useful && (!FLUSH || panel < panels - 1)) {
            other = panel < panels - 1 ? panel + 1 : 0;
            at = column - in_panels.step(panel);
        }
    }
    const u32 halo_mask = other < 0 ? 0u : 1u << to;
    constexpr int SOURCES = ALIGNED ? 1 : WORDS;  // unless aligned, a lane's words may lie apart
    int turn[SOURCES];
#pragma unroll
    for (int k = 0; k < SOURCES; k++) turn[k] = (to - (at + k) / K) & 31;
    u32 inside[WORDS];  // the bits that are cells of the universe
#pragma unroll
    for (int k = 0; PLANE && k < WORDS; k++) {
        inside[k] = ALL;
        if (FLUSH) continue;
        // These are columns c = x + k + K b with 0 <= panel useful - halo + c < width.
        int low = halo - panel * useful - (x + k), high = low + width;
        low = low <= 0 ? 0 : (low + K - 1) / K, high = high <= 0 ? 0 : (high + K - 1) / K;
        u32 below_high = high >= 32 ? ALL : (1u << high) - 1;
        u32 below_low = low >= 32 ? ALL : (1u << low) - 1;
        inside[k] = below_high & ~below_low;
    }

    // Rows are found by the number of a lane's words in the whole array. 32 bits are enough
    // for it (the host sees to that), and make addresses cheap.
    const u32 part = u32(panels) * LANES, pitch = part * PARTS, wrap = pitch * u32(height);
    int y = first - STEPS;  // the row read next
    const int above = y % height;
    u32 source = pitch * u32(above < 0 ? above + height : above) + u32(panel * LANES + lane);
    // Where the words that halo bits come from would lie for number 0 of the lane's words.
    const u32* far_src[SOURCES];
#pragma unroll
    for (int k = 0; k < SOURCES; k++) {
        far_src[k] = src + (other < 0 ? 0 : (other - panel) * K + (at + k) % K - x);
#if defined(__CUDA_ARCH__)
        asm("" : "+l"(far_src[k]));  // or addresses are made from src's, which takes longer
#endif
    }

    __shared__ __align__(16) u32 ring[RING][2][PARTS][32 * WORDS];
    const int mine = threadIdx.x * WORDS;
    auto prefetch = [&](int slot) {
        constexpr int UNIT = WORDS == 3 ? 1 : WORDS, FAR_UNIT = ALIGNED ? UNIT : 1;
#pragma unroll
        for (int i = 0; i < PARTS; i++) {
            const size_t at = size_t(source + i * part) * WORDS;
#pragma unroll
            for (int k = 0; k < WORDS; k += UNIT)
                copy_async<4 * UNIT>(&ring[slot][0][i][mine + k], src + at + k);
            if (halo_mask) {
#pragma unroll
                for (int k = 0; k < WORDS; k += FAR_UNIT)
                    copy_async<4 * FAR_UNIT>(&ring[slot][1][i][mine + k],
                                             far_src[ALIGNED ? 0 : k] + at + (ALIGNED ? k : 0));
            }
        }
        close_copies();
        source += pitch, y++;
        source = min(source, source - wrap);  // which is huge below the last row's end
    };
    // Takes the row of a slot, which is row y - RING: as many have been asked for since.
    auto take = [&](int slot, auto masked) {
        await_copies();
        Wide wide;
#pragma unroll
        for (int i = 0; i < PARTS; i++) {
            Row row = load(&ring[slot][0][i][mine]), far = load(&ring[slot][1][i][mine]);
#pragma unroll
            for (int k = 0; k < WORDS; k++) {
                u32& w = row.w[k];
                w = mux(halo_mask, rotate_up(far.w[k], turn[ALIGNED ? 0 : k]), w);
                if (masked.value) w &= unsigned(y - RING) < unsigned(height) ? inside[k] : 0;
            }
            (i ? wide.age[i ? i - 1 : 0] : wide.row) = row;
        }
        fetch_sides(wide, lane);
        return wide;
    };
    // Moves on by a generation in stage t, whose output row is 1 + t above the row taken.
    Stage stages[STEPS];
    u32 target = pitch * u32(first) + u32(panel * LANES + lane);
    auto run = [&](int t, const Wide& row, auto masked) {
        u32 here[WORDS];
#pragma unroll
        for (int k = 0; masked.value && k < WORDS; k++)
            here[k] = unsigned(y - RING - 1 - t) < unsigned(height) ? inside[k] : 0;
        return advance<masked.value>(stages[t], row, here, lane);
    };
    auto keep = [&](int i, const Wide& row) {
        if (unsigned(i) < unsigned(rows)) {
            store(dst + size_t(target) * WORDS, row.row);
#pragma unroll
            for (int a = 1; a < PARTS; a++)
                store(dst + size_t(target + a * part) * WORDS, row.age[a - 1]);
        }
        target += pitch;
    };

#pragma unroll
    for (int t = 0; t < STEPS; t++) stages[t] = Stage{};
    for (int n = 0; n < RING - 1; n++) prefetch(n);
    // Fills the pipeline: from row 2 t on, stage t has all it needs of the stages before it.
#pragma unroll 1
    for (int i = 0; i < 2 * STEPS; i++) {
        prefetch((i + RING - 1) % RING);
        Wide row = take(i % RING, Masked<PLANE>{});
#pragma unroll
        for (int t = 0; t < STEPS; t++) {
            if (i < 2 * t) break;
            row = run(t, row, Masked<PLANE>{});
        }
    }
    // Makes a turn of the ring at a time: so its slots are constants, and what moves between
    // registers is only renamed.
    constexpr int FILLED = 2 * STEPS;
    // Rows above a plane have gone by now; before those below it come, nothing need be masked.
    constexpr bool LATER = PLANE && FLUSH;
    // The last rows of the warp's teams begin here; the same for all lanes, so that loops are.
    const int deepest = int((blockIdx.x + 1) * (32 / LANES) - 1) / panels * segment;
    const int plain = LATER ? unmasked(height - deepest, segment) : segment;
    int i = 0;
#pragma unroll 1
    for (; i < plain; i += RING) {
#pragma unroll
        for (int j = 0; j < RING; j++) {
            prefetch((FILLED + j + RING - 1) % RING);
            Wide row = take((FILLED + j) % RING, Masked<PLANE && !LATER>{});
#pragma unroll
            for (int t = 0; t < STEPS; t++) row = run(t, row, Masked<PLANE && !LATER>{});
            keep(i + j, row);
        }
    }
    if (!LATER) return;
    const int left = min(segment, height - int(blockIdx.x * (32 / LANES)) / panels * segment);
#pragma unroll 1
    for (; i < left; i++) {
        prefetch((FILLED + i + RING - 1) % RING);
        Wide row = take((FILLED + i) % RING, Masked<PLANE>{});
#pragma unroll
        for (int t = 0; t < STEPS; t++) row = run(t, row, Masked<PLANE>{});
        keep(i, row);
    }
}

// Packs row-major words of 32 cells, `stride` words a row of each bit plane, into panels: `rows` rows
// from row `first` of the universe on, which are all that `cells` holds. Each thread makes a word of
// each part.
extern "C" __global__ void pack(const u32* __restrict__ cells, u32* __restrict__ dst, int width,
                                int first, int rows, int stride, int panels, int useful, int halo,
                                int plane) {
    const int x = threadIdx.x;  // a block of K threads makes a row of a panel
    const size_t row = size_t(blockIdx.x) + size_t(blockIdx.y) * gridDim.x;
    if (row >= size_t(panels) * rows) return;
    const int panel = int(row % panels), y = int(row / panels);
    const long long start = Panels{width, panels, useful, halo, K}.start(panel);
    u32 digits[DIGITS], age[PARTS];
    for (int i = 0; i < DIGITS; i++) {
        const u32* source = cells + (size_t(y) * DIGITS + i) * stride;
        u32 word = 0;
        for (int b = 0; b < 32; b++) {
            long long column = start + x + K * b;
            if (plane ? column < 0 || column >= width : false) continue;
            column %= width;
            if (column < 0) column += width;
            word |= (source[column >> 5] >> (column & 31) & 1) << b;
        }
        digits[i] = word;
    }
    u32* to = dst + ((size_t(first) + y) * PARTS * panels + panel) * K + x;
    to[0] = Ages().encode(digits, age);
    for (int i = 1; i < PARTS; i++) to[size_t(i) * panels * K] = age[i - 1];
}

// Unpacks panels to row-major words of 32 cells, as pack() takes them; padding bits become zero. Each
// thread makes a word of each bit plane.
extern "C" __global__ void unpack(const u32* __restrict__ src, u32* __restrict__ cells, int width,
                                  int first, int rows, int stride, int panels, int useful,
                                  int halo) {
    const size_t index = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= size_t(rows) * stride) return;
    const int y = int(index / stride), column = int(index % stride) * 32;
    const Panels in_panels{width, panels, useful, halo, K};
    u32 words[PARTS] = {}, digits[DIGITS];
    for (int j = 0; j < 32 && column + j < width; j++) {
        int panel = in_panels.owner(column + j), c = column + j - in_panels.start(panel);
        const u32* from = src + ((size_t(first) + y) * PARTS * panels + panel) * K + c % K;
        for (int i = 0; i < PARTS; i++)
            words[i] |= (from[size_t(i) * panels * K] >> (c / K) & 1) << j;
    }
    Ages().decode(words[0], words + 1, digits);
    for (int i = 0; i < DIGITS; i++) cells[(size_t(y) * DIGITS + i) * stride + column / 32] = digits[i];
}
