#!/usr/bin/env bash
# A Docker engine for as long as a command runs: .ci/engine.sh [--install] COMMAND ...
# An engine that answers at DOCKER_HOST, or at the usual socket, is used and left as it is. Otherwise one is started here,
# as root: without a bridge, without firewall rules, with no change to the machine's network. Where none is installed,
# Debian's is with --install or CI=true, and else it is said what is missing. It ends by its own process id, with its
# containers, cgroups and files; when this script is killed, engine and command end too, by force after some seconds.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=.ci/service.sh
. "$here/service.sh"
install=${CI:-}
if [ "${1:-}" = --install ]; then install=true; shift; fi
[ $# -gt 0 ] || { echo "say which command: .ci/engine.sh [--install] COMMAND ..." >&2; exit 2; }

if command -v docker >/dev/null && docker version >/dev/null 2>&1; then
  echo "engine $(docker version --format '{{.Server.Version}}'), found running"
  exec "$@"
fi
if ! command -v docker >/dev/null || ! command -v dockerd >/dev/null; then
  if [ "$install" != true ]; then
    echo "no Docker engine is installed: install Debian's docker.io, set DOCKER_HOST to an engine that answers (its" \
      "client is needed too), or let this script install it, as root: .ci/engine.sh --install COMMAND ..." >&2
    exit 1
  fi
  "$here/apt.sh" docker.io
fi
if [ "$(id -u)" != 0 ]; then
  echo "no Docker engine answers at ${DOCKER_HOST:-/var/run/docker.sock}, and only root can start one" >&2
  exit 1
fi

clear_away() {
  awk -v below="$1/" 'index($2, below) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount -l 2>/dev/null || true
  rmdir /sys/fs/cgroup/*/"$(basename "$1")" "/sys/fs/cgroup/$(basename "$1")" 2>/dev/null || true
  rm -rf "$1" 2>/dev/null || true
}
for old in /tmp/tbx-engine.*; do  # what a run that was killed has left
  if [ -f "$old/run" ] && ! alive "$(cat "$old/run")"; then clear_away "$old"; fi
done
work=$(mktemp -d /tmp/tbx-engine.XXXXXX)
echo $$ >"$work/run"
group=$(basename "$work")
export DOCKER_HOST="unix://$work/docker.sock"
setpriv --pdeathsig TERM dockerd -H "$DOCKER_HOST" --data-root "$work/data" --exec-root "$work/exec" \
  --pidfile "$work/docker.pid" --cgroup-parent "/$group" --exec-opt native.cgroupdriver=cgroupfs \
  --bridge=none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false --log-level=warn \
  >"$work/dockerd.log" 2>&1 &
engine=$!

stop() {
  trap - EXIT INT TERM HUP
  end_command 200  # it may have a server of its own to stop
  left=$(timeout 10 docker ps -aq 2>/dev/null || true)
  # shellcheck disable=SC2086
  [ -z "$left" ] || timeout 60 docker rm -f $left >/dev/null 2>&1 || true
  kill "$engine" 2>/dev/null || true
  if ! gone "$engine" 200; then  # stuck: with all that names this run's folder, as its containerd and shims do
    # shellcheck disable=SC2046
    kill -KILL "$engine" $(grep -lsaF "$work/" /proc/[0-9]*/cmdline | cut -d/ -f3) 2>/dev/null || true
  fi
  wait "$engine" 2>/dev/null || true
  clear_away "$work"
}
stop_at_the_end

if ! up 150 "$engine" docker version; then
  echo "the Docker engine did not start; its last words:" >&2
  tail -5 "$work/dockerd.log" >&2
  exit 1
fi
echo "engine $(docker version --format '{{.Server.Version}}'), started for this run"
run "$@"
