# aiokafka. aiokafka.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
compat=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$compat/aiokafka
venv=$COMPAT_CACHE/aiokafka
case $1 in
setup)
    cmp -s "$here/requirements.txt" "$venv/requirements.txt" && exit 0
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/"
    ;;
version) sed -n 's/^aiokafka==/aiokafka /p' "$here/requirements.txt" ;;
run) PYTHONPATH=$compat/checks exec python3 "$compat/checks/run.py" "$2" "$3" "$4" "${5:-}" "$venv/bin/python" "$here/client.py" ;;
esac
