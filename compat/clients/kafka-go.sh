# kafka-go. kafka-go.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
compat=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$compat/kafka-go
bin=$COMPAT_CACHE/kafka-go/client
case $1 in
setup) mkdir -p "$(dirname "$bin")"; cd "$here"; go vet ./...; go build -o "$bin" . ;;
version) (cd "$here" && go list -m -f 'kafka-go {{.Version}}' github.com/segmentio/kafka-go) ;;
run) exec python3 "$compat/checks/run.py" "$2" "$3" "$4" "${5:-}" "$bin" ;;
esac
