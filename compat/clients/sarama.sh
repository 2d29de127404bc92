# sarama. sarama.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
compat=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$compat/sarama
bin=$COMPAT_CACHE/sarama/client
case $1 in
setup) mkdir -p "$(dirname "$bin")"; cd "$here"; go vet ./...; go build -o "$bin" . ;;
version) (cd "$here" && go list -m -f 'sarama {{.Version}}' github.com/IBM/sarama) ;;
run) exec python3 "$compat/checks/run.py" "$2" "$3" "$4" "${5:-}" "$bin" ;;
esac
