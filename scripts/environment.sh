# Sourced by demo and test, with `root` set: makes or refreshes $root/.venv.

# prepare [docs|dev]: the package installed in place, with what its documentation or its tests
# (and the documentation) need if asked. Does nothing where neither what is compiled nor the tools
# for it have changed.
prepare() {
    local extra=${1:-} venv=$root/.venv stamp=$root/.venv/prepared python state known=""
    if ! new_enough "$venv/bin/python"; then
        python=$(find_python)
        echo "Making $venv with $("$python" --version) ..."
        "$python" -m venv --clear "$venv"
    fi
    state=$(what_is_built)
    [ ! -f "$stamp" ] || known=$(cat "$stamp")
    [[ $known != *" docs" || -n $extra ]] || extra=docs
    [[ $known != *" dev" ]] || extra=dev
    [ "$known" != "$state $extra" ] || return 0

    echo "Installing bulkbits${extra:+ with its extra $extra}; compiling takes a minute ..."
    rm -f "$stamp"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
        --editable "$root${extra:+[$extra]}"
    "$venv/bin/python" -c 'import kernels._cpu' 2>/dev/null ||
        echo "The C++ kernels were not built, so all runs on the slow reference. To get them," \
            "install a C++17 compiler (g++ or clang++) and run this again." >&2
    echo "$state $extra" >"$stamp"
}

# A digest of what an installation in place copies or compiles, and with which tools.
what_is_built() {
    local name
    {
        cd "$root"
        find CMakeLists.txt pyproject.toml kernels -type f \
            \( -name '*.txt' -o -name '*.toml' -o -name '*.cpp' -o -name '*.hpp' \) \
            -exec cksum {} + | LC_ALL=C sort
        for name in ${CXX:+"$CXX"} c++ g++ clang++; do
            command -v "$name" || true
        done
    } | cksum | tr -d ' '
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
