# Shared by tools/quickstart, tools/test and tools/bundle: installs what is missing and builds.
# Sourced, not run. Works on Debian 12 and Ubuntu 24.04, as root or with sudo.
#
#   VPHI_BUILD        build folder (default: build)
#   VPHI_CMAKE_FLAGS  more options for cmake

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${VPHI_BUILD:-$root/build}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

# The newest LLVM from 19 down to 16 that the distribution carries; nothing where there is none.
llvm_version() {
  local v
  for v in 19 18 17 16; do
    if installed "libclang-$v-dev" || apt-cache show "libclang-$v-dev" >/dev/null 2>&1; then
      echo "$v"
      return
    fi
  done
}

# install_packages REQUIRED... -- OPTIONAL...: optional ones that cannot be had are named, not fatal.
install_packages() {
  local required=() optional=() into=required p
  for p in "$@"; do
    if [ "$p" = -- ]; then into=optional; continue; fi
    installed "$p" && continue
    if [ $into = required ]; then required+=("$p"); else optional+=("$p"); fi
  done
  [ ${#required[@]} -eq 0 ] && [ ${#optional[@]} -eq 0 ] && return 0
  export DEBIAN_FRONTEND=noninteractive
  [ ${#required[@]} -gt 0 ] && as_root apt-get install -y -qq --no-install-recommends "${required[@]}" >/dev/null
  for p in "${optional[@]}"; do
    as_root apt-get install -y -qq --no-install-recommends "$p" >/dev/null 2>&1 ||
      echo "not available here, going on without: $p"
  done
}

# Packages for the main job; with "test" those of the test suite too, with "python" those of the
# Python package.
install_dependencies() {
  command -v apt-get >/dev/null || { echo "No apt-get here: install the packages of README.md by hand."; return 0; }
  local required=(g++ cmake ninja-build pkg-config libfmt-dev nlohmann-json3-dev
                  libhdf5-dev libgtest-dev)
  local optional=(ccache libfftw3-dev libsilo-dev libvkfft-dev ocl-icd-opencl-dev opencl-headers
                  libcpp-httplib-dev)
  if [ "${1:-}" = test ]; then
    optional+=(libbenchmark-dev pocl-opencl-icd oclgrind hdf5-tools librandom123-dev
               libopenmpi-dev openmpi-bin python3-venv python3-dev
               python3-h5py python3-lxml python3-xarray python3-h5netcdf python3-pandas)
  fi
  [ "${1:-}" = python ] && required+=(python3-venv python3-dev)
  local missing=0 p
  for p in "${required[@]}" "${optional[@]}"; do installed "$p" || missing=1; done
  [ -n "$(ls /usr/lib/llvm-1[6-9]/lib/cmake/clang/ClangConfig.cmake 2>/dev/null)" ] || missing=1
  [ $missing -eq 0 ] && return 0
  echo "Installing what is missing (apt-get) ..."
  as_root apt-get update -qq
  local v
  v=$(llvm_version)
  [ -n "$v" ] && optional+=("llvm-$v-dev" "libclang-$v-dev" "libclang-cpp$v-dev" "clang-$v" libzstd-dev)
  install_packages "${required[@]}" -- "${optional[@]}"
}

# python_environment PACKAGES...: an environment for the Python package in the build folder, with further
# packages, and the flags of CMake that build the package with it. Fails where there is no venv or no
# package index.
python_environment() {
  python_venv=$build/python_venv
  python3 -m venv "$python_venv" &&
    "$python_venv/bin/python" -m pip -q --disable-pip-version-check install --no-compile numpy xarray h5py \
      scikit-build-core nanobind "$@" || return 1
  VPHI_CMAKE_FLAGS="${VPHI_CMAKE_FLAGS:-} -DVPHI_PYTHON_MODULE=ON"
  VPHI_CMAKE_FLAGS="$VPHI_CMAKE_FLAGS -DPython_EXECUTABLE=$python_venv/bin/python"
}

# Reads ninja's output and shows one line: what is done and how long the rest takes. Where there is
# no terminal, a line for each tenth. What is not a step (warnings, errors) is passed on.
show_progress() {
  local line done total share left tenth=-1
  local terminal=0
  [ -t 1 ] && terminal=1
  SECONDS=0
  while IFS= read -r line; do
    if [[ ! $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]]; then
      [[ $line == ninja:* && $line != *stopped* ]] && continue
      [ $terminal -eq 1 ] && printf '\r\033[K'
      printf '%s\n' "$line"
      continue
    fi
    done=${BASH_REMATCH[1]} total=${BASH_REMATCH[2]}
    [ "$done" -gt 0 ] || continue  # ninja looks for new files
    share=$((100 * done / total))
    left=$((SECONDS * (total - done) / done))
    if [ $terminal -eq 1 ]; then
      printf '\r\033[Kbuilding: %d of %d, %d:%02d left' "$done" "$total" $((left / 60)) $((left % 60))
    elif [ $((share / 10)) -gt $tenth ]; then
      tenth=$((share / 10))
      printf 'building: %d %%, %d:%02d left\n' "$share" $((left / 60)) $((left % 60))
    fi
  done
  [ $terminal -eq 1 ] && printf '\r\033[K'
  return 0
}

build_targets() {
  NINJA_STATUS='[%f/%t] ' cmake --build "$build" ${1:+--target "$@"} | show_progress
}

# configure_and_build TARGETS...: all where none is named. A new build folder compiles the files of
# a folder together (cmake/unity.cmake); one that is there keeps its own way.
configure_and_build() {
  local together=-DVPHI_UNITY=ON
  [ -f "$build/CMakeCache.txt" ] && together=
  cmake -S "$root" -B "$build" -G Ninja $together ${VPHI_CMAKE_FLAGS:-} >"$build.log" 2>&1 ||
    { cat "$build.log"; return 1; }
  rm -f "$build.log"
  build_targets "$@" && return
  grep -q '^VPHI_UNITY:BOOL=ON' "$build/CMakeCache.txt" || return 1
  echo "The files of a folder could not be compiled together: each is compiled by itself."
  cmake -DVPHI_UNITY=OFF "$build" >/dev/null && build_targets "$@"
}
