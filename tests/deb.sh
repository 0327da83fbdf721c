#!/usr/bin/env bash
# `make check-deb`: lintian has no error for the package, and it installs in a bare Debian 13 with what it depends on, converts and
# runs a model there, has its manual and completions in their places, and leaves nothing when it is removed. Needs root, the network,
# debootstrap and lintian; a root that was made before can be named in DEB_ROOT and is kept. No part of `make check`.
#   tests/deb.sh FILE.deb
set -u
package=$(realpath "$1") || exit 2
root=$(cd "$(dirname "$0")/.." && pwd)
here=${DEB_ROOT:-}
failed=0
for tool in debootstrap lintian; do
  command -v $tool >/dev/null || { echo "tests/deb.sh: $tool is needed" >&2; exit 2; }
done
[ "$(id -u)" = 0 ] || { echo 'tests/deb.sh: root is needed' >&2; exit 2; }

holds() { # NAME: the rest is a condition
  local name=$1 said
  shift
  if said=$("$@" 2>&1); then echo "ok $name"; else echo "not ok $name: $(tail -n 5 <<<"$said")"; failed=1; fi
}
# An archive that this machine uses for Debian already.
archive() { apt-get update --print-uris 2>/dev/null | sed -nE "s#^'(.*/debian/?)/?dists/[a-z]+/InRelease'.*#\1#p" | head -n 1; }
inside() { chroot "$here" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
listed() { inside dpkg -L ampconv | grep -qxF "$1" && [ -s "$here$1" ]; }

said=$(lintian --allow-root --tag-display-limit 0 "$package" 2>&1)
errors=$(grep '^E:' <<<"$said")
if [ -z "$errors" ]; then echo 'ok lintian has no error'; else echo "not ok lintian: $errors"; failed=1; fi
grep -v '^E:' <<<"$said" | sed '/^$/d; s/^/# /'

if [ -z "$here" ]; then
  here=$(mktemp -d) || exit 2
  trap 'rm -rf --one-file-system "$here"' EXIT
  holds 'a bare Debian 13' debootstrap --variant=minbase trixie "$here" "$(archive)" || exit 1
fi
cp "$package" "$here/tmp/ampconv.deb"
cp "$root/models/digits_cnn.onnx" "$here/tmp/m.onnx"
cp /etc/resolv.conf "$here/etc/resolv.conf" 2>/dev/null
inside apt-get update -qq >/dev/null 2>&1
holds 'it installs, with what it depends on' inside apt-get install -y -qq --no-install-recommends /tmp/ampconv.deb
holds 'all of its libraries are there' bash -c '! chroot "$1" ldd /usr/bin/ampconv | grep "not found"' - "$here"
holds 'it says its version' inside ampconv --version
holds 'it finds its rule sets' bash -c 'chroot "$1" ampconv rules | grep -q "^torch-cpu "' - "$here"
holds 'it converts' inside ampconv /tmp/m.onnx -o /tmp/out.onnx
holds 'it runs' inside ampconv run /tmp/out.onnx
for file in man/man1/ampconv.1.gz man/man5/ampconv-rules.5.gz man/man7/ampconv-ops.7.gz bash-completion/completions/ampconv \
  zsh/vendor-completions/_ampconv fish/vendor_completions.d/ampconv.fish ampconv/rules/torch-cpu.yaml doc/ampconv/copyright; do
  # A minimal root may be set to take no manuals and documents.
  case $file in man/* | doc/*) inside grep -rqs path-exclude /etc/dpkg/dpkg.cfg.d && continue ;; esac
  holds "$file" listed "/usr/share/$file"
done
for page in "$root"/man/*.5; do
  holds "$(basename "$page")" listed "/usr/share/man/man5/$(basename "$page").gz"
done
holds 'bash takes its completion' inside bash -c 'source /usr/share/bash-completion/completions/ampconv && complete -p ampconv'
holds 'it is removed' inside apt-get purge -y -qq ampconv
holds 'and leaves nothing' test -z "$(find "$here/usr" -name '*ampconv*')"
exit $failed
