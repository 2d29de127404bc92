# Kafka Streams, exactly once, in processes that are killed. streams.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
programs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../programs" && pwd)
case $1 in
setup)
    "$programs/setup.sh"
    "$programs/java.sh" streams
    ;;
version) jar=$(echo "$COMPAT_CACHE"/streams/lib/kafka-streams-*.jar); jar=${jar##*/kafka-streams-}; echo "kafka-streams ${jar%.jar}" ;;
run) exec "$programs/run.sh" streams "${@:2}" ;;
esac
