#!/bin/sh
# Starts the example: two servers, two replicas of `toolbond ext-proc`, and Envoy. Ctrl-C ends all of them.
#
# Clients connect to http://127.0.0.1:10000/weather/mcp and http://127.0.0.1:10000/notes/mcp.
# `start.sh retries.yaml` takes the other configuration of Envoy.
# `ADDRESS=127.0.0.2 start.sh` listens on another address, where the ports are free.
set -eu
cd "$(dirname "$0")"
for program in toolbond envoy; do
  command -v "$program" > /dev/null || { echo "$program is not on the PATH; see README.md" >&2; exit 1; }
done
address="${ADDRESS:-127.0.0.1}" processes= copies=
start() {
  "$@" &
  processes="$processes $!"
}
end() {
  trap - INT TERM EXIT
  # Those that have ended already are no failure.
  kill $processes 2> /dev/null || true
  wait
  [ -z "$copies" ] || rm -r "$copies"
}
trap end INT TERM EXIT
config=toolbond.toml envoy="${1:-envoy.yaml}"
if [ "$address" != 127.0.0.1 ]; then
  copies="$(mktemp -d)"
  sed "s/127\.0\.0\.1/$address/g" "$config" > "$copies/toolbond.toml"
  sed "s/127\.0\.0\.1/$address/g" "$envoy" > "$copies/envoy.yaml"
  config="$copies/toolbond.toml" envoy="$copies/envoy.yaml"
fi
start toolbond demo --http "$address:3001"
start toolbond demo --http "$address:3002"
start toolbond ext-proc --listen "$address:9002" --config "$config" --drain-seconds 0
start toolbond ext-proc --listen "$address:9003" --config "$config" --drain-seconds 0
start envoy -c "$envoy" --log-level warning
wait
