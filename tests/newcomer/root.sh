# A bare root of a distribution, for the scripts beside this file, which source it. They set root to its folder.

# The mirror of a suite that this machine's apt is set up with; without a suite, of any.
apt_mirror() { # [suite]
    apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        awk -v suite="${1:-}" '$3 == "main" && (suite == "" ? $2 !~ /-/ : $2 == suite) { print $1; exit }'
}

# Leaves $root where keep is 1.
remove_root() { # folder that goes with it, or nothing
    # Mounts live in namespaces of their own and are gone with them.
    if [ "$keep" = 0 ]; then
        rm -rf --one-file-system "$root" ${1:+"$1"}
    else
        echo "The root is left in $root"
    fi
}

# A command in the root, in namespaces of its own: its mounts and processes end with it.
in_root_as() { # user, home, folder, command...
    unshare --mount --pid --fork --kill-child bash -euc '
        root=$1 user=$2 home=$3 folder=$4
        shift 4
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        kept=()
        for name in http_proxy https_proxy no_proxy; do
            [ -z "${!name:-}" ] || kept+=("$name=${!name}")
        done
        exec chroot "--userspec=$user" "$root" /usr/bin/env -i -C "$folder" "HOME=$home" LANG=C.UTF-8 TERM=dumb \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "${kept[@]}" "$@"
    ' bash "$root" "$@" </dev/null
}

# debootstrap's options come last; its log, on failure, on the output.
make_root() { # suite, mirror ('': debootstrap's), components, script ('': the suite's), trust ('' or '[trusted=yes] '), option...
    local suite=$1 mirror=$2 components=$3 script=$4 trust=$5
    shift 5
    unshare --mount debootstrap --variant=minbase "--components=${components// /,}" "$@" "$suite" "$root" \
        "$mirror" ${script:+"$script"} >"$root.debootstrap" 2>&1 || {
        tail -n 20 "$root.debootstrap"
        return 1
    }
    rm "$root.debootstrap"
    [ -n "$mirror" ] || mirror=$(awk '$1 == "deb" { print $2; exit }' "$root/etc/apt/sources.list")
    echo "deb $trust$mirror $suite $components" >"$root/etc/apt/sources.list"
    # How the network is reached is this machine's affair.
    apt-config dump | sed -nE '/^Acquire::(http|https|Check-|Retries)/p' >"$root/etc/apt/apt.conf.d/99machine"
    cp -L /etc/resolv.conf "$root/etc/resolv.conf"
}

count_packages() { in_root_as root:root /root / dpkg-query -W -f '${db:Status-Status}\n' | grep -cx installed; }
