# shellcheck shell=bash disable=SC2154 # test-containers sets work and cache
#
# The base images of Dockerfile, Dockerfile.static and docker-compose.yml for
# test-containers, which declares `work`, `cache`, `cannot`, `fail` and `say`.
#
# An engine that was started here reaches no registry, so they are stand-ins made of Debian's
# packages under the names that the files use: for Go with this machine's Go and the
# modules that go.mod names, for PostgreSQL with an entrypoint like that of the real one.

bases=()

# images_named lists the base images in bases.
images_named() {
    mapfile -t bases < <({
        sed -n 's/^FROM \([^ ]*:[^ ]*\).*/\1/p' Dockerfile Dockerfile.static
        sed -n 's/^ *image: \(postgres:.*\)/\1/p' docker-compose.yml
    } | sort -u)
}

# images_pull tells whether the engine has the base images now.
images_pull() {
    local image
    for image in "${bases[@]}"; do
        docker image inspect "$image" >/dev/null 2>&1 || timeout 600 docker pull --quiet "$image" >/dev/null 2>&1 || return 1
    done
}

root_of() { echo "$cache/${1//[:\/]/-}.tar"; }

# images_bootstrap makes the file systems of the stand-ins that are not in the cache or
# older than a month; in the background, each with a log.
images_bootstrap() {
    local image file
    for image in "${bases[@]}"; do
        file=$(root_of "$image")
        [ -z "$(find "$file" -mtime -30 2>/dev/null)" ] || continue
        say "make a stand-in for $image, which is kept in $cache"
        case $image in
        golang:*-*) bootstrap "$file" "${image##*-}" gcc,libc6-dev,ca-certificates ;;
        debian:*-slim) bootstrap "$file" "$(expr "$image" : 'debian:\(.*\)-slim')" ;;
        postgres:17) bootstrap "$file" trixie postgresql-17 ;;
        *) echo "scripts/lib/images.sh knows no stand-in for $image" >>"$work/bootstrap.failed" && false ;;
        esac &
        bootstraps+=($!)
    done
}
bootstraps=()

# bootstrap FILE SUITE PACKAGES makes a file system as the official images have it: without
# manuals, and PostgreSQL without its compiler of queries, which is large.
bootstrap() {
    local file=$1 log
    log=$work/${file##*/}.log
    mmdebstrap --quiet --variant=minbase ${3:+--include="$3"} \
        --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
        --dpkgopt='path-exclude=/usr/lib/*/libLLVM*' --dpkgopt='path-exclude=/usr/lib/postgresql/*/lib/*jit*' \
        --dpkgopt='path-exclude=/usr/lib/postgresql/*/lib/bitcode/*' \
        "$2" "$file.$$.tar" >"$log" 2>&1 && mv "$file.$$.tar" "$file" && return
    rm -f "$file.$$.tar"
    echo "mmdebstrap $2: $(tail -n 3 "$log")" >>"$work/bootstrap.failed"
    return 1
}

# images_import waits for the file systems and makes images of them.
images_import() {
    local pid image
    for pid in "${bootstraps[@]}"; do
        wait "$pid" || cannot "no stand-in for an image can be made; is Debian's mirror reachable?
$(cat "$work/bootstrap.failed")"
    done
    for image in "${bases[@]}"; do
        case $image in
        golang:*) import_golang "$image" ;;
        postgres:*) import_postgres "$image" ;;
        *) docker import --change 'CMD ["bash"]' "$(root_of "$image")" "$image" >/dev/null ;;
        esac
    done
}

# in_layers NAME adds to the file system of image NAME what standard input, a Dockerfile, says.
# The directory $work/context has its files.
in_layers() {
    docker import "$(root_of "$1")" "$1" >/dev/null
    { echo "FROM $1" && cat; } >"$work/context/Dockerfile"
    docker build --quiet --tag "$1" "$work/context" >"$work/last" 2>&1 || cannot "the stand-in for $1 cannot be built: $(cat "$work/last")"
    rm -rf "$work/context"
}

# import_golang gives the image a module proxy in a directory, since the engine reaches no other.
import_golang() {
    local version=${1#golang:}
    [[ $(go env GOVERSION) = go${version%-*}* ]] ||
        cannot "the stand-in for $1 needs Go ${version%-*}, and this is $(go env GOVERSION)"
    mkdir -p "$work/context/go"
    GOFLAGS=-modcacherw GOMODCACHE=$work/modules GOPROXY="file://$(go env GOMODCACHE)/cache/download,$(go env GOPROXY)" \
        go mod download 2>"$work/modules.log" || cannot "the modules of go.mod cannot be downloaded: $(cat "$work/modules.log")"
    mv "$work/modules/cache/download" "$work/context/modules" && rm -rf "$work/modules"
    tar -c -C "$(go env GOROOT)" --exclude=./test --exclude=./api --exclude=./doc . | tar -x -C "$work/context/go"
    mkdir "$work/context/go-build"
    [ ! -e "$(compiled)" ] || tar -x -f "$(compiled)" -C "$work/context"
    in_layers "$1" <<'LAYERS'
COPY go /usr/local/go
COPY modules /modules
COPY go-build /root/.cache/go-build
ENV GOPROXY=file:///modules GOTOOLCHAIN=local GOPATH=/go PATH=/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WORKDIR /go
LAYERS
}

# compiled is what Go has compiled in an earlier build of both images, SQLite above all.
compiled() { echo "$cache/go-build-$(go env GOVERSION).tar"; }

# images_keep_compiled keeps it for the next run.
images_keep_compiled() {
    local file dockerfile name=$COMPOSE_PROJECT_NAME-build
    file=$(compiled)
    if [ -z "$engine" ] || [ -n "$(find "$file" -mtime -30 2>/dev/null)" ]; then return; fi
    mkdir "$work/compiled"
    for dockerfile in Dockerfile Dockerfile.static; do
        build_image "$name" "$dockerfile" ', target: build'
        docker create --name "$name" "$name" none >/dev/null
        docker cp "$name:/root/.cache/go-build" - | tar -x -C "$work/compiled"
        docker rm "$name" >/dev/null && docker rmi "$name" >/dev/null
    done
    tar -c -f "$file.$$.tar" -C "$work/compiled" go-build && mv "$file.$$.tar" "$file"
    rm -rf "$work/compiled"
}

# build_image NAME DOCKERFILE [OPTIONS] builds with what Compose takes for a builder, so that
# what docker-compose.yml has built before is not built again.
build_image() {
    printf 'services: {one: {image: "%s", build: {context: ., dockerfile: %s, args: {VERSION: %s}%s}}}' "$1" "$2" "$NEXTRUN_VERSION" "${3:-}" |
        docker compose --file - build >"$work/last" 2>&1 || fail "$2 cannot be built: $(tail -n 20 "$work/last")"
}

import_postgres() {
    mkdir -p "$work/context"
    cp testdata/containers/postgres-entrypoint "$work/context/"
    in_layers "$1" <<LAYERS
COPY postgres-entrypoint /usr/local/bin/
ENV PGDATA=/var/lib/postgresql/data PATH=/usr/lib/postgresql/${1#postgres:}/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
ENTRYPOINT ["postgres-entrypoint"]
CMD ["postgres"]
LAYERS
}
