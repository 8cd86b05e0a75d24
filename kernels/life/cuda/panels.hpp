// Where the columns of a universe stand in panels; life.cu says what panels are.
//
// Macro: FLUSH 1 where the universe is a plane of several panels whose first begins at column 0 and whose
// last ends at the last column: so what is beyond its edges is beyond the panels, and nothing of it
// need be held dead. The last panel overlaps the one before by more than others do.
#pragma once

#ifndef FLUSH
#define FLUSH 0
#endif

namespace {

struct Panels {
    int width, panels, useful, halo, words;  // words: in a row of a panel

    // The column of the universe that is column 0 of a panel.
    __device__ __forceinline__ int start(int panel) const {
        if (!FLUSH) return panel * useful - halo;
        return panel < panels - 1 ? panel * useful : width - 32 * words;
    }
    // How many columns after a panel the next one starts; after the last comes the first.
    __device__ __forceinline__ int step(int panel) const {
        if (panel == panels - 1) return useful - (panels * useful - width);
        return FLUSH ? start(panel + 1) - start(panel) : useful;
    }
    // The panel that computes a column, and is not wrong there after a pass.
    __device__ __forceinline__ int owner(int column) const {
        if (!FLUSH) return column / useful;
        return column < halo ? 0 : min((column - halo) / useful, panels - 1);
    }
};

}  // namespace
