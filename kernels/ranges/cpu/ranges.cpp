// Larger than Life on one CPU level. Compiled once per level, with LEVEL its name. Loops are
// written so that the compiler makes vectors of them. Nothing of the standard library may be
// instantiated here, or the linker could hand AVX-512 code to a machine without it.
#include "ranges.hpp"

#include <cstring>

namespace {

using i64 = std::int64_t;
using u8 = std::uint8_t;
using std::size_t;

constexpr size_t round_up(size_t bytes) { return (bytes + 63) / 64 * 64; }

// The rows of sums that are kept for a neighbourhood of runs: one for each row within reach.
inline i64 window_rows(const RangePass& p) { return 2 * i64(p.reach) + 1; }

// A strip of a band. T: of counts, as many bits as suffice; sums are right modulo that.
template <class T>
struct Strip {
    const RangePass& p;
    i64 left, count;  // its columns
    i64 top, bottom;  // its rows
    i64 wide;         // columns within reach
    u8 *line, *born, *kept;
    T *count_of, *columns, *power, *spare, *sums;
    u8* lives;  // of each row in the window of runs, whether anything does

    Strip(const RangePass& pass, i64 task, void* scratch) : p(pass) {
        const i64 bands = (p.height + p.rows - 1) / p.rows;
        left = task / bands * p.columns, top = task % bands * p.rows;
        count = p.width - left < p.columns ? p.width - left : p.columns;
        bottom = p.height - top < p.rows ? p.height : top + p.rows;
        wide = count + 2 * p.reach;
        char* at = static_cast<char*>(scratch);
        auto take = [&](size_t bytes) {
            char* const taken = at;
            at += round_up(bytes);
            return taken;
        };
        line = reinterpret_cast<u8*>(take(size_t(wide)));
        born = reinterpret_cast<u8*>(take(size_t(count)));
        kept = reinterpret_cast<u8*>(take(size_t(count)));
        count_of = reinterpret_cast<T*>(take(size_t(count) * sizeof(T)));
        if (p.radius) {
            columns = reinterpret_cast<T*>(take(size_t(wide) * sizeof(T)));
            power = reinterpret_cast<T*>(take(size_t(wide) * sizeof(T)));
            spare = reinterpret_cast<T*>(take(size_t(wide) * sizeof(T)));
        } else {
            lives = reinterpret_cast<u8*>(take(size_t(window_rows(p))));
            sums = reinterpret_cast<T*>(take(size_t(window_rows(p)) * size_t(wide + 1) * sizeof(T)));
        }
    }

    static size_t bytes(const RangePass& p) {
        const size_t count = size_t(p.columns), wide = count + 2 * size_t(p.reach);
        size_t sum = round_up(wide) + 2 * round_up(count) + round_up(count * sizeof(T));
        if (p.radius) return sum + 3 * round_up(wide * sizeof(T));
        return sum + round_up(size_t(window_rows(p))) +
               round_up(size_t(window_rows(p)) * (wide + 1) * sizeof(T));
    }

    // Sets the line to 1 where cells of row y are in state 1, from `reach` columns left of the strip
    // on. Returns whether any is.
    bool fetch(i64 y) const {
        if (p.torus) {
            y %= p.height;
            if (y < 0) y += p.height;
        } else if (y < 0 || y >= p.height) {
            std::memset(line, 0, size_t(wide));
            return false;
        }
        const u8* const row = p.src + y * p.width;
        i64 x = left - p.reach, at = 0;
        u8 any = 0;
        if (p.torus) {
            x %= p.width;
            if (x < 0) x += p.width;
        } else if (x < 0) {
            std::memset(line, 0, size_t(-x));
            at = -x, x = 0;
        }
        while (at < wide) {
            const i64 rest = wide - at, here = p.width - x < rest ? p.width - x : rest;
            if (here <= 0) {  // to the right of a plane
                std::memset(line + at, 0, size_t(rest));
                break;
            }
            u8* const to = line + at;
            const u8* const from = row + x;
            for (i64 i = 0; i < here; i++) to[i] = from[i] == 1, any |= to[i];
            at += here, x = p.torus ? 0 : p.width;
        }
        return any;
    }

    // Adds the line to the sums of columns, or takes it away.
    template <int SIGN>
    void add() const {
        T* __restrict to = columns;
        const u8* __restrict from = line;
        for (i64 i = 0; i < wide; i++) to[i] = T(to[i] + SIGN * from[i]);
    }

    // Makes counts of the sums of columns, over 2 radius + 1 of them.
    void count_square() {
        const i64 span = 2 * i64(p.radius) + 1;
        std::memset(count_of, 0, size_t(count) * sizeof(T));
        const T* from = columns;
        i64 offset = 0, length = wide;  // of the sums that there are
        for (i64 bit = 1;; bit *= 2) {  // from[x] is the sum of `bit` columns from x on
            if (span & bit) {
                T* __restrict to = count_of;
                const T* __restrict part = from + offset;
                for (i64 i = 0; i < count; i++) to[i] = T(to[i] + part[i]);
                offset += bit;
            }
            if (2 * bit > span) break;
            length -= bit;
            T* __restrict to = from == power ? spare : power;
            const T* __restrict low = from;
            const T* __restrict high = from + bit;
            for (i64 i = 0; i < length; i++) to[i] = T(low[i] + high[i]);
            from = to;
        }
    }

    T* sums_of(i64 y) const {
        const i64 rows = window_rows(p);
        return sums + ((y % rows + rows) % rows) * (wide + 1);
    }

    // Makes the sums along row y, from the left edge of what is within reach on.
    bool sum_row(i64 y) const {
        const bool any = fetch(y);
        T* const to = sums_of(y);
        T sum = 0;
        to[0] = 0;
        if (any)
            for (i64 i = 0; i < wide; i++) to[i + 1] = sum = T(sum + line[i]);
        const i64 rows = window_rows(p);
        lives[(y % rows + rows) % rows] = any;
        return any;
    }

    // Makes counts of the sums along rows, for row y.
    void count_runs(i64 y) {
        std::memset(count_of, 0, size_t(count) * sizeof(T));
        const i64 rows = window_rows(p);
        for (int r = 0; r < p.run_count; r++) {
            const RangeRun run = p.runs[r];
            const i64 at = y + run.row;
            if (!lives[(at % rows + rows) % rows]) continue;
            T* __restrict to = count_of;
            const T* __restrict low = sums_of(at) + p.reach + run.first;
            const T* __restrict high = sums_of(at) + p.reach + run.last + 1;
            for (i64 i = 0; i < count; i++) to[i] = T(to[i] + high[i] - low[i]);
        }
    }

    void within(u8* __restrict to, const RangeCounts* counts, int number) const {
        const T* __restrict from = count_of;
        if (number == 0) std::memset(to, 0, size_t(count));
        for (int n = 0; n < number; n++) {
            const T least = T(counts[n].least), span = T(counts[n].span);
            if (n == 0)
                for (i64 i = 0; i < count; i++) to[i] = T(from[i] - least) <= span;
            else
                for (i64 i = 0; i < count; i++) to[i] |= T(from[i] - least) <= span;
        }
    }

    // Writes row y, of which the counts are known.
    void write(i64 y) {
        const u8* __restrict now = p.src + y * p.width + left;
        u8* __restrict to = p.dst + y * p.width + left;
        if (p.radius && !p.middle) {
            T* __restrict counts = count_of;
            for (i64 i = 0; i < count; i++) counts[i] = T(counts[i] - (now[i] == 1));
        }
        within(born, p.birth, p.birth_count);
        within(kept, p.survival, p.survival_count);
        const u8 *__restrict b = born, *__restrict s = kept;
        if (p.states == 2) {
            for (i64 i = 0; i < count; i++) to[i] = now[i] ? s[i] : b[i];
            return;
        }
        const u8 last = u8(p.states - 1);
        for (i64 i = 0; i < count; i++) {
            const u8 older = now[i] >= last ? 0 : u8(now[i] + 1);
            const u8 live = now[i] == 1 && s[i] ? 1 : older;
            to[i] = now[i] == 0 ? b[i] : live;
        }
    }

    // Writes row y where nothing lives within reach, and nothing is born there.
    void write_quiet(i64 y) const {
        const u8* __restrict now = p.src + y * p.width + left;
        u8* __restrict to = p.dst + y * p.width + left;
        if (p.states == 2) {
            std::memset(to, 0, size_t(count));
            return;
        }
        const u8 last = u8(p.states - 1);
        for (i64 i = 0; i < count; i++) to[i] = now[i] == 0 || now[i] >= last ? 0 : u8(now[i] + 1);
    }

    void run() {
        const bool empties = !p.birth_count || p.birth[0].least > 0;
        const i64 reach = p.reach;
        i64 live_rows = 0;
        if (p.radius) std::memset(columns, 0, size_t(wide) * sizeof(T));
        for (i64 y = top - reach; y < top + reach; y++) {
            if (*p.cancelled) return;
            if (!p.radius)
                live_rows += sum_row(y);
            else if (fetch(y))
                add<1>(), live_rows++;
        }
        for (i64 y = top; y < bottom; y++) {
            if (*p.cancelled) return;
            if (!p.radius)
                live_rows += sum_row(y + reach);
            else if (fetch(y + reach))
                add<1>(), live_rows++;
            if (live_rows == 0 && empties) {
                write_quiet(y);
            } else {
                if (p.radius) count_square();
                else count_runs(y);
                write(y);
            }
            if (!p.radius) {
                const i64 rows = window_rows(p), old = y - reach;
                live_rows -= lives[(old % rows + rows) % rows];
            } else if (live_rows && fetch(y - reach)) {
                add<-1>(), live_rows--;
            }
        }
    }
};

size_t scratch_bytes(const RangePass& p) {
    if (p.most < 255) return Strip<std::uint8_t>::bytes(p);
    return p.most < 65535 ? Strip<std::uint16_t>::bytes(p) : Strip<std::uint32_t>::bytes(p);
}

void run_task(const RangePass& p, i64 task, void* scratch) {
    // A square's count has the cell itself until it is taken away.
    if (p.most < 255) Strip<std::uint8_t>(p, task, scratch).run();
    else if (p.most < 65535) Strip<std::uint16_t>(p, task, scratch).run();
    else Strip<std::uint32_t>(p, task, scratch).run();
}

}  // namespace

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
extern const RangeOps JOIN(ranges_, LEVEL);
const RangeOps JOIN(ranges_, LEVEL) = {scratch_bytes, run_task};
