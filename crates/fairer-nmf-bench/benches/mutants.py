"""All mutants of the library in one build: each is a branch that an environment variable chooses.

`cargo mutants` builds the tests anew for every mutant; here a function with mutants becomes

    fn f(..) -> R { match crate::mutant_switch::at(7) { 17 => { body with mutant 17 } .. _ => { body } } }

so that they are built once, and a test can be run with any mutant (MUTANT=17). What a test reaches is known from a run that
notes the functions it enters (MUTANT_RECORD=file), so that only such tests are run, those of the mutant's own module
first, then the quickest. Constants are left out.

    python crates/fairer-nmf-bench/benches/mutants.py make COPY PART...     # e.g. src/weights src/update
    python crates/fairer-nmf-bench/benches/mutants.py run COPY RESULTS.jsonl [SECONDS [SLOW]]

`make` writes a copy of the repository's library whose files with one of the PARTs in their path are rewritten, leaves out mutants
that do not compile and builds the tests. `run` appends a line of JSON for every mutant: caught, timeout, missed, unreached,
or capped where not all tests that reach it were run in SECONDS (10); tests that take longer than SLOW (3 seconds) are not run. Whole bodies are copied: some 700 mutants are enough for
one copy. Needs `cargo install cargo-mutants`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CRATE = Path("crates/fairer-nmf")
# What its tests share with those of the readers.
SHARED = Path("crates/fairer-nmf-io/tests/shared")
SWITCH = r"""
//! Which mutant runs.
#![allow(missing_docs)]
use std::io::Write;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
const UNSET: u32 = u32::MAX;
const RECORD: u32 = u32::MAX - 1;
static ACTIVE: AtomicU32 = AtomicU32::new(UNSET);
static SEEN: [AtomicBool; 1000] = [const { AtomicBool::new(false) }; 1000];

#[inline(always)]
pub fn at(function: usize) -> u32 {
    let active = ACTIVE.load(Relaxed);
    if active >= RECORD { first(function) } else { active }
}

#[cold]
#[inline(never)]
fn first(function: usize) -> u32 {
    let record = std::env::var("MUTANT_RECORD");
    let chosen = std::env::var("MUTANT").ok().and_then(|v| v.parse().ok()).unwrap_or(0);
    ACTIVE.store(if record.is_ok() { RECORD } else { chosen }, Relaxed);
    let Ok(path) = record else { return chosen };
    if !SEEN[function].swap(true, Relaxed) {
        let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
        writeln!(file.unwrap(), "{function}").unwrap();
    }
    0
}
"""
LITERAL = re.compile(r"""//[^\n]*|b?r(#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\[^']+|[^'\\])'""", re.S)


def body_of(text, start):
    """Where the braces of the function at `start` are."""
    depth, opening, brackets, i = 0, None, 0, start
    while True:
        literal = LITERAL.match(text, i)
        if literal:
            i = literal.end()
            continue
        if opening is None:
            brackets += (text[i] in "([") - (text[i] in ")]")
        if text[i] == "{" and (opening is not None or brackets == 0):
            opening = i if opening is None else opening
            depth += 1
        elif text[i] == "}" and opening is not None:
            depth -= 1
            if depth == 0:
                return opening, i
        i += 1


def rewrite(text, mutants, functions, path, left_out):
    """The file with a switch in every function that has mutants; `functions` grows by these."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)

    def at(place):
        return starts[place["line"] - 1] + place["column"] - 1

    of_function = {}
    for number, mutant in mutants:
        begin, end = at(mutant["span"]["start"]), at(mutant["span"]["end"])
        span = mutant["function"]["span"]
        home = (at(span["start"]), at(span["end"]))
        # Functions inside others go with these.
        home = next((h for h in of_function if h[0] <= home[0] and home[1] <= h[1]), home)
        of_function.setdefault(home, []).append((number, begin, end, mutant["replacement"]))
    out, done = "", 0
    for (start, _), own in sorted(of_function.items()):
        opening, closing = body_of(text, start)
        # All variants in every place that calls it would be too much.
        head = text[start : opening + 1].replace("#[inline(always)]", "#[inline]")
        out += text[done:start] + head + f" match crate::mutant_switch::at({len(functions)}) {{\n"
        lines = {}
        for number, begin, end, replacement in own:
            if number not in left_out:
                first = out.count("\n") + 1
                variant = text[opening + 1 : begin] + replacement + text[end:closing]
                out += f"{number} => {{{variant}\n}}\n"
                lines[number] = [first, out.count("\n")]
        out += f"_ => {{{text[opening + 1 : closing]}\n}}\n}}\n}}"
        functions.append({"file": path, "mutants": lines})
        done = closing + 1
    return out + text[done:]


def cargo(copy, *arguments):
    environment = dict(os.environ, RUSTFLAGS="-Awarnings -Ctarget-cpu=native")
    command = ["cargo", *arguments, "--release", "-p", "fairer-nmf", "--message-format=json"]
    made = subprocess.run(command, cwd=copy, env=environment, stdout=subprocess.PIPE, text=True)
    return made.returncode, [json.loads(line) for line in made.stdout.splitlines()]


def make(copy, *parts):
    listed = ["cargo", "mutants", "--list", "--json", "-p", "fairer-nmf"]
    listed = json.loads(subprocess.run(listed, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout)
    for part in [CRATE, SHARED]:
        shutil.copytree(ROOT / part, copy / part)
    shutil.copy(ROOT / "Cargo.lock", copy)
    manifest = re.sub(r"(?s)default-members.*?\n", "", (ROOT / "Cargo.toml").read_text())
    manifest = re.sub(r"(?s)members = \[.*?\]", f'members = ["{CRATE}"]', manifest)
    manifest = manifest[: manifest.index("# One profile")] + "[profile.release]\nopt-level = 1\n"
    (copy / "Cargo.toml").write_text(manifest)
    (copy / CRATE / "src/mutant_switch.rs").write_text(SWITCH)
    library = copy / CRATE / "src/lib.rs"
    library.write_text(library.read_text().replace("pub mod audit;", "mod mutant_switch;\npub mod audit;"))
    left_out = set()
    while True:
        functions, files = [], {}
        for number, mutant in enumerate(listed, 1):
            if mutant["function"] and any(part in mutant["file"] for part in parts):
                files.setdefault(mutant["file"], []).append((number, mutant))
        for path, mutants in files.items():
            text = (ROOT / path).read_text()
            (copy / path).write_text(rewrite(text, mutants, functions, path, left_out))
        failed, messages = cargo(copy, "check")
        if not failed:
            break
        errors = [m["message"] for m in messages if m.get("message", {}).get("level") == "error"]
        spans = [span for e in errors for span in e["spans"] if span["is_primary"]]
        wrong = {
            number
            for span in spans
            for function in functions
            if function["file"] == span["file_name"]
            for number, (first, last) in function["mutants"].items()
            if first <= span["line_start"] <= last
        }
        if not wrong:
            sys.exit("".join(e["rendered"] for e in errors))
        left_out |= wrong
    failed, messages = cargo(copy, "test", "--lib", "--tests", "--no-run")
    if failed:
        sys.exit("the tests do not compile")
    binaries = [m["executable"] for m in messages if m.get("executable")]
    names = [mutant["name"] for mutant in listed]
    state = {"functions": functions, "binaries": binaries, "names": names, "unviable": sorted(left_out)}
    (copy / "mutants.json").write_text(json.dumps(state))
    print(sum(len(f["mutants"]) for f in functions), "mutants,", len(left_out), "do not compile")


def test(copy, binary, name, timeout, **environment):
    """How a test ends, and the seconds it takes."""
    begin = time.monotonic()
    command = [binary, name, "--exact", "--test-threads=1"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    everything = dict(os.environ, **environment)
    try:
        ended = subprocess.run(command, cwd=copy / CRATE, env=everything, timeout=timeout, **quiet)
        result = "caught" if ended.returncode else "passed"
    except subprocess.TimeoutExpired:
        result = "timeout"
    return result, time.monotonic() - begin


def tests_of(copy, binaries, slow):
    """All tests that pass in time, with the functions that they enter."""
    record = copy / "record"
    for binary in binaries:
        listed = subprocess.run([binary, "--list"], stdout=subprocess.PIPE, text=True).stdout
        for name in re.findall(r"^(.*): test$", listed, re.M):
            record.unlink(missing_ok=True)
            result, seconds = test(copy, binary, name, slow, MUTANT_RECORD=str(record))
            if result == "passed" and record.exists():
                entered = {int(line) for line in record.read_text().split()}
                yield {"binary": binary, "name": name, "seconds": seconds, "entered": entered}


def run(copy, results, most=10.0, slow=3.0):
    state = json.loads((copy / "mutants.json").read_text())
    tests = list(tests_of(copy, state["binaries"], slow))
    with open(results, "a", encoding="utf-8") as file:
        for index, function in enumerate(state["functions"]):
            module = function["file"].split("src/")[1][:-3].replace("/", "::") + "::"
            own = lambda t: not module.startswith(t["name"].split("tests::")[0] or "-")
            reach = [t for t in tests if index in t["entered"]]
            reach.sort(key=lambda t: (own(t), t["seconds"]))
            for number in function["mutants"]:
                outcome, by, spent = "missed" if reach else "unreached", None, 0.0
                for t in reach:
                    if spent + t["seconds"] > most:
                        outcome = "capped"
                        continue
                    limit = 5 * t["seconds"] + 3
                    result, took = test(copy, t["binary"], t["name"], limit, MUTANT=number)
                    spent += took
                    if result != "passed":
                        outcome, by = result, t["name"]
                        break
                name = state["names"][int(number) - 1]
                line = {"mutant": number, "name": name, "outcome": outcome, "by": by}
                file.write(json.dumps(line) + "\n")
                file.flush()


if __name__ == "__main__":
    task, copy, *rest = sys.argv[1:]
    if task == "make":
        make(Path(copy).resolve(), *rest)
    else:
        run(Path(copy).resolve(), rest[0], *map(float, rest[1:3]))
