#include "runs.hpp"

#include <cstring>

namespace runs {

namespace {

enum Kind : std::uint8_t { OTHER, DIGIT, BLANK, DEAD, LIVE, ROW, STOP };

constexpr int BLANKS[] = {' ', '\t', '\r', '\n', '\v', '\f'};

struct Kinds {
    std::uint8_t of[256];

    constexpr Kinds() : of() {
        for (int c = '0'; c <= '9'; ++c) of[c] = DIGIT;
        for (int c : BLANKS) of[c] = BLANK;
        of[int('b')] = of[int('.')] = DEAD;
        of[int('o')] = of[int('A')] = LIVE;
        of[int('$')] = ROW;
        of[int('!')] = STOP;
    }
};
constexpr Kinds KINDS;

constexpr std::uint64_t ONES = ~std::uint64_t(0);

// Paints a row of words. The last word that was touched waits in a register.
struct Brush {
    std::uint64_t* row;
    std::int64_t word = 0;
    std::uint64_t bits = 0;

    void flush() {
        if (bits) row[word] |= bits;
        bits = 0;
    }
    // Sets columns [start, end) of the row.
    void paint(std::int64_t start, std::int64_t end) {
        const std::int64_t from = start >> 6, to = (end - 1) >> 6;
        const std::uint64_t head = ONES << (start & 63), tail = ONES >> (-end & 63);
        if (from != word) {
            flush();
            word = from;
        }
        if (from == to) {
            bits |= head & tail;
            return;
        }
        row[from] |= bits | head;
        std::memset(row + from + 1, 0xff, std::size_t(to - from - 1) * sizeof(std::uint64_t));
        word = to, bits = tail;
    }
};

template <bool PAINT>
Fault walk(const char* text, std::int64_t first, std::int64_t last, State& state,
           const Canvas& canvas, std::int64_t& at) {
    State s = state;
    // The live cells of this row: the first column, the one past the last, and the place of
    // the tag that set the last.
    std::int64_t row_left = 0, row_right = 0, row_at = 0;
    Brush brush;
    const auto enter = [&] {
        // No pointer past the words is made: rows below them are refused before it would
        // be used.
        brush.row = nullptr;
        if (PAINT && s.y >= canvas.top && s.y - canvas.top < canvas.height)
            brush.row = canvas.words + (s.y - canvas.top) * canvas.stride;
    };
    const auto leave = [&] {
        if (PAINT && brush.row) brush.flush();
        if (!row_right) return;
        if (!s.live) s.left = row_left, s.top = s.y, s.live = 1;
        if (row_left < s.left) s.left = row_left;
        if (row_right > s.right) s.right = row_right, s.widest_at = row_at;
        s.bottom = s.y, s.lowest_at = row_at;
        row_right = 0;
    };
    // Takes one run; returns the fault of its tag.
    const auto run = [&](std::uint8_t kind, std::int64_t count, std::int64_t tag) {
        s.cells += count;
        if (s.cells >= MOST_CELLS) return CELLS;
        if (kind == LIVE) {
            const std::int64_t end = s.x + count;
            if (PAINT) {
                if (!brush.row || s.x < canvas.left || end - canvas.left > canvas.width)
                    return OUTSIDE;
                brush.paint(s.x - canvas.left, end - canvas.left);
            }
            if (!row_right) row_left = s.x;
            row_right = end, row_at = tag, s.x = end;
        } else if (kind == DEAD) {
            s.x += count;
        } else {
            leave();
            s.x = 0, s.y += count;
            enter();
        }
        return NONE;
    };
    enter();
    Fault fault = NONE;
    std::int64_t i = first;
    while (i < last) {
        // Most runs have at most one digit: so no branch asks whether there is one.
        if (!s.digits && i + 1 < last) {
            const std::uint8_t digit = std::uint8_t(text[i] - '0');
            const bool counted = digit < 10;
            const std::uint8_t kind = KINDS.of[std::uint8_t(text[i + counted])];
            const std::int64_t count = counted ? digit : 1;
            if ((kind == LIVE || kind == DEAD) && count) {
                fault = run(kind, count, i + counted);
                if (fault) {
                    i += counted;
                    break;
                }
                i += 1 + counted;
                continue;
            }
        }
        const std::uint8_t kind = KINDS.of[std::uint8_t(text[i])];
        if (kind == DIGIT) {
            if (!s.digits) s.count_at = i;
            if (s.digits == MOST_DIGITS) {
                fault = DIGITS, i = s.count_at;
                break;
            }
            s.count = 10 * s.count + (text[i] - '0'), ++s.digits;
        } else if (kind == OTHER || kind == STOP) {
            fault = kind == STOP ? END : FOREIGN;
            break;
        } else if (kind != BLANK) {
            if (s.digits && !s.count) {
                fault = ZERO, i = s.count_at;
                break;
            }
            fault = run(kind, s.digits ? s.count : 1, i);
            if (fault) break;
            s.count = s.digits = 0;
        }
        ++i;
    }
    leave();
    at = i, state = s;
    return fault;
}

}  // namespace

Fault walk(const char* text, std::int64_t first, std::int64_t last, State& state,
           const Canvas& canvas, std::int64_t& at) {
    return canvas.words ? walk<true>(text, first, last, state, canvas, at)
                        : walk<false>(text, first, last, state, canvas, at);
}

namespace {

// Writes runs with their counts, in lines.
struct Writer {
    char* out;
    std::int64_t line;

    void put(std::int64_t count, char tag) {
        if (count == 1 && line < LINE) {
            *out++ = tag, ++line;
            return;
        }
        char digits[20];
        int size = 0;
        if (count > 1)
            for (std::int64_t left = count; left; left /= 10) digits[size++] = char('0' + left % 10);
        if (line + size + 1 > LINE) *out++ = '\n', line = 0;
        line += size + 1;
        while (size) *out++ = digits[--size];
        *out++ = tag;
    }
};

}  // namespace

std::size_t most_text(std::size_t stride, std::size_t rows) {
    const std::size_t row = 64 * stride + 20;
    return rows * (row + row / 32 + 2);
}

std::size_t write(const std::uint64_t* words, std::int64_t stride, std::int64_t rows,
                  std::int64_t left, std::int64_t width, Pen& pen, Place& at, std::int64_t most,
                  char* out) {
    Writer writer{out, pen.line};
    const std::int64_t count = (left + width + 63) / 64;
    for (; at.y < rows && most > 0; ++at.y, at.word = 0) {
        const std::uint64_t* row = words + at.y * stride;
        if (at.word == 0) at = {at.y, left / 64, left, -1, 0};
        std::int64_t written = at.written, live = at.live;
        const auto change = [&](std::int64_t column) {
            if (live < 0) {
                live = column;
                return;
            }
            if (pen.rows) writer.put(pen.rows, '$'), pen.rows = 0;
            if (live > written) writer.put(live - written, 'b');
            writer.put(column - live, 'o');
            written = column, live = -1;
        };
        const std::int64_t end = count - at.word < most ? count : at.word + most;
        most -= end - at.word + 1;
        for (std::int64_t w = at.word; w < end; ++w) {
            const std::uint64_t word = row[w];
            // There is a bit wherever a run of live cells begins, or has just ended.
            for (std::uint64_t edges = word ^ (word << 1 | at.before); edges; edges &= edges - 1)
                change(64 * w + __builtin_ctzll(edges));
            at.before = word >> 63;
        }
        if (end < count) {
            at.word = end, at.written = written, at.live = live;
            break;
        }
        if (live >= 0) change(left + width);
        ++pen.rows;
    }
    pen.line = writer.line;
    return std::size_t(writer.out - out);
}

}  // namespace runs
