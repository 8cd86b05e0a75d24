// Several threads take and give large blocks at the same time, under the thread sanitizer. Each
// writes to all of what it has: a block that two have at once is a race too.
#include <cstring>
#include <thread>
#include <vector>

#include "../../kernels/bignum/cpu/blocks.hpp"

int main() {
    constexpr int THREADS = 4, ROUNDS = 150;
    constexpr std::size_t MEBI = std::size_t(1) << 20;
    auto work = [](int thread) {
        std::vector<void*> held;
        for (int i = 0; i < ROUNDS; i++) {
            const std::size_t size = (1 + std::size_t(i * 7 + thread) % 4) * MEBI + 100;
            void* const block = bignum::take_block(size);
            if (!block) return;
            for (std::size_t at = 0; at < size; at += 4096) static_cast<char*>(block)[at] = char(i);
            static_cast<char*>(block)[size - 1] = char(thread);
            held.push_back(block);
            if (held.size() > 2) {
                bignum::give_block(held.front());
                held.erase(held.begin());
            }
            if (thread == 0 && i % 50 == 49) bignum::drop_blocks();
        }
        for (void* block : held) bignum::give_block(block);
    };
    std::vector<std::thread> threads;
    for (int t = 0; t < THREADS; t++) threads.emplace_back(work, t);
    for (std::thread& each : threads) each.join();
    bignum::drop_blocks();
}
