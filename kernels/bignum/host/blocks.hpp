// Memory for results. A large block that is no longer used is kept for the next result of
// about its size: a fresh one costs a page fault for every 4 KiB, several times what an
// addition does.
#pragma once
#include <cstddef>

namespace bignum {

// Aligned to 64 bytes; null if there is no memory.
void* take_block(std::size_t bytes);
void give_block(void* block);  // of take_block

// Gives back to the system what is kept.
void drop_blocks();

}  // namespace bignum
