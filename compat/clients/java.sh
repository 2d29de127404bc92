# kafka-clients. java.sh setup | version | run BOOTSTRAP SUITE PREFIX [ONLY]
set -euo pipefail
compat=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
here=$compat/java
target=$COMPAT_CACHE/java
case $1 in
setup)
    stamp=$(find "$here" -type f | sort | xargs sha256sum | sha256sum)
    [ "$(cat "$target/stamp" 2>/dev/null || true)" = "$stamp" ] && exit 0
    mkdir -p "$target"
    rm -rf "$target/lib" "$target/classes" "$target/stamp"
    mvn -B -q -f "$here/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$target/lib"
    javac -Xlint:all -cp "$target/lib/*" -d "$target/classes" "$here"/src/*.java
    cp "$here"/log4j2.properties "$target/classes/" 2>/dev/null || true
    echo "$stamp" >"$target/stamp"
    ;;
version) jar=$(echo "$target"/lib/kafka-clients-*.jar); jar=${jar##*/}; echo "kafka-clients ${jar//[!0-9.]/}" | sed 's/\.$//' ;;
run)
    java=(java -Dorg.slf4j.simpleLogger.defaultLogLevel=error -Xmx512M -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp "$target/classes:$target/lib/*")
    case $3 in
    kafka | feed) exec "${java[@]}" Checks "${@:2}" ;;
    groups) "${java[@]}" Checks "${@:2}" ;;
    esac
    exec python3 "$compat/checks/run.py" "$2" "$3" "$4" "${5:-}" "${java[@]}" Members
    ;;
esac
