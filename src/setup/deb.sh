#!/bin/sh
# Makes a Debian package of an installed tree.
#   deb.sh TREE VERSION SYSROOT FILE
# TREE holds what `make install DESTDIR=TREE PREFIX=/usr` put there, and becomes what the package holds. The program's libraries
# come as dependencies: for each one the package that Debian's policy names after its soname (8.1), of the version it was linked
# with or newer. SYSROOT is where these libraries were taken from: a sysroot, or "" for the system itself. DEBFULLNAME and DEBEMAIL
# name the maintainer, SOURCE_DATE_EPOCH dates the files.
set -eu
tree=$1 version=$2 sysroot=$3 file=$4
top=$(cd "$(dirname "$0")/../.." && pwd)
program=$tree/usr/bin/ampconv
doc=$tree/usr/share/doc/ampconv
maintainer="${DEBFULLNAME:-The ampconv authors} <${DEBEMAIL:-ampconv@packages.invalid}>"
date=${SOURCE_DATE_EPOCH:-$(git -C "$top" log -1 --format=%ct 2>/dev/null || date +%s)}

# ---- dependencies ------------------------------------------------------------------------------------------------------

# package_of SONAME: libyaml-0.so.2 is of libyaml-0-2, libzip.so.5 of libzip5.
package_of() {
  case $1 in
    libc.so.* | libm.so.* | libmvec.so.* | ld-linux*) echo libc6 ;;
    *-[0-9].so.* | *[0-9].so.*) echo "$1" | sed 's/\.so\./-/' ;;
    *) echo "$1" | sed 's/\.so\.//' ;;
  esac
}

# version_of PACKAGE: what is in use, without epoch and Debian's revision.
version_of() {
  if [ "$1" = libc6 ]; then
    objdump -T "$program" | grep -o 'GLIBC_[0-9.]*' | sed 's/GLIBC_//' | sort -V | tail -n 1
  elif [ -n "$sysroot" ]; then
    zcat "$sysroot/usr/share/doc/$1"/changelog.Debian*.gz | sed -n '1s/.*(\(.*\)).*/\1/p'
  else
    dpkg-query -W -f '${Version}' "$1"
  fi | sed 's/^[0-9]*://; s/-[^-]*$//'
}

dependencies() {
  objdump -p "$program" | awk '$1 == "NEEDED" { print $2 }' | while read -r soname; do package_of "$soname"; done | sort -u |
    while read -r package; do
      found=$(version_of "$package")
      [ -n "$found" ] || { echo "deb.sh: $package: its version is not known" >&2; exit 1; }
      printf '%s%s (>= %s)' "${separator:-}" "$package" "$found"
      separator=', '
    done
}

# ---- what the package holds --------------------------------------------------------------------------------------------

strip --strip-unneeded --remove-section=.comment --remove-section=.note "$program"
find "$tree/usr/share/man" -name '*.[1-9]' -exec gzip -9nf {} +

mkdir -p "$doc" "$tree/DEBIAN"
{
  cat <<END
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ampconv

Files: *
END
  sed -n 's/^Copyright (c) /Copyright: /p' "$top/LICENSE"
  echo 'License: Expat'
  sed '1,/^Copyright/d' "$top/LICENSE" | sed '1{/^$/d}; s/^$/./; s/^/ /'
} >"$doc/copyright"
printf 'ampconv (%s) unstable; urgency=medium\n\n  * Packaged from the source of version %s.\n\n -- %s  %s\n' "$version" "${version%-*}" \
  "$maintainer" "$(LC_ALL=C date -u -R -d "@$date")" | gzip -9n >"$doc/changelog.Debian.gz"

depends=$(dependencies)
cat >"$tree/DEBIAN/control" <<END
Package: ampconv
Version: $version
Architecture: $(dpkg --print-architecture)
Maintainer: $maintainer
Installed-Size: $(du -k -s --apparent-size --exclude=DEBIAN "$tree" | cut -f 1)
Depends: $depends
Section: science
Priority: optional
Description: converter of ONNX models to mixed precision
 Converts ONNX models to bfloat16 or float16 by autocast rules as PyTorch's,
 keeps in float32 what those say and what values would not survive, and writes
 valid models that other runtimes load.
 .
 It runs a model and its conversion with oneDNN, on given or random inputs,
 says what the conversion costs in accuracy, where that comes from and what it
 gains in time, and finds what has to stay in float32 for a bound to hold.
END
(cd "$tree" && find usr -type f -print0 | LC_ALL=C sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"

find "$tree" -type d -exec chmod 755 {} +
find "$tree" -type f ! -perm -u+x -exec chmod 644 {} +
SOURCE_DATE_EPOCH=$date dpkg-deb --root-owner-group -Zxz --build "$tree" "$file" >/dev/null
