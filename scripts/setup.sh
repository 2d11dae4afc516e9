# shellcheck shell=bash
# What quickstart and test share: packages, CUDA parts, the release build. Sourced, never run.
#
# Everything here looks first and acts only on what is missing, so a second run changes nothing and needs no network.
# shellcheck disable=SC2034  # the lists are used by the scripts that source this

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit

# Distribution packages (the same names in Debian 12 and Ubuntu 24.04). The one list of what ktune needs.
build_packages=(
  cmake ninja-build g++ git ca-certificates python3
  libcli11-dev libfmt-dev libtomlplusplus-dev nlohmann-json3-dev libsqlitecpp-dev libsqlite3-dev
  libexpected-dev libxxhash-dev libboost-dev libboost-context-dev
  libbenchmark-dev
)
wheel_packages=(python3-pip) # only where NVIDIA's wheels have to be fetched
test_packages=(libgtest-dev libboost-math-dev clang-tidy-19 clang-format-19 shellcheck python3-yaml)

# NVIDIA's wheels: what compiling, loading and inspecting kernels takes. One release, pinned; nvdisasm and cuobjdump
# first appeared as wheels with 13.2 and read older cubins.
cuda_wheels=(
  nvidia-cuda-nvrtc==13.0.88 nvidia-cuda-runtime==13.0.96 nvidia-cuda-crt==13.0.88 nvidia-cuda-cccl==13.0.85
  nvidia-cuda-cupti==13.0.85 nvidia-nvml-dev==13.0.87
)
disassembler_wheels=(nvidia-cuda-nvdisasm==13.5.37 nvidia-cuda-cuobjdump==13.5.37)
wheel_dir=build/cuda
least_cuda=12080 # 12.8, as CUDA_VERSION spells it

if ((BASH_VERSINFO[0] * 10 + BASH_VERSINFO[1] < 44)); then
  echo "bash 4.4 or newer is needed" >&2
  exit 3
fi
exit_environment=3

say() { printf '== %s\n' "$*"; }
fail() { # exit code, message
  local code=$1
  shift
  printf 'error: %s\n' "$*" >&2
  exit "$code"
}

as_root() {
  if ((EUID == 0)); then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail $exit_environment "installing packages needs root or sudo: $*"
  fi
}

# Installs those of the named packages that are missing.
need_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian or Ubuntu: what this needs, by its name there: $*"
    return
  fi
  local missing=() name
  for name; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || missing+=("$name")
  done
  if ((${#missing[@]} == 0)); then
    say "packages: all $# are installed"
    return
  fi
  say "packages: installing ${missing[*]}"
  local install=(env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}")
  # Package lists may be absent or old: refresh them only when they do not lead to the packages.
  if ! as_root "${install[@]}" >build/apt.log 2>&1; then
    as_root apt-get update -qq >>build/apt.log 2>&1 || true
    as_root "${install[@]}" >>build/apt.log 2>&1 || {
      tail -n 20 build/apt.log >&2
      fail $exit_environment "apt-get could not install: ${missing[*]} (log: build/apt.log)"
    }
  fi
}

# What a CUDA folder lacks of what ktune needs, as words on stdout; nothing when it is complete.
cuda_lacks() {
  local home=$1 version
  version=$(sed -n 's/^#define CUDA_VERSION \([0-9]*\).*/\1/p' "$home/include/cuda.h" 2>/dev/null)
  if [[ -z $version ]]; then
    echo "include/cuda.h"
    return
  fi
  if ((version < least_cuda)); then
    echo "a version of 12.8 or newer (it is $((version / 1000)).$((version % 1000 / 10)))"
  fi
  local header library
  for header in nvrtc.h cupti.h nvml.h cuda_fp16.h cuda_bf16.h crt/host_defines.h nv/target; do
    [[ -e $home/include/$header || -e $home/include/cccl/$header ]] || echo "include/$header"
  done
  for library in nvrtc cupti; do
    compgen -G "$home/lib*/lib$library.so*" >/dev/null ||
      compgen -G "$home/targets/x86_64-linux/lib/lib$library.so*" >/dev/null || echo "lib$library"
  done
}

# Installs those of the named wheels whose pinned version is not in $wheel_dir. Through a folder of its own: pip does
# not merge into an existing target, and an interrupted run must not leave half a toolkit.
need_wheels() {
  local missing=() wheel
  for wheel; do
    local name=${wheel%%==*} version=${wheel##*==}
    [[ -d $wheel_dir/${name//-/_}-$version.dist-info ]] || missing+=("$wheel")
  done
  ((${#missing[@]})) || return 0
  say "CUDA parts: installing NVIDIA's wheels into $wheel_dir: ${missing[*]}"
  need_packages "${wheel_packages[@]}"
  rm -rf "$wheel_dir.partial"
  python3 -m pip install --quiet --no-deps --no-compile --disable-pip-version-check --root-user-action=ignore \
    --target "$wheel_dir.partial" "${missing[@]}" >build/pip.log 2>&1 || {
    tail -n 20 build/pip.log >&2
    fail $exit_environment "pip could not install NVIDIA's wheels (log: build/pip.log); a toolkit will do too: --cuda PATH"
  }
  mkdir -p "$wheel_dir"
  # The .dist-info folders say that a wheel is there, so they come last.
  cp -a "$wheel_dir.partial/nvidia" "$wheel_dir/"
  cp -a "$wheel_dir.partial"/*.dist-info "$wheel_dir/"
  rm -rf "$wheel_dir.partial"
}

# Sets cuda_home: the folder that was named, else the first complete toolkit, else NVIDIA's wheels.
find_cuda() {
  local named=$1 candidate lacks
  if [[ -n $named ]]; then
    [[ -d $named ]] || fail 2 "--cuda $named: no such folder"
    cuda_home=$(cd "$named" && pwd)
    lacks=$(cuda_lacks "$cuda_home")
    [[ -z $lacks ]] || fail $exit_environment "--cuda $named lacks: ${lacks//$'\n'/, }"
  else
    cuda_home=
    local seen=:
    for candidate in "${CUDA_HOME:-}" "${CUDA_PATH:-}" /usr/local/cuda /usr/local/cuda-* /opt/cuda; do
      [[ -n $candidate && -d $candidate && $seen != *:$(realpath "$candidate"):* ]] || continue
      seen+=$(realpath "$candidate"):
      lacks=$(cuda_lacks "$candidate")
      if [[ -z $lacks ]]; then
        cuda_home=$(cd "$candidate" && pwd)
        break
      fi
      say "CUDA: $candidate is not enough, it lacks ${lacks//$'\n'/, }"
    done
    if [[ -z $cuda_home ]]; then
      need_wheels "${cuda_wheels[@]}"
      cuda_home=$PWD/$wheel_dir/nvidia/cu13
    fi
  fi
  say "CUDA: $cuda_home"
  if [[ ! -x $cuda_home/bin/nvdisasm ]] && ! command -v nvdisasm >/dev/null; then
    need_wheels "${disassembler_wheels[@]}" # for `ktune show --sass`
  fi
}

# Configures and builds targets of the release preset in build/. Arguments: ON or OFF (the tests), targets…
build_release() {
  local flags=(-DKTUNE_CUDA_HOME="$cuda_home" -DKTUNE_TESTS="$1")
  shift
  if command -v ccache >/dev/null; then
    flags+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  say "building ${*:-everything} in build/ on $(nproc) cores"
  cmake --preset release "${flags[@]}" >build/configure.log 2>&1 || {
    tail -n 30 build/configure.log >&2
    fail $exit_environment "cmake could not configure (log: build/configure.log)"
  }
  local targets=()
  (($# == 0)) || targets=(--target "$@")
  local status=0
  # Ninja's own progress on a terminal; elsewhere only what went wrong.
  if [[ -t 1 ]]; then
    cmake --build build "${targets[@]}" || status=$?
  else
    cmake --build build "${targets[@]}" >build/build.log 2>&1 || status=$?
    ((status == 0)) || grep -v '^\[[0-9]*/[0-9]*\]' build/build.log | tail -n 60 >&2
  fi
  return "$status"
}

# Prints where the seconds of a script went.
started=$SECONDS
took() { printf '%d min %02d s' $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)); }
mkdir -p build
