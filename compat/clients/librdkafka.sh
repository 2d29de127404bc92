# confluent-kafka for Python, which carries librdkafka. librdkafka.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../librdkafka" && pwd)
venv=$COMPAT_CACHE/librdkafka
case $1 in
setup)
    cmp -s "$here/requirements.txt" "$venv/requirements.txt" && exit 0
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/"
    ;;
version) "$venv/bin/python" "$here/checks.py" --version ;;
run) exec "$venv/bin/python" "$here/checks.py" "${@:2}" ;;
esac
