#!/usr/bin/env bash
# A PostgreSQL server for as long as a command runs: .ci/postgres.sh COMMAND ...
# A server that TB_POSTGRES_URL names is used and left as it is. Otherwise one is installed where it is missing and
# started here on a socket in a folder of its own, reachable by no network, as a user that is not root. It ends by its
# own process id; when this script is ended, the server and all of the command end too. Nothing is kept, so nothing is
# written through to the disk.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

if [ -n "${TB_POSTGRES_URL:-}" ]; then
  echo "PostgreSQL as TB_POSTGRES_URL says"
  exec "$@"
fi
programs() { find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -1; }
[ -n "$(programs)" ] || "$here/apt.sh" postgresql
bin=$(programs)

place=/tmp  # copying a database is file work: in memory where there are 4 GiB of it
[ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)" -gt 4194304 ] 2>/dev/null && place=/dev/shm
for old in "$place"/tbx-postgres.*; do  # what a run that was killed has left
  if [ -f "$old/run" ] && ! kill -0 "$(cat "$old/run")" 2>/dev/null; then rm -rf "$old"; fi
done
work=$(mktemp -d "$place/tbx-postgres.XXXXXX")
echo $$ >"$work/run"
as=()
if [ "$(id -u)" = 0 ]; then
  chown postgres "$work"
  as=(setpriv --reuid postgres --regid postgres --init-groups)
fi
cd "$work"
"${as[@]}" "$bin/initdb" -D "$work/data" -U tbx -A trust --locale=C --encoding=UTF8 --no-sync >"$work/initdb.log" 2>&1 \
  || { tail -5 "$work/initdb.log" >&2; exit 1; }
"${as[@]}" setpriv --pdeathsig INT "$bin/postgres" -D "$work/data" -k "$work" -c listen_addresses= -c max_connections=200 \
  -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c wal_level=minimal -c max_wal_senders=0 \
  >"$work/server.log" 2>&1 &
server=$!
cd "$OLDPWD"

command=
stop() {
  trap - EXIT INT TERM HUP
  [ -z "$command" ] || kill -TERM -- "-$command" 2>/dev/null || true
  kill -INT "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap stop EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

up=
for _ in $(seq 300); do
  if "$bin/pg_isready" -q -h "$work"; then up=yes; break; fi
  kill -0 "$server" 2>/dev/null || break
  sleep 0.1
done
if [ -z "$up" ]; then
  echo "PostgreSQL did not start; its last words:" >&2
  tail -5 "$work/server.log" >&2
  exit 1
fi
export TB_POSTGRES_URL="postgresql://tbx@/postgres?host=$work"
echo "$("$bin/postgres" --version), started for this run"
set -m  # the command gets a process group of its own, so that all of it can be ended
setpriv --pdeathsig TERM "$@" &
command=$!
set +m
wait "$command"
