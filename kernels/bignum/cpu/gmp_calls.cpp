// Makes calls of GMP that can be left. A call that takes long is made by a thread of its own, on
// copies of its operands. Where the call is cancelled, the caller leaves that thread to itself:
// it ends with the call, at most some seconds later, as powers that take longer are made in
// steps. Until then it gives way to all other threads (on Linux, where a thread has a priority
// of its own), or calls that somebody breaks off and begins again would slow each other down.
#include "gmp_calls.hpp"

#if defined(__linux__)
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace bignum {
namespace {

Gmp library;
thread_local const volatile bool* leaving = nullptr;

constexpr double BRIEF = 1e5, LONG = 3e7, ENDLESS = 1e9;  // ns

// Return about what an operation takes, in ns.
double product_time(double x, double y) {
    const double least = std::min(x, y), most = std::max(x, y);
    return 0.4 * most * std::min(least, 40 + 40 * std::log2(least + 1));
}
double quotient_time(double x, double y) {
    return x < y ? 0 : 3 * product_time(y, x - y + 1) + 2 * x;
}

struct Memory {
    explicit Memory(std::size_t words) : words(static_cast<Limb*>(std::malloc(8 * words + 8))) {}
    ~Memory() { std::free(words); }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    Limb* const words;
};

// What a call's own thread and its caller share.
struct Call {
    explicit Call(std::size_t words) : memory(words) {}
    Memory memory;
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    long thread = 0;  // Linux's number of the thread that makes the call; 0 before it runs
    bool left = false;

    // Lowers the priority of the call's thread. Both call it with the mutex held, so that
    // the thread's number is still its own.
    void give_way() const {
#if defined(__linux__)
        constexpr int LEAST = 19;
        if (left && thread && !done) setpriority(PRIO_PROCESS, id_t(thread), LEAST);
#endif
    }
};

struct In {
    const Limb* words;
    Size count;
};
struct Out {
    Limb* words;
    Size count;
};

// Calls compute(in, out) with pointers to operands and results. Returns false where the call was
// left.
template <class Compute>
bool call(double time, std::initializer_list<In> ins, std::initializer_list<Out> outs,
          Compute compute) {
    if (time > BRIEF && left()) return false;
    std::vector<const Limb*> in;
    std::vector<Limb*> out;
    auto here = [&] {
        in.clear(), out.clear();
        for (const In& x : ins) in.push_back(x.words);
        for (const Out& x : outs) out.push_back(x.words);
        compute(in.data(), out.data());
        return true;
    };
    if (time < LONG || !leaving) {
        // Memory of its own is not worth while for what is soon over.
        const Limb* operands[3] = {};
        Limb* results[2] = {};
        std::transform(ins.begin(), ins.end(), operands, [](const In& x) { return x.words; });
        std::transform(outs.begin(), outs.end(), results, [](const Out& x) { return x.words; });
        compute(operands, results);
        return true;
    }
    std::shared_ptr<Call> shared;
    try {
        std::size_t words = 0;
        for (const In& x : ins) words += std::size_t(x.count);
        for (const Out& x : outs) words += std::size_t(x.count);
        shared = std::make_shared<Call>(words);
        if (!shared->memory.words) return here();
        Limb* at = shared->memory.words;
        for (const In& x : ins) {
            if (x.count) std::memcpy(at, x.words, 8 * std::size_t(x.count));
            in.push_back(at);
            at += x.count;
        }
        for (const Out& x : outs) {
            out.push_back(at);
            at += x.count;
        }
        std::thread([shared, in, out, compute] {
            {
                std::lock_guard<std::mutex> lock(shared->mutex);
#if defined(__linux__)
                shared->thread = syscall(SYS_gettid);
#endif
                shared->give_way();
            }
            compute(in.data(), out.data());
            std::lock_guard<std::mutex> lock(shared->mutex);
            shared->done = true;
            shared->changed.notify_one();
        }).detach();
    } catch (const std::bad_alloc&) {
        return here();
    } catch (const std::system_error&) {  // no more threads can be had
        return here();
    }
    {
        std::unique_lock<std::mutex> lock(shared->mutex);
        while (!shared->changed.wait_for(lock, std::chrono::milliseconds(10),
                                         [&] { return shared->done; }))
            if (left()) {
                shared->left = true;
                shared->give_way();
                return false;
            }
    }
    std::size_t i = 0;
    for (const Out& x : outs) {
        if (x.count) std::memcpy(x.words, out[i], 8 * std::size_t(x.count));
        i++;
    }
    return true;
}

Limb multiply(Limb* r, const Limb* x, Size nx, const Limb* y, Size ny) {
    call(product_time(double(nx), double(ny)), {{x, nx}, {y, ny}}, {{r, nx + ny}},
         [=](const Limb* const* in, Limb* const* out) {
             library.mpn_mul(out[0], in[0], nx, in[1], ny);
         });
    return 0;  // nobody asks for it
}

void square(Limb* r, const Limb* x, Size n) {
    call(product_time(double(n), double(n)), {{x, n}}, {{r, 2 * n}},
         [=](const Limb* const* in, Limb* const* out) { library.mpn_sqr(out[0], in[0], n); });
}

void divide(Limb* q, Limb* r, Size, const Limb* x, Size nx, const Limb* y, Size ny) {
    call(quotient_time(double(nx), double(ny)), {{x, nx}, {y, ny}}, {{q, nx - ny + 1}, {r, ny}},
         [=](const Limb* const* in, Limb* const* out) {
             library.mpn_tdiv_qr(out[0], out[1], 0, in[0], nx, in[1], ny);
         });
}

// Leaves out the remainder: GMP then makes the root alone, which takes half as long.
Size square_root(Limb* s, Limb*, const Limb* x, Size n) {
    call(2 * quotient_time(double(n), double(n) / 2), {{x, n}}, {{s, (n + 1) / 2}},
         [=](const Limb* const* in, Limb* const* out) {
             library.mpn_sqrtrem(out[0], nullptr, in[0], n);
         });
    return 0;  // nobody asks for it
}

// Returns about how long it takes to turn so many words into digits, or the other way round, in
// ns.
double digits_time(double words) { return 30 * words + 8 * product_time(words, words); }

Size words_of(std::size_t bytes) { return Size(bytes / 8 + 1); }

Size from_digits(Limb* r, const unsigned char* digits, std::size_t count, int base) {
    // log2(10) < 3.3220, and base 16 has four bits a digit; GMP wants one more word.
    const Size n = Size(double(count) * ((base == 10 ? 3.3220 : 4.0) / 64)) + 2;
    const double time = digits_time(double(n));
    if (time < LONG || !leaving) {
        if (time > BRIEF && left()) return 0;
        return library.mpn_set_str(r, digits, count, base);
    }
    const std::shared_ptr<Memory> copy = std::make_shared<Memory>(std::size_t(words_of(count)));
    if (!copy->words) return library.mpn_set_str(r, digits, count, base);
    std::memcpy(copy->words, digits, count);
    auto length = std::make_shared<Size>(0);
    const bool done = call(time, {}, {{r, n}}, [=](const Limb* const*, Limb* const* out) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(copy->words);
        *length = library.mpn_set_str(out[0], bytes, count, base);
    });
    return done ? *length : 0;
}

std::size_t to_digits(unsigned char* digits, int base, Limb* x, Size n) {
    const double time = digits_time(double(n));
    if (time < LONG || !leaving) {
        if (time > BRIEF && left()) return 0;
        return library.mpn_get_str(digits, base, x, n);
    }
    const std::size_t most = std::size_t(double(n) * (base == 10 ? 19.2660 : 16.0)) + 2;
    const std::shared_ptr<Memory> written = std::make_shared<Memory>(std::size_t(words_of(most)));
    if (!written->words) return library.mpn_get_str(digits, base, x, n);
    auto count = std::make_shared<std::size_t>(0);
    // The operand, which GMP changes, has one word more than the number.
    const bool done = call(time, {{x, n}, {x, 1}}, {}, [=](const Limb* const* in, Limb* const*) {
        auto* bytes = reinterpret_cast<unsigned char*>(written->words);
        *count = library.mpn_get_str(bytes, base, const_cast<Limb*>(in[0]), n);
    });
    if (!done) return 0;
    std::memcpy(digits, written->words, *count);
    return *count;
}

// --- integers of GMP's own ---------------------------------------------------------

Size length(const Mpz* x) { return x->size < 0 ? -Size(x->size) : x->size; }
In in(const Mpz* x) { return {x->words, length(x)}; }
Mpz of(const Limb* words, int size) {
    return {int(size < 0 ? -size : size), size, const_cast<Limb*>(words)};
}

struct Own {
    Mpz value;
    Own() { library.mpz_init(&value); }
    ~Own() { library.mpz_clear(&value); }
    Own(const Own&) = delete;
    Own& operator=(const Own&) = delete;
};

// Calls compute(result, operands) with integers of GMP. Returns false where the call was left: r
// is then zero.
template <class Compute>
bool integer_call(double time, Mpz* r, std::initializer_list<const Mpz*> operands,
                  Compute compute) {
    if (time > BRIEF && left()) {
        r->size = 0;
        return false;
    }
    const Mpz* given[3] = {};
    std::copy(operands.begin(), operands.end(), given);
    if (time < LONG || !leaving) {
        compute(r, given);
        return true;
    }
    static const Mpz nothing = {0, 0, nullptr};
    const Mpz *a = given[0], *b = given[1] ? given[1] : &nothing, *c = given[2] ? given[2] : &nothing;
    const int sizes[3] = {a->size, b->size, c->size};
    const auto result = std::make_shared<Own>();
    const bool done = call(time, {in(a), in(b), in(c)}, {},
                           [=](const Limb* const* words, Limb* const*) {
        const Mpz x = of(words[0], sizes[0]), y = of(words[1], sizes[1]), z = of(words[2], sizes[2]);
        const Mpz* const copies[3] = {&x, &y, &z};
        compute(&result->value, copies);
    });
    if (done) std::swap(*r, result->value);
    else r->size = 0;
    return done;
}

void greatest_divisor(Mpz* r, const Mpz* x, const Mpz* y) {
    const double n = double(std::min(length(x), length(y)));
    const double time = n * (50 + 2 * std::min(n, 500.0)) * (1 + n / 1e6) +
                        quotient_time(double(std::max(length(x), length(y))), n);
    integer_call(time, r, {x, y}, [](Mpz* to, const Mpz* const* from) {
        library.mpz_gcd(to, from[0], from[1]);
    });
}

// Computes r = 1 / x mod m and returns whether there is one; a call that was left returns that
// there is none.
int invert(Mpz* r, const Mpz* x, const Mpz* m) {
    const double n = double(length(m));
    const double time = 2 * n * (50 + 2 * std::min(n, 500.0)) * (1 + n / 1e6) +
                        quotient_time(double(length(x)), n);
    const auto found = std::make_shared<int>(0);
    const bool done = integer_call(time, r, {x, m}, [found](Mpz* to, const Mpz* const* from) {
        *found = library.mpz_invert(to, from[0], from[1]);
    });
    return done ? *found : 0;
}

void multiply_mod(Mpz* r, const Mpz* x, const Mpz* y, const Mpz* m) {
    const double n = double(length(m));
    integer_call(product_time(n, n) + quotient_time(2 * n, n), r, {x, y, m},
                 [](Mpz* to, const Mpz* const* from) {
        Own product;
        library.mpz_mul(&product.value, from[0], from[1]);
        library.mpz_mod(to, &product.value, from[2]);
    });
}

double power_time(double base, double exponent, double modulus) {
    return quotient_time(base, modulus) + 64 * exponent * 2.5 * (product_time(modulus, modulus) + 20);
}

void power_mod_at_once(Mpz* r, const Mpz* x, const Mpz* e, const Mpz* m) {
    const double time = power_time(double(length(x)), double(length(e)), double(length(m)));
    integer_call(time, r, {x, e, m}, [](Mpz* to, const Mpz* const* from) {
        library.mpz_powm(to, from[0], from[1], from[2]);
    });
}

// Computes r = x^e mod m for e >= 0, some bits of e at a time: each step is a power with a small
// exponent, and a product. So a call that is left ends soon.
void power_mod(Mpz* r, const Mpz* x, const Mpz* e, const Mpz* m) {
    if (!leaving ||
        power_time(double(length(x)), double(length(e)), double(length(m))) < ENDLESS)
        return power_mod_at_once(r, x, e, m);
    constexpr int BITS = 6;
    Limb one_word = 1, exponent_word = Limb(1) << BITS;
    const Mpz one = of(&one_word, 1), shift = of(&exponent_word, 1);
    Own powers[1 << BITS], result;
    r->size = 0;
    library.mpz_mod(&powers[0].value, &one, m);
    library.mpz_set(&result.value, &powers[0].value);
    if (!integer_call(quotient_time(double(length(x)), double(length(m))), &powers[1].value, {x, m},
                      [](Mpz* to, const Mpz* const* from) {
                          library.mpz_mod(to, from[0], from[1]);
                      }))
        return;
    for (int i = 2; i < 1 << BITS && !left(); i++)
        multiply_mod(&powers[i].value, &powers[i - 1].value, &powers[1].value, m);
    const Size bits = 64 * length(e);
    for (Size at = (bits + BITS - 1) / BITS * BITS - BITS; at >= 0 && !left(); at -= BITS) {
        Limb digit = 0;
        for (int k = BITS; k--;) {
            const Size bit = at + k;
            digit = digit << 1 | (bit < bits ? e->words[bit / 64] >> (bit % 64) & 1 : 0);
        }
        Own next, product;
        power_mod_at_once(&next.value, &result.value, &shift, m);
        multiply_mod(&product.value, &next.value, &powers[digit].value, m);
        std::swap(result.value, product.value);
    }
    if (!left()) std::swap(*r, result.value);
}

void power(Mpz* r, const Mpz* x, unsigned long e) {
    const double n = double(length(x)) * double(e);
    integer_call(2 * product_time(n, n), r, {x}, [e](Mpz* to, const Mpz* const* from) {
        library.mpz_pow_ui(to, from[0], e);
    });
}

}  // namespace

bool left() { return leaving && *leaving; }

Leaving::Leaving(const volatile bool* cancelled) { leaving = cancelled; }
Leaving::~Leaving() { leaving = nullptr; }

Gmp leavable(const Gmp& given) {
    library = given;
    Gmp calls = given;
    calls.mpn_mul = multiply;
    calls.mpn_sqr = square;
    calls.mpn_tdiv_qr = divide;
    calls.mpn_sqrtrem = square_root;
    calls.mpn_set_str = from_digits;
    calls.mpn_get_str = to_digits;
    calls.mpz_gcd = greatest_divisor;
    calls.mpz_invert = invert;
    calls.mpz_powm = power_mod;
    calls.mpz_pow_ui = power;
    return calls;
}

}  // namespace bignum
