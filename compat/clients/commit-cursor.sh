# The commit-cursor loop into PostgreSQL, killed again and again. commit-cursor.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
programs=$(cd "$(dirname "${BASH_SOURCE[0]}")/../programs" && pwd)
case $1 in
setup) "$programs/setup.sh" postgresql ;;
version) echo "commit-cursor $(tr '\n' ' ' <"$programs/requirements.txt" | sed 's/==/ /g; s/ $//')" ;;
run) exec "$programs/run.sh" commit-cursor "${@:2}" ;;
esac
