# franz-go: kgo, kadm and kmsg. franz-go.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../franz-go" && pwd)
bin=$COMPAT_CACHE/franz-go/checks
case $1 in
setup) mkdir -p "$(dirname "$bin")"; cd "$here"; go vet ./...; go build -o "$bin" . ;;
version) (cd "$here" && go list -m -f '{{.Path}} {{.Version}}' github.com/twmb/franz-go github.com/twmb/franz-go/pkg/kadm | sed 's|.*twmb/||;s|franz-go/pkg/||' | paste -sd' ') ;;
run) exec "$bin" "${@:2}" ;;
esac
