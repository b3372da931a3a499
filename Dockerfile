# The image has a small Debian instead of nothing below the program, because the
# commands that an executor runs have to be somewhere: add yours to it.

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
# SQLite is C, hence cgo and the same Debian in both stages. Compiling it takes
# most of the build's time, so it has a layer that only go.mod can invalidate.
RUN go mod download && CGO_ENABLED=1 go build -trimpath github.com/mattn/go-sqlite3
COPY . .
ARG VERSION=
RUN CGO_ENABLED=1 go build -buildvcs=false -trimpath \
    -ldflags="-s -w -X github.com/nextrun/nextrun/ops/cli.version=$VERSION" -o /nextrun ./cmd/nextrun

FROM debian:bookworm-slim
# Adopts and reaps what the commands of jobs leave behind; else they fill the container.
RUN apt-get update && apt-get install --yes --no-install-recommends tini && rm -rf /var/lib/apt/lists/*
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /nextrun /usr/local/bin/nextrun
COPY LICENSE dist/licenses.txt /usr/share/doc/nextrun/
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin nextrun \
    && install -d -o nextrun -g nextrun /var/lib/nextrun
USER 10001:10001
# A SQLite database, if that is what NEXTRUN_DB names (the default), is kept here.
WORKDIR /var/lib/nextrun
VOLUME /var/lib/nextrun
# Where a service reports its health, reachable from inside its container only.
ENV NEXTRUN_HEALTH=127.0.0.1:8321
HEALTHCHECK --interval=15s --timeout=10s --start-period=30s CMD ["nextrun", "health"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["tini", "-s", "--", "nextrun"]
CMD ["serve", "--migrate"]
