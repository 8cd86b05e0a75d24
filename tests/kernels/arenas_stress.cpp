// Several threads take and give arenas at the same time, under the thread sanitizer. Each writes to all pages of
// what it has, and finds what it wrote: an arena that two have at once is a race too.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "../../kernels/bignum/cpu/arenas.hpp"

using namespace bignum;

static void require(bool holds, const char* what) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", what);
    std::exit(1);
}

int main() {
    constexpr int THREADS = 4, ROUNDS = 400;
    auto work = [](int thread) {
        std::vector<char*> held;
        for (int i = 0; i < ROUNDS; i++) {
            auto* const arena = static_cast<char*>(take_arena());
            require(arena, "no arena");
            for (std::size_t at = 0; at < ARENA; at += 4096) arena[at] = char(thread + i);
            arena[ARENA - 1] = char(thread);
            held.push_back(arena);
            if (held.size() > std::size_t(10 + 20 * thread) || i % 3 == 2) {
                char* const one = held[std::size_t(i * 7) % held.size()];
                require(one[ARENA - 1] == char(thread), "another thread wrote to it");
                require(give_arena(one), "it is not known any more");
                held[std::size_t(i * 7) % held.size()] = held.back();
                held.pop_back();
            }
            if (thread == 0 && i % 50 == 49) drop_arenas();
        }
        for (char* one : held) {
            require(one[ARENA - 1] == char(thread), "another thread wrote to it");
            require(give_arena(one), "it is not known any more");
        }
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < THREADS; t++) threads.emplace_back(work, t);
    for (std::thread& each : threads) each.join();
    require(count_arenas().used == 0, "some are still in use");
    require(count_arenas().kept <= std::size_t(256) << 20, "too much is kept");
    static char other[16];
    require(!give_arena(other), "what came from elsewhere is taken");
    drop_arenas();
    require(count_arenas().kept == 0, "something is still kept");
    // More than is kept: the rest goes back at once.
    std::vector<void*> many;
    for (int i = 0; i < 700; i++) many.push_back(take_arena());
    require(count_arenas().used == 700, "they are not counted");
    for (void* arena : many) require(give_arena(arena), "it is not known any more");
    require(count_arenas().kept == std::size_t(256) << 20, "not as much is kept as may be");
    drop_arenas();
}
