# What the wrappers of services share; each reads it with `.` and says in `stop` how its own service ends.

alive() { kill -0 "$1" 2>/dev/null || [ -e "/proc/$1" ]; }  # another user's process cannot be signalled, but is seen

gone() {  # whether a process, or with a minus a group, has ended within so many tenths of a second
  for _ in $(seq "$2"); do kill -0 -- "$1" 2>/dev/null || return 0; sleep 0.1; done
  return 1
}

command=
end_command() {  # by force after so many tenths of a second
  if [ -n "$command" ] && kill -TERM -- "-$command" 2>/dev/null; then
    gone "-$command" "$1" || kill -KILL -- "-$command" 2>/dev/null || true
  fi
}

stop_at_the_end() {  # however this script ends, short of being killed
  trap stop EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
}

up() {  # whether a service answers within so many tenths of a second: up TENTHS PID COMMAND ...
  local tenths=$1 service=$2
  shift 2
  for _ in $(seq "$tenths"); do
    if "$@" >/dev/null 2>&1; then return 0; fi
    kill -0 "$service" 2>/dev/null || return 1
    sleep 0.1
  done
  return 1
}

run() {  # in a process group of its own, so that all of it can be ended
  set -m
  setpriv --pdeathsig TERM "$@" &
  command=$!
  set +m
  wait "$command"
}
