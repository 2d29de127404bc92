# Kafka Connect, a distributed worker with its internal topics on the broker. connect.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
programs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../programs" && pwd)
case $1 in
setup)
    "$programs/../kafka/setup.sh"
    "$programs/setup.sh"
    ;;
version) echo "kafka connect $(cat "$KAFKA_PEER_TARGET/version")" ;;
run) exec "$programs/run.sh" connect "${@:2}" ;;
esac
