# Debezium in Kafka Connect, from a PostgreSQL. debezium.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
programs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../programs" && pwd)
case $1 in
setup)
    "$programs/../kafka/setup.sh"
    "$programs/setup.sh" postgresql
    "$programs/java.sh" debezium
    ;;
version) jar=$(echo "$COMPAT_CACHE"/debezium/lib/debezium-connector-postgres-*.jar); jar=${jar##*/debezium-connector-postgres-}; echo "debezium ${jar%.jar}" ;;
run) exec "$programs/run.sh" debezium "${@:2}" ;;
esac
