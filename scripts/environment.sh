# Sourced by demo and test, with `root` set: makes or refreshes $root/.venv.

# prepare [extra]: the package installed in place, with the extra's dependencies. Does
# nothing where neither what is compiled nor the tools for it have changed.
prepare() {
    local extra=${1:-} venv=$root/.venv python stamp=$root/.venv/prepared state done=""
    if ! new_enough "$venv/bin/python"; then
        python=$(find_python)
        echo "Making $venv with $("$python" --version) ..."
        "$python" -m venv --clear "$venv" || die "no virtual environment: see above"
    fi
    state=$(what_is_built)
    [ -f "$stamp" ] && done=$(cat "$stamp")
    if [ "$done" != "$state dev" ] && [ "$done" != "$state $extra" ]; then
        echo "Installing bulkbits${extra:+ and what its tests need} (compiles for a minute) ..."
        rm -f "$stamp"
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
            --editable "$root${extra:+[$extra]}"
        echo "$state $extra" >"$stamp"
    fi
}

# A digest of what an installation in place copies or compiles, and with which tools.
what_is_built() {
    local compiler
    {
        (cd "$root" && find CMakeLists.txt pyproject.toml kernels -type f \
            \( -name '*.txt' -o -name '*.toml' -o -name '*.cpp' -o -name '*.hpp' \) \
            -exec cksum {} + | LC_ALL=C sort)
        for compiler in "${CXX:-}" c++ g++ clang++; do
            [ -z "$compiler" ] || command -v "$compiler" || true
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
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

die() {
    echo "$(basename "$0"): $1" >&2
    exit 1
}
