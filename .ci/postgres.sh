#!/usr/bin/env bash
# A PostgreSQL server for as long as a command runs: .ci/postgres.sh [--install] COMMAND ...
# A server that TB_POSTGRES_URL names is used and left as it is. Otherwise one is started here on a socket in a folder of
# its own, reachable by no network, as a user that is not root. Where none is installed, Debian's is with --install or
# CI=true, and else it is said what is missing. The server ends by its own process id; when this script is ended, the
# server and all of the command end too, by force after some seconds. Nothing is kept, so nothing is written through to
# the disk.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=.ci/service.sh
. "$here/service.sh"
install=${CI:-}
if [ "${1:-}" = --install ]; then install=true; shift; fi
[ $# -gt 0 ] || { echo "say which command: .ci/postgres.sh [--install] COMMAND ..." >&2; exit 2; }

if [ -n "${TB_POSTGRES_URL:-}" ]; then
  echo "PostgreSQL as TB_POSTGRES_URL says"
  exec "$@"
fi
programs() { find /usr/lib/postgresql -mindepth 2 -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -1; }
if [ -z "$(programs)" ]; then
  if [ "$install" != true ]; then
    echo "no PostgreSQL in /usr/lib/postgresql: set TB_POSTGRES_URL to a server, install Debian's postgresql, or let" \
      "this script do that, as root: .ci/postgres.sh --install COMMAND ..." >&2
    exit 1
  fi
  "$here/apt.sh" postgresql
fi
bin=$(programs)

place=/tmp  # copying a database is file work: in memory where there are 4 GiB of it
[ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -1)" -gt 4194304 ] 2>/dev/null && place=/dev/shm
for old in "$place"/tbx-postgres.*; do  # what a run that was killed has left
  [ "$(id -u)" = 0 ] || [ -O "$old" ] || continue
  if [ -f "$old/run" ] && ! alive "$(cat "$old/run")"; then rm -rf "$old"; fi
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

stop() {
  trap - EXIT INT TERM HUP
  end_command 50
  kill -INT "$server" 2>/dev/null || true
  if ! gone "$server" 50; then  # stuck: with its children, which would outlive it
    # shellcheck disable=SC2046
    kill -KILL $(cat "/proc/$server/task/$server/children" 2>/dev/null) "$server" 2>/dev/null || true
  fi
  wait "$server" 2>/dev/null || true
  rm -rf "$work"
}
stop_at_the_end

if ! up 300 "$server" "$bin/pg_isready" -q -h "$work"; then
  echo "PostgreSQL did not start; its last words:" >&2
  tail -5 "$work/server.log" >&2
  exit 1
fi
export TB_POSTGRES_URL="postgresql://tbx@/postgres?host=$work"
echo "$("$bin/postgres" --version), started for this run"
run "$@"
