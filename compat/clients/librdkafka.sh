# confluent-kafka for Python, which carries librdkafka. librdkafka.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
compat=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$compat/librdkafka
venv=$COMPAT_CACHE/librdkafka
case $1 in
setup)
    cmp -s "$here/requirements.txt" "$venv/requirements.txt" && exit 0
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/"
    ;;
version) "$venv/bin/python" "$here/checks.py" --version ;;
run)
    case $3 in
    kafka | feed) exec "$venv/bin/python" "$here/checks.py" "${@:2}" ;;
    esac
    # The folder of the program comes first among those in which it looks for modules.
    PYTHONPATH=$compat/checks exec python3 "$compat/checks/run.py" "$2" "$3" "$4" "${5:-}" "$venv/bin/python" "$here/members.py"
    ;;
esac
