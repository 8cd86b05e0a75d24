// Turns lines of decimal or hexadecimal digits into packed words and back.
#include <cmath>
#include <cstring>
#include <memory>
#include <string_view>

#include "batch.hpp"
#include "bind.hpp"
#include "gmp_calls.hpp"

namespace bignum {
namespace {

struct Line {
    const unsigned char* digits;
    i64 count;
    bool hexadecimal, negative;
};

// Returns 0 to 15, or 16 for a character that is no digit.
int digit_value(unsigned char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 16;
}

bool blank(unsigned char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

// How many digits take some milliseconds; signals are looked at after so many.
constexpr i64 SOME = i64(1) << 22;

i64 words_for(const Line& line) {
    if (line.hexadecimal) return (line.count + 15) / 16;
    // log2(10) < 3.3220; GMP wants one more word.
    return i64(double(line.count) * (3.3220 / 64)) + 2;
}

double text_cost(i64 length) {
    return 30 + 30 * double(length) * (1 + double(std::min<i64>(length, 2000)) / 30);
}

// Reads the number of a line and returns its length. scratch: a byte for each digit.
i64 parse(u64* words, const Line& line, unsigned char* scratch) {
    if (line.hexadecimal) {
        const i64 length = (line.count + 15) / 16;
        for (i64 i = 0; i < length; i++) {
            if (i % SOME == 0 && left()) break;
            const i64 end = line.count - 16 * i;
            u64 word = 0;
            for (i64 k = std::max<i64>(end - 16, 0); k < end; k++)
                word = word << 4 | u64(digit_value(line.digits[k]));
            words[i] = word;
        }
        return length;
    }
    for (i64 i = 0; i < line.count; i++) {
        if (i % SOME == 0 && left()) return 0;
        scratch[i] = line.digits[i] - '0';
    }
    return gmp().mpn_set_str(words, scratch, std::size_t(line.count), 10);
}

// Returns the characters of a str of ASCII, or of bytes, where they lie: a copy of many would
// take long.
std::string_view characters(nb::handle text) {
    if (PyBytes_Check(text.ptr()))
        return {PyBytes_AsString(text.ptr()), std::size_t(PyBytes_Size(text.ptr()))};
    Py_ssize_t size = -1;
    const char* found =
        PyUnicode_Check(text.ptr()) ? PyUnicode_AsUTF8AndSize(text.ptr(), &size) : nullptr;
    // Of ASCII alone each character is one byte of UTF-8.
    if (!found || size != PyUnicode_GetLength(text.ptr())) {
        PyErr_Clear();  // as of half a surrogate pair
        throw nb::type_error("text is bytes, or a str of ASCII");
    }
    return {found, std::size_t(size)};
}

// Returns the batch, or, where a character is bad, a tuple of three: its offset, the offset of
// its line, the number of its line.
nb::tuple from_lines(nb::handle text, int base, int threads) {
    need_gmp();
    checks::require(base == 0 || base == 10 || base == 16, "base is 0, 10 or 16");
    const Signals signals;
    const std::string_view all = characters(text);
    const auto* data = reinterpret_cast<const unsigned char*>(all.data());
    const unsigned char* const end = data + all.size();
    std::vector<Line> lines;
    std::vector<i64> bounds;
    i64 row = 0, most_digits = 0;
    bool negative = false;
    for (const unsigned char* begin = data; begin < end;) {
        signals.at(std::size_t(row));
        row++;
        const void* found = std::memchr(begin, '\n', std::size_t(end - begin));
        const unsigned char *stop = found ? static_cast<const unsigned char*>(found) : end,
                            *next = found ? stop + 1 : end, *c = begin;
        while (stop > c && blank(stop[-1])) stop--;
        while (c < stop && blank(*c)) c++;
        if (c < stop && *c != '#') {
            Line line = {nullptr, 0, base == 16, *c == '-'};
            if (*c == '-' || *c == '+') c++;
            if (base != 10 && stop - c >= 2 && c[0] == '0' && (c[1] | 0x20) == 'x') {
                line.hexadecimal = true;
                c += 2;
            }
            line.digits = c;
            const int limit = line.hexadecimal ? 16 : 10;
            while (c < stop && digit_value(*c) < limit) {
                if ((c - line.digits) % SOME == SOME - 1 && PyErr_CheckSignals() != 0)
                    throw nb::python_error();
                c++;
            }
            if (c < stop || c == line.digits) return nb::make_tuple(c - data, begin - data, row);
            while (line.digits + 1 < c && *line.digits == '0') line.digits++;
            line.count = c - line.digits;
            lines.push_back(line);
            bounds.push_back(words_for(line));
            most_digits = std::max(most_digits, line.count);
            negative |= line.negative;
        }
        begin = next;
    }
    check_gmp_memory(double(most_digits) / 16, i64(lines.size()), threads);
    Output out(bounds, true, negative);
    return out.numbers(for_each_part(
        i64(lines.size()), false, threads, most_digits / 8 + 1,
        [&](i64 i) { return text_cost(bounds[std::size_t(i)]); },
        [&](i64 first, i64 last, u64* scratch, Found& part) {
            for (i64 i = first; i < last; i++) {
                const Line& line = lines[std::size_t(i)];
                auto* bytes = reinterpret_cast<unsigned char*>(scratch);
                const i64 length = parse(room(out.view, i), line, bytes);
                finish(out.view, i, length, line.negative, part);
            }
        }));
}

// Returns how many characters the line of a number of so many words has at most.
i64 line_bound(i64 length, int base) {
    const i64 digits = base == 16 ? 16 * length + 2 : i64(double(length) * 19.2660) + 2;
    return digits + 3;  // sign, the digit of a zero, end of line
}

// Writes the line of x and returns its length. scratch: x.length + 1 words.
i64 format(char* line, const Number& x, int base, u64* scratch) {
    char* c = line;
    if (x.negative) *c++ = '-';
    if (base == 16) {
        *c++ = '0';
        *c++ = 'x';
    }
    if (!x.length) *c++ = '0';
    if (base == 16 && x.length) {
        int shift = 60 - __builtin_clzll(x.words[x.length - 1]) / 4 * 4;
        for (i64 i = x.length; i--; shift = 60) {
            if (i % SOME == 0 && left()) break;
            for (; shift >= 0; shift -= 4) *c++ = "0123456789abcdef"[x.words[i] >> shift & 15];
        }
    } else if (x.length) {
        std::memcpy(scratch, x.words, std::size_t(x.length) * 8);
        auto* digits = reinterpret_cast<unsigned char*>(c);
        i64 count = i64(gmp().mpn_get_str(digits, 10, scratch, x.length)), zeros = 0;
        while (zeros + 1 < count && !digits[zeros]) zeros++;
        for (i64 i = zeros; i < count; i++) {
            if (i % SOME == 0 && left()) break;
            *c++ = char('0' + digits[i]);
        }
    }
    *c++ = '\n';
    return c - line;
}

// Returns ASCII characters as a str. It is made of parts, between which signals are looked at: the
// system takes a while to clear so much new memory. Each part is added in place.
nb::str text_of(const char* characters, i64 count) {
    constexpr i64 PART = i64(1) << 24;
    PyObject* whole = nullptr;
    for (i64 at = 0; !whole || at < count; at += PART) {
        const i64 length = std::min(PART, count - at);
        PyObject* part = PyUnicode_DecodeASCII(characters + at, Py_ssize_t(length), nullptr);
        if (!whole)
            whole = part;
        else if (part)
            PyUnicode_AppendAndDel(&whole, part);
        else
            Py_CLEAR(whole);
        if (!whole) throw nb::python_error();
        if (length == PART && PyErr_CheckSignals() != 0) {
            Py_DECREF(whole);
            throw nb::python_error();
        }
    }
    return nb::steal<nb::str>(whole);
}

nb::str to_lines(nb::handle numbers, int base, int threads) {
    need_gmp();
    checks::require(base == 10 || base == 16, "base is 10 or 16");
    const Batch a(numbers);
    const i64 count = a.view.count;
    const Signals signals;
    check_gmp_memory(double(a.view.width), count, threads);
    // Each line is written where there is room for it; then the lines are moved together.
    std::vector<i64> starts = each_count(count + 1), sizes = each_count(count);
    for (i64 i = 0; i < count; i++) {
        signals.at(std::size_t(i));
        starts[std::size_t(i) + 1] = starts[std::size_t(i)] + line_bound(a.trimmed_length(i), base);
    }
    check_memory(2 * double(starts[std::size_t(count)]) / 8);
    const std::unique_ptr<char[]> text(new char[std::size_t(starts[std::size_t(count)])]);
    char* const lines = text.get();
    for_each_part(
        count, false, threads, a.view.width + 1,
        [&](i64 i) { return text_cost(a.length(i)); },
        [&](i64 first, i64 last, u64* scratch, Found&) {
            for (i64 i = first; i < last; i++)
                sizes[std::size_t(i)] =
                    format(lines + starts[std::size_t(i)], number(a.view, i), base, scratch);
        });
    i64 end = 0;
    for (i64 i = 0; i < count; i++) {
        signals.at(std::size_t(i));
        const i64 size = sizes[std::size_t(i)];
        const i64 from = starts[std::size_t(i)];
        if (from != end) std::memmove(lines + end, lines + from, std::size_t(size));
        end += size;
    }
    return text_of(lines, end);
}

}  // namespace

void bind_text(nb::module_& m) {
    m.def("bignum_from_lines", &from_lines, nb::arg("text"), nb::arg("base"), nb::arg("threads"),
          "A batch of the numbers on the lines, or where a bad character is: its offset, that "
          "of its line, the line's number.");
    m.def("bignum_to_lines", &to_lines, nb::arg("a"), nb::arg("base"), nb::arg("threads"),
          "A line for each number, base 10 or 16.");
}

}  // namespace bignum
