#!/bin/sh
# Starts the example: two servers, two replicas of `toolbond ext-proc`, and Envoy. Ctrl-C ends all of them.
#
# Clients connect to http://127.0.0.1:10000/weather/mcp and http://127.0.0.1:10000/notes/mcp.
# `start.sh retries.yaml` takes the other configuration of Envoy.
set -eu
cd "$(dirname "$0")"
for program in toolbond envoy; do
  command -v "$program" > /dev/null || { echo "$program is not on the PATH; see README.md" >&2; exit 1; }
done
processes=
start() {
  "$@" &
  processes="$processes $!"
}
end() {
  trap - INT TERM EXIT
  # Those that have ended already are no failure.
  kill $processes 2> /dev/null || true
  wait
}
trap end INT TERM EXIT
start toolbond demo --http 127.0.0.1:3001
start toolbond demo --http 127.0.0.1:3002
start toolbond ext-proc --listen 127.0.0.1:9002 --drain-seconds 0
start toolbond ext-proc --listen 127.0.0.1:9003 --drain-seconds 0
start envoy -c "${1:-envoy.yaml}" --log-level warning
wait
