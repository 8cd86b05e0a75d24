// Folded universes on one CPU level (folded.hpp). Compiled once per level, as life.cpp.
#include "folded.hpp"

#include "../circuit.hpp"
#include "rules.hpp"
#include "transpose.hpp"

namespace {

using folded::Form;
using folded::Piece;
using folded::Rows;

V* cells_of(const Piece& piece) { return static_cast<V*>(piece.cells[0]); }

// The words across from one edge of a strip to the other. round: a bit that is set where an edge of the
// universe meets the other one.
struct Across {
    u32 round, shorter;

    explicit Across(const Form& form) : round(form.torus), shorter(form.shorter()) {}

    // Returns the neighbours of strips' first and last columns.
    BITS_FN V from_left(V last) const { return last << 1 | (last >> 31 & round); }
    BITS_FN V from_right(V first) const { return first >> 1 | (first & round) << 31; }
    // Returns the last cells of all strips, from the last two columns.
    BITS_FN V last(V shorter_last, V longest_last) const {
        return (shorter_last & shorter) | (longest_last & ~shorter);
    }
};

// Copies what is right of the shorter strips to their last column.
void copy_right(const Form& form, const Piece& piece, V* cells) {
    const Across across(form);
    V* const last = cells + (form.columns - 1) * piece.pitch();
    for (i64 y = 0; y < piece.rows; y++) last[y] = across.last(across.from_right(cells[y]), last[y]);
}

// --- to and from packed rows --------------------------------------------------

// The memory of fold() and unfold(): the words of a row of each band, and strips to be transposed.
struct Words {
    u32* words;  // word k of lane l at k * LANES + l
    V* vectors;  // the same; one more than there are columns, of zeros
    V* square;

    Words(void* scratch, i64 columns)
        : words(static_cast<u32*>(scratch)), vectors(static_cast<V*>(scratch)), square(vectors + columns + 1) {}
    static std::size_t bytes(i64 columns) { return std::size_t(columns + 1 + folded::STRIPS) * sizeof(V); }
};

// Returns which of a piece's own rows stands in a lane at row y; -1 if none does.
i64 own_row(const Piece& piece, int lane, i64 y) {
    const i64 row = lane * piece.rows + y - piece.above;
    return row < piece.own ? row : -1;
}

void fold(const Form& form, const Piece& piece, const Rows& from, void* scratch) {
    const Words w(scratch, form.columns);
    V* const out = cells_of(piece);
    w.vectors[form.columns] = V{};
    for (i64 y = 0; y < piece.rows; y++) {
        for (int l = 0; l < LANES; l++) {
            const i64 own = own_row(piece, l, y);
            const u64* row = from.words + (own < 0 ? 0 : piece.first + own) * from.stride;
            for (i64 k = 0; k < form.columns; k++)
                w.words[k * LANES + l] = own < 0 ? 0 : u32(row[k >> 1] >> (32 * (k & 1)));
        }
        for (i64 x = 0; x < form.columns; x += 32) {
            for (int i = 0; i < folded::STRIPS; i++) {
                const i64 bit = form.start(i) + x;
                const V low = w.vectors[bit >> 5], high = w.vectors[(bit >> 5) + 1];
                const int shift = int(bit & 31);
                w.square[i] = shift ? low >> shift | high << (32 - shift) : low;
            }
            transpose(w.square);
            for (i64 q = 0; q < 32 && x + q < form.columns; q++) out[(x + q) * piece.pitch() + y] = w.square[q];
        }
    }
    if (form.is_ragged()) copy_right(form, piece, out);
}

void unfold(const Form& form, const Piece& piece, const Rows& to, void* scratch) {
    const Words w(scratch, form.columns);
    const V* const in = cells_of(piece);
    for (i64 y = 0; y < piece.rows; y++) {
        for (i64 k = 0; k <= form.columns; k++) w.vectors[k] = V{};
        for (i64 x = 0; x < form.columns; x += 32) {
            for (i64 q = 0; q < 32; q++)
                w.square[q] = x + q < form.columns ? in[(x + q) * piece.pitch() + y] : V{};
            if (form.columns - x <= 32) w.square[form.columns - 1 - x] &= ~form.shorter();
            transpose(w.square);
            for (int i = 0; i < folded::STRIPS; i++) {
                const i64 bit = form.start(i) + x;
                const int shift = int(bit & 31);
                w.vectors[bit >> 5] |= w.square[i] << shift;
                if (shift) w.vectors[(bit >> 5) + 1] |= w.square[i] >> (32 - shift);
            }
        }
        for (int l = 0; l < LANES; l++) {
            const i64 own = own_row(piece, l, y);
            if (own < 0) continue;
            u64* row = to.words + (piece.first + own) * to.stride;
            for (i64 k = 0; k < form.columns; k += 2)  // the word after the last is zero
                row[k >> 1] = w.words[k * LANES + l] | u64(w.words[(k + 1) * LANES + l]) << 32;
        }
    }
}

// --- halos -----------------------------------------------------------------------

// Calls each(word, i) for column x of `count` rows of a piece: with the word of row `from` + i.
template <class Each>
void words_of(const Piece& piece, i64 x, i64 from, i64 count, Each each) {
    u32* const column = static_cast<u32*>(piece.cells[0]) + x * piece.pitch() * LANES;
    i64 lane = from / piece.rows, y = from % piece.rows;
    for (i64 i = 0; i < count; i++) {
        each(column[y * LANES + lane], i);
        if (++y == piece.rows) y = 0, lane++;
    }
}

void show(const Form& form, const Piece& piece) {
    const i64 halo = form.halo;
    for (i64 x = 0; x < form.columns; x++) {
        u32 *top = piece.top + x * halo, *bottom = piece.bottom + x * halo;
        words_of(piece, x, piece.above, halo, [&](u32 word, i64 i) { top[i] = word; });
        words_of(piece, x, piece.above + piece.own - halo, halo, [&](u32 word, i64 i) { bottom[i] = word; });
    }
}

void renew(const Form& form, const Piece& piece, const u32* above, const u32* below) {
    const i64 halo = form.halo;
    for (i64 x = 0; x < form.columns; x++) {
        const auto take = [&](const u32* words, i64 from) {
            words_of(piece, x, from, halo, [&](u32& word, i64 i) { word = words[x * halo + i]; });
        };
        if (above) take(above, piece.above - halo);
        if (below) take(below, piece.above + piece.own);
    }
}

// --- generations -----------------------------------------------------------------

// One generation of a piece.
struct Moving {
    const Form& form;
    const Piece& piece;
    i64 rows, pitch;
    const V* in;
    V* out;
    Across across;

    Moving(const Form& form, const Piece& piece)
        : form(form), piece(piece), rows(piece.rows), pitch(piece.pitch()), in(cells_of(piece)),
          out(static_cast<V*>(piece.cells[1])), across(form) {}

    // Returns the neighbours of bands' first and last rows.
    BITS_FN V from_above(V last) const {
        V v = rotate_lanes_up(last);
        if (!form.wraps) v[0] = 0;
        return v;
    }
    BITS_FN V from_below(V first) const {
        V v = rotate_lanes_down(first);
        if (!form.wraps) v[LANES - 1] = 0;
        return v;
    }

    // Makes column x. RAGGED: not all strips are as long.
    template <bool FIRST, bool LAST, bool RAGGED, class Rule>
    BITS_FN void column(const Rule& rule, i64 x) const {
        const V* const own = in + x * pitch;
        const V *left = FIRST ? in + (form.columns - 1) * pitch : own - pitch, *right = LAST ? in : own + pitch;
        V* const to = out + x * pitch;
        const auto left_of = [&](i64 y) { return FIRST && RAGGED ? across.last(left[y - pitch], left[y]) : left[y]; };
        const auto state = [&](V l, V c, V r) {
            return row_state(FIRST ? across.from_left(l) : l, c, LAST ? across.from_right(r) : r);
        };
        const auto at = [&](i64 y) { return state(left_of(y), own[y], right[y]); };
        const i64 end = rows - 1;
        const RowState<V> last = state(from_below(left_of(0)), from_below(own[0]), from_below(right[0]));
        RowState<V> a = state(from_above(left_of(end)), from_above(own[end]), from_above(right[end])), b = at(0), c;
        i64 y = 0;
        for (; y + 3 <= end; y += 3) {
            c = at(y + 1);
            to[y] = rule(a, b, c);
            a = at(y + 2);
            to[y + 1] = rule(b, c, a);
            b = at(y + 3);
            to[y + 2] = rule(c, a, b);
        }
        for (; y < end; y++) {
            c = at(y + 1);
            to[y] = rule(a, b, c);
            a = b, b = c;
        }
        to[end] = rule(a, b, last);
    }

    template <bool RAGGED, class Rule>
    void all(const Rule& rule) const {
        const i64 end = form.columns - 1;
        if (end == 0) return column<true, true, false>(rule, 0);
        column<true, false, RAGGED>(rule, 0);
        for (i64 x = 1; x < end; x++) column<false, false, false>(rule, x);
        column<false, true, false>(rule, end);
        if (RAGGED) copy_right(form, piece, out);
    }
};

struct Runner {
    const Form& form;
    Piece& piece;
    i64 generations;

    template <class Rule>
    void run(const Rule& rule) const {
        if (form.is_ragged())
            run_all<true>(rule);
        else
            run_all<false>(rule);
    }
    template <bool RAGGED, class Rule>
    void run_all(const Rule& rule) const {
        for (i64 g = 0; g < generations; g++) {
            Moving(form, piece).all<RAGGED>(rule);
            void* const old = piece.cells[0];
            piece.cells[0] = piece.cells[1], piece.cells[1] = old;
        }
    }
};

void advance(const Form& form, Piece& piece, i64 generations) {
    with_rule<V>(form.birth, form.survival, Runner{form, piece, generations});
}

}  // namespace

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
extern const folded::Ops JOIN(folded_, LEVEL);
const folded::Ops JOIN(folded_, LEVEL) = {int(sizeof(V)), Words::bytes, fold, unfold, show, renew, advance};
