// Python's integers as they lie in memory.
//
// Their digits are read and written where they lie, which is several times as quick as int.to_bytes()
// and int.from_bytes(). How they lie is known from Python's headers, where a build serves one version of
// Python. A build for the stable ABI serves versions that do not exist yet; it reads digits where it
// knows them to lie, and calls the methods in all other versions.
#pragma once
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstring>

#include "batch.hpp"

namespace bignum {
namespace {

// The magnitude of an integer, the lowest digit first. The integer owns it, or the bytes made of it.
struct Digits {
    const void* digits;  // of 30 bits each in 32; or bytes
    i64 count;
    bool negative;
    bool bytes;
};

using Digit = std::uint32_t;
constexpr int SHIFT = 30;
constexpr Digit MASK = (Digit(1) << SHIFT) - 1;

// How many digits of an integer take some milliseconds; signals are looked at after so many.
constexpr i64 SOME = i64(1) << 22;

#if defined(Py_LIMITED_API)
// An int of CPython 3.12 to 3.14. Bits 0 and 1 of the tag: 0 positive, 1 zero, 2 negative; the number of
// digits from bit 3 on.
struct Layout {
    PyObject head;
    std::uintptr_t tag;
    Digit digits[1];
};
constexpr unsigned long FIRST_KNOWN = 0x030C0000, FIRST_UNKNOWN = 0x030F0000;

Layout* layout_of(PyObject* value) { return reinterpret_cast<Layout*>(value); }

const Digit* digits_in(PyObject* value, i64& count, bool& negative) {
    const Layout* number = layout_of(value);
    count = (number->tag & 3) == 1 ? 0 : i64(number->tag >> 3);
    negative = (number->tag & 3) == 2;
    return number->digits;
}

// Returns an int with room for digits, at least two: shorter ones may be shared, or be kept for others.
PyObject* with_room(i64 count, bool negative) {
    void* memory = PyObject_Malloc(offsetof(Layout, digits) + std::size_t(count) * sizeof(Digit));
    if (!memory) return PyErr_NoMemory();
    layout_of(static_cast<PyObject*>(memory))->tag = std::uintptr_t(count) << 3 | (negative ? 2 : 0);
    return PyObject_Init(static_cast<PyObject*>(memory), &PyLong_Type);
}

Digit* room_of(PyObject* value) { return layout_of(value)->digits; }

// Returns whether an integer lies as Layout says: -(2^70 + 5 * 2^30 + 3).
bool lies_as_known() {
    const nb::object info = nb::steal(PyLong_GetInfo());
    const nb::object value = nb::steal(PyLong_FromString("-400000000140000003", nullptr, 16));
    if (!info.is_valid() || !value.is_valid()) throw nb::python_error();
    if (nb::cast<int>(info.attr("bits_per_digit")) != SHIFT ||
        nb::cast<int>(info.attr("sizeof_digit")) != int(sizeof(Digit)))
        return false;
    const Layout* number = layout_of(value.ptr());
    return number->tag == (3 << 3 | 2) && number->digits[0] == 3 && number->digits[1] == 5 &&
           number->digits[2] == 1 << 10;
}
#else
static_assert(PyLong_SHIFT == SHIFT && sizeof(digit) == sizeof(Digit),
              "Python was built with digits of 15 bits");

const Digit* digits_in(PyObject* value, i64& count, bool& negative) {
    const auto* number = reinterpret_cast<PyLongObject*>(value);
#if PY_VERSION_HEX >= 0x030C0000
    // Bits 0 and 1: 0 positive, 1 zero, 2 negative; the number of digits from bit 3 on.
    const std::uintptr_t tag = number->long_value.lv_tag;
    count = (tag & 3) == 1 ? 0 : i64(tag >> 3);
    negative = (tag & 3) == 2;
    return number->long_value.ob_digit;
#else
    const Py_ssize_t size = Py_SIZE(value);
    count = size < 0 ? -size : size;
    negative = size < 0;
    return number->ob_digit;
#endif
}

#if PY_VERSION_HEX < 0x030E0000
PyObject* with_room(i64 count, bool negative) {
    PyLongObject* value = _PyLong_New(Py_ssize_t(count));
    if (!value) return nullptr;
#if PY_VERSION_HEX >= 0x030C0000
    value->long_value.lv_tag = std::uintptr_t(count) << 3 | (negative ? 2 : 0);
#else
    if (negative) Py_SET_SIZE(value, -Py_ssize_t(count));
#endif
    return reinterpret_cast<PyObject*>(value);
}

Digit* room_of(PyObject* value) {
#if PY_VERSION_HEX >= 0x030C0000
    return reinterpret_cast<PyLongObject*>(value)->long_value.ob_digit;
#else
    return reinterpret_cast<PyLongObject*>(value)->ob_digit;
#endif
}
#endif
#endif

// Two digits are 60 bits, and four of them 15 bytes: below, so many digits at a time are moved by words of 64
// bits, wherever in memory these begin.
constexpr i64 QUAD = 4, QUAD_BYTES = 15;
constexpr u64 LOW = MASK, HIGH = u64(MASK) << 32;

// Returns 64 bits of the magnitude from bit `at` on, zeros above it.
u64 bits_at(const Number& x, i64 at) {
    const i64 word = at / 64, shift = at % 64;
    u64 bits = word < x.length ? x.words[word] >> shift : 0;
    if (shift && word + 1 < x.length) bits |= x.words[word + 1] << (64 - shift);
    return bits;
}

// Writes the digits of a number. Returns false where a handler of signals has raised something.
bool unpack(Digit* digits, i64 count, const Number& x) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(x.words);
    const i64 quads = std::min(count / QUAD, 8 * x.length / QUAD_BYTES);
    for (i64 done = 0; done < quads;) {
        const i64 end = std::min(quads, done + SOME / QUAD);
        for (; done < end; done++) {
            u64 two[2];
            std::memcpy(&two[0], bytes + QUAD_BYTES * done, 8);
            std::memcpy(&two[1], bytes + QUAD_BYTES * done + 7, 8);
            two[1] >>= 4;
            for (u64& pair : two) pair = (pair & LOW) | (pair << 2 & HIGH);
            std::memcpy(digits + QUAD * done, two, 16);
        }
        if (end < quads && PyErr_CheckSignals() != 0) return false;
    }
    for (i64 i = QUAD * quads; i < count; i++) digits[i] = Digit(bits_at(x, SHIFT * i)) & MASK;
    return true;
}

PyObject* from_digits(i64 count, const Number& x) {
#if !defined(Py_LIMITED_API) && PY_VERSION_HEX >= 0x030E0000
    void* digits;
    PyLongWriter* writer = PyLongWriter_Create(x.negative, Py_ssize_t(count), &digits);
    if (!writer) return nullptr;
    if (!unpack(static_cast<Digit*>(digits), count, x)) {
        PyLongWriter_Discard(writer);
        return nullptr;
    }
    return PyLongWriter_Finish(writer);
#else
    PyObject* value = with_room(count, x.negative);
    if (!value) return nullptr;
    if (!unpack(room_of(value), count, x)) {
        Py_DECREF(value);
        return nullptr;
    }
    return value;
#endif
}

PyObject* from_bytes(const Number& x) {
    PyObject* value = PyObject_CallMethod(
        reinterpret_cast<PyObject*>(&PyLong_Type), "from_bytes", "Ns",
        PyBytes_FromStringAndSize(reinterpret_cast<const char*>(x.words), Py_ssize_t(8 * x.length)),
        "little");
    if (!value || !x.negative) return value;
    PyObject* negated = PyNumber_Negative(value);
    Py_DECREF(value);
    return negated;
}

// Returns the magnitude through int.to_bytes(), whose result `held` gets. Raises.
Digits bytes_of(PyObject* value, nb::object& held) {
    const nb::int_ number = nb::borrow<nb::int_>(value);
    const bool negative = number < nb::int_(0);
    const nb::object magnitude = nb::steal(PyNumber_Absolute(value));
    if (!magnitude.is_valid()) throw nb::python_error();
    const i64 bits = nb::cast<i64>(magnitude.attr("bit_length")());
    held = magnitude.attr("to_bytes")((bits + 7) / 8, "little");
    return {PyBytes_AsString(held.ptr()), (bits + 7) / 8, negative, true};
}

// Returns whether this process knows how digits lie. Where it does not, they must go by bytes.
bool digits_are_known() {
#if defined(Py_LIMITED_API)
    static const bool known =
        Py_Version >= FIRST_KNOWN && Py_Version < FIRST_UNKNOWN && lies_as_known();
    return known;
#else
    return true;
#endif
}

Digits digits_of(PyObject* value) {
    Digits x = {nullptr, 0, false, false};
    x.digits = digits_in(value, x.count, x.negative);
    return x;
}

// Returns how many words the integer has, without leading zeros.
i64 words_of(const Digits& x) {
    if (!x.count) return 0;
    if (x.bytes) return (x.count + 7) / 8;
    const Digit top = static_cast<const Digit*>(x.digits)[x.count - 1];
    return (SHIFT * (x.count - 1) + 32 - __builtin_clz(top) + 63) / 64;
}

// Writes the words of an integer, `length` as words_of() says. Raises what a handler of signals raised.
void pack(u64* words, i64 length, const Digits& x) {
    if (x.bytes) {
        if (length) words[length - 1] = 0;
        std::memcpy(words, x.digits, std::size_t(x.count));
        return;
    }
    const auto* digits = static_cast<const Digit*>(x.digits);
    auto* bytes = reinterpret_cast<unsigned char*>(words);
    // Each four write a byte too many, which the next ones write anew.
    const i64 quads = std::min(x.count / QUAD, (8 * length - 1) / QUAD_BYTES);
    for (i64 done = 0; done < quads;) {
        const i64 end = std::min(quads, done + SOME / QUAD);
        for (; done < end; done++) {
            u64 two[2];
            std::memcpy(two, digits + QUAD * done, 16);
            for (u64& pair : two) pair = (pair & LOW) | (pair >> 2 & ~LOW);
            two[0] |= two[1] << 60;
            two[1] >>= 4;
            std::memcpy(bytes + QUAD_BYTES * done, two, 16);
        }
        if (end < quads && PyErr_CheckSignals() != 0) throw nb::python_error();
    }
    // The rest, from the last word that is whole: what is below in the next one stands there.
    i64 at = 8 * QUAD_BYTES * quads, word = at / 64;
    u64 held = at % 64 ? words[word] & ((u64(1) << at % 64) - 1) : 0;
    for (i64 i = QUAD * quads; i < x.count; i++, at += SHIFT) {
        const u64 digit = digits[i];
        const i64 shift = at % 64;
        held |= digit << shift;
        if (shift + SHIFT >= 64) {
            words[word++] = held;
            held = digit >> (64 - shift);
        }
    }
    if (word < length) words[word] = held;
}

// Returns a new reference to an int. by_bytes: through int.from_bytes(). Null where it raised.
PyObject* python_int(const Number& x, bool by_bytes) {
    if (!x.length) return PyLong_FromLong(0);
    const u64 top = x.words[x.length - 1];
    if (x.length == 1 && top <= u64(MASK))
        return PyLong_FromLong(x.negative ? -long(top) : long(top));
    if (by_bytes) return from_bytes(x);
    const i64 bits = 64 * x.length - __builtin_clzll(top);
    return from_digits((bits + SHIFT - 1) / SHIFT, x);
}

}  // namespace
}  // namespace bignum
