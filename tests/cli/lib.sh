# What the tests of the command line share. Sourced by scripts that are called with the program's path.
set -euo pipefail

stagger=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
configs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../configs" && pwd)
failures=0

fail() {
  echo "FAILED: $*" >&2
  failures=$((failures + 1))
}

# expect CODE REGEX COMMAND...: the command must end with CODE and say exactly one line of error that matches REGEX.
expect() {
  local code=$1 regex=$2 got=0
  shift 2
  timeout 120 "$@" >"$folder/out" 2>"$folder/err" || got=$?
  [ "$got" = "$code" ] || fail "exit code $got instead of $code: $* ($(tail -n 3 "$folder/err"))"
  local errors
  errors=$(grep -c '^stagger: error: ' "$folder/err" || true)
  [ "$errors" = 1 ] || fail "$errors lines of error instead of 1: $* ($(cat "$folder/err"))"
  grep -Eq "^stagger: error: .*$regex" "$folder/err" || fail "no error that matches '$regex': $* ($(cat "$folder/err"))"
  local others
  others=$(grep -Ev '^stagger: (error|running): ' "$folder/err" || true)
  [ -z "$others" ] || fail "more than our own lines on standard error: $* ($others)"
}

# The ranks of the job that was started in the background as process $1, one a line.
ranks_of() {
  local mpirun
  mpirun=$(pgrep -P "$1" -x mpirun || pgrep -P "$1" -f mpirun) || return 0
  pgrep -P "$mpirun" || true
}

# Whether process $1 still runs. One that has ended may stay listed until its parent asks how.
alive() {
  local state
  state=$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null) || return 1
  [ "$state" != Z ] && [ "$state" != X ]
}

# wait_for SECONDS COMMAND...: until it succeeds.
wait_for() {
  local until=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $until ] || return 1
    sleep 0.1
  done
}

finish() {
  [ $failures = 0 ] || exit 1
  echo "all as expected"
}
