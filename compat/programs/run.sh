#!/usr/bin/env bash
# programs/run.sh FOLDER BOOTSTRAP SUITE PREFIX [ONLY]   the checks of one program, with what all of them share on the path.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
compat=$here/..
PYTHONPATH=$here:$compat/checks:$compat/connect exec "$COMPAT_CACHE/programs/bin/python" "$compat/$1/checks.py" "${@:2}"
