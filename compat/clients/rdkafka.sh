# rdkafka for Rust, which builds its own librdkafka. rdkafka.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
compat=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export CARGO_TARGET_DIR=$COMPAT_CACHE/rdkafka/target
bin=$CARGO_TARGET_DIR/release/streamstack-compat-rdkafka
case $1 in
setup) cargo build --quiet --release --locked --manifest-path "$compat/rdkafka/Cargo.toml" ;;
version) "$bin" --version ;;
run) exec python3 "$compat/checks/run.py" "$2" "$3" "$4" "${5:-}" "$bin" ;;
esac
