// Which neighbours of a tile are visited because of it.
#pragma once
#include "../../../bits.hpp"
#include "tile.hpp"

namespace {

using tiles::Round;
using tiles::Tile;

// Bit d: quadrants q (1 and 2 the upper ones, 4 and 8 the lower) touch the neighbour in direction d.
// In the generations of a round nothing spreads further than that.
constexpr unsigned touched(unsigned q) {
    unsigned found = 0;
    for (int d = 0; d < 8; d++) {
        const unsigned columns = tiles::DX[d] < 0 ? 5 : tiles::DX[d] > 0 ? 10 : 15;
        const unsigned rows = tiles::DY[d] < 0 ? 3 : tiles::DY[d] > 0 ? 12 : 15;
        found |= unsigned((q & columns & rows) != 0) << d;
    }
    return found;
}

struct Reach {
    unsigned char own[16];      // touched(), by quadrants
    unsigned char near[8][16];  // of the same neighbours those that quadrants of a neighbour touch
};

constexpr Reach make_reach() {
    Reach reach{};
    for (unsigned q = 0; q < 16; q++) {
        reach.own[q] = (unsigned char)touched(q);
        for (int e = 0; e < 8; e++)
            for (int d = 0; d < 8; d++) {
                const int dx = tiles::DX[d] - tiles::DX[e], dy = tiles::DY[d] - tiles::DY[e];
                for (int f = 0; f < 8; f++)
                    if (tiles::DX[f] == dx && tiles::DY[f] == dy && touched(q) >> f & 1)
                        reach.near[e][q] |= (unsigned char)(1 << d);
            }
    }
    return reach;
}
constexpr Reach REACH = make_reach();

// Of the neighbours in `births`, those that are not there.
BITS_FN unsigned without(const Tile& tile, unsigned births) {
    unsigned found = 0;
    for (; births; births &= births - 1) {
        const int d = __builtin_ctz(births);
        if (tile.near[d] == &tiles::nothing) found |= 1u << d;
    }
    return found;
}

// The neighbours that must be visited because of a tile: those into which a difference between now and
// SLOTS rounds ago can come from it.
//
// contact: those beside which a cell of the tile lived, now or then. entered: those in which a cell
// beside the tile lives now; whether one did then, they know. Without either, what the tile does makes
// no difference to them.
BITS_FN unsigned woken(const Tile& tile, const Round& round, unsigned contact, unsigned entered) {
    unsigned near = 0, wake = 0;
    for (unsigned left = contact; left; left &= left - 1) {
        const int d = __builtin_ctz(left);
        const Tile& other = *tile.near[d];
        if (other.listed >= round.number) continue;
        if (other.waiting == round.number) wake |= 1u << d & entered;
        else if ((entered >> d | other.border[round.from] >> (7 - d)) & 1) near |= 1u << d;
    }
    unsigned reach = REACH.own[tile.quadrants(round.number)];
    for (int e = 0; e < 8 && (near & ~reach); e++)
        reach |= REACH.near[e][tile.near[e]->quadrants(round.number)];
    return wake | (near & reach);
}

}  // namespace
