#!/usr/bin/env bash
# streams/rates.sh [ROUNDS [SECONDS [RECORDS]]]   how fast Java's clients are in transactions, at Apache Kafka and at StreamStack.
# ROUNDS (3) times one broker after another, each on empty data and alone; the figures are the medians. SECONDS (10) of commits of one
# record each by one producer; RECORDS (200000) counted by Kafka Streams with exactly_once_v2. Environment:
#   STREAMSTACK_BIN           the broker (default: cargo build --release)
#   STREAMSTACK_COMPAT_CACHE, KAFKA_PEER_TARGET   as for compat/run
#   RATES_DATA                a folder on the disk that is to be measured (default: a temporary one)
#   RATES_BROKERS             "kafka os fsync" unless set: Kafka with its defaults, StreamStack by streamstack.durability
set -euo pipefail
compat=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export COMPAT_CACHE=${STREAMSTACK_COMPAT_CACHE:-$HOME/.cache/streamstack-compat}
export KAFKA_PEER_TARGET=${KAFKA_PEER_TARGET:-$COMPAT_CACHE/kafka}
rounds=${1:-3} seconds=${2:-10} records=${3:-200000}
brokers=${RATES_BROKERS:-kafka os fsync}

"$compat/kafka/setup.sh"
"$compat/programs/java.sh" streams
bin=${STREAMSTACK_BIN:-}
if [ -z "$bin" ]; then
    cargo build --release --quiet --manifest-path "$compat/../Cargo.toml"
    bin=${CARGO_TARGET_DIR:-$compat/../target}/release/streamstack
fi
work=$(mktemp -d ${RATES_DATA:+-p "$RATES_DATA"})
pid=
stop() {
    [ -n "$pid" ] || return 0
    kill "$pid" && while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
    pid=
}
trap 'stop || true; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

start() {
    local broker=$1 folder=$2
    port=$(free_port)
    if [ "$broker" = kafka ]; then
        pid=$(KAFKA_CONTROLLER_PORT=$(free_port) "$compat/kafka/kafka-server.sh" start "$folder" "$port")
        return
    fi
    env -i PATH="$PATH" HOME="$HOME" "$bin" serve --override "listeners=PLAINTEXT://127.0.0.1:$port" --override "log.dirs=$folder" \
        --override "streamstack.durability=$broker" >"$folder.log" 2>&1 </dev/null &
    pid=$!
    until grep -q 'ready in' "$folder.log"; do
        kill -0 "$pid" || { cat "$folder.log" >&2; exit 1; }
        sleep 0.1
    done
}

for round in $(seq "$rounds"); do
    for broker in $brokers; do
        folder=$work/$broker-$round
        start "$broker" "$folder"
        sync
        java -Xms512M -Xmx512M -Dorg.slf4j.simpleLogger.defaultLogLevel=error -cp "$COMPAT_CACHE/streams/classes:$COMPAT_CACHE/streams/lib/*" \
            Rates "127.0.0.1:$port" "$seconds" "$records" | sed "s/^/$broker /" >>"$work/figures"
        echo "round $round: $broker: $(tail -n 4 "$work/figures" | cut -d' ' -f2- | paste -sd ' ')" >&2
        stop
        rm -rf "$folder"
    done
done
python3 - "$work/figures" <<'PYTHON'
import collections, statistics, sys

figures = collections.defaultdict(lambda: collections.defaultdict(list))
for line in open(sys.argv[1], encoding="utf-8"):
    broker, name, figure = line.split()
    figures[name][broker].append(float(figure))
brokers = list(next(iter(figures.values())))
print("| what |", " | ".join(brokers), "|")
print("| --- |", " | ".join("---" for _ in brokers), "|")
for name, by_broker in figures.items():
    medians = {broker: statistics.median(found) for broker, found in by_broker.items()}
    kafka = medians.get("kafka")
    shown = [f"{m:,.2f}" + (f" ({m / kafka:.2f} x)" if kafka and broker != "kafka" else "") for broker, m in medians.items()]
    print("|", name.replace("_", " "), "|", " | ".join(shown), "|")
PYTHON
