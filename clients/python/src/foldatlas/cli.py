"""The command line `foldatlas`. Data goes to standard output, everything else to standard error."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from typing import Any, Callable, Dict, Iterator, List, NoReturn, Optional, TextIO

from . import __version__
from .client import LOOKUP_COLUMNS, FoldAtlas
from .errors import AlreadySubmitted, FoldAtlasError, InputError, Refusal
from .fold_input import FoldInput
from .inputs import MAX_INPUT_BYTES, decode_input, parse_input
from .journal import JOURNAL_FILE, Journal
from .parts import SENT_BEFORE, check_parts, refuse_to_pay_again, send_parts
from .ranking import ORDERS, describe_ranking, is_ranked, read_order
from .report import describe_alike, describe_issue
from .saver import plain_file_name
from .screen import read_input
from .submission import make_submission, plain_submission
from .table import Table
from .text import count_of, for_terminal, plain_text, round_numbers

# Exit codes, the same for every command.
OK, NOT_ALL_GOOD, UNREACHABLE, ALREADY_SUBMITTED, USAGE, DATA, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 64, 65, 130, 143

# Commands of the npm package, a program of the same name.
GATEWAY_COMMANDS = ("serve", "sandbox", "doctor", "mcp", "accept-ledger")

EXIT_CODES = """exit codes:
  0    everything succeeded
  1    the command ran, with failed tasks or errors in an answer
  2    the gateway cannot be reached, or the service refuses
  3    the same was submitted before, and --again is not given: nothing was sent
  64   the command line is wrong, or a file cannot be read or written
  65   the content of a file is wrong: its mistakes are listed, nothing was sent
  130  interrupted; a batch goes on, and the command to take it up is printed

The token is in FOLDATLAS_TOKEN or --token-file, the gateway in FOLDATLAS_URL or --url.
The gateway's own commands (%s) are run by npx -y foldatlas.""" % ", ".join(GATEWAY_COMMANDS)


class Ending(Exception):
    """Ends a command with an exit code and a sentence."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Terminal:
    """Standard error: lines, and on a terminal one line that is replaced."""

    def __init__(self) -> None:
        self.is_live = sys.stderr.isatty()
        self._hanging = False

    def say(self, line: str) -> None:
        self.clear()
        sys.stderr.write(for_terminal(line) + "\n")
        sys.stderr.flush()

    def ask(self, question: str) -> bool:
        """Whether the user says yes. Without a terminal, or interrupted, the answer is no."""
        if not (self.is_live and sys.stdin.isatty()):
            return False
        self.clear()
        try:
            sys.stderr.write(question + " [y/N] ")
            sys.stderr.flush()
            return sys.stdin.readline().strip().lower() in ("y", "yes")
        except KeyboardInterrupt:
            sys.stderr.write("\n")
            return False

    def live(self, line: str) -> None:
        if self.is_live:
            self.clear()
            sys.stderr.write(plain_text(line))
            sys.stderr.flush()
            self._hanging = True

    def clear(self) -> None:
        if self._hanging:
            sys.stderr.write("\r\x1b[2K")
        self._hanging = False


def out(text: str) -> None:
    """Data, as it is unless it goes to a terminal."""
    sys.stdout.write(for_terminal(text) if sys.stdout.isatty() else text)
    sys.stdout.flush()


class Parser(argparse.ArgumentParser):
    """Ends with 64 (EX_USAGE) instead of 2, which means unreachable."""

    def error(self, message: str) -> NoReturn:
        raise Ending(USAGE, "%s. See %s --help." % (message[:1].upper() + message[1:], self.prog))


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="foldatlas", description="Client of FoldAtlas.", epilog=EXIT_CODES, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)

    def add(name: str, run: Callable[[Any, Terminal], int], text: str, example: str) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name,
            help=text,
            description=text,
            epilog="example:\n  %s\n\n%s" % (example, EXIT_CODES),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.set_defaults(run=run)
        command.add_argument("--url", help="the gateway, such as http://127.0.0.1:4000/graphql")
        command.add_argument("--token-file", metavar="FILE", help="file with the bearer token")
        return command

    lookup = add("lookup", run_lookup, "Look up proteins, in the order given, gaps shown", "foldatlas lookup P01308 INS_HUMAN")
    lookup.add_argument("words", nargs="+", metavar="ID|FILE", help="hashes, accessions, entry names or sequences; or files of them, between white space or commas, or FASTA; - for standard input")
    form = lookup.add_mutually_exclusive_group()
    form.add_argument("--tsv", action="store_true", help="a table, tabs between columns (the default)")
    form.add_argument("--ndjson", action="store_true", help="one JSON object a line")

    fold = add("fold", run_fold, "Submit folds; with --watch follow them and save their results", "foldatlas fold designs.fasta --watch --out results")
    _add_input(fold)
    fold.add_argument("--check", action="store_true", help="only check: nothing is sent and nothing paid")
    fold.add_argument("--watch", action="store_true", help="follow the batch and save each result when it is there")
    fold.add_argument("--out", metavar="DIR", help="folder for the results (foldatlas-BATCH when not given)")
    _add_again(fold)

    check = add("check", run_check, "Check folds and count what they cost; nothing is sent to the service", "foldatlas check designs/")
    _add_input(check)

    rank = add("rank", run_rank, "Rank the tasks of batches in one table", "foldatlas rank results --by ipsae --best 10")
    _add_batches(rank)
    _add_order(rank, "rows")
    rank.add_argument("--min-iptm", metavar="X", type=_fraction, help="only tasks of at least this ipTM, 0 to 1")
    rank.add_argument("--min-ipsae", metavar="X", type=_fraction, help="only tasks of at least this ipSAE, 0 to 1")
    rank.add_argument("--ndjson", action="store_true", help="one JSON object a line, in place of a table")

    results = add("results", run_results, "Follow batches and save their results", "foldatlas results 5b0c8c3e-6f0f-4d7a-9d5b-0d4b7f6f3c11 --out results")
    _add_batches(results)
    _add_order(results, "files of tasks")
    results.add_argument("--out", metavar="DIR", help="folder for the results (the folder of BATCH, else foldatlas-BATCH, when not given)")

    watch = add("watch", run_watch, "Follow batches until every task has ended", "foldatlas watch 5b0c8c3e-6f0f-4d7a-9d5b-0d4b7f6f3c11")
    _add_batches(watch)

    retry = add("retry", run_retry, "Submit the failed items of a folder of results again; they are paid for again", "foldatlas retry results")
    retry.add_argument("folder", metavar="DIR", help="folder that foldatlas fold --out made")
    _add_again(retry)

    batches = add("batches", run_batches, "List your latest batches, newest first", "foldatlas batches --first 5")
    batches.add_argument("--first", metavar="N", type=_count, default=20, help="how many, 20 when not given")

    query = add("query", run_query, "Run a GraphQL document and write its answer as JSON", "echo '{ limits { maxTasks } }' | foldatlas query -")
    query.add_argument("file", help="GraphQL document; - for standard input")
    query.add_argument("--variables", metavar="JSON|@FILE", default="{}", help="variables as JSON, or @FILE")
    query.add_argument("--operation", metavar="NAME", help="which operation of the document")
    return parser


def _add_input(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "files", nargs="+", metavar="FILE|DIR",
        help="FASTA, CSV, TSV, YAML, or JSON or YAML of AlphaFold 3, Protenix or Boltz; several files or a folder are one screen, - is standard input",
    )
    command.add_argument("--label", metavar="TEXT", help="name of the batch")
    command.add_argument("--repeat", metavar="N", type=_repeat, help="how many times each item is folded, 1 to 2000")
    command.add_argument("--model", metavar="NAME", help="model that folds")
    command.add_argument("--pae", action="store_true", help="also predict the aligned error of every item, which ipSAE needs")
    command.add_argument("--pair-iptm", action="store_true", help="also predict the ipTM of each pair of chains")


def _add_again(command: argparse.ArgumentParser) -> None:
    command.add_argument("--again", metavar="WORD", default="", help="makes the same input another submission, paid for again")


def _add_batches(command: argparse.ArgumentParser) -> None:
    command.add_argument("batches", nargs="+", metavar="BATCH", help="id of a batch, or a folder of results, whose batches are taken")


def _add_order(command: argparse.ArgumentParser, what: str) -> None:
    command.add_argument("--by", metavar="SCORE", default="iptm", type=str.lower, choices=[one.lower() for one in ORDERS],
                         help="what to order by: %s" % ", ".join(ORDERS).lower())
    command.add_argument("--best", metavar="N", type=_count, help="only %s of this many, the first in the order" % what)


def _count(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,5}", text):
        raise argparse.ArgumentTypeError("must be a whole number from 1, not %.20s" % text)
    return int(text)


def _fraction(text: str) -> float:
    if not re.fullmatch(r"[01](\.\d{1,15})?|\.\d{1,15}", text) or float(text) > 1:
        raise argparse.ArgumentTypeError("must be a number from 0 to 1, not %.20s" % text)
    return float(text)


def _repeat(text: str) -> int:
    if not re.fullmatch(r"[1-9]\d{0,3}", text) or int(text) > 2000:
        raise argparse.ArgumentTypeError("must be a whole number from 1 to 2000")
    return int(text)


def _open(file: str) -> TextIO:
    if file == "-":
        return sys.stdin
    try:
        return open(file, encoding="utf-8-sig")
    except OSError as error:
        raise Ending(USAGE, str(error)) from None


def _read_input(files: List[str]) -> FoldInput:
    if files == ["-"]:
        return parse_input(decode_input(sys.stdin.buffer.read(MAX_INPUT_BYTES + 1), "-"), "-")
    if "-" in files:
        raise Ending(USAGE, "Standard input stands alone: give - or files.")
    try:
        return read_input(files)
    except OSError as error:
        raise Ending(USAGE, str(error)) from None


def _read(file: str) -> str:
    try:
        with _open(file) as stream:
            return stream.read()
    except UnicodeDecodeError:
        raise Ending(DATA, "%s is no UTF-8 text. Save it as UTF-8." % file) from None


def _client(args: Any, terminal: Terminal) -> FoldAtlas:
    token = None
    if args.token_file is not None:
        token = _read(args.token_file)
        if not token.strip():
            raise Ending(USAGE, "--token-file: the file is empty.")
    try:
        client = FoldAtlas(args.url, token)
    except ValueError as error:
        raise Ending(USAGE, str(error)) from None
    client.transport.say = terminal.say
    return client


_RESIDUES = re.compile(r"^[A-Za-z*. -]+$")


def read_identifiers(lines: Iterator[str]) -> Iterator[str]:
    """Identifiers between white space, commas and semicolons, `#` comments; a FASTA record is one identifier.

    A record ends with the blank line behind its sequence.
    """
    record: List[str] = []
    for line in lines:
        if "\0" in line:
            raise Ending(DATA, "The list is no UTF-8 text, but UTF-16 or a spreadsheet. Save it as UTF-8.")
        text = line.strip()
        if not text and len(record) < 2:
            continue
        if record and text and _RESIDUES.match(text):
            record.append(text)
            continue
        if record:
            yield "\n".join(record)
            record = []
        if text.startswith(">"):
            record = [text]
        else:
            yield from filter(None, re.split(r"[\s,;]+", text.split("#", 1)[0]))
    if record:
        yield "\n".join(record)


#: A word that can only be the name of a file: a mistyped one is not looked up.
_FILE_NAME = re.compile(r".*[/\\].*|.*\.[A-Za-z]\w*")


def _identifiers(words: List[str]) -> Iterator[str]:
    """The identifiers that the words are, or that stand in the files of these names."""
    for word in words:
        if word != "-" and not os.path.exists(word) and not _FILE_NAME.fullmatch(word):
            yield from read_identifiers(iter([word]))
            continue
        with _open(word) as stream:
            try:
                yield from read_identifiers(stream)
            except UnicodeDecodeError:
                raise Ending(DATA, "%s is no UTF-8 text. Save it as UTF-8." % word) from None


def run_lookup(args: Any, terminal: Terminal) -> int:
    client = _client(args, terminal)
    done, found, lost = 0, 0, 0
    for row in client.iter_lookup(_identifiers(args.words)):
        if done == 0 and not args.ndjson:
            out(Table(LOOKUP_COLUMNS).to_tsv())
        done += 1
        found += row["status"] == "FOUND"
        lost += row["status"] == "UNAVAILABLE"
        out(json.dumps(round_numbers(row)) + "\n" if args.ndjson else Table(LOOKUP_COLUMNS, [row]).to_tsv().split("\n", 1)[1])
        terminal.live("%d looked up, %d found" % (done, found))
    if done == 0 and not args.ndjson:
        out(Table(LOOKUP_COLUMNS).to_tsv())
    terminal.say("%d looked up: %d found, %d not found, %d unavailable." % (done, found, done - found - lost, lost))
    return NOT_ALL_GOOD if lost else OK


def _fold_input(args: Any, terminal: Terminal) -> FoldInput:
    made = _read_input(args.files)
    if not made.items:
        raise InputError("%s: no items in it." % args.files[0])
    extras = {name: True for name, is_asked in (("includePae", args.pae), ("includePairChainsIptm", args.pair_iptm)) if is_asked}
    made.items = [{**item, **extras} for item in made.items]
    say_some(terminal, ["warning: " + warning for warning in made.warnings])
    return made


def _command(args: Any, *words: str) -> str:
    """A command line that goes on with a batch."""
    by = getattr(args, "by", None)
    options = [("--best", getattr(args, "best", None)), ("--by", None if by == "iptm" else by), ("--out", getattr(args, "out", None)), ("--url", args.url), ("--token-file", args.token_file)]
    return shlex.join(["foldatlas", *words, *(part for name, value in options if value for part in (name, str(value)))])


def run_fold(args: Any, terminal: Terminal) -> int:
    if args.check:
        return run_check(args, terminal)
    made = _fold_input(args, terminal)
    client = _client(args, terminal)
    submission = make_submission(made, _options(args), args.again)
    journal = None if args.out is None else Journal.open(args.out)

    def report(check: Dict[str, Any]) -> None:
        say_some(terminal, warning_lines(check))
        if check["ok"]:
            terminal.say(price_text(check))
        if not args.again:
            refuse_to_pay_again(check, lambda: terminal.ask("The same was submitted before. Pay for it again?"))

    try:
        # Without a folder the keys alone keep the same input from being paid twice.
        if journal is None:
            sent = send_parts(client, submission, made, report=report)
        else:
            sent = journal.submit(client, submission, made, report)
    except KeyboardInterrupt:
        terminal.say("Interrupted before all was sent. Run the same again: it is not paid twice.")
        raise
    batches = sent["batch_ids"]
    with _going_on(args, terminal, "results", batches):
        out("".join(one + "\n" for one in batches))
        say_some(terminal, warning_lines(sent))
        if sent["replayed"]:
            terminal.say("Submitted before: the same batch%s, nothing is paid again (--again makes another one)." % ("es" if len(batches) > 1 else ""))
        if args.watch:
            return _save(client, args, terminal, batches)
    terminal.say("Follow it with: " + _command(args, "results", *batches))
    return OK


def warning_lines(found: Dict[str, Any]) -> List[str]:
    """A line for each warning of a check; first those about money."""
    ordered = sorted(found["warnings"], key=lambda one: one["code"] not in SENT_BEFORE)
    return ["warning: " + line for line in describe_alike(ordered)]


def _options(args: Any) -> Dict[str, Any]:
    return {"label": args.label, "repeat": args.repeat, "model": args.model}


def run_check(args: Any, terminal: Terminal) -> int:
    made = _fold_input(args, terminal)
    check = check_parts(_client(args, terminal), plain_submission(made, _options(args)), made)
    say_some(terminal, warning_lines(check))
    issues = [one for one in check["issues"] if one["code"] != "MORE"]
    say_some(terminal, [describe_issue(issue) for issue in issues])
    if check["ok"]:
        out(price_text(check) + "\n")
        return OK
    more = "" if len(issues) == len(check["issues"]) else "More than "
    terminal.say("%s%s: nothing of it would be sent." % (more, count_of(len(issues), "mistake")))
    return DATA


def price_text(check: Dict[str, Any]) -> str:
    """Such as "200 tasks, 40,000 residues and nucleotides in all, in 1 batch"; the service tells no price."""
    return "%s, %s in all, in %s. The service tells no price; it charges by such counts." % (
        count_of(check["taskCount"], "task"),
        count_of(check["totalLength"], "residue or nucleotide", "residues and nucleotides"),
        count_of(check["batchCount"], "batch", "batches"),
    )


def run_rank(args: Any, terminal: Terminal) -> int:
    table = _client(args, terminal).rank(_batches(args), args.by, args.min_iptm, args.min_ipsae)
    without = sum(not is_ranked(row, "INDEX") for row in table)
    rows = list(table) if args.best is None else [row for row in table if row["rank"] is not None][: args.best]
    out("".join(json.dumps(round_numbers(row)) + "\n" for row in rows) if args.ndjson else Table(table.columns, rows).to_tsv())
    terminal.say(describe_ranking(table, read_order(args.by)))
    return NOT_ALL_GOOD if without else OK


def run_retry(args: Any, terminal: Terminal) -> int:
    try:
        batches = _client(args, terminal).retry_failed(args.folder, args.again)
    except AlreadySubmitted as error:
        say_some(terminal, ["warning: " + line for line in error.issues])
        raise
    out("".join(one + "\n" for one in batches))
    terminal.say("Follow it with: " + _command(args, "results", *batches) if batches else "Nothing failed.")
    return OK


def run_batches(args: Any, terminal: Terminal) -> int:
    table = _client(args, terminal).batches(args.first)
    out(table.to_tsv())
    return NOT_ALL_GOOD if any(row["problem"] for row in table) else OK


def _batches(args: Any) -> List[str]:
    """The ids that were given; those of its journal for a folder."""
    found: List[str] = []
    for one in args.batches:
        journal = Journal.open(one) if os.path.isfile(os.path.join(one, JOURNAL_FILE)) else None
        if journal is None and (os.path.isdir(one) or os.path.basename(one) != one):
            raise InputError("%s is no folder of results: it has no %s. Name a folder that fold --out made, or the id of a batch." % (one, JOURNAL_FILE))
        if journal is None:
            found.append(one)
        elif None in journal.batches or not journal.batches:
            raise InputError("Not all batches of %s were submitted. Run that submission again first." % one)
        else:
            found += journal.batch_ids
    return list(dict.fromkeys(found))


def run_results(args: Any, terminal: Terminal) -> int:
    batches = _batches(args)
    if args.out is None and len(args.batches) == 1 and args.batches != batches:
        args.out = args.batches[0]
    with _going_on(args, terminal, "results", batches):
        return _save(_client(args, terminal), args, terminal, batches)


def run_watch(args: Any, terminal: Terminal) -> int:
    client = _client(args, terminal)
    counts: Dict[str, int] = {}
    batches = _batches(args)
    with _going_on(args, terminal, "watch", batches):
        for event in _shown(client.watch(batches), terminal):
            counts = event["counts"]
    return NOT_ALL_GOOD if counts.get("failed") or counts.get("cancelled") else OK


def _save(client: FoldAtlas, args: Any, terminal: Terminal, batches: List[str]) -> int:
    folder = args.out or "foldatlas-" + plain_file_name(batches[0])
    missing: List[str] = []
    ranked: Optional[Table] = None
    best, by = getattr(args, "best", None), getattr(args, "by", "iptm")
    for event in _shown(client.results(batches, folder, best, by), terminal):
        missing, ranked = event.get("missing", []), event.get("ranked")
    say_some(terminal, ["without a result: " + plain_text(line) for line in missing], 1000)
    if ranked is not None:
        terminal.say(describe_ranking(ranked, read_order(by)))
    terminal.say("Results and scores.tsv are in %s." % folder)
    return NOT_ALL_GOOD if missing else OK


@contextlib.contextmanager
def _going_on(args: Any, terminal: Terminal, command: str, batches: List[str]) -> Iterator[None]:
    """Says how to take up a batch when the command ends before it."""
    try:
        yield
    except (KeyboardInterrupt, FoldAtlasError, Ending) as error:
        is_refused = isinstance(error, FoldAtlasError) and error.code in ("NOT_FOUND", "BAD_USER_INPUT", "UNAUTHENTICATED")
        if not is_refused:
            terminal.say("The batch goes on without this command. Take it up with: " + _command(args, command, *batches))
        raise


def _shown(events: Iterator[Dict[str, Any]], terminal: Terminal) -> Iterator[Dict[str, Any]]:
    """Shows the progress of a batch: a bar on a terminal, else a line where something changed."""
    before = ""
    for event in events:
        for task in event["changed"]:
            if task["status"] == "FAILED":
                reason = (task["error"] or {}).get("message", "no reason given")
                terminal.say(plain_text("failed: %s: %s" % (task["name"] or task["taskId"], reason)))
        text = progress_text(event)
        if terminal.is_live:
            terminal.live("%s %s" % (progress_bar(event["counts"]), text))
        elif text != before:
            terminal.say(text)
        before = text
        yield event
    terminal.clear()


def say_some(terminal: Terminal, lines: List[str], count: int = 10) -> None:
    """Says the first lines of many, and how many more there are."""
    for line in lines[:count]:
        terminal.say(line)
    if len(lines) > count:
        terminal.say("... and %s." % count_of(len(lines) - count, "more line"))


def progress_text(event: Dict[str, Any]) -> str:
    """Such as "3/8 · 2 done · 1 failed · 5 running · about 40 s left"."""
    counts = event["counts"]
    ended = counts["done"] + counts["failed"] + counts["cancelled"]
    others = [("failed", counts["failed"]), ("cancelled", counts["cancelled"]), ("running", counts["inProgress"]), ("queued", counts["queued"])]
    parts = ["%d/%d" % (ended, counts["total"]), "%d done" % counts["done"]]
    parts += ["%d %s" % (count, word) for word, count in others if count]
    if event.get("saved"):
        parts.append("%d saved" % event["saved"])
    seconds: Optional[float] = event.get("seconds_left")
    if seconds is not None and ended < counts["total"]:
        amount = "%d s" % seconds if seconds < 90 else "%d min" % round(seconds / 60) if seconds < 5400 else "%d h" % round(seconds / 3600)
        parts.append("about %s left" % amount)
    return " · ".join(parts)


def progress_bar(counts: Dict[str, int], width: int = 28) -> str:
    ended = counts["done"] + counts["failed"] + counts["cancelled"]
    full = round(ended / counts["total"] * width) if counts["total"] else 0
    return "[%s%s]" % ("#" * full, "." * (width - full))


def run_query(args: Any, terminal: Terminal) -> int:
    document = _read(args.file)
    text = _read(args.variables[1:]) if args.variables.startswith("@") else args.variables
    try:
        variables = json.loads(text)
    except ValueError as error:
        raise Ending(USAGE, "--variables: %s" % error) from None
    if not isinstance(variables, dict):
        raise Ending(USAGE, "--variables: must be an object.")
    transport = _client(args, terminal).transport
    is_stream = re.search(r"^\s*subscription\b", re.sub(r"#.*", "", document), re.MULTILINE) is not None
    answers = transport.subscribe if is_stream else lambda *given: iter([transport.ask(*given)])
    failed = False
    for data, errors in answers(document, variables, args.operation):
        answer = {"data": data, **({"errors": errors} if errors else {})}
        out(json.dumps(answer, ensure_ascii=False, indent=None if is_stream else 2) + "\n")
        for error in errors:
            code = (error.get("extensions") or {}).get("code", "ERROR")
            where = " at " + ".".join(map(str, error["path"])) if error.get("path") else ""
            terminal.say(plain_text("%s%s: %s" % (code, where, error["message"])))
        failed = failed or bool(errors)
    return NOT_ALL_GOOD if failed else OK


def run_gateway_command(words: List[str]) -> int:
    """Hands a command of the npm package on, with its input, output and exit code."""
    npx = shutil.which("npx")
    if npx is None:
        raise Ending(USAGE, "%s is a command of the npm package. Install Node.js, then run: npx -y foldatlas %s" % (words[0], shlex.join(words)))
    command = [npx, "-y", "foldatlas", *words]
    if os.name == "posix":
        # In this process's place: signals of an agent or a terminal reach it.
        os.execv(npx, command)
    return subprocess.run(command).returncode


def main(words: Optional[List[str]] = None) -> int:
    """Runs a command. @returns its exit code"""
    terminal = Terminal()

    def terminate(*_: Any) -> None:
        raise Ending(TERMINATED, "Terminated.")

    signal.signal(signal.SIGTERM, terminate)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # The answers may have half a character, or one that this terminal cannot show. Files and
        # pipes get UTF-8 on Windows, too, where Python would write the code page of the country.
        sys.stdout.reconfigure(encoding=None if sys.stdout.isatty() else "utf-8", errors="backslashreplace")
    parser = make_parser()
    words = sys.argv[1:] if words is None else words
    try:
        if words and words[0] in GATEWAY_COMMANDS:
            return run_gateway_command(words)
        args = parser.parse_args(words)
        if args.command is None:
            parser.print_help(sys.stderr)
            return USAGE
        return args.run(args, terminal)
    except Ending as ending:
        terminal.say(str(ending))
        return ending.code
    except KeyboardInterrupt:
        terminal.say("Interrupted.")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader has enough, as `head` does. Nothing more can be written, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except AlreadySubmitted as error:
        # The warnings of the check have named the earlier batch.
        terminal.say(str(error).split("\n", 1)[0])
        return ALREADY_SUBMITTED
    except InputError as error:
        terminal.say(str(error))
        return DATA
    except Refusal as error:
        terminal.say("%s: %s" % (error.kind, error))
        return UNREACHABLE
    except FoldAtlasError as error:
        terminal.say("%s: %s" % (error.code or "ERROR", error))
        return UNREACHABLE
    except OSError as error:
        terminal.say(str(error))
        return USAGE
