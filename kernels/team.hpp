// Threads that work together for the time of one call.
#pragma once
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

// Threads that work together. The caller is thread 0. Others begin when they are first needed
// and end with the object; there are fewer than were asked for where no more can be had.
class Team {
public:
    explicit Team(int threads) : wanted(threads) {}
    ~Team() {
        {
            std::lock_guard<std::mutex> lock(mutex);
            ended = true;
            turn++;
        }
        begin.notify_all();
        for (std::thread& thread : threads) thread.join();
    }

    // Calls work(t) on each thread t, and returns when all are done. work must throw
    // nothing.
    void run(const std::function<void(int)>& work) {
        start();
        if (!threads.empty()) {
            {
                std::lock_guard<std::mutex> lock(mutex);
                task = &work;
                running.store(int(threads.size()), std::memory_order_relaxed);
                turn++;
            }
            begin.notify_all();
        }
        work(0);
        for (int i = 0; running.load(std::memory_order_acquire); i++) pause(i);
    }

private:
    static constexpr int SPINS = 500;  // some tens of microseconds

    static void pause(int i) {
        if (i >= SPINS) std::this_thread::yield();
#if defined(__x86_64__)
        else __builtin_ia32_pause();
#endif
    }

    void start() {
        try {
            while (int(threads.size()) + 1 < wanted)
                threads.emplace_back([this, t = int(threads.size()) + 1] { serve(t); });
        } catch (const std::system_error&) {
            wanted = int(threads.size()) + 1;
        }
    }

    void serve(int t) {
        for (unsigned seen = 0;;) {
            for (int i = 0; i < SPINS && turn.load(std::memory_order_acquire) == seen; i++)
                pause(i);
            {
                std::unique_lock<std::mutex> lock(mutex);
                begin.wait(lock, [&] { return turn != seen; });
                seen = turn;
                if (ended) return;
            }
            (*task)(t);
            running.fetch_sub(1, std::memory_order_release);
        }
    }

    int wanted;
    std::vector<std::thread> threads;
    std::mutex mutex;
    std::condition_variable begin;
    std::atomic<unsigned> turn{0};
    std::atomic<int> running{0};
    const std::function<void(int)>* task = nullptr;
    bool ended = false;
};
