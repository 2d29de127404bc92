#!/usr/bin/env bash
# programs/setup.sh [postgresql]   what the checks of whole programs need: one venv for all of them, and PostgreSQL where it is asked for.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
venv=$COMPAT_CACHE/programs
if [ "${1:-}" = postgresql ] && ! ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1; then
    apt-get update -qq
    # In run level 1 the package starts no server of its own.
    RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql
fi
cmp -s "$here/requirements.txt" "$venv/requirements.txt" && exit 0
python3 -m venv --clear "$venv"
"$venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
cp "$here/requirements.txt" "$venv/"
