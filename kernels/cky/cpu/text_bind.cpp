// Binds lines of text to Python; kernels.cky.text calls it.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <memory>

#include "../../tasks.hpp"
#include "text.hpp"

namespace nb = nanobind;

namespace {

using namespace cky;
using std::int64_t;
using std::size_t;

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Places = nb::ndarray<const int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// A vocabulary that Python holds.
struct Words {
    Vocabulary vocabulary;
    Coding coding;

    Words(const std::vector<std::string>& words, bool chars, std::uint32_t unknown)
        : vocabulary(words), coding(vocabulary, chars, unknown) {}
    Words(const Words&) = delete;
};

void make_words(Words* self, nb::list words, bool chars, std::uint32_t unknown) {
    std::vector<std::string> strings;
    const Signals signals;
    for (nb::handle word : words) {
        signals.at(strings.size());
        const nb::bytes bytes = nb::cast<nb::bytes>(word);
        strings.emplace_back(bytes.c_str(), bytes.size());
    }
    new (self) Words(strings, chars, unknown);
}

template <class T>
struct Result {
    std::unique_ptr<T[]> memory;
    size_t size;

    explicit Result(size_t size) : memory(new T[size]), size(size) {}

    nb::object given() {
        T* data = memory.release();
        nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
        return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
    }
};

constexpr size_t LEAST_BYTES = size_t(1) << 18;  // of text, which a thread is worth while for
constexpr size_t MOST_BYTES = size_t(1) << 23;   // of text, in a part

nb::tuple encode_text(const Words& words, Bytes array, int threads) {
    threads = checks::threads_of(threads);
    const std::uint8_t* text = array.data();
    // There are parts for all threads, and none that takes long.
    const size_t size = array.shape(0), few = std::min(size / LEAST_BYTES + 1, size_t(threads));
    std::vector<Part> parts = cut(text, size, std::max(few, size / MOST_BYTES));
    volatile bool cancelled = false;
    auto each = [&](auto&& work) {
        if (size <= LEAST_BYTES) {
            nb::gil_scoped_release release;
            for (Part& part : parts) work(part);
            return;
        }
        run_tasks(int64_t(parts.size()), threads, 64, cancelled,
                  [&](int64_t i, void*) { work(parts[size_t(i)]); });
    };
    each([&](Part& part) { count(words.coding, text, part, cancelled); });
    size_t lines = 0, tokens = 0;
    for (Part& part : parts) {
        part.first_line = lines;
        part.first_token = tokens;
        lines += part.lines;
        tokens += part.tokens;
    }
    Result<std::uint32_t> terminals(tokens);
    Result<int64_t> offsets(lines + 1), starts(lines + 1);
    offsets.memory[0] = 0;
    starts.memory[lines] = int64_t(size);
    each([&](Part& part) {
        encode(words.coding, text, part, terminals.memory.get(), offsets.memory.get(),
               starts.memory.get(), cancelled);
    });
    size_t count = 0;
    for (const Part& part : parts) count += part.bad.size();
    Result<int64_t> bad(3 * count);
    int64_t* row = bad.memory.get();
    for (const Part& part : parts)
        for (const Bad& each : part.bad) {
            *row++ = each.line;
            *row++ = each.fault;
            *row++ = each.where;
        }
    return nb::make_tuple(terminals.given(), offsets.given(), starts.given(), bad.given());
}

nb::bytes mark_lines(Bytes text, Places starts, Bytes marks, bool shown) {
    const size_t lines = marks.shape(0), size = text.shape(0);
    const int64_t* places = starts.data();
    bool fits = starts.shape(0) == lines + 1 && places[0] >= 0 && places[lines] <= int64_t(size);
    for (size_t i = 0; fits && i < lines; i++) fits = places[i] <= places[i + 1];
    if (!fits) throw nb::value_error("starts must lead through the text");
    checks::require_aligned(starts);
    const std::unique_ptr<std::uint8_t[]> held(
        new std::uint8_t[checks::sum({size, lines, lines, lines})]);
    std::uint8_t* const out = held.get();
    size_t written = 0;
    run_in_steps(lines, size_t(1) << 14, [&](size_t first, size_t last) {
        written += mark(text.data(), places + first, marks.data() + first, last - first, shown,
                        out + written);
    });
    return nb::bytes(out, written);
}

}  // namespace

void bind_cky_text(nb::module_& m) {
    nb::class_<Words>(m, "CkyWords")
        .def("__init__", &make_words, nb::arg("words"), nb::arg("chars"), nb::arg("unknown"))
        .def("encode", &encode_text, nb::arg("text").noconvert(), nb::arg("threads"),
             "Terminals uint32, offsets int64 (lines + 1), starts of lines int64 (lines + 1), "
             "and line, fault and byte of each bad line, int64.");
    m.def("cky_mark_lines", &mark_lines, nb::arg("text").noconvert(), nb::arg("starts").noconvert(),
          nb::arg("marks").noconvert(), nb::arg("shown"),
          "The lines whose mark is not 0, each with its mark and a tab before it if shown.");
}
