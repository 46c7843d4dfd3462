#!/usr/bin/env bash
# A Docker engine for as long as a command runs: .ci/engine.sh COMMAND ...
# An engine that answers at DOCKER_HOST, or at the usual socket, is used and left as it is. Otherwise one is installed
# and started here, as root: without a bridge, without firewall rules, with no change to the machine's network. It ends
# by its own process id, with its containers, cgroups and files; when this script is killed, engine and command end too.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

if command -v docker >/dev/null && docker version >/dev/null 2>&1; then
  echo "engine $(docker version --format '{{.Server.Version}}'), found running"
  exec "$@"
fi
"$here/apt.sh" docker.io

clear_away() {
  rmdir /sys/fs/cgroup/*/"$(basename "$1")" "/sys/fs/cgroup/$(basename "$1")" 2>/dev/null || true
  rm -rf "$1" 2>/dev/null || true
}
for old in /tmp/tbx-engine.*; do  # what a run that was killed has left
  if [ -f "$old/run" ] && ! kill -0 "$(cat "$old/run")" 2>/dev/null; then clear_away "$old"; fi
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

command=
stop() {
  trap - EXIT INT TERM HUP
  [ -z "$command" ] || kill -TERM -- "-$command" 2>/dev/null || true
  left=$(docker ps -aq 2>/dev/null || true)
  # shellcheck disable=SC2086
  [ -z "$left" ] || docker rm -f $left >/dev/null 2>&1 || true
  kill "$engine" 2>/dev/null || true
  wait "$engine" 2>/dev/null || true
  clear_away "$work"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

up=
for _ in $(seq 150); do
  if docker version >/dev/null 2>&1; then up=yes; break; fi
  kill -0 "$engine" 2>/dev/null || break
  sleep 0.1
done
if [ -z "$up" ]; then
  echo "the Docker engine did not start; its last words:" >&2
  tail -5 "$work/dockerd.log" >&2
  exit 1
fi
echo "engine $(docker version --format '{{.Server.Version}}'), started for this run"
set -m  # the command gets a process group of its own, so that all of it can be ended
setpriv --pdeathsig TERM "$@" &
command=$!
set +m
wait "$command"
