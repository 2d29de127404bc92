"""Compares the answers of clients at Apache Kafka and at StreamStack, and prints the matrix of check and client.

Behaviours that are Kafka's must be answered as Kafka answers, but for those in expected/differences.json, each with its
reason. Behaviours of our own must be answered as expected/feed.json says, by every client that asks. What a client has no
call for it answers with {"cannot": reason}, or with "cannot: reason" in a part of its answer: such a cell is "no", such a
part is left out, and the reasons stand below the matrix.
"""

import argparse
import datetime
import json
import pathlib
import sys
from collections import defaultdict

HERE = pathlib.Path(__file__).parent
GOOD = {"ok", "ok*"}
NO = "no"

# What must be answered as Kafka answers, and what as expected/feed.json says.
COMPARED = ["kafka", "groups", "transactions"]
PROMISED = ["feed", "feed-groups", "feed-modes", "restart", "feed-transactions", "transactions-restart"]


def main():
    options = parse()
    cells, suites = judged(options)
    if options.again:
        wrong = {cell for cell, (verdict, _) in cells.items() if verdict not in GOOD | {NO}}
        replaced(options.answers, options.again, wrong)
        cells, suites = judged(options)
    wrong = {cell: verdict for cell, verdict in cells.items() if verdict[0] not in GOOD | {NO}}
    if options.failed:
        for check, client in wrong:
            print(client, suites[check, client], check)
        return
    versions = (options.answers / "versions").read_text().splitlines()
    for line in versions:
        print(line)
    table, limits = matrix(cells, options.clients), limits_of(options.answers, options.clients)
    print("\n" + table + "\n\n" + limits)
    # Last of all, for the end is what is kept of a long log.
    for (check, client), (verdict, why) in wrong.items():
        print(f"\n{verdict}: {check} with {client}\n{why}")
    if options.readme:
        write_readme(pathlib.Path(options.readme), table, limits, versions, options.command)
    verdicts = [verdict for verdict, _ in cells.values()]
    passed, left_out = sum(verdict in GOOD for verdict in verdicts), verdicts.count(NO)
    failed = len(cells) - passed - left_out
    print(f"{passed} passed, {failed} failed, {left_out} skipped")
    sys.exit(failed != 0 or passed == 0)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("answers", type=pathlib.Path)
    parser.add_argument("--command", default="compat/run all")
    parser.add_argument("--readme")
    parser.add_argument("--failed", action="store_true", help="only list what failed: client, suite and check")
    parser.add_argument("--again", type=pathlib.Path, help="answers of a second look, which replace those of the first")
    parser.add_argument("clients", nargs="+")
    return parser.parse_args()


def judged(options):
    """(check, client) -> verdict and reason; and the suite that the check is in."""
    cells, suites = {}, {}
    for client in options.clients:
        for suite in COMPARED + PROMISED:
            of_suite = (kafka_cells if suite in COMPARED else feed_cells)(options.answers, client, suite)
            cells.update(of_suite)
            suites.update({cell: suite for cell in of_suite})
    return cells, suites


def replaced(answers, again, wrong):
    """Puts the answers of the second look in the places of those that were wrong or not given, but for what failed at it
    too."""
    for path in again.iterdir():
        second, first = read(path), read(answers / path.name)
        client = path.name.split(".")[0]
        asked_whole = any(died(check) for check in first) and not any(died(check) for check in second)
        looked = {check: answer for check, answer in second.items() if (check, client) in wrong or check not in first}
        first.update({check: answer for check, answer in looked.items() if not crashed(answer)})
        lines = [line(check, answer) for check, answer in first.items() if not (asked_whole and died(check))]
        (answers / path.name).write_text("\n".join(lines) + "\n")


def line(check, answer):
    return json.dumps({"check": check, "answer": answer})


def died(check):
    """What compat/run says of a program that ended before its time."""
    return check.endswith(": the whole program")


def read(path):
    """check -> answer, in order; None where the suite was not run there."""
    if not path.exists():
        return None
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return {line["check"]: line["answer"] for line in lines}


def kafka_cells(answers, client, suite):
    kafka = read(answers / f"{client}.{suite}.kafka")
    ours = read(answers / f"{client}.{suite}.streamstack")
    if kafka is None and ours is None:
        return {}
    if ours is None:
        return {(check, client): alone(answer) for check, answer in kafka.items()}
    if kafka is None:
        return {(check, client): alone(answer) for check, answer in ours.items()}
    declared = json.loads((HERE / "expected/differences.json").read_text())
    checks = list(kafka) + [check for check in ours if check not in kafka]
    return {(check, client): compared(kafka.get(check), ours.get(check), declared.get(check)) for check in checks}


def feed_cells(answers, client, suite):
    ours = read(answers / f"{client}.{suite}.streamstack")
    if ours is None:
        return {}
    expected = json.loads((HERE / "expected/feed.json").read_text())
    return {(check, client): as_expected(expected.get(check), answer) for check, answer in ours.items()}


def alone(answer):
    return ("failed", show(answer)) if crashed(answer) else ("ok", "")


def compared(kafka, ours, declared):
    if ours is None or kafka is None:
        return "failed", f"  kafka:       {show(kafka)}\n  streamstack: {show(ours)}"
    if crashed(kafka) or crashed(ours):
        return "failed", f"  kafka:       {show(kafka)}\n  streamstack: {show(ours)}"
    if kafka == ours:
        return (NO, kafka["cannot"]) if cannot(kafka) else ("ok", "")
    if declared is not None:
        kafka = {**kafka, **declared["streamstack"]} if isinstance(kafka, dict) else declared["streamstack"]
    if kafka == ours:
        return "ok*", ""
    return "differs", "\n".join(differences(kafka, ours, "kafka", "streamstack"))


def as_expected(expected, answer):
    if crashed(answer):
        return "failed", f"  {show(answer)}"
    if expected is None:
        return "failed", f"  no answer is written down for this check; given: {show(answer)}"
    if cannot(answer):
        return NO, answer["cannot"]
    expected = without_limits(expected, answer)
    if expected == answer:
        return "ok", ""
    return "differs", "\n".join(differences(expected, answer, "expected", "streamstack"))


def crashed(answer):
    return isinstance(answer, dict) and "crash" in answer


def cannot(answer):
    return isinstance(answer, dict) and "cannot" in answer


def without_limits(expected, answer):
    """What is expected, but for the parts that the client could not ask for."""
    if isinstance(answer, str) and answer.startswith("cannot: "):
        return answer
    if isinstance(expected, dict) and isinstance(answer, dict):
        return {key: without_limits(value, answer.get(key)) for key, value in expected.items()}
    return expected


def limits_of(answers, clients):
    """A line for each reason of a client: what it cannot do, and in which checks that shows."""
    lines = []
    for client in clients:
        reasons = defaultdict(list)
        for suite in COMPARED + PROMISED:
            path = answers / f"{client}.{suite}.streamstack"
            for check, answer in (read(path) or {}).items():
                for part, reason in parts_left_out(answer):
                    reasons[reason].append(f"`{check}`" + (f" (`{part}`)" if part else ""))
        lines += [f"- {client}: {reason}: {shortened(checks)}" for reason, checks in reasons.items()]
    return "\n".join(lines)


def parts_left_out(answer, part=""):
    if cannot(answer):
        yield part, answer["cannot"]
    elif isinstance(answer, str) and answer.startswith("cannot: "):
        yield part, answer.removeprefix("cannot: ")
    elif isinstance(answer, dict):
        for key, value in answer.items():
            yield from parts_left_out(value, key)


def shortened(checks, most=4):
    return ", ".join(checks[:most]) + (f" and {len(checks) - most} more" if len(checks) > most else "")


def differences(left, right, left_name, right_name, path=""):
    """Only the places where two answers differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in dict.fromkeys([*left, *right]):
            if left.get(key, "-") != right.get(key, "-"):
                at = f"{path}.{key}" if path else key
                yield from differences(left.get(key, "-"), right.get(key, "-"), left_name, right_name, at)
    else:
        yield f"  {path or 'answer'}: {left_name} {show(left)}, {right_name} {show(right)}"


def show(answer):
    text = json.dumps(answer, ensure_ascii=False)
    return text if len(text) < 600 else text[:600] + " ..."


def matrix(cells, clients):
    checks = list(dict.fromkeys(check for check, _ in cells))
    checks = sorted(checks, key=lambda check: (check.startswith("feed."), section_order(check, checks)))
    rows = [[check, *(cells.get((check, client), ("-", ""))[0] for client in clients)] for check in checks]
    rows = [["check", *clients], *rows]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    return "\n".join(lines)


def section_order(check, checks):
    """Checks of a section stand together, in the order of the first client that has them."""
    sections = list(dict.fromkeys(name.split(".")[0] for name in checks))
    return sections.index(check.split(".")[0]), checks.index(check)


def write_readme(path, table, limits, versions, command):
    """Lays the matrix between the two marks."""
    begin, end = "<!-- matrix -->", "<!-- end of matrix -->"
    head, _, rest = path.read_text().partition(begin)
    tail = rest.partition(end)[2]
    today = datetime.datetime.now(datetime.timezone.utc).date()
    declared = json.loads((HERE / "expected/differences.json").read_text())
    notes = "\n".join(f"- `{check}`: {entry['reason']}" for check, entry in declared.items())
    body = f"\nRun on {today} as `{command}`, with {', '.join(versions)}.\n\n{table}\n\nDeclared differences (`ok*`):\n\n{notes}\n"
    body += f"\nWhat a client has no call for (`no`, or left out of a cell that is otherwise `ok`):\n\n{limits}\n" if limits else ""
    path.write_text(f"{head}{begin}{body}{end}{tail}")


main()
