# shellcheck shell=bash disable=SC2154 # test-containers sets work and cache
#
# The container engine and Compose for test-containers, which declares `work`, `cache`,
# `cannot` and `say`.
#
# The engine is one that runs, if it has the base images or can pull them; else a dockerd
# started here. That one has namespaces for its processes, mounts and network, so that all of
# it ends with its first process and nothing of it is seen outside. It reaches no network.

engine=      # process id of the engine that was started here
engine_init= # its first process
engine_group=

# engine_find finds or starts an engine.
engine_find() {
    if ! command -v docker >/dev/null || ! command -v dockerd >/dev/null && ! docker info >/dev/null 2>&1; then
        engine_install
    fi
    if docker info >/dev/null 2>&1 && images_pull; then
        say "use the engine that runs here, $(docker info --format '{{.ServerVersion}} with {{.Driver}}')"
        return
    fi
    [ "$(id -u)" -eq 0 ] || cannot "no container engine answers that has the images ${bases[*]} or can pull them.
Start docker and make sure that you may use it (docker info), or run this as root on Debian or Ubuntu: it then starts an engine of its own"
    if ! command -v dockerd >/dev/null || ! command -v mmdebstrap >/dev/null; then
        engine_install
    fi
    engine_start
}

engine_install() {
    scripts/install-packages docker mmdebstrap iproute2 iptables ca-certificates && return
    cannot "there is no container engine. Start docker, or install one:
  Debian, Ubuntu   apt-get install docker.io mmdebstrap   (as root, CI=true or NEXTRUN_INSTALL=1
                   lets this script do it; it needs no running docker then)
  elsewhere        https://docs.docker.com/engine/install/"
}

engine_start() {
    local attempt
    engine_group=nextrun-containers.$$
    export DOCKER_HOST=unix://$work/docker.sock
    unset DOCKER_CONTEXT DOCKER_TLS_VERIFY DOCKER_CERT_PATH
    # It ends with this script, however that ends. /run is its own, too, because
    # containerd keeps sockets there.
    setsid setpriv --pdeathsig KILL unshare --mount --net --pid --fork --kill-child --mount-proc -- \
        sh -c 'mount -t tmpfs tmpfs /run && ip link set lo up && exec "$@"' - \
        dockerd --host "$DOCKER_HOST" --data-root "$work/docker" --exec-root "$work/exec" --pidfile "$work/docker.pid" \
        --exec-opt native.cgroupdriver=cgroupfs --cgroup-parent "/$engine_group" >"$work/dockerd.log" 2>&1 </dev/null &
    engine=$!
    for attempt in {1..150}; do
        if docker info >/dev/null 2>&1; then
            engine_init=$(pgrep -P "$engine")
            say "started an engine, $(docker info --format '{{.ServerVersion}} with {{.Driver}}')"
            return
        fi
        kill -0 "$engine" 2>/dev/null || break
        [ "$attempt" -eq 150 ] || sleep 0.2
    done
    cannot "dockerd does not start; its log ends with:
$(tail -n 15 "$work/dockerd.log")"
}

# engine_stop ends the engine that was started here, with all that runs in it.
engine_stop() {
    [ -n "$engine" ] || return 0
    kill -KILL "${engine_init:-$engine}" 2>/dev/null || true
    wait "$engine" 2>/dev/null || true
    find /sys/fs/cgroup -depth -type d -path "*/$engine_group*" -exec rmdir {} + 2>/dev/null || true
}

# engine_network runs a command where the ports of containers are reached.
engine_network() {
    if [ -n "$engine" ]; then nsenter --net="/proc/$engine/ns/net" -- "$@"; else "$@"; fi
}

# The plugin's version, where there is none: built from its Go module.
compose_version=v2.40.3

# compose_find makes `docker compose` work.
compose_find() {
    local plugin
    if docker compose version 2>/dev/null | grep -q ' v\?[2-9]'; then return; fi
    plugin=$(command -v docker-compose) && "$plugin" version 2>/dev/null | grep -q ' v\?[2-9]' ||
        plugin=$cache/docker-compose-$compose_version
    [ -x "$plugin" ] || compose_build "$plugin"
    # Beside the user's own settings, not among them.
    mkdir -p "$work/config/cli-plugins"
    cp -r "${DOCKER_CONFIG:-$HOME/.docker}"/{config.json,contexts} "$work/config/" 2>/dev/null || true
    ln -sf "$plugin" "$work/config/cli-plugins/docker-compose"
    export DOCKER_CONFIG=$work/config
}

# compose_build builds Compose as its own project does; `go install` refuses it, because
# its go.mod excludes versions.
compose_build() {
    local module=github.com/docker/compose/v2 source
    say "build Compose $compose_version, which takes some minutes and is kept in $cache"
    source=$(cd "$work" && go mod download -json "$module@$compose_version" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
    [ -n "$source" ] || cannot "there is no Compose and its source cannot be downloaded; install the compose plugin of docker"
    mkdir -p "$work/compose" && cp -r "$source/." "$work/compose" && chmod -R u+w "$work/compose"
    (cd "$work/compose" && CGO_ENABLED=0 go build -trimpath -buildvcs=false \
        -ldflags "-s -w -X $module/internal.Version=$compose_version" -o "$1.$$" ./cmd) >"$work/compose.log" 2>&1 ||
        cannot "there is no Compose, and it cannot be built; install the compose plugin of docker:
$(tail -n 5 "$work/compose.log")"
    mv "$1.$$" "$1" && rm -rf "$work/compose"
}
