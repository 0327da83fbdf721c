#!/bin/sh
# Provides the libraries, headers and tools the build needs, and says in a makefile fragment where they are.
#
#   deps.sh program FILE   what the program needs; writes FILE (make variables) when all is there
#   deps.sh tests FILE     what the tests need on top of it; likewise
#   deps.sh bench FILE     the ONNX Runtime to measure against; likewise
#   deps.sh arm64 FILE     what building for arm64 and running that here need: a cross compiler, an emulator, the libraries
#
# FILE's folder is the dependency folder. In this order:
#   1. what the system has already is used as it is;
#   2. Debian 13, Ubuntu 24.10 and newer: what is missing is installed through apt (with sudo where not root);
#   3. Debian 12, whose oneDNN is too old: the Debian 13 packages are unpacked below the dependency folder (a sysroot), where
#      nothing of the system changes and root is not needed;
#   4. elsewhere: one message that names all that is missing.
# The libraries for arm64 always are a sysroot, of Debian 13 or of the running Ubuntu.
# FILE is renamed into place as the last step, so an interrupted run is simply run again.
set -eu

part=$1
file=$2
deps=$(dirname "$file")
testdata=usr/lib/python3/dist-packages/onnx/backend/test/data

library_packages="libdnnl-dev libprotobuf-c-dev libyaml-dev libjansson-dev libzip-dev libpcre2-dev"
program_packages="$library_packages protobuf-c-compiler"
runtime_packages="libc6-dev libgcc-s1 libstdc++6"
test_packages="libcmocka-dev libonnx-dev libprotobuf-dev libonnxruntime-dev"

say() { printf 'setup: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

install_packages() {
  [ "$(id -u)" = 0 ] || command -v sudo >/dev/null 2>&1 || die "needs root or sudo to install packages; as root, run: apt-get install $*"
  say "installing $*"
  as_root apt-get update -qq >&2
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

# distribution: "debian 12", "ubuntu 2410" (no dot), "debian 999" for testing and unstable, "other 0".
distribution() {
  ID=other VERSION_ID=
  [ -r /etc/os-release ] && . /etc/os-release
  case $ID in
    debian) echo "debian ${VERSION_ID:-999}" ;;
    ubuntu) echo "ubuntu $(printf %s "${VERSION_ID:-0}" | tr -d .)" ;;
    *) echo "other 0" ;;
  esac
}

# ---- what the system has -----------------------------------------------------------------------------------------------

cc_takes() { # source text on stdin, options as arguments
  # shellcheck disable=SC2086
  "${CC:-cc}" ${CPPFLAGS:-} ${CFLAGS:-} ${LDFLAGS:-} -x c - -o "$deps/probe.out" "$@" >/dev/null 2>&1
}

pkg() { # pkg-config output, or nothing where there is no pkg-config or no such module
  command -v pkg-config >/dev/null 2>&1 && pkg-config "$@" 2>/dev/null || true
}

# has_library HEADER OPTIONS [CONDITION]: compiles and links a program that includes HEADER; CONDITION is a preprocessor one.
has_library() {
  # shellcheck disable=SC2086
  printf '#include <stdio.h>\n#include <stddef.h>\n#include <stdarg.h>\n#include <setjmp.h>\n#include <stdint.h>\n#include <%s>\n#if !(%s)\n#error old\n#endif\nint main(void) { return 0; }\n' \
    "$1" "${3:-1}" | cc_takes $2
}

has_cxx_library() {
  # shellcheck disable=SC2086
  printf '#include <%s>\nint main() { return 0; }\n' "$1" |
    "${CXX:-c++}" -std=c++17 -DONNX_NAMESPACE=onnx -DONNX_ML=1 -x c++ - -o "$deps/probe.out" -Wl,--allow-shlib-undefined $2 >/dev/null 2>&1
}

find_onnx_proto() {
  for at in ${ONNX_PROTO:+"$ONNX_PROTO"} /usr/include/onnx/onnx.proto /usr/local/include/onnx/onnx.proto; do
    [ -r "$at" ] && { echo "$at"; return; }
  done
}

find_testdata() {
  for at in ${ONNX_TESTDATA:+"$ONNX_TESTDATA"} /$testdata /usr/lib*/python3*/site-packages/onnx/backend/test/data; do
    [ -d "$at/node" ] && { echo "$at"; return; }
  done
}

program_modules="protobuf-c-1 libprotobuf-c yaml-0.1 jansson libzip libpcre2-8"

# The flags pkg-config has for MODULES..., one --cflags or --libs-only-L word list.
module_flags() {
  what=$1; shift
  for module in "$@"; do printf '%s ' "$(pkg "$what" "$module")"; done
}

missing_of_program() {
  flags="$(module_flags --cflags $program_modules) $(module_flags --libs-only-L $program_modules)"
  has_library oneapi/dnnl/dnnl.h "-ldnnl" "DNNL_VERSION_MAJOR >= 3" || echo "oneDNN 3 or newer (oneapi/dnnl/dnnl.h, -ldnnl)"
  has_library protobuf-c/protobuf-c.h "$flags -lprotobuf-c" || echo "protobuf-c (protobuf-c/protobuf-c.h, -lprotobuf-c)"
  has_library yaml.h "$flags -lyaml" || echo "libyaml (yaml.h, -lyaml)"
  has_library jansson.h "$flags -ljansson" || echo "jansson (jansson.h, -ljansson)"
  has_library zip.h "$flags -lzip" || echo "libzip (zip.h, -lzip)"
  has_library zlib.h "-lz" || echo "zlib (zlib.h, -lz)"
  has_library pcre2.h "-DPCRE2_CODE_UNIT_WIDTH=8 $flags -lpcre2-8" "PCRE2_MAJOR * 100 + PCRE2_MINOR >= 1040" ||
    echo "PCRE2 10.40 or newer (pcre2.h, -lpcre2-8)"
  has_library omp.h "-fopenmp" || echo "OpenMP (omp.h, -fopenmp)"
  command -v protoc-c >/dev/null 2>&1 || echo "protobuf-c's compiler (protoc-c)"
  [ -n "$(find_onnx_proto)" ] || echo "ONNX's onnx.proto (of libonnx-dev or onnx-devel; or set ONNX_PROTO=FILE)"
}

missing_of_tests() {
  has_library cmocka.h "$(module_flags --cflags cmocka) $(module_flags --libs-only-L cmocka) -lcmocka" || echo "cmocka (cmocka.h, -lcmocka)"
  command -v "${CXX:-c++}" >/dev/null 2>&1 || echo "a C++ compiler (c++)"
  has_cxx_library onnx/checker.h "-lonnx -lonnx_proto -lprotobuf" || echo "ONNX's C++ library (onnx/checker.h, -lonnx)"
  has_library onnxruntime_c_api.h -lonnxruntime || has_library onnxruntime/onnxruntime_c_api.h -lonnxruntime ||
    has_library onnxruntime/core/session/onnxruntime_c_api.h -lonnxruntime || echo "ONNX Runtime (onnxruntime_c_api.h, -lonnxruntime)"
  command -v xz >/dev/null 2>&1 || echo "xz"
  [ -n "$(find_testdata)" ] || echo "ONNX's backend tests (of libonnx-testdata; or set ONNX_TESTDATA=FOLDER)"
}

emulator() { command -v qemu-aarch64-static || command -v qemu-aarch64 || true; }

missing_of_arm64() {
  command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || echo "gcc-aarch64-linux-gnu"
  [ -n "$(emulator)" ] || echo "qemu-user"
}

# Installs through apt what is missing, where the distribution's own packages will do.
complete_system() {
  missing=$(missing_of_"$part")
  [ -n "$missing" ] || return 0
  set -- $(distribution)
  case $1 in
    debian) [ "$2" -ge 13 ] || return 0 ;;
    ubuntu) [ "$2" -ge 2410 ] || return 0 ;;
    *) return 0 ;;
  esac
  case $part in
    program) install_packages $program_packages libc6-dev libonnx-dev ;;
    tests) install_packages $test_packages libonnx-testdata g++ ;;
  esac
}

describe_system() {
  case $part in
    program)
      cat <<END
DEP_KIND := system
DEP_CPPFLAGS := $(module_flags --cflags $program_modules)
DEP_LDFLAGS := $(module_flags --libs-only-L $program_modules)
PROTOC_C := protoc-c
ONNX_PROTO := $(find_onnx_proto)
END
      ;;
    tests) echo "TESTDATA := $(find_testdata)" ;;
  esac
}

# ---- sysroots ----------------------------------------------------------------------------------------------------------

# What a private apt takes: SUITE, of the archives that this machine uses for one of SUITES.
choose_suite() {
  components=main suite=trixie suites='bookworm|trixie|forky|sid|oldstable|stable|testing|unstable'
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  case $(distribution) in
    ubuntu*)
      suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
      suites=$suite components="main universe"
      keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg
      ;;
  esac
}

# The archives this machine uses for its distribution already, one a line, whether or not apt has their lists.
mirrors() {
  apt-get update --print-uris 2>/dev/null | sed -nE "s#^'(.*)/dists/($suites)/InRelease'.*#\1#p" | sort -u
}

write_private_apt() { # SITE
  mkdir -p "$apt/etc/empty" "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/unpacked"
  : >"$apt/status"
  echo "deb [signed-by=$keyring] $1 $suite $components" >"$apt/etc/sources.list"
  cat >"$apt/etc/apt.conf" <<END
APT::Architecture "$arch";
APT::Architectures { "$arch"; };
Dir::Etc::sourcelist "$apt/etc/sources.list";
Dir::Etc::sourceparts "$apt/etc/empty";
Dir::Etc::preferencesparts "$apt/etc/empty";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
Acquire::Retries "3";
END
}

# Whether the private apt has lists with what is wanted: an archive may lack the suite or the architecture.
has_lists() { (export APT_CONFIG="$apt/etc/apt.conf" && apt-get -qq update && apt-cache show libdnnl-dev >/dev/null) >&2; }

# An apt of its own with no package installed, so that it resolves whole closures and touches nothing outside its folder.
private_apt() {
  choose_suite
  if [ ! -e "$apt/ready" ]; then
    sites=$(mirrors)
    for site in $sites; do
      write_private_apt "$site"
      if has_lists; then
        : >"$apt/ready"
        break
      fi
    done
    [ -e "$apt/ready" ] || die "cannot get $suite's package lists for $arch from the machine's apt sources (tried: ${sites:-none, no source for $suites})"
  fi
  export APT_CONFIG="$apt/etc/apt.conf"
}

# fetch_closure PACKAGES...: they and all they depend on. fetch_alone PACKAGES...: only they.
fetch_closure() { apt-get -qq -y --download-only install "$@" >&2; }
fetch_alone() { (cd "$apt/cache/archives" && apt-get -qq download "$@" >&2); }

# unpack_into FOLDER: what was fetched and is not in the sysroot yet.
unpack_into() {
  for deb in "$apt"/cache/archives/*.deb; do
    name=$(basename "$deb")
    [ -e "$apt/unpacked/$name" ] && continue
    dpkg -x "$deb" "$1"
    : >"$apt/unpacked/$name"
  done
}

# begin_sysroot SIZE: says what is to come. A sysroot that is there, set up for less, is added to: programs of other checkouts
# may run on it.
begin_sysroot() {
  if [ -d "$sysroot" ] && [ -d "$apt/unpacked" ]; then
    say "adding the $arch libraries that are new to $sysroot"
    rm -f "$apt/ready" # the package lists may be old
  else
    say "fetching the $arch libraries into $sysroot (about $1; the system itself stays as it is)"
    rm -rf "$apt" "$sysroot" "$sysroot.new"
  fi
  private_apt
}

# What was fetched, in a sysroot that is there whole or not at all.
end_sysroot() {
  if [ ! -d "$sysroot" ]; then
    mkdir -p "$sysroot.new/usr/lib" "$sysroot.new/usr/lib64" "$sysroot.new/usr/bin" "$sysroot.new/usr/sbin"
    for dir in lib lib64 bin sbin; do ln -s "usr/$dir" "$sysroot.new/$dir"; done
    unpack_into "$sysroot.new"
    mv "$sysroot.new" "$sysroot"
  else
    unpack_into "$sysroot"
  fi
}

program_sysroot() {
  begin_sysroot "30 MB"
  [ -d "$sysroot" ] || rm -f "$deps"/tests.*.mk # the tests' packages were unpacked into the same folder
  fetch_closure $program_packages $runtime_packages
  fetch_alone libonnx-dev
  end_sysroot
}

tests_sysroot() {
  say "fetching what the tests need (ONNX's checker, ONNX Runtime, test models) into $sysroot (about 60 MB)"
  command -v "${CXX:-g++}" >/dev/null 2>&1 || install_packages g++
  command -v xz >/dev/null 2>&1 || install_packages xz-utils
  private_apt
  fetch_closure $program_packages $runtime_packages $test_packages
  fetch_alone libonnx-testdata
  end_sysroot
  rm -rf "$apt/cache/archives"
}

arm64_sysroot() {
  [ "$(uname -m)" != aarch64 ] || die "this machine is arm64 itself: 'make check' tests it"
  command -v apt-get >/dev/null 2>&1 || die "the libraries for arm64 come through apt, of Debian or Ubuntu"
  missing=$(missing_of_arm64)
  if [ -n "$missing" ]; then install_packages $missing; fi
  begin_sysroot "30 MB"
  fetch_closure $library_packages $runtime_packages libcmocka-dev
  end_sysroot
  rm -rf "$apt/cache/archives"
}

# describe_libraries TRIPLET: where the libraries and the loader are.
describe_libraries() {
  name=$(basename "$sysroot") lib=usr/lib/$1
  loader=$(cd "$sysroot/$lib" && ls ld-linux*.so.?)
  cat <<END
SYSROOT := \$(DEPS)/$name
SYSLIB := \$(SYSROOT)/$lib
LOADER := $loader
DEP_CPPFLAGS := --sysroot=\$(SYSROOT)
DEP_LDFLAGS := --sysroot=\$(SYSROOT) -B\$(SYSLIB) -L\$(SYSLIB)
END
}

describe_sysroot() {
  case $part in
    program)
      echo "DEP_KIND := sysroot"
      describe_libraries "$("${CC:-gcc}" -print-multiarch)"
      cat <<END
PROTOC_C := \$(SYSLIB)/$loader --library-path \$(SYSLIB) \$(SYSROOT)/usr/bin/protoc-c
ONNX_PROTO := \$(SYSROOT)/usr/include/onnx/onnx.proto
END
      ;;
    tests) echo "TESTDATA := \$(SYSROOT)/$testdata" ;;
    arm64)
      describe_libraries aarch64-linux-gnu
      echo "EMULATOR := $(emulator)"
      ;;
  esac
}

# ---- the ONNX Runtime to measure against --------------------------------------------------------------------------------

# The newest build of its makers that its npm package has, where there is npm: nobody should be measured by an older one.
bench_runtime() {
  case $(uname -m) in x86_64) arch=x64 ;; aarch64) arch=arm64 ;; *) arch=none ;; esac
  rm -rf "$deps/npm" "$deps/onnxruntime"
  if ! command -v npm >/dev/null 2>&1; then
    say "no npm: the tests' ONNX Runtime is measured against"
    return
  fi
  say "fetching ONNX Runtime with npm (about 100 MB)"
  npm install --ignore-scripts --no-audit --no-fund --loglevel=error --prefix "$deps/npm" onnxruntime-node@1.30.0 >&2
  mkdir -p "$deps/onnxruntime"
  mv "$deps"/npm/node_modules/onnxruntime-node/bin/napi-v*/linux/$arch/libonnxruntime.so.1 "$deps/onnxruntime"
  rm -rf "$deps/npm"
}

describe_bench() {
  if [ -d "$deps/onnxruntime" ]; then echo "ORT_BENCH := \$(DEPS)/onnxruntime"; else echo "ORT_BENCH :="; fi
}

# ---- the choice --------------------------------------------------------------------------------------------------------

case $part in
  program | tests | bench) arch=native ;;
  arm64) arch=arm64 ;;
  *) die "usage: deps.sh program|tests|bench|arm64 FILE" ;;
esac
mkdir -p "$deps"
deps=$(cd "$deps" && pwd -P)
if [ $arch = native ]; then
  arch=$(dpkg --print-architecture 2>/dev/null || uname -m) apt=$deps/apt sysroot=$deps/sysroot
else
  apt=$deps/apt-$arch sysroot=$deps/sysroot-$arch
fi
exec 9>"$deps/lock"
if command -v flock >/dev/null 2>&1; then flock 9; fi
[ -e "$file" ] && exit 0 # another make did it while this one waited

kind=system
if [ "$part" = bench ]; then
  bench_runtime
  kind=bench
elif [ "$part" = arm64 ]; then
  arm64_sysroot
  kind=sysroot
elif [ "$(distribution)" = "debian 12" ] && [ "$part" = program ] && [ -n "$(missing_of_program)" ]; then
  program_sysroot
  kind=sysroot
elif [ "$part" = tests ] && [ -d "$sysroot" ]; then
  tests_sysroot
  kind=sysroot
else
  complete_system
  missing=$(missing_of_"$part")
  rm -f "$deps/probe.out"
  [ -z "$missing" ] || die "missing for the $part:
$(printf '%s\n' "$missing" | sed 's/^/  - /')
Install them (headers too) and run make again; CPPFLAGS and LDFLAGS in the environment are searched."
fi
rm -f "$deps/probe.out"
describe_$kind >"$file.new"
mv "$file.new" "$file"
