// The forms of a rule that rows of cells are computed by.
#include <algorithm>

#include "tables.hpp"

namespace tables {

using std::size_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

namespace {

constexpr int MOST_BITS = 5;         // of a state, for columns by states: 2^15 of them
constexpr size_t FEW_COLUMNS = 64;
constexpr size_t FEW_FINALS = 256;
constexpr int FEW_STATES = 16;

int width_of(uint64_t number) { return number ? 64 - __builtin_clzll(number) : 0; }

// The three numbers of a column.
uint64_t field(uint64_t column, int which) {
    return column >> which * FIELD & ((uint64_t(1) << FIELD) - 1);
}

size_t whole(size_t count) { return (count + 15) / 16 * 16; }

}  // namespace

void Rule::prepare() {
    tables = {};
    tables.up = up, tables.middle = middle, tables.down = down, tables.columns = columns.data();
    tables.bits = bits_of(states);
    if (!pairs.empty()) tables.pairs = pairs.data();
    if (!walk.empty()) tables.walk = walk.data();
    const size_t count = finals.size();
    finals.resize(whole(count) + 16);  // four of them are read at once
    tables.finals = finals.data();
    if (!pairs.empty() || !walk.empty()) return;
    uint64_t most[3] = {};
    for (uint64_t column : columns)
        for (int which = 0; which < 3; which++) most[which] = std::max(most[which], field(column, which));
    const int first = width_of(most[0]), second = width_of(most[1]), bits = tables.bits;
    if (bits <= MOST_BITS && first + second + width_of(most[2]) <= 32 && first + second < 32) {
        tables.centre_at = first, tables.right_at = first + second;
        by_states.resize(size_t(1) << 3 * bits);
        for (int a = 0; a < states; a++)
            for (int b = 0; b < states; b++)
                for (int c = 0; c < states; c++) {
                    const uint64_t column = columns[up[a] + middle[b] + down[c]];
                    by_states[size_t(a) << 2 * bits | size_t(b) << bits | size_t(c)] =
                        uint32_t(field(column, 0) | field(column, 1) << tables.centre_at |
                                 field(column, 2) << tables.right_at);
                }
        tables.by_states = by_states.data();
    }
    if (states > FEW_STATES || columns.size() > FEW_COLUMNS || count > FEW_FINALS) return;
    const size_t wide = whole(columns.size());
    few_states.resize(3 * FEW_STATES);
    for (int state = 0; state < states; state++) {
        few_states[size_t(state)] = uint8_t(up[state]);
        few_states[size_t(FEW_STATES + state)] = uint8_t(middle[state]);
        few_states[size_t(2 * FEW_STATES + state)] = uint8_t(down[state]);
    }
    few_columns.resize(3 * wide);
    for (size_t which = 0; which < 3; which++)
        for (size_t i = 0; i < columns.size(); i++)
            few_columns[which * wide + i] = uint8_t(field(columns[i], int(which)));
    tables.few_states = few_states.data(), tables.few_columns = few_columns.data();
    tables.column_parts = int(wide / 16), tables.final_parts = int(whole(count) / 16);
}

}  // namespace tables
