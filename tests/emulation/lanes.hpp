// The threads of one block at a time, as fibers in an order that can be chosen.
//
// A thread runs until it waits: at a warp collective for the lanes named in its
// mask, at __syncthreads for all live threads of the block. What would hang or
// be undefined on a GPU ends the launch with a message instead.
#pragma once
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine.hpp"
#include "fibers.hpp"

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

namespace emulation {

enum class State { ready, at_warp, at_block, done };
constexpr const char* op_names[] = {"__shfl_sync",   "__shfl_up_sync", "__shfl_down_sync",
                                    "__shfl_xor_sync", "__ballot_sync",  "__any_sync",
                                    "__all_sync",    "__match_any_sync", "__syncwarp"};

struct Thread {
    Context context;
    State state;
    unsigned id;      // within the block
    uint3 index;      // threadIdx
    Op op;            // what it waits in, with which mask, value and source lane
    unsigned mask, arg, width;
    std::uint64_t value, result;
    Site site;
};

constexpr unsigned max_threads = 1024, max_arguments = 32;
constexpr std::uint64_t unset = 0xA5A5A5A5A5A5A5A5u;  // what nobody wrote

struct Launch {
    void* kernel;
    const std::uint64_t* args;
    unsigned nargs;
    unsigned threads, live, at_block;
    std::uint64_t tally[3];  // what __syncthreads_count, _and, _or bring together
    Thread* current;
    char* message;
    std::size_t message_size;
    volatile bool failed;
    bool shuffled;
    std::uint64_t random;
};

// Bit l stands for lane l.
struct Warp {
    unsigned lanes, exited, waiting;  // that there are; that wait in a collective
};

static Thread threads[max_threads];
static Warp warps[max_threads / 32];
static Launch launch;
static Stacks stacks;
char* dynamic_shared;

inline std::uint64_t next_random() {  // splitmix64
    std::uint64_t z = launch.random += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

void report(const char* format, ...) {
    if (launch.failed) return;
    launch.failed = true;
    int n = 0;
    if (const Thread* t = launch.current)
        n = std::snprintf(launch.message, launch.message_size,
                          "block (%u, %u, %u), thread (%u, %u, %u): ", blockIdx.x, blockIdx.y,
                          blockIdx.z, t->index.x, t->index.y, t->index.z);
    va_list rest;
    va_start(rest, format);
    if (n >= 0 && std::size_t(n) < launch.message_size)
        std::vsnprintf(launch.message + n, launch.message_size - std::size_t(n), format, rest);
    va_end(rest);
}

void wait() { switch_context(launch.current->context, scheduler); }

void leave() {
    switch_context(launch.current->context, scheduler, true);
    __builtin_unreachable();
}

// --- warp collectives -------------------------------------------------------

inline std::uint64_t source_value(const Thread& t, const Thread* warp) {
    // As PTX defines shfl.sync: the segment of `width` lanes, the source lane
    // in it, and the lane's own value where the source lies outside.
    const int lane = int(t.id & 31), n = int(t.arg & 31);
    const int first = lane & ~int(t.width - 1), last = first + int(t.width) - 1;
    int source = lane;
    bool inside = true;
    switch (t.op) {
        case Op::shfl: source = first + (n & int(t.width - 1)); break;
        case Op::shfl_up: source = lane - n; inside = source >= first; break;
        case Op::shfl_down: source = lane + n; inside = source <= last; break;
        default: source = lane ^ n; inside = source <= last; break;
    }
    if (!inside) return t.value;
    // A lane that takes no part has nothing to give: undefined on a GPU.
    return t.mask >> source & 1 ? warp[source].value : unset;
}

inline void finish_collective(Thread* warp, unsigned mask) {
    unsigned votes = 0;
    for (unsigned l = 0; l < 32; l++)
        if (mask >> l & 1) votes |= unsigned(warp[l].value != 0) << l;
    for (unsigned l = 0; l < 32; l++) {
        if (!(mask >> l & 1)) continue;
        Thread& t = warp[l];
        switch (t.op) {
            case Op::ballot: t.result = votes; break;
            case Op::any: t.result = votes != 0; break;
            case Op::all: t.result = votes == mask; break;
            case Op::match_any:
                t.result = 0;
                for (unsigned k = 0; k < 32; k++)
                    if ((mask >> k & 1) && warp[k].value == t.value) t.result |= 1u << k;
                break;
            case Op::syncwarp: break;
            default: t.result = source_value(t, warp); break;
        }
    }
    for (unsigned l = 0; l < 32; l++)
        if (mask >> l & 1) warp[l].state = State::ready;
    warps[warp->id / 32].waiting &= ~mask;
}

std::uint64_t collective(Op op, unsigned mask, std::uint64_t value, unsigned arg, unsigned width,
                         Site site) {
    Thread& me = *launch.current;
    const char* name = op_names[int(op)];
    const unsigned first = me.id & ~31u;
    if (!(mask >> (me.id & 31) & 1))
        EMULATION_FAIL("%s at %s:%d: mask %#010x does not name the calling lane %u", name,
                       site.file, site.line, mask, me.id & 31);
    if (width == 0 || width > 32 || (width & (width - 1)))
        EMULATION_FAIL("%s at %s:%d: width %u is not a power of two up to 32", name, site.file,
                       site.line, width);
    Warp& warp = warps[me.id / 32];
    if (const unsigned wrong = mask & ~(warp.lanes & ~warp.exited)) {
        const unsigned l = unsigned(__builtin_ctz(wrong));
        EMULATION_FAIL("%s at %s:%d: mask %#010x names lane %u, which %s", name, site.file,
                       site.line, mask, l,
                       warp.lanes >> l & 1 ? "has exited" : "the block has not");
    }
    me.op = op, me.mask = mask, me.value = value, me.arg = arg, me.width = width;
    me.site = site;
    me.state = State::at_warp;
    warp.waiting |= 1u << (me.id & 31);
    bool complete = (warp.waiting & mask) == mask;
    for (unsigned l = 0; complete && l < 32; l++)
        if (mask >> l & 1)
            complete = threads[first + l].op == op && threads[first + l].mask == mask;
    if (complete) finish_collective(threads + first, mask);
    wait();
    return me.result;
}

// --- the block's barrier ----------------------------------------------------

inline void release_block() {
    for (unsigned i = 0; i < launch.threads; i++) {
        Thread& t = threads[i];
        if (t.state != State::at_block) continue;
        t.state = State::ready;
        t.result = launch.tally[t.arg];
    }
    launch.at_block = 0;
    launch.tally[0] = 0, launch.tally[1] = 1, launch.tally[2] = 0;
}

int barrier(bool predicate, unsigned what, Site site) {
    Thread& me = *launch.current;
    me.state = State::at_block;
    me.arg = what;
    me.site = site;
    launch.tally[0] += predicate, launch.tally[1] &= predicate, launch.tally[2] |= predicate;
    if (++launch.at_block == launch.live) release_block();
    wait();
    return int(me.result);
}

// --- running a block --------------------------------------------------------

template <class Sequence>
struct Call;
template <std::size_t... I>
struct Call<std::index_sequence<I...>> {
    template <std::size_t>
    using Slot = std::uint64_t;
    // Integers and pointers travel in 64-bit slots, so the callee finds its own
    // narrower parameters there.
    static void with(void* kernel, const std::uint64_t* args) {
        (void)args;
        reinterpret_cast<void (*)(Slot<I>...)>(kernel)(args[I]...);
    }
};

template <std::size_t... N>
inline void call(std::index_sequence<N...>) {
    using Caller = void (*)(void*, const std::uint64_t*);
    static constexpr Caller callers[] = {&Call<std::make_index_sequence<N>>::with...};
    callers[launch.nargs](launch.kernel, launch.args);
}

inline void run_thread() {
    arrived(nullptr, true);
    call(std::make_index_sequence<max_arguments + 1>());
    Thread& me = *launch.current;
    me.state = State::done;
    warps[me.id / 32].exited |= 1u << (me.id & 31);
    launch.live--;
    const unsigned first = me.id & ~31u;
    for (unsigned i = first; i < first + 32 && i < launch.threads; i++) {
        const Thread& t = threads[i];
        if (t.state == State::at_warp && (t.mask >> (me.id & 31) & 1))
            EMULATION_FAIL("exited, but lane %u waits for it in %s at %s:%d, mask %#010x", i & 31,
                           op_names[int(t.op)], t.site.file, t.site.line, t.mask);
    }
    if (launch.at_block && launch.at_block == launch.live) release_block();
    leave();
}

inline const char* base_name(const char* path) {
    const char* slash = std::strrchr(path, '/');
    return slash ? slash + 1 : path;
}

inline void report_deadlock() {
    char text[600];
    int n = 0;
    unsigned shown = 0;
    for (unsigned i = 0; i < launch.threads; i++) {
        const Thread& t = threads[i];
        if (t.state == State::done) continue;
        const bool warp = t.state == State::at_warp;
        // One thread for each place will do.
        bool seen = false;
        for (unsigned k = 0; k < i && !seen; k++)
            seen = threads[k].state == t.state && threads[k].site.line == t.site.line &&
                   (!warp || threads[k].mask == t.mask);
        if (seen || ++shown > 4) continue;
        n += std::snprintf(text + n, sizeof text - std::size_t(n), "%s thread %u in %.16s at %.60s:%d",
                           shown > 1 ? ";" : "", i, warp ? op_names[int(t.op)] : "__syncthreads",
                           base_name(t.site.file), t.site.line);
        if (warp)
            n += std::snprintf(text + n, sizeof text - std::size_t(n), " (mask %#010x)", t.mask);
    }
    launch.current = nullptr;
    report("block (%u, %u, %u): deadlock, threads wait for each other:%s", blockIdx.x, blockIdx.y,
           blockIdx.z, text);
}

enum Order { forward, reverse, shuffled };

__attribute__((no_sanitize("address"))) inline void fill(char* begin, const char* end) {
    for (volatile char* p = begin; p != end; p = p + 1) *p = char(unset);
}

inline void run_block(Order order) {
    static unsigned turn[max_threads];
    launch.live = launch.threads;
    launch.at_block = 0;
    launch.tally[0] = 0, launch.tally[1] = 1, launch.tally[2] = 0;
    for (unsigned i = 0; i < launch.threads; i += 32) {
        const unsigned left = launch.threads - i;
        warps[i / 32] = {left < 32 ? (1u << left) - 1 : ~0u, 0, 0};
    }
    for (unsigned i = 0; i < launch.threads; i++) {
        Thread& t = threads[i];
        t.state = State::ready;
        t.id = i;
        t.index = {i % blockDim.x, i / blockDim.x % blockDim.y, i / blockDim.x / blockDim.y};
        prepare(t.context, stacks.bottom(i), stacks.usable, run_thread);
        turn[i] = order == reverse ? launch.threads - 1 - i : i;
    }
    while (launch.live) {
        if (order == shuffled)
            for (unsigned i = launch.threads; i > 1; i--) {
                const unsigned k = unsigned(next_random() % i), last = turn[i - 1];
                turn[i - 1] = turn[k], turn[k] = last;
            }
        bool ran = false;
        for (unsigned i = 0; i < launch.threads; i++) {
            Thread& t = threads[turn[i]];
            if (t.state != State::ready) continue;
            ran = true;
            launch.current = &t;
            threadIdx = t.index;
            switch_context(scheduler, t.context);
            if (launch.failed) return;
        }
        if (!ran) return report_deadlock();
    }
}

void maybe_yield() {
    static unsigned count;
    if (launch.shuffled ? next_random() % 4 == 0 : ++count % 64 == 0) wait();
}

}  // namespace emulation
