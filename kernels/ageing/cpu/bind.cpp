// Binds passes over ageing cells to Python; kernels.ageing.cpu.engine calls them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "../../life/circuits/cpu/circuit.hpp"
#include "../../levels.hpp"
#include "../../tasks.hpp"
#include "ageing.hpp"

namespace nb = nanobind;

LEVELS_OF(AgeingOps, ageing)

namespace {

using Words = nb::ndarray<std::uint64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using ConstWords = nb::ndarray<const std::uint64_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

// Makes one pass; returns false where `stopped` broke it off.
bool ageing_pass(const std::string& level, ConstWords src, Words dst, std::int64_t width, bool torus,
                 unsigned birth, unsigned survival, int states, int steps, std::int64_t panels,
                 std::int64_t useful, int columns, int halo, std::int64_t band_rows, int block_rows,
                 int threads, nb::object stopped, const circuits::Circuit* circuit, std::int64_t edge) {
    const AgeingOps& ops = ops_at(ageing_levels, level);
    const std::int64_t height = std::int64_t(src.shape(0));
    checks::require_aligned(src, dst);
    volatile bool cancelled = false;
    const LifeCircuit code = circuit ? circuit->code(ops.vector_bytes) : LifeCircuit{};
    AgeingPass pass{{src.data(), dst.data(), width, height,
                     std::int64_t(src.shape(1) * src.shape(2)), torus, birth, survival, steps,
                     panels, useful, columns, halo, std::min(band_rows, height), block_rows,
                     &cancelled, circuit ? &code : nullptr, edge},
                    states};
    if (states < 3 || states > 256 || src.shape(1) != std::size_t(ageing_planes(states)) ||
        src.shape(0) != dst.shape(0) || src.shape(1) != dst.shape(1) ||
        src.shape(2) != dst.shape(2) || width < 1 || columns < 1 || birth > 511 ||
        survival > 511 || threads < 1 || checks::overlap(src, dst) || !life_fits(pass.pass, ops.vector_bytes) ||
        std::int64_t(src.shape(2)) != pass.plane_words())
        throw nb::value_error("parameters of a pass contradict each other");
    run_tasks(life_tasks(pass.pass), checks::threads_of(threads), ops.scratch_bytes(pass), cancelled,
              [&](std::int64_t i, void* scratch) { ops.run_task(pass, i, scratch); },
              stopped.is_none() ? nullptr : stopped.ptr());
    return !cancelled;
}

}  // namespace

void bind_ageing(nb::module_& m) {
    m.def("ageing_pass", &ageing_pass, nb::arg("level"), nb::arg("src"), nb::arg("dst").noconvert(),
          nb::arg("width"), nb::arg("torus"), nb::arg("birth"), nb::arg("survival"),
          nb::arg("states"), nb::arg("steps"), nb::arg("panels"), nb::arg("useful"),
          nb::arg("columns"), nb::arg("halo"), nb::arg("band_rows"), nb::arg("block_rows"),
          nb::arg("threads"), nb::arg("stopped") = nb::none(),
          nb::arg("circuit") = nb::none(), nb::arg("edge") = 0);
}
