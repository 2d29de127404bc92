# Flink's way of committing, by the producer of its connector. flink.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
programs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../programs" && pwd)
case $1 in
setup)
    "$programs/setup.sh"
    "$programs/java.sh" flink
    ;;
version) jar=$(echo "$COMPAT_CACHE"/flink/lib/flink-connector-kafka-*.jar); jar=${jar##*/flink-connector-kafka-}; echo "flink-connector-kafka ${jar%.jar}" ;;
run) exec "$programs/run.sh" flink "${@:2}" ;;
esac
