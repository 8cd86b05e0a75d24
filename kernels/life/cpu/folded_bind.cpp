// Binds folded universes (folded.hpp) to Python, for kernels.life.cpu.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "../../levels.hpp"
#include "../../tasks.hpp"
#include "../../team.hpp"
#include "folded.hpp"

namespace nb = nanobind;

LEVELS_OF(folded::Ops, folded)

namespace {

using folded::Piece;
using std::int64_t;
using std::size_t;
using std::uint32_t;
using std::uint64_t;

using Words = nb::ndarray<uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using ConstWords = nb::ndarray<const uint64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// How many updates of cells may be made between two looks at signals: those of some tenths of a second.
constexpr double LONGEST_STRETCH = 0x1p36;

// How a universe is cut into pieces. halo: rows that they have of each other, 0 where there is one that
// wraps, or that is a whole plane.
struct Cut {
    int64_t height, count, halo;
    bool torus;
};

// The pieces of a universe, and all memory that they take.
class Pieces {
public:
    Pieces(const folded::Ops& ops, const folded::Form& form, const Cut& cut) : ops(ops), form(form) {
        const int64_t lanes = ops.vector_bytes / 4;
        for (int64_t i = 0; i < cut.count; i++) {
            Piece piece = {};
            piece.first = cut.height * i / cut.count, piece.own = cut.height * (i + 1) / cut.count - piece.first;
            const bool at_top = !cut.torus && i == 0, at_bottom = !cut.torus && i == cut.count - 1;
            const int64_t least = piece.own + (at_top ? 0 : cut.halo) + (at_bottom ? 0 : cut.halo);
            piece.rows = (least + lanes - 1) / lanes;
            const int64_t spare = piece.rows * lanes - least;
            // Rows to spare lie beyond a halo, where what is computed is thrown away.
            piece.above = at_top ? 0 : cut.halo + (at_bottom ? spare : 0);
            for (void*& cells : piece.cells)
                cells = keep(size_t(piece.pitch() * form.columns) * size_t(ops.vector_bytes));
            pieces.push_back(piece);
            scratch.push_back(aligned_scratch(ops.scratch_bytes(form.columns)));
            if (!cut.halo) continue;
            for (auto& of : shown) {
                uint32_t* const words = static_cast<uint32_t*>(keep(2 * edge() * sizeof(uint32_t)));
                of.push_back(words);
            }
        }
    }

    int count() const { return int(pieces.size()); }

    void fold(int i, const folded::Rows& from) {
        ops.fold(form, pieces[size_t(i)], from, scratch[size_t(i)].get());
        show(i, 0);
    }
    void unfold(int i, const folded::Rows& to) {
        ops.unfold(form, pieces[size_t(i)], to, scratch[size_t(i)].get());
    }
    // Moves piece i on, at most by as many generations as its halo has rows. All pieces are moved on by as
    // many before any is again; `turn` is 0 and 1 by turns, and 0 at first.
    void advance(int i, int64_t generations, int turn) {
        if (form.halo) {
            const int last = count() - 1;
            const auto edges = [&](int at) { return shown[turn][size_t(at)]; };
            const uint32_t* above = i || form.torus ? edges(i ? i - 1 : last) + edge() : nullptr;
            const uint32_t* below = i < last || form.torus ? edges(i < last ? i + 1 : 0) : nullptr;
            ops.renew(form, pieces[size_t(i)], above, below);
        }
        ops.advance(form, pieces[size_t(i)], generations);
        show(i, 1 - turn);
    }

private:
    size_t edge() const { return size_t(form.columns * form.halo); }
    void* keep(size_t bytes) {
        memory.push_back(aligned_scratch(bytes));
        return memory.back().get();
    }
    void show(int i, int turn) {
        if (!form.halo) return;
        Piece& piece = pieces[size_t(i)];
        piece.top = shown[turn][size_t(i)], piece.bottom = piece.top + edge();
        ops.show(form, piece);
    }

    const folded::Ops& ops;
    const folded::Form form;
    std::vector<Scratch> memory, scratch;
    std::vector<Piece> pieces;
    std::vector<uint32_t*> shown[2];  // the first and last rows of each piece, for its neighbours
};

// The rounds of a run, in each of which every piece is moved on once. Threads take the pieces of a round
// once all of the round before are done; who finds none waits for those that are under way, but for no
// thread that has not even begun, as on a busy machine.
class Rounds {
public:
    Rounds(Pieces& pieces, int64_t generations, int64_t stretch)
        : pieces(pieces), generations(generations), stretch(stretch), count(pieces.count()),
          all((generations + stretch - 1) / stretch * count) {}

    // Makes rounds beside other threads, until they are over or is_stopped(), which is asked often.
    template <class Stopped>
    void work(Stopped is_stopped) {
        for (int waited = 0; !stopped.load(std::memory_order_relaxed);) {
            const int64_t ended = done.load(std::memory_order_acquire) / count * count;
            if (ended == all) return;
            int64_t next = taken.load(std::memory_order_relaxed);
            if (next < ended + count && taken.compare_exchange_weak(next, next + 1)) {
                const int64_t round = next / count;
                pieces.advance(int(next % count), std::min(stretch, generations - round * stretch), int(round & 1));
                done.fetch_add(1, std::memory_order_release);
                waited = 0;
            } else if (++waited > SPINS) {
                std::this_thread::yield();
            } else {
#if defined(__x86_64__)
                __builtin_ia32_pause();
#endif
                continue;
            }
            if (is_stopped()) stopped = true;
        }
    }
    bool are_over() const { return done == all; }

private:
    static constexpr int SPINS = 500;  // some tens of microseconds

    Pieces& pieces;
    const int64_t generations, stretch, count, all;
    std::atomic<int64_t> taken{0}, done{0};  // pieces, of all rounds
    std::atomic<bool> stopped{false};
};

// Makes generations; returns false where `stopped` broke them off.
bool life_folded(const std::string& level, ConstWords src, Words dst, int64_t width, bool torus, unsigned birth,
                 unsigned survival, int64_t generations, int64_t count, int64_t halo, int64_t stretch, int threads,
                 nb::object stopped) {
    const folded::Ops& ops = ops_at(folded_levels, level);
    const int64_t height = int64_t(src.shape(0)), stride = int64_t(src.shape(1)), lanes = ops.vector_bytes / 4;
    checks::require_aligned(src, dst);
    const bool alone = count == 1 && height % lanes == 0 && halo == 0;
    if (src.shape(0) != dst.shape(0) || src.shape(1) != dst.shape(1) || checks::overlap(src, dst) || birth > 511 ||
        survival > 511 || width < folded::STRIPS || stride != (width + 63) / 64 ||
        height < 1 || generations < 1 || count < 1 || count > height || halo < 0 || halo > height / count ||
        stretch < 1 || (stretch > 1 && double(stretch) * double(width) * double(height) > LONGEST_STRETCH) ||
        (!alone && (stretch > halo || (count == 1 && !torus))))
        throw nb::value_error("a universe cannot be folded so");
    threads = int(std::min(int64_t(checks::threads_of(threads)), count));
    const int64_t columns = (width + folded::STRIPS - 1) / folded::STRIPS;
    const int longest = int(width - (columns - 1) * folded::STRIPS);
    const folded::Form form{columns, halo, longest, torus, torus && alone, birth, survival};
    checks::need_memory(2.5 * 8.0 * double(height + count * (2 * halo + lanes)) * double(stride));
    Pieces pieces(ops, form, {height, count, halo, torus});
    Asking asking(stopped);
    bool is_whole = false;
    {
        nb::gil_scoped_release release;
        Team team(threads);
        std::atomic<int> next;
        const auto each = [&](const auto& work) {
            next = 0;
            team.run([&](int) {
                for (int i; (i = next++) < pieces.count();) work(i);
            });
        };
        const folded::Rows from{const_cast<uint64_t*>(src.data()), stride}, to{dst.data(), stride};
        each([&](int i) { pieces.fold(i, from); });
        Rounds rounds(pieces, generations, stretch);
        team.run([&](int thread) { rounds.work([&] { return thread == 0 && asking(); }); });
        is_whole = rounds.are_over();
        if (is_whole) each([&](int i) { pieces.unfold(i, to); });
    }
    if (asking.failed) throw nb::python_error();
    return is_whole;
}

}  // namespace

void bind_folded(nb::module_& m) {
    m.def("life_folded", &life_folded, nb::arg("level"), nb::arg("src"), nb::arg("dst").noconvert(), nb::arg("width"),
          nb::arg("torus"), nb::arg("birth"), nb::arg("survival"), nb::arg("generations"), nb::arg("pieces"),
          nb::arg("halo"), nb::arg("stretch"), nb::arg("threads"), nb::arg("stopped") = nb::none(),
          "dst = src after `generations` of Life, made in `pieces` that are folded (folded.hpp). `stretch` "
          "generations at a time are made, at most as many as the halo has rows; signals are looked at in "
          "between. A single piece of a plane, or one without a halo, is whole bands high. stopped(), if "
          "given, is asked 100 times a second; where it is true dst is undefined, and False is returned.");
}
