// Fibers: stacks that one OS thread switches between.
//
// swapcontext saves the signal mask with two system calls a switch; on x86-64
// a dozen instructions of our own do without. Under the address sanitizer
// every switch is announced, or it would take one stack's frames for another's.
#pragma once
#include <cstddef>
#include <cstdint>
#if !defined(__x86_64__) || defined(EMULATION_UCONTEXT)
#define EMULATION_SWITCH 0
#include <ucontext.h>
#else
#define EMULATION_SWITCH 1
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if EMULATION_SWITCH
// Pushes the callee-saved registers, leaves the stack pointer in *save and goes
// on with the stack `load`. Defined in assembler so that the compiler must
// assume that it changes any memory.
extern "C" __attribute__((visibility("hidden"))) void emulation_switch(void** save, void* load);
asm(R"(
    .pushsection .text
    .hidden emulation_switch
    .globl emulation_switch
    .type emulation_switch, @function
emulation_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size emulation_switch, .-emulation_switch
    .popsection
)");
#endif

namespace emulation {

struct Context {
#if EMULATION_SWITCH
    void* sp = nullptr;
#else
    ucontext_t saved;
#endif
    const void* bottom = nullptr;  // of the stack, and its size: for the sanitizer
    std::size_t size = 0;
    void* fake = nullptr;  // the sanitizer's second stack
};

static Context scheduler;  // the stack on which the launch was called

// Equal stacks, above a page each that may not be touched: a stack that overflows
// faults and spoils nothing. Whoever launches has them, and the same for all modules.
struct Stacks {
    char* base;
    std::size_t stride, usable;

    char* bottom(std::size_t i) const { return base + i * stride + (stride - usable); }
};

// Starts `entry` on a fresh stack at the next switch to c; entry never returns.
inline void prepare(Context& c, char* bottom, std::size_t size, void (*entry)()) {
    c.bottom = bottom;
    c.size = size;
    c.fake = nullptr;
#if defined(__SANITIZE_ADDRESS__)
    // A fiber that was given up left the redzones of its frames behind.
    __asan_unpoison_memory_region(bottom, size);
#endif
#if EMULATION_SWITCH
    void** top = reinterpret_cast<void**>(bottom + size);
    for (int i = 1; i <= 8; i++) top[-i] = nullptr;  // registers; no caller: unwinding ends here
    top[-2] = reinterpret_cast<void*>(entry);
    c.sp = top - 8;
#else
    getcontext(&c.saved);
    c.saved.uc_stack.ss_sp = bottom;
    c.saved.uc_stack.ss_size = size;
    c.saved.uc_link = nullptr;
    makecontext(&c.saved, entry, 0);
#endif
}

// The first thing on a fresh fiber, and after every switch.
inline void arrived(void* fake, bool on_fiber) {
#if defined(__SANITIZE_ADDRESS__)
    if (on_fiber)
        __sanitizer_finish_switch_fiber(fake, &scheduler.bottom, &scheduler.size);
    else
        __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
#else
    (void)fake;
    (void)on_fiber;
#endif
}

// last: `from` will not run again.
inline void switch_context(Context& from, Context& to, bool last = false) {
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_start_switch_fiber(last ? nullptr : &from.fake, to.bottom, to.size);
#else
    (void)last;
#endif
#if EMULATION_SWITCH
    emulation_switch(&from.sp, to.sp);
#else
    swapcontext(&from.saved, &to.saved);
#endif
    arrived(from.fake, &from != &scheduler);
}

}  // namespace emulation
