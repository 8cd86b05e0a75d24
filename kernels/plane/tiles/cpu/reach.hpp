// Which neighbours of a tile are visited because of it.
#pragma once
#include "../../../bits.hpp"
#include "tile.hpp"

namespace {

using tiles::Round;
using tiles::Tile;

// Of a tile whose neighbour in direction e changed within reach of its own neighbours `reached`: those
// of them that are neighbours of the tile, too.
struct Reach { unsigned char near[8][256]; };

constexpr Reach make_reach() {
    Reach reach{};
    for (int e = 0; e < 8; e++)
        for (int d = 0; d < 8; d++) {
            const int dx = tiles::DX[d] - tiles::DX[e], dy = tiles::DY[d] - tiles::DY[e];
            for (int f = 0; f < 8; f++)
                if (tiles::DX[f] == dx && tiles::DY[f] == dy)
                    for (unsigned reached = 0; reached < 256; reached++)
                        if (reached >> f & 1) reach.near[e][reached] |= (unsigned char)(1 << d);
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
// a cycle ago can come from it.
//
// contact: those beside which a cell of the tile lived, now or then. entered: those in which a cell
// beside the tile lives now; whether one did then, they know. Without either, what the tile does makes
// no difference to them.
BITS_FN unsigned woken(const Tile& tile, const Round& round, unsigned contact, unsigned entered) {
    unsigned unlisted = 0;
    for (int d = 0; d < 8; d++) unlisted |= unsigned(tile.near[d]->listed < round.number) << d;
    unsigned near = 0, wake = 0;
    for (unsigned left = contact & unlisted; left; left &= left - 1) {
        const int d = __builtin_ctz(left);
        const Tile& other = *tile.near[d];
        const unsigned waits = other.waiting == round.number;
        wake |= waits << d & entered;
        near |= ((entered >> d | other.border[round.from] >> (7 - d)) & 1 & ~waits) << d;
    }
    if (!near) return wake;
    unsigned reach = tile.reached(round.number);
    for (int e = 0; e < 8 && (near & ~reach); e++)
        reach |= REACH.near[e][tile.near[e]->reached(round.number)];
    return wake | (near & reach);
}

}  // namespace
