// Memory for results. A large block that is no longer used is kept for the next result of about
// its size: a fresh one costs a page fault for every 4 KiB, which takes several times as long as
// an addition. Of up to 1 GiB that is kept so the system may take, while nobody uses it, all but the 256 MiB used last.
#pragma once
#include <cstddef>

namespace bignum {

// Returns memory aligned to 64 bytes, or null if there is none.
void* take_block(std::size_t bytes);
void give_block(void* block);  // which came from take_block

// Gives the blocks that are kept back to the system.
void drop_blocks();

}  // namespace bignum
