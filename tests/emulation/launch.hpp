// A launch: every block in its turn, with faults and the time limit caught.
#pragma once
#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include <unistd.h>

#include "lanes.hpp"

namespace emulation {

static sigjmp_buf give_up;

#if defined(__linux__)
#define EMULATION_TIMER 1
constexpr int alarm_signal = SIGXCPU;
#else
#define EMULATION_TIMER 0
constexpr int alarm_signal = 0;
#endif

inline void on_fault(int signal, siginfo_t* info, void*) {
    if (signal == alarm_signal) report("the launch takes longer than its time limit");
    else if (signal == SIGFPE) report("arithmetic fault (division by zero?)");
    else if (signal == SIGILL) report("illegal instruction");
    else report("access to address %p, which is not mapped (or the stack is full)", info->si_addr);
#if defined(__SANITIZE_ADDRESS__)
    std::fprintf(stderr, "%s\n", launch.message);
    _exit(86);  // jumping between stacks would confuse the sanitizer
#else
    siglongjmp(give_up, 1);
#endif
}

// While a launch runs, faults and the time limit end the launch, not the process.
class Guard {
public:
    explicit Guard(double seconds) {
        stack_t mine = {};
        mine.ss_sp = alternate;
        mine.ss_size = sizeof alternate;
        sigaltstack(&mine, &old_stack);
        struct sigaction action = {};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        for (int i = 0; i < count; i++) sigaction(signals[i], &action, &old[i]);
#if EMULATION_TIMER
        // To this thread alone, because only it can jump.
        struct sigevent event = {};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = alarm_signal;
        event._sigev_un._tid = int(gettid());
        timed = seconds > 0 && timer_create(CLOCK_MONOTONIC, &event, &timer) == 0;
        if (timed) {
            struct itimerspec limit = {};
            limit.it_value.tv_sec = time_t(seconds);
            limit.it_value.tv_nsec = long((seconds - double(time_t(seconds))) * 1e9);
            timer_settime(timer, 0, &limit, nullptr);
        }
#else
        (void)seconds;
#endif
    }
    ~Guard() {
#if EMULATION_TIMER
        if (timed) timer_delete(timer);
#endif
        for (int i = 0; i < count; i++) sigaction(signals[i], &old[i], nullptr);
        sigaltstack(&old_stack, nullptr);
    }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

private:
#if defined(__SANITIZE_ADDRESS__)  // which tells more of a fault than we can
    static constexpr int signals[] = {alarm_signal};
#else
    static constexpr int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, alarm_signal};
#endif
    static constexpr int count = int(sizeof signals / sizeof signals[0]) - !EMULATION_TIMER;
    alignas(16) static inline char alternate[64 << 10];
    struct sigaction old[count + 1];
    stack_t old_stack;
#if EMULATION_TIMER
    timer_t timer;
    bool timed;
#endif
};

#if defined(__SANITIZE_ADDRESS__)
inline void on_sanitizer_report(const char* text) { report("%s", text); }
#endif

}  // namespace emulation

// The __shared__ variables lie between these; the linker sets them.
extern "C" __attribute__((weak, visibility("hidden"))) char __start_emulated_shared[];
extern "C" __attribute__((weak, visibility("hidden"))) char __stop_emulated_shared[];

// Runs every block of a launch; 0, or 1 with the reason in message.
// order: 0 as numbered, 1 the other way round, 2 shuffled by seed. stack_area: for max_threads.
extern "C" __attribute__((visibility("default"))) int emulation_launch(
    void* kernel, const unsigned* grid, const unsigned* block, const std::uint64_t* args,
    unsigned nargs, std::size_t shared, int order, std::uint64_t seed, double seconds,
    char* stack_area, std::size_t stack_stride, std::size_t stack_usable, char* message,
    std::size_t message_size) {
    using namespace emulation;
    launch = {};
    launch.kernel = kernel;
    launch.args = args;
    launch.nargs = nargs;
    launch.message = message;
    launch.message_size = message_size;
    launch.shuffled = order == emulation::shuffled;
    launch.random = seed;
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    launch.threads = block[0] * block[1] * block[2];
    if (launch.threads > max_threads || nargs > max_arguments) {
        report("too many threads or arguments");
        return 1;
    }
    stacks = {stack_area, stack_stride, stack_usable};
    // A block of its own size on the heap, so that the sanitizer sees its end.
    char* const area = static_cast<char*>(std::malloc(shared + 2048));
    char* const area_end = area + shared + 2048;
    dynamic_shared = area + (-reinterpret_cast<std::uintptr_t>(area) & 1023);
#if defined(__SANITIZE_ADDRESS__)
    __asan_set_error_report_callback(on_sanitizer_report);
    __asan_poison_memory_region(dynamic_shared + shared, area_end - dynamic_shared - shared);
#else
    fill(dynamic_shared + shared, area_end);
#endif
    const std::uint64_t blocks = std::uint64_t(grid[0]) * grid[1] * grid[2];
    {
        Guard guard(seconds);
        if (sigsetjmp(give_up, 1) == 0) {
            for (std::uint64_t i = 0; i < blocks && !launch.failed; i++) {
                std::uint64_t b = order == emulation::reverse ? blocks - 1 - i : i;
                if (launch.shuffled) b = (b + seed) % blocks;
                blockIdx = {unsigned(b % grid[0]), unsigned(b / grid[0] % grid[1]),
                            unsigned(b / grid[0] / grid[1])};
                if (__start_emulated_shared) fill(__start_emulated_shared, __stop_emulated_shared);
                fill(dynamic_shared, dynamic_shared + shared);
                run_block(Order(order));
            }
        }
    }
    launch.current = nullptr;
#if defined(__SANITIZE_ADDRESS__)
    __asan_set_error_report_callback(nullptr);
    __asan_unpoison_memory_region(dynamic_shared + shared, area_end - dynamic_shared - shared);
#else
    for (char* p = dynamic_shared + shared; p != area_end; p++)
        if (*p != char(unset)) {
            report("a write %td bytes past the dynamic shared memory of %zu bytes",
                   p - dynamic_shared - std::ptrdiff_t(shared), shared);
            break;
        }
#endif
    std::free(area);
    return launch.failed;
}
