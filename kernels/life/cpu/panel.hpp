// One panel of one band, moved on by a pass: rows are fetched, turned into strips, moved on in cache
// by all generations of the pass, turned back and stored. What a row of cells is, and how rows are
// moved on, is said by `Cells`: here OneBit, for other kinds of cells a class beside this one.
#pragma once
#include <cstring>

#include "life.hpp"
#include "moves.hpp"
#include "narrow.hpp"
#include "strips.hpp"

namespace {

// The memory of a task.
struct Scratch {
    V *a, *b, *above, *mask;
    u64* line;    // one row of a panel, in column order
    u32* strips;  // the same, with each strip as a word
};

// One panel of one band, moved on by all steps of a pass.
struct Task {
    const LifePass& p;
    Scratch s;
    i64 panel, start;  // column `start` of the universe is column 0 of the panel
    int columns;

    i64 line_bits() const { return i64(STRIPS) * columns; }

    // Returns row y of the universe; null where all of it is dead for ever.
    const u64* row(i64 y) const {
        if (p.torus) {
            y %= p.height;
            return p.src + (y < 0 ? y + p.height : y) * p.stride;
        }
        return y < 0 || y >= p.height ? nullptr : p.src + y * p.stride;
    }

    // Copies a packed row into the line, in column order from `start` on; zeros where it is null.
    void fetch(const u64* row) const {
        const i64 w = p.width, n = line_bits();
        if (p.torus) {
            i64 from = start % w, have = 0;
            if (from < 0) from += w;
            // Copies one period and then doubles what is there, as it repeats with
            // the width.
            for (i64 period = w < n ? w : n; have < period;) {
                i64 step = w - from < period - have ? w - from : period - have;
                copy_bits(s.line, have, row, from, step);
                have += step, from = 0;
            }
            for (; have < n; ) {
                i64 step = have < n - have ? have : n - have;
                copy_bits(s.line, have, s.line, 0, step);
                have += step;
            }
        } else {
            std::memset(s.line, 0, std::size_t(n / 8));
            if (!row) return;
            i64 low = start < 0 ? 0 : start, high = start + n < w ? start + n : w;
            if (low < high) copy_bits(s.line, low - start, row, low, high - low);
        }
    }

    // Turns the line into a row of vectors.
    void to_vectors(V* row) const {
#if defined(__AVX512F__)
        if (columns == 2) return NarrowStrips<2>::to_vectors(s.line, row);
        if (columns == 4) return NarrowStrips<4>::to_vectors(s.line, row);
        if (columns == 8) return ByteStrips::to_vectors(s.line, row);
#endif
        if (columns == 8) return WholeBytes<std::uint8_t>::to_vectors(s.line, row);
        if (columns == 16) return WholeBytes<std::uint16_t>::to_vectors(s.line, row);
        const char* bytes = reinterpret_cast<const char*>(s.line);
        const u32* strips = s.strips;
        if (columns == 32) strips = reinterpret_cast<const u32*>(s.line);
        else
            for (int b = 0; b < STRIPS; b++) {
                u64 w;  // 32 bits from any bit on lie within 8 bytes
                std::memcpy(&w, bytes + (b * columns >> 3), 8);
                s.strips[b] = u32(w >> (b * columns & 7));
            }
        alignas(64) V a[32];
        std::memcpy(a, strips, sizeof a);
        transpose(a);
        std::memcpy(row, a, std::size_t(columns) * sizeof(V));
    }

    // Turns a row of vectors back into the line.
    void to_line(const V* row) const {
#if defined(__AVX512F__)
        if (columns == 2) return NarrowStrips<2>::to_line(row, s.line);
        if (columns == 4) return NarrowStrips<4>::to_line(row, s.line);
        if (columns == 8) return ByteStrips::to_line(row, s.line);
#endif
        if (columns == 8) return WholeBytes<std::uint8_t>::to_line(row, s.line);
        if (columns == 16) return WholeBytes<std::uint16_t>::to_line(row, s.line);
        alignas(64) V a[32];
        std::memcpy(a, row, std::size_t(columns) * sizeof(V));
        std::memset(a + columns, 0, std::size_t(32 - columns) * sizeof(V));
        transpose(a);
        if (columns == 32) {
            std::memcpy(s.line, a, sizeof a);
            return;
        }
        std::memcpy(s.strips, a, sizeof a);
        // Eight strips are `columns` whole bytes, so that groups need not wait for each
        // other. What a group writes too much is overwritten by the next one.
        char* out = reinterpret_cast<char*>(s.line);
        const int two = 2 * columns, four = 4 * columns;
        for (int g = 0; g < STRIPS / 8; g++, out += columns) {
            const u32* strip = s.strips + 8 * g;
            auto pair = [&](int i) { return strip[i] | u64(strip[i + 1]) << columns; };
            u64 p0 = pair(0), p1 = pair(2), p2 = pair(4), p3 = pair(6);
            if (columns <= 16) {
                u64 q0 = p0 | p1 << two, q1 = p2 | p3 << two;
                u64 words[2] = {q0, q1};
                if (four < 64) words[0] |= q1 << four, words[1] = q1 >> (64 - four);
                std::memcpy(out, words, sizeof words);
            } else {
                u64 low0 = p0 | p1 << two, high0 = p1 >> (64 - two);
                u64 low1 = p2 | p3 << two, high1 = p3 >> (64 - two);
                const int up = four - 64, down = 64 - up;  // 4 to 60
                u64 words[4] = {low0, high0 | low1 << up, low1 >> down | high1 << up,
                                high1 >> down};
                std::memcpy(out, words, sizeof words);
            }
        }
    }

    // Writes a row of vectors, without its halo, to a packed row.
    void store(u64* to, const V* row) const {
        to_line(row);
        i64 first = panel * p.useful, left = p.width - first;
        i64 count = left < p.useful ? left : p.useful;
        u64* out = to + (first >> 6);
        i64 from = p.halo;
        i64 words = count >> 6;
        shift_words(out, s.line, from, words);
        if (count &= 63) out[words] = bits_at(s.line, from + (words << 6)) & ((u64(1) << count) - 1);
    }

    // Tells whether the panel reaches over an edge of a plane.
    bool touches_outside() const {
        return !p.torus && (start < 0 || start + line_bits() > p.width);
    }

    // Makes a row of ones where there are cells of the plane.
    void make_mask() const {
        std::memset(s.line, 0, std::size_t(line_bits() / 8));
        i64 low = start < 0 ? 0 : start;
        i64 high = start + line_bits() < p.width ? start + line_bits() : p.width;
        for (i64 c = low; c < high; c++) s.line[(c - start) >> 6] |= u64(1) << ((c - start) & 63);
        to_vectors(s.mask);
    }

    // Moves the rows y0 to y1 - 1 on. They go through `steps` generations a block at a time.
    // Generation g of a block is g rows further up than generation 0, so that a block needs nothing
    // below it and, of what is above, only the last two rows of each generation, which `above`
    // keeps.
    template <bool MASKED, class Cells>
    void run(const Cells& cells, i64 y0, i64 y1) const {
        const int steps = p.steps;
        const i64 pitch = Cells::pitch(columns);
        const std::size_t row_bytes = std::size_t(pitch) * sizeof(V);
        std::memset(s.above, 0, 2 * std::size_t(steps) * row_bytes);
        for (i64 top = y0 - steps; top < y1 + steps; top += p.block_rows) {
            if (*p.cancelled) return;
            i64 left = y1 + steps - top;
            const int rows = int(left < p.block_rows ? left : p.block_rows);
            for (int i = 0; i < rows; i++) {
                cells.load(*this, row(top + i), s.a + i * pitch);
            }
            V *in = s.a, *out = s.b;
            int g = 0;
            for (; g < steps; g++) {
                if (*p.cancelled) return;
                V* above = s.above + 2 * g * pitch;
                // Row top - g - 1 + i comes out. Rows above y0 - (steps - g - 1)
                // serve nothing.
                bool needed = top - g - 2 + rows >= y0 - (steps - g - 1);
                if (needed) cells.template sweep<MASKED>(above, in, out, rows, columns, s.mask);
                if (rows >= 2) {
                    std::memcpy(above, in + (rows - 2) * pitch, 2 * row_bytes);
                } else {
                    std::memcpy(above, above + pitch, row_bytes);
                    std::memcpy(above + pitch, in, row_bytes);
                }
                if (!needed) break;
                if (!p.torus)
                    for (int i = 0; i < rows; i++) {
                        i64 y = top - g - 1 + i;
                        if (y < 0 || y >= p.height) std::memset(out + i * pitch, 0, row_bytes);
                    }
                V* t = in;
                in = out, out = t;
            }
            if (g < steps) continue;
            for (int i = 0; i < rows; i++) {
                i64 y = top - steps + i;
                if (y >= y0 && y < y1) cells.store(*this, p.dst + y * p.stride, in + i * pitch);
            }
        }
    }

    // Does so with a mask where one is needed.
    template <class Cells>
    void run(const Cells& cells, i64 y0, i64 y1) const {
        if (touches_outside()) {
            make_mask();
            run<true>(cells, y0, y1);
        } else {
            run<false>(cells, y0, y1);
        }
    }
};

// Cells of one bit, which a circuit moves on. A row is as many vectors as it has columns.
template <class Rule>
struct OneBit {
    const Rule& rule;

    static int pitch(int columns) { return pitch_of(columns); }

    void load(const Task& task, const u64* packed, V* row) const {
        task.fetch(packed);
        task.to_vectors(row);
    }

    void store(const Task& task, u64* packed, const V* row) const { task.store(packed, row); }

    template <bool MASKED>
    void sweep(const V* above, const V* in, V* out, int rows, int columns, const V* mask) const {
        ::sweep<MASKED>(rule, above, in, out, rows, columns, mask);
    }
};

// The bytes of each part of a task's scratch memory.
struct Layout {
    std::size_t block, above, mask, line, strips;

    // pitch: the vectors from one row in cache to the next.
    Layout(const LifePass& p, int pitch)
        : block(std::size_t(p.block_rows) * std::size_t(pitch) * sizeof(V)),
          above(2 * std::size_t(p.steps) * std::size_t(pitch) * sizeof(V)),
          mask(std::size_t(p.columns) * sizeof(V)),
          line((std::size_t(STRIPS) * std::size_t(p.columns) / 8 + 32 + 63) / 64 * 64),
          strips(STRIPS * 4) {}

    std::size_t all() const { return 2 * block + above + mask + line + strips; }

    // Cuts the memory of a task, of all() bytes, into its parts.
    Scratch of(void* memory) const {
        char* at = static_cast<char*>(memory);
        auto take = [&](std::size_t bytes) {
            char* here = at;
            at += bytes;
            return here;
        };
        Scratch s;
        s.a = reinterpret_cast<V*>(take(block));
        s.b = reinterpret_cast<V*>(take(block));
        s.above = reinterpret_cast<V*>(take(above));
        s.mask = reinterpret_cast<V*>(take(mask));
        s.line = reinterpret_cast<u64*>(take(line));
        s.strips = reinterpret_cast<u32*>(take(strips));
        return s;
    }
};

}  // namespace
