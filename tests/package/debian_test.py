#!/usr/bin/env python3
"""The Debian packages: debian_test.py --build BUILD. They are made by CPack from a build, looked at with dpkg-deb, unpacked
into a folder and used from there, with the folder of the sources out of sight as far as the program can tell."""

import argparse
import gzip
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

NEEDED = {
    "tresse": ["usr/bin/tresse", "usr/share/man/man1/tresse.1.gz", "usr/share/bash-completion/completions/tresse",
               "usr/share/zsh/vendor-completions/_tresse", "usr/share/fish/vendor_completions.d/tresse.fish",
               "usr/share/doc/tresse/copyright", "usr/share/doc/tresse/changelog.gz",
               "usr/share/tresse/scene.schema.json", "usr/share/tresse/scenes/comb.toml",
               "usr/share/tresse/python/tresse_plot/command.py", "usr/share/tresse/python/tresse_frames.py"],
    "libtresse-dev": ["usr/include/tresse/rods/super_helix.hpp", "usr/share/doc/libtresse-dev/copyright"],
}  # fmt: skip


def run(*command, **options):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=200, check=False,
                            **options)  # fmt: skip
    if result.returncode:
        sys.exit(f"{' '.join(map(str, command))}: {result.returncode}\n{result.stdout}{result.stderr}")
    return result.stdout


def control(package):
    text = run("dpkg-deb", "--field", package)
    return dict(re.findall(r"(?m)^([\w-]+): (.*)$", text))


def looked_at(packages, folder):
    """What is wrong with the packages themselves; unpacks them into `folder`."""
    for name, package in packages.items():
        fields = control(package)
        yield from (f"{name}: no {key}" for key in ("Version", "Maintainer", "Description", "Depends") if key not in fields)
        if fields["Architecture"] != run("dpkg", "--print-architecture").strip():
            yield f"{name}: Architecture {fields['Architecture']}"
        paths = run("dpkg-deb", "--contents", package).splitlines()
        odd = [line for line in paths if " root/root " not in line or not line.split()[5].startswith("./")]
        yield from (f"{name}: {line}" for line in odd)
        run("dpkg-deb", "--extract", package, folder)
        yield from (f"{name}: no {path}" for path in NEEDED[name] if not (folder / path).is_file())
    depends = control(packages["tresse"])["Depends"]
    yield from (f"tresse does not depend on {library}" for library in ("libhdf5", "libtbb", "libembree", "libc6")
                if library not in depends)  # fmt: skip
    if not list((folder / "usr/lib").rglob("cmake/tresse/tresseConfig.cmake")):
        yield "libtresse-dev: no tresseConfig.cmake"
    if "RUNPATH" in run("readelf", "-d", folder / "usr/bin/tresse"):
        yield "the program remembers where it was built"


def used(folder, work):
    """What is wrong with the program where it was unpacked."""
    program, share = folder / "usr/bin/tresse", folder / "usr/share/tresse"
    environment = {**os.environ, "HOME": str(work), "MPLCONFIGDIR": str(work)}
    run(program, "run", share / "scenes/swing.toml", "-o", "swing", "--until", 0.05, "--quiet", cwd=work, env=environment)
    run(program, "plot", "swing", "-o", "plot.png", "--what", "energies", cwd=work, env=environment)
    run(program, "render", "swing", "-o", "picture.png", "--frame", -1, "--width", 32, "--height", 32, cwd=work)
    run(program, "bench", "distance", "-o", "distance.json", "--quick", cwd=work)
    yield from (f"no {name}" for name in ("plot.png", "picture.png", "distance.json") if not (work / name).is_file())
    schema = (share / "scene.schema.json").read_text(encoding="utf-8")
    if json.loads(schema) != json.loads(run(program, "schema")):
        yield "scene.schema.json is not what the program prints"
    page = gzip.decompress((folder / "usr/share/man/man1/tresse.1.gz").read_bytes()).decode()
    yield from (f"the manual page lacks {name}" for name in commands(program) if f".SS \\fB{name}\\fR" not in page)
    if complaint := lint(page):
        yield f"manual page: {complaint}"
    remembered = subprocess.run(["strings", "-n", "8", program], capture_output=True, text=True, check=True).stdout
    sources = str(pathlib.Path(__file__).resolve().parents[2])
    if len(found := [line for line in remembered.splitlines() if sources in line]) > 2:  # tresse plot, tresse bench
        yield f"the program holds {len(found)} paths of the sources"


def commands(program):
    text = run(program, "--help")
    return re.findall(r"(?m)^  (\w[\w-]*)", text.split("Subcommands:\n")[1])


def lint(page):
    """mandoc's errors and warnings, but for a missing date: a page is as old as its program."""
    lines = subprocess.run(["mandoc", "-T", "lint", "-W", "warning"], input=page, capture_output=True, text=True,
                           check=False).stdout.splitlines()  # fmt: skip
    return "\n".join(line for line in lines if "missing date" not in line)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, type=pathlib.Path)
    build = parser.parse_args().build.resolve()
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        run("cpack", "--config", build / "CPackConfig.cmake", "-B", scratch / "packages")
        found = {path.name.split("_")[0]: path for path in (scratch / "packages").glob("*.deb")}
        if found.keys() != NEEDED.keys():
            sys.exit(f"packages: {sorted(found)}; expected {sorted(NEEDED)}")
        root, work = scratch / "root", scratch / "work"
        work.mkdir()
        wrong = [*looked_at(found, root), *used(root, work)]
        size = {key: f"{path.stat().st_size / 1e6:.1f} MB" for key, path in found.items()}
    print("\n".join(wrong) or f"packages are as they should be: {size}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
