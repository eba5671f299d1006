#!/usr/bin/env bash
# Unpack the arm64 packages that Weft is built with into a folder, for cross-compilation and for
# qemu-user: aarch64_root.sh FOLDER. Needs apt-get and dpkg-deb, no root, and leaves the system's own
# architectures and package lists alone. Only libraries and headers are unpacked: programs such as
# /bin/sh stay those of this machine, for qemu-user looks in the folder first.
# Exit 77, with the reason, where something is missing.
set -euo pipefail
for wanted in aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu aarch64-linux-gnu-g++:g++-aarch64-linux-gnu \
    qemu-aarch64:qemu-user apt-get:apt dpkg-deb:dpkg; do
    if ! command -v "${wanted%:*}" >/dev/null; then
        echo "aarch64 is skipped: ${wanted%:*} is missing (install ${wanted#*:})"
        exit 77
    fi
done
folder=$(realpath -m "$1")
packages=(libc6-dev libmetis-dev libglpk-dev libhdf5-dev libjansson-dev libxxhash-dev libyaml-dev
    libsqlite3-dev libcmocka-dev libstdc++6)

stamp="${packages[*]}"
[ ! -f "$folder/complete" ] || [ "$(cat "$folder/complete")" != "$stamp" ] || exit 0
rm -rf "$folder"
mkdir -p "$folder"/apt/{lists/partial,archives/partial} "$folder/usr/lib" "$folder/usr/bin"
ln -s usr/lib "$folder/lib"
: >"$folder/apt/status"
options=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State::status="$folder/apt/status"
    -o Dir::State::Lists="$folder/apt/lists" -o Dir::Cache="$folder/apt"
    -o Dir::Cache::archives="$folder/apt/archives" -o Debug::NoLocking=true -o APT::Sandbox::User=
    -o APT::Install-Recommends=false -o Acquire::Languages=none -qq)
if ! apt-get "${options[@]}" update ||
    ! apt-get "${options[@]}" --yes --download-only install "${packages[@]}"; then
    echo "aarch64 is skipped: its packages cannot be downloaded"
    exit 77
fi
for package in "$folder"/apt/archives/*.deb; do
    name=$(basename "$package")
    case $name in
    lib* | linux-libc-dev* | zlib1g*) ;;
    *) continue ;;
    esac
    dpkg-deb --fsys-tarfile "$package" | tar -C "$folder" --keep-directory-symlink -x
done
rm -rf "$folder/apt"
# Links to absolute paths would lead to this machine's libraries.
find "$folder/usr/lib" -type l -lname '/*' | while read -r link; do
    ln -sf "$(realpath -m --relative-to="$(dirname "$link")" "$folder$(readlink "$link")")" "$link"
done
echo "$stamp" >"$folder/complete"
