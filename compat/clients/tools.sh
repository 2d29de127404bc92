# Kafka's command line tools. tools.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../tools" && pwd)
target=$COMPAT_CACHE/tools
case $1 in
setup)
    "$here/../kafka/setup.sh"
    stamp=$(cat "$here/ToolHost.java" "$KAFKA_PEER_TARGET/stamp" | sha256sum)
    [ "$(cat "$target/stamp" 2>/dev/null || true)" = "$stamp" ] && exit 0
    rm -rf "$target"
    mkdir -p "$target"
    javac -Xlint:all,-path -cp "$KAFKA_PEER_TARGET/lib/*" -d "$target/classes" "$here/ToolHost.java"
    echo "$stamp" >"$target/stamp"
    ;;
version) echo "kafka tools $(cat "$KAFKA_PEER_TARGET/version")" ;;
run) exec python3 "$here/checks.py" "${@:2}" ;;
esac
