# MirrorMaker, from Apache Kafka into the broker. mirror.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
programs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../programs" && pwd)
case $1 in
setup)
    "$programs/../kafka/setup.sh"
    "$programs/setup.sh"
    "$programs/java.sh" mirror
    ;;
version) jar=$(echo "$COMPAT_CACHE"/mirror/lib/connect-mirror-[0-9]*.jar); jar=${jar##*/connect-mirror-}; echo "mirrormaker ${jar%.jar}" ;;
run) exec "$programs/run.sh" mirror "${@:2}" ;;
esac
