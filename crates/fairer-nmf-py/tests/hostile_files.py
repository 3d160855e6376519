"""Hostile files through the program that pip installs, each in a child of one process; prints what they gave.

    python crates/fairer-nmf-py/tests/hostile_files.py FOLDER

Every line: the name of the file, how its child ended, and the length of its message.
"""

import gzip
import io
import os
import resource
import struct
import sys
import zipfile

from fairer_nmf import _core


def npy(kind: str, shape: str, data: bytes = b"") -> bytes:
    """Give an array that says what it likes."""
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


def npz(**arrays: bytes) -> bytes:
    """Give an archive of arrays."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", array)
    return out.getvalue()


def sparse(rows: int, columns: int) -> bytes:
    """Give SciPy's form of a matrix with one entry."""

    def integers(*values: int) -> bytes:
        return npy("<i8", f"({len(values)},)", struct.pack(f"<{len(values)}q", *values))

    return npz(
        format=npy("|S3", "()", b"csr"), shape=integers(rows, columns), indptr=integers(0, 1),
        indices=integers(0), data=npy("<f8", "(1,)", struct.pack("<d", 1.0)),
    )  # fmt: skip


MTX = "%%MatrixMarket matrix coordinate real general\n"
LABELS = ["--groups", "lab.txt"]
FILES: dict[str, tuple[bytes, list[str]]] = {
    "rows.mtx": (f"{MTX}2147483647 2 1\n1 1 1\n".encode(), LABELS),
    "entries.mtx": (f"{MTX}2 2 1152921504606846976\n1 1 1\n".encode(), LABELS),
    "shape.npy": (npy("<f8", "(4294967296, 4294967296)"), LABELS),
    "texts.npy": (npy("<U999999999999999999", "(2, 2)"), LABELS),
    "columns.npz": (sparse(1, 2**31 - 1), LABELS),
    "format.npz": (npz(format=npy("<U0", "(1099511627776,)"), data=b"", shape=b""), LABELS),
    "bomb.csv.gz": (gzip.compress(bytes(1 << 20), 1) * 1200, LABELS),
    "keys.jsonl": (
        b"".join(b'{"g":"a","k%d":1}\n' % i for i in range(50_000)), ["--group-by", "g"],
    ),
    "deep.jsonl": (b'{"g":' + b"[" * 100_000, ["--group-by", "g"]),
    "nothing.xlsx": (b"PK\x03\x04", LABELS),
    # Nothing is wrong with it: the work needs more than there is.
    "work.csv": (
        b"g,u,v\n" + b"".join(b"%d,%d,1\n" % (i % 2, i % 7) for i in range(2_000)),
        ["--group-by", "g", "--rank", "60000", "--allow-small-groups"],
    ),
}  # fmt: skip


def main(folder: str) -> None:
    """Write the files and run the program on each, in 2 GiB more than this process has."""
    os.chdir(folder)
    with open("lab.txt", "w") as labels:
        labels.write("a\nb\n")
    with open("/proc/self/statm") as about:
        most = int(about.read().split()[0]) * resource.getpagesize() + (2 << 30)
    for name, (content, options) in FILES.items():
        with open(name, "wb") as file:
            file.write(content)
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
            os.dup2(os.open("message", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
            rank = [] if "--rank" in options else ["--rank", "1"]
            os._exit(_core.program(["fairer-nmf", "fit", name, *options, *rank]))
        _, status = os.waitpid(child, 0)
        print(name, os.waitstatus_to_exitcode(status), os.path.getsize("message"), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
