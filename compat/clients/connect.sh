# Kafka Connect, a distributed worker with its internal topics on the broker. connect.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../connect" && pwd)
venv=$COMPAT_CACHE/connect
case $1 in
setup)
    "$here/../kafka/setup.sh"
    cmp -s "$here/requirements.txt" "$venv/requirements.txt" && exit 0
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/"
    ;;
version) echo "kafka connect $(cat "$KAFKA_PEER_TARGET/version")" ;;
run) exec "$venv/bin/python" "$here/checks.py" "${@:2}" ;;
esac
