// Memory for Python's integers, where a great many are made at once.
//
// Python takes memory for small objects from the system by arenas of 1 MiB, in pages of 4 KiB, and gives an arena
// back when nothing is left in it. For a million integers the system's work at that is three times what it takes to
// make them. So arenas that are asked for meanwhile are parts of larger regions, in large pages where these are
// quicker, and up to 256 MiB of those that are given back are kept for the next time.
#pragma once
#include <cstddef>

namespace bignum {

constexpr std::size_t ARENA = std::size_t(1) << 20;  // bytes, as Python has asked for since 3.10

// Returns an arena, or null if there is none.
void* take_arena();
// Gives an arena back. Returns false where it did not come from take_arena().
bool give_arena(void* arena);

// Gives the arenas that are kept back to the system.
void drop_arenas();

// How many arenas are in use, and how many bytes of unused ones are kept.
struct ArenaCount {
    std::size_t used, kept;
};
ArenaCount count_arenas();

// As long as one is there, new arenas of Python's for this thread come from take_arena(), if `bytes`, what the
// objects need together, make it worth while. Needs the GIL.
class ManyObjects {
public:
    explicit ManyObjects(double bytes);
    ~ManyObjects();
    ManyObjects(const ManyObjects&) = delete;
    ManyObjects& operator=(const ManyObjects&) = delete;

private:
    const bool worth_while;
};

}  // namespace bignum
