// Spreads tasks over threads, and asks between them whether to stop.
#pragma once
#include <nanobind/nanobind.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "checks.hpp"

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};
using Scratch = std::unique_ptr<void, Free>;

inline Scratch aligned_scratch(std::size_t bytes) {
    if (bytes > checks::NO_SIZE - 63) throw std::bad_alloc();
    Scratch memory(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
    if (!memory) throw std::bad_alloc();
    return memory;
}

// Tells whether Python's handlers of signals may run in this thread.
inline bool may_be_main_thread() {
#if defined(__linux__)
    return syscall(SYS_gettid) == getpid();
#else
    return true;
#endif
}

// Looks whether a signal has come, then whether stopped(), a function of Python's or null, returns
// true. Where either raises, returns true and sets `failed`, with Python's exception set. Must be
// called with the GIL.
inline bool asked_to_stop(PyObject* stopped, bool& failed) {
    if (PyErr_CheckSignals() != 0) return failed = true;
    if (!stopped) return false;
    PyObject* const answer = PyObject_CallNoArgs(stopped);
    const int truth = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    if (truth < 0) failed = true;
    return truth != 0;
}

// Tells long work, which calls it as often as it likes and without the GIL, whether to stop: it asks
// Python 20 times a second whether a signal has come, or 100 times a second a caller's function.
class Asking {
public:
    // stopped: a function of Python's, or None.
    explicit Asking(nanobind::handle stopped)
        : stopped(stopped.is_none() ? nullptr : stopped.ptr()),
          pause(stopped.is_none() ? 50 : 10), main_thread(may_be_main_thread()),
          next(Clock::now() + pause) {}

    bool failed = false;  // with Python's exception set

    bool operator()() {
        const auto now = Clock::now();
        if (now < next) return false;
        next = now + pause;
        if (!stopped && !main_thread) return false;
        nanobind::gil_scoped_acquire acquire;
        return asked_to_stop(stopped, failed);
    }

private:
    using Clock = std::chrono::steady_clock;
    PyObject* stopped;
    std::chrono::milliseconds pause;
    bool main_thread;
    Clock::time_point next;
};

// Runs task(i, scratch) for i in [0, tasks) on `threads` threads, while this one waits for them
// and asks Python 20 times a second whether a signal has come. Raises what Python's handler
// raised, after the tasks under way have stopped. Must be called with the GIL. stopped: a
// function of Python's, if any, that is called 100 times a second: where it returns true, tasks
// are cancelled, and what it raises is raised.
template <class Task>
void run_tasks(std::int64_t tasks, int threads, std::size_t scratch_bytes, volatile bool& cancelled,
               Task task, PyObject* stopped = nullptr) {
    std::vector<Scratch> scratch;
    if (threads > tasks) threads = int(tasks);
    if (tasks > 0) threads = checks::threads_of(threads);
    checks::need_memory(double(threads) * double(scratch_bytes));
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
    const std::chrono::milliseconds pause(stopped ? 10 : 50);
    const bool main_thread = may_be_main_thread();
    {
        nanobind::gil_scoped_release release;
        // Where there are not as many threads to be had, fewer do; where there are none
        // at all, this one does.
        try {
            pool.reserve(std::size_t(threads));
            for (int i = 0; i < threads; i++) pool.emplace_back(work, i);
        } catch (const std::system_error&) {
            if (pool.empty()) {
                running = 1;
                work(0);
            }
        }
        std::unique_lock<std::mutex> lock(mutex);
        if (int(pool.size()) < threads && !pool.empty()) running -= threads - int(pool.size());
        while (!done.wait_for(lock, pause, [&] { return running == 0; })) {
            lock.unlock();
            // No other thread sees signals; and a thread that the interpreter's end
            // overtakes may not ask for the GIL any more.
            if (!cancelled && (stopped || main_thread)) {
                nanobind::gil_scoped_acquire acquire;
                if (asked_to_stop(stopped, failed)) cancelled = true;
            }
            lock.lock();
        }
        lock.unlock();
        for (std::thread& t : pool) t.join();
    }
    if (failed) throw nanobind::python_error();
}

// Calls work(first, last) for parts of [0, count), on this thread and without the GIL, and looks
// between them whether a signal has come, as run_tasks() does. A part should take some
// milliseconds.
template <class Work>
void run_in_steps(std::size_t count, std::size_t part, Work work) {
    using std::chrono::steady_clock;
    constexpr std::chrono::milliseconds PAUSE(50);
    const bool main_thread = may_be_main_thread();
    bool failed = false;
    {
        nanobind::gil_scoped_release release;
        auto asked = steady_clock::now();
        for (std::size_t first = 0; first < count && !failed;) {
            const std::size_t last = count - first < part ? count : first + part;
            work(first, last);
            first = last;
            if (first == count || !main_thread || steady_clock::now() - asked < PAUSE) continue;
            nanobind::gil_scoped_acquire acquire;
            failed = PyErr_CheckSignals() != 0;
            asked = steady_clock::now();
        }
    }
    if (failed) throw nanobind::python_error();
}

// Looks at signals in loops that need the GIL: call at(i) for each i. It raises what a handler
// raised.
class Signals {
public:
    void at(std::size_t i) const {
        if (i % EVERY == EVERY - 1 && PyErr_CheckSignals() != 0) throw nanobind::python_error();
    }

private:
    static constexpr std::size_t EVERY = 1 << 16;
};
