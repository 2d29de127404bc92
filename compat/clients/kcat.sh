# kcat, by the commands that a user types. kcat.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../kcat" && pwd)
case $1 in
setup)
    command -v kcat >/dev/null && exit 0
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq kcat
    ;;
version) kcat -V | sed -n 's/^Version \([^ ]*\) .*librdkafka \([^ ]*\) .*/kcat \1 (librdkafka \2)/p' ;;
run) exec python3 "$here/checks.py" "${@:2}" ;;
esac
