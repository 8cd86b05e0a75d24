// Which CPU levels can run here, and tasks spread over threads.
#pragma once
#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

inline bool supported(const std::string& name) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (name == "v4")
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    if (name == "v3") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
    if (name == "v2") return __builtin_cpu_supports("sse4.2");
#endif
    return name == "base";
}

// Of a table of levels, the one that a caller names. Raises ValueError where the CPU or the
// build have none of that name.
template <class Level, std::size_t N>
const Level& level_named(const Level (&levels)[N], const std::string& name) {
    for (const Level& level : levels)
        if (name == level.name && supported(name)) return level;
    throw nanobind::value_error(("this CPU or build has no level " + name).c_str());
}

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};
using Scratch = std::unique_ptr<void, Free>;

inline Scratch aligned_scratch(std::size_t bytes) {
    Scratch memory(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    if (!memory) throw std::bad_alloc();
    return memory;
}

// Runs task(i, scratch) for i in [0, tasks) on `threads` threads, this one waiting for
// them and asking Python 20 times a second whether a signal has come. Raises what
// Python's handler raised, after the tasks under way have stopped. Called with the GIL.
// stopped: a function of Python's, if any, that is called 100 times a second: where it
// returns true, tasks are cancelled, and what it raises is raised.
template <class Task>
void run_tasks(std::int64_t tasks, int threads, std::size_t scratch_bytes, volatile bool& cancelled,
               Task task, PyObject* stopped = nullptr) {
    std::vector<Scratch> scratch;
    if (threads > tasks) threads = int(tasks);
    for (int i = 0; i < threads; i++) scratch.push_back(aligned_scratch(scratch_bytes));
    std::atomic<std::int64_t> next{0};
    std::mutex mutex;
    std::condition_variable done;
    int running = threads;
    std::vector<std::thread> pool;
    auto work = [&](int i) {
        void* const memory = scratch[std::size_t(i)].get();
        for (std::int64_t n; !cancelled && (n = next++) < tasks;) task(n, memory);
        std::lock_guard<std::mutex> lock(mutex);
        if (--running == 0) done.notify_one();
    };
    bool failed = false;
    auto ask = [&] {
        if (PyErr_CheckSignals() != 0) return failed = true;
        if (!stopped) return false;
        PyObject* answer = PyObject_CallNoArgs(stopped);
        const int truth = answer ? PyObject_IsTrue(answer) : -1;
        Py_XDECREF(answer);
        if (truth < 0) failed = true;
        return truth != 0;
    };
    const std::chrono::milliseconds pause(stopped ? 10 : 50);
    {
        nanobind::gil_scoped_release release;
        for (int i = 0; i < threads; i++) pool.emplace_back(work, i);
        std::unique_lock<std::mutex> lock(mutex);
        while (!done.wait_for(lock, pause, [&] { return running == 0; })) {
            lock.unlock();
            if (!cancelled) {
                nanobind::gil_scoped_acquire acquire;
                if (ask()) cancelled = true;
            }
            lock.lock();
        }
        lock.unlock();
        for (std::thread& t : pool) t.join();
    }
    if (failed) throw nanobind::python_error();
}
