"""How a program of ours in Java is started: a small machine that is quickly up."""

import os
import pathlib

OPTIONS = ["-Xmx256M", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"]


def java(folder, main, *arguments, options=()):
    target = pathlib.Path(os.environ["COMPAT_CACHE"]) / folder
    return ["java", *OPTIONS, *options, "-cp", f"{target}/classes:{target}/lib/*", main, *arguments]
