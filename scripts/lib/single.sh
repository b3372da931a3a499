# shellcheck shell=bash disable=SC2154 # test-containers sets work, alone and static
#
# The checks of test-containers for what docker-compose.yml does not run: the image alone on
# SQLite, and the small image.

isolated=(--stop-timeout 60 --read-only --cap-drop ALL --security-opt no-new-privileges --tmpfs /tmp)

# check_alone runs the image as docs/install.md says, with its database in a volume.
check_alone() {
    say "run the image alone, on SQLite"
    docker run --detach --name "$alone" "${isolated[@]}" --volume "$alone:/var/lib/nextrun" \
        --volume "$PWD/testdata/nextrun.yaml:/nextrun.yaml:ro" --env NEXTRUN_CONFIG=/nextrun.yaml nextrun:local >/dev/null
    eventually "the image is healthy on SQLite" docker exec "$alone" nextrun health
    docker exec "$alone" nextrun task add sleeper --handler sleep --timer 'every 1s' >/dev/null
    eventually "a job begins on SQLite" has_job running
    stop_gracefully "$alone"
    docker start "$alone" >/dev/null
    eventually "the job that ran during docker stop has succeeded" has_job success
    [ "$(docker exec "$alone" stat --format '%u %a' nextrun.db)" = '10001 600' ] || fail "others can read the SQLite database: $(docker exec "$alone" ls -l)"
    eventually "another job begins after docker start" has_job running
    docker rm --force "$alone" >/dev/null && docker volume rm "$alone" >/dev/null
}
has_job() { docker exec "$alone" nextrun job list --state "$1" --task sleeper | grep sleeper; }

# stop_gracefully stops a container, which has to end by itself and with 0.
stop_gracefully() {
    docker stop "$1" >/dev/null
    [ "$(inspect '{{.State.ExitCode}}' "$1")" = 0 ] ||
        fail "docker stop ends $1 with exit code $(inspect '{{.State.ExitCode}}' "$1"): $(docker logs --tail 5 "$1" 2>&1)"
}

# build_image NAME DOCKERFILE builds with what Compose takes for a builder, so that
# what docker-compose.yml has built before is not built again.
build_image() {
    printf 'services: {one: {image: "%s", build: {context: ., dockerfile: %s, args: {VERSION: %s}}}}' "$1" "$2" "$NEXTRUN_VERSION" |
        docker compose --file - build >"$work/last" 2>&1 || fail "$2 cannot be built: $(tail -n 20 "$work/last")"
}

# check_static builds Dockerfile.static and runs it on a database of its own.
check_static() {
    local run
    say "build and run Dockerfile.static"
    build_image "$static" Dockerfile.static
    docker compose exec -T postgres createdb -U nextrun static
    sed -n "s,^NEXTRUN_DB_PASSWORD=\(.*\),postgres://nextrun:\1@postgres:5432/static?sslmode=disable,p" .env >"$work/database"
    printf 'handlers:\n  ask:\n    http: {method: GET, url: "http://127.0.0.1:8321/healthz"}\n' >"$work/static.yaml"
    chmod 644 "$work/database" "$work/static.yaml" && chmod 755 "$work"
    run=("${isolated[@]}" --network "${COMPOSE_PROJECT_NAME}_default" --volume "$work/database:/database:ro" --env NEXTRUN_DB_FILE=/database
        --volume "$work/static.yaml:/nextrun.yaml:ro" --env NEXTRUN_CONFIG=/nextrun.yaml)
    docker run --detach --name "$static" "${run[@]}" "$static" >/dev/null
    eventually "the small image is healthy on PostgreSQL" docker exec "$static" nextrun health
    docker exec "$static" nextrun task add asking --handler ask --timer 'every 1s' >/dev/null
    eventually "a job that is an HTTP call succeeds in the small image" static_has_job
    [[ $(docker exec "$static" nextrun version) = "nextrun version $NEXTRUN_VERSION, "* ]] || fail "the program in the small image does not know its version"
    stop_gracefully "$static"
    ! docker run --rm --env NEXTRUN_DB=sqlite:/tmp/x "$static" migrate up >"$work/last" 2>&1 || fail "the small image has SQLite"
    grep -q 'built without SQLite' "$work/last" || fail "the small image does not say that it has no SQLite: $(cat "$work/last")"
    docker export "$static" | tar -t | grep -E '^(bin|lib|usr/lib|usr/bin)/.' >"$work/last" && fail "the small image has more than the program: $(head -n 5 "$work/last")"
    docker rm "$static" >/dev/null
}
static_has_job() { docker exec "$static" nextrun job list --state success --task asking | grep asking; }
