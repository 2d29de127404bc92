# franz-go: kgo, kadm and kmsg. franz-go.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
compat=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$compat/franz-go
bin=$COMPAT_CACHE/franz-go/checks
case $1 in
setup) mkdir -p "$(dirname "$bin")"; cd "$here"; go vet ./...; go build -o "$bin" . ;;
version) (cd "$here" && go list -m -f '{{.Path}} {{.Version}}' github.com/twmb/franz-go github.com/twmb/franz-go/pkg/kadm | sed 's|.*twmb/||;s|franz-go/pkg/||' | paste -sd' ') ;;
run)
    case $3 in
    kafka | feed) exec "$bin" "${@:2}" ;;
    groups | transactions) "$bin" "${@:2}" ;;
    esac
    exec python3 "$compat/checks/run.py" "$2" "$3" "$4" "${5:-}" "$bin"
    ;;
esac
