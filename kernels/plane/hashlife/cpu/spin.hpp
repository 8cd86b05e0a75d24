// Waiting for other threads: a moment, or longer.
#pragma once
#include <atomic>
#include <chrono>
#include <thread>

namespace hashlife {

// Waits for the i-th time in a row, the longer the more often.
inline void wait_a_little(int i) {
    if (i >= 200) std::this_thread::sleep_for(std::chrono::microseconds(50));
    else if (i >= 100) std::this_thread::yield();
#if defined(__x86_64__)
    else __builtin_ia32_pause();
#endif
}

// A lock that is held for a few memory accesses.
class Spin {
public:
    void lock() {
        for (int i = 0; taken_.exchange(true, std::memory_order_acquire); i++) wait_a_little(i);
    }
    void unlock() { taken_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> taken_{false};
};

}  // namespace hashlife
