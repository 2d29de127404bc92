# The commit-cursor loop into PostgreSQL, killed again and again. commit-cursor.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../commit-cursor" && pwd)
venv=$COMPAT_CACHE/commit-cursor
case $1 in
setup)
    if ! ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; then
        apt-get update -qq
        # In run level 1 the package starts no server of its own.
        RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql
    fi
    cmp -s "$here/requirements.txt" "$venv/requirements.txt" && exit 0
    python3 -m venv --clear "$venv"
    "$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/"
    ;;
version) echo "commit-cursor $(tr '\n' ' ' <"$here/requirements.txt" | sed 's/==/ /g; s/ $//')" ;;
run) exec "$venv/bin/python" "$here/check.py" "${@:2}" ;;
esac
