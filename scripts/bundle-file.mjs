// The single file of a bundle: a shell script, and behind it the archive that the script unpacks.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { appendFileSync, chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';

/** Unpacks the archive once and becomes Weft. `offset` and `sum` are the archive's, `name` is that of its folder. */
const script = ({ version, name, sum, offset }) => `#!/bin/sh
# Weft ${version} for Linux x86-64 with glibc 2.34 or newer. Contains Node.js; needs sh, tar, gzip and sha256sum.
# Unpacks once into $WEFT_BUNDLE_DIR, else $XDG_CACHE_HOME/weft, else ~/.cache/weft, then runs: weft ARGUMENTS
set -eu
fail() { echo "weft: $1" >&2; exit 1; }
cache=\${XDG_CACHE_HOME:-\${HOME:+$HOME/.cache}}
home=\${WEFT_BUNDLE_DIR:-\${cache:+$cache/weft}}
cure="Set WEFT_BUNDLE_DIR to a new folder where 200 MB are free."
[ -n "$home" ] || fail "HOME is not set
$cure"
home=\${home%/}
folder=$home/${name}

# This runs what it finds in the folder: nobody else may be able to put anything there.
mkdir -p -m 700 "$home" 2>/dev/null || fail "cannot write to $home
$cure"
mode=
[ -L "$home" ] || [ ! -O "$home" ] || mode=$(stat -c %a "$home")
case $mode in
  700 | ?700) ;;
  *) fail "$home is not safe: it must be a folder of yours with mode 700, and not a link
$cure" ;;
esac

# Many ranks may start at once on a shared home: one unpacks, the others wait for it, and none of them for ever.
unpack() {
  [ -w "$home" ] || fail "cannot write to $home
$cure"
  waited=0
  until mkdir "$folder.lock" 2>/dev/null; do
    [ -e "$folder" ] && return
    [ "$waited" -lt 300 ] || break
    waited=$((waited + 1))
    sleep 0.2
  done
  part=$(mktemp -d "$folder.part-XXXXXX")
  trap 'rm -rf "$part" "$folder.lock"' EXIT
  trap 'exit 1' HUP INT TERM
  [ -e "$folder" ] || {
    sum=$(tail -c +${offset} "$0" | sha256sum)
    [ "\${sum%% *}" = ${sum} ] || fail "$0 is damaged: its checksum is wrong
Copy it again, and compare it with its .sha256 file."
    tail -c +${offset} "$0" | gzip -dc | tar -xof - -C "$part" || fail "cannot unpack into $home
Check that tar and gzip are installed, and that 200 MB are free; or set WEFT_BUNDLE_DIR."
    chmod 755 "$part"
    # Whoever is first wins; the folder appears complete or not at all.
    mv -T "$part" "$folder" 2>/dev/null || [ -e "$folder" ] || fail "cannot create $folder"
  }
  rm -rf "$part" "$folder.lock"
  trap - EXIT HUP INT TERM
}
[ -e "$folder" ] || unpack

# A job takes the variables of the node that submits it along, but its own node may have a libfabric.
if [ "\${WEFT_LIBFABRIC:-}" = "$folder/lib/libfabric.so.1" ]; then
  unset WEFT_LIBFABRIC
  : "\${LD_LIBRARY_PATH:=}"
  LD_LIBRARY_PATH=\${LD_LIBRARY_PATH#"$folder/lib"}
  LD_LIBRARY_PATH=\${LD_LIBRARY_PATH#:}
fi
# The system's libfabric comes first: it knows the system's NICs.
has_libfabric() {
  for path in /opt/amazon/efa/lib64 /opt/amazon/efa/lib /usr/local/lib $(echo "\${LD_LIBRARY_PATH:-}" | tr : ' '); do
    [ ! -e "$path/libfabric.so.1" ] || return 0
  done
  PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -q 'libfabric\\.so\\.1 '
}
if [ -z "\${WEFT_LIBFABRIC:-}" ] && [ -e "$folder/lib/libfabric.so.1" ] && ! has_libfabric; then
  WEFT_LIBFABRIC=$folder/lib/libfabric.so.1
  LD_LIBRARY_PATH=$folder/lib\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
  export WEFT_LIBFABRIC LD_LIBRARY_PATH
fi
"$folder/node" --version >/dev/null 2>&1 || {
  "$folder/node" --version >&2 || true
  fail "the Node.js of this bundle does not run here
It needs x86-64, glibc 2.34 or newer, and libstdc++ (dnf install libstdc++, apt-get install libstdc++6)."
}
# How other nodes start this Weft: by its file, which finds its Node and libfabric there.
WEFT_COMMAND=$(readlink -f "$0")
export WEFT_COMMAND
exec "$folder/node" "$folder/bin/weft" "$@"
`;

/** Writes `path` from the archive of a folder, with a file of its checksum beside it; returns the checksum. */
export function writeBundleFile(path, { folder, version }) {
  const archive = `${path}.tar.gz`;
  const sorted = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=@0'];
  execFileSync('tar', [...sorted, '-I', 'gzip -n', '-cf', archive, '-C', folder, '.']);
  const payload = readFileSync(archive);
  rmSync(archive);
  const sum = sha256(payload);
  writeFileSync(path, headerFor({ version, sum }));
  appendFileSync(path, payload);
  chmodSync(path, 0o755);
  const whole = sha256(readFileSync(path));
  writeFileSync(`${path}.sha256`, `${whole}  ${basename(path)}\n`);
  return whole;
}

/** The script contains its own length: it is written until that is right. */
function headerFor({ version, sum }) {
  const name = `${version}-${sum.slice(0, 12)}`;
  let offset = 1;
  for (;;) {
    const text = script({ version, name, sum, offset });
    const next = Buffer.byteLength(text) + 1;
    if (next === offset) return text;
    offset = next;
  }
}

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');
