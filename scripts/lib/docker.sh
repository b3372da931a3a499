# shellcheck shell=bash
# shellcheck disable=SC2034 # with-postgres uses url and problem
#
# PostgreSQL in a container, for a machine that has docker but no server programs.
# Part of with-postgres, which declares `url` and `problem`, and has cluster_settings.

docker_name=nextrun-test-$$

docker_find() { docker info >/dev/null 2>&1; }

docker_create() {
    local password name value settings=()
    while read -r name _ value; do
        settings+=(-c "$name=${value//\'/}")
    done < <(cluster_settings)
    password=$(cluster_password)
    # We choose the port, because one that docker chose would change with a restart.
    for _ in {1..20}; do
        local port=$((20000 + RANDOM % 12000))
        url="postgres://postgres:$password@127.0.0.1:$port/postgres?sslmode=disable"
        problem=$(POSTGRES_PASSWORD=$password docker run --detach --shm-size=256m --name "$docker_name" --publish "127.0.0.1:$port:5432" \
            --env POSTGRES_PASSWORD postgres:17 "${settings[@]}" 2>&1) && docker_wait && return
        [[ $problem = *'already allocated'* || $problem = *'already in use'* ]] || break
        docker_remove
    done
    problem="docker: $problem"
    return 1
}

# docker_wait asks by TCP: while the image makes its cluster, the server listens on its socket only.
docker_wait() {
    for _ in {1..300}; do
        docker exec "$docker_name" pg_isready --quiet --host=127.0.0.1 && return
        sleep 0.2
    done 2>/dev/null
    problem="the server in the container does not answer: $(docker logs --tail 10 "$docker_name" 2>&1)"
    return 1
}

docker_start() { problem=$(docker start "$docker_name" 2>&1) && docker_wait; }
docker_stop() { problem=$(docker kill "$docker_name" 2>&1); }
docker_remove() { docker rm --force --volumes "$docker_name" >/dev/null 2>&1; }
