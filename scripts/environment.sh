# Sourced by demo and test, with `root` set: makes or refreshes $root/.venv.

# prepare [docs|dev]: the package installed in place, with what its documentation or its tests (and the
# documentation) need if asked, and with what a GPU needs where there is one. Does nothing where
# neither what is compiled nor the tools for it have changed. Where compiling fails it says why and
# ends.
prepare() {
    local extra=${1:-} venv=$root/.venv stamp=$root/.venv/prepared log=$root/.venv/install.log
    local python state known="" only=(--no-compile)
    if ! new_enough "$venv/bin/python"; then
        python=$(find_python)
        echo "Making $venv with $("$python" --version) ..."
        "$python" -m venv --clear "$venv"
    fi
    state=$(what_is_built)
    [ ! -f "$stamp" ] || known=$(cat "$stamp")
    [[ $known != *" docs"* || -n $extra ]] || extra=docs
    [[ $known != *" dev" ]] || extra=dev
    # The tests' extra has what a GPU needs, as they emulate its driver.
    [ "$extra" = dev ] || ! "$venv/bin/python" -c "$COUNT_GPUS" || extra=${extra:+$extra,}gpu
    [ "$known" != "$state $extra" ] || return 0

    # Tests run all the code for CPUs that there is, the demo only what this one would choose.
    # Bytecode is written when something is first used.
    [ "$extra" = dev ] || only+=(--config-settings=cmake.define.LEVELS=native)
    echo "Installing bulkbits${extra:+ and what its $extra extra needs}; compiling takes a minute ..."
    rm -f "$stamp" "$log"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --progress-bar off \
        --log "$log" "${only[@]}" --editable "$root${extra:+[$extra]}" || die "the installation failed, see $log"
    if ! "$venv/bin/python" -c 'import kernels._cpu' 2>/dev/null; then
        ! has_compiler || failed_compile "$log"
        echo "The C++ kernels were not built, so all runs on the slow reference. To get them," \
            "install a C++17 compiler (g++ or clang++) and run this again." >&2
    fi
    echo "$state $extra" >"$stamp"
}

# Ends with 0 where CUDA's driver has a GPU for us.
COUNT_GPUS='
import ctypes, sys
try:
    driver = ctypes.CDLL("libcuda.so.1")
except OSError:
    sys.exit(1)
count = ctypes.c_int()
sys.exit(bool(driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))) or not count.value)
'

# A digest of what an installation in place copies or compiles, and with which tools.
what_is_built() {
    {
        cd "$root"
        find CMakeLists.txt pyproject.toml kernels -type f \
            \( -name '*.txt' -o -name '*.toml' -o -name '*.cpp' -o -name '*.hpp' \) \
            -exec cksum {} + | LC_ALL=C sort
        compilers
    } | cksum | tr -d ' '
}

# The paths of the C++ compilers that there are.
compilers() {
    local name
    for name in ${CXX:+"$CXX"} c++ g++ clang++; do
        command -v "$name" || true
    done
}

has_compiler() {
    [ -n "$(compilers)" ]
}

# Shows what the compiler said, from pip's log, and ends.
failed_compile() {
    {
        grep -E -A 4 -m 5 '(: (fatal )?error:|CMake Error)' "$1" | sed -E 's/^[0-9T:,-]+ +//' ||
            tail -n 20 "$1"
        echo
    } >&2
    die "the C++ kernels do not compile; $1 has all that was said"
}

find_python() {
    local name
    for name in ${PYTHON:+"$PYTHON"} python3 python3.13 python3.12 python3.11; do
        new_enough "$name" || continue
        "$name" -c 'import ensurepip, venv' 2>/dev/null ||
            die "$name has no venv module: install it (on Debian and Ubuntu, python3-venv)"
        echo "$name"
        return
    done
    die "no Python 3.11 or newer found: install one, or set PYTHON to its path"
}

new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

die() {
    echo "$(basename "$0"): $1" >&2
    exit 1
}
