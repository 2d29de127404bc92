#!/usr/bin/env bash
# programs/java.sh FOLDER   resolves a folder's pom.xml into lib and compiles its src into classes, under COMPAT_CACHE.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../$1" && pwd)
target=$COMPAT_CACHE/$1
stamp=$(find "$here" -name pom.xml -o -name '*.java' | sort | xargs cat "${BASH_SOURCE[0]}" | sha256sum)
[ "$(cat "$target/stamp" 2>/dev/null || true)" = "$stamp" ] && exit 0
mkdir -p "$target"
rm -rf "$target/lib" "$target/classes" "$target/stamp"
mvn -B -q -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$target/lib"
if [ -d "$here/src" ]; then
    javac -Xlint:all -cp "$target/lib/*" -d "$target/classes" "$here"/src/*.java
fi
echo "$stamp" >"$target/stamp"
