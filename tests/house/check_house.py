#!/usr/bin/env python3
"""The rules of the house that no compiler checks. Usage: check_house.py RULE [FOLDER] or check_house.py --self-test.

RULE is one of
  levels   a folder includes only what stands at a lower level (docs/architecture.md), and public headers only Eigen
  names    snake_case file names in the places where they belong
  texts    what source files must not contain: printing in the library, absolute paths, unfinished marks, ...
  kinds    only src/tresse/bodies names a kind of body of its list, with few exceptions (KIND_EXCEPTIONS)
  pages    no line of a page above 120 characters, but rows of tables in the reference; no page above 1500 words, but
           those of the reference; each folder of the library has a README.md, whose files are there
Prints one line per breach and exits 1 when there is any. --self-test plants one breach of each kind and wants it found.
"""

import pathlib
import re
import sys
import tempfile

LEVELS = {
    "base": 0, "math": 1, "files": 1, "geometry": 2, "friction": 2, "fluid": 2, "grains": 3, "rods": 3, "bodies": 3,
    "contact": 3, "laws": 3, "surfaces": 3, "importers": 3, "assembly": 4, "dynamics": 5, "statics": 5, "inverse": 5,
    "problem_files": 5, "scene": 6,
    "settle": 7, "scene_file": 7, "observe": 7, "record": 8, "exporters": 9,
}  # fmt: skip
SOURCE_FOLDERS = ("src", "app", "python", "render", "tests", "benchmarks", "examples")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def sources(root, folders=SOURCE_FOLDERS):
    """C++ files under the given folders, sorted, as paths relative to `root`."""
    found = []
    for folder in folders:
        found += [p.relative_to(root) for p in (root / folder).rglob("*") if p.suffix in (".cpp", ".hpp", ".h")]
    return sorted(found)


def lines(path):
    return enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)


def own_folder(path):
    """Folder of src/tresse that a library file or its test belongs to, else None."""
    parts = path.parts
    if len(parts) > 3 and parts[:2] == ("src", "tresse"):
        return parts[2]
    if len(parts) > 2 and parts[0] == "tests" and parts[1] in LEVELS:
        return parts[1]
    return None


def level_breach(path, bracket, target):
    """Why `path` may not include `target`, or None."""
    in_library = path.parts[0] == "src"
    own = own_folder(path)
    parts = pathlib.PurePosixPath(target).parts
    if bracket == '"' and ".." in parts:
        return "climbs out of its folder"
    if parts[0] != "tresse":
        public = in_library and path.suffix == ".hpp" and "detail" not in path.parts
        if in_library and parts[0] in ("app", "render", "tests"):
            return "the library does not see the programs"
        known = ("Eigen", "unsupported", "immintrin.h")  # the last is the compiler's own
        if public and bracket == "<" and "." in target and parts[0] not in known:
            return "a public header needs nothing but the standard library and Eigen"
        return None
    if bracket == '"':
        return "is a header of the library: write <...>"
    if len(parts) < 3 or parts[1] not in LEVELS:
        return "is no folder of the library"
    if "detail" in parts and parts[1] != own and path.parts[0] != "benchmarks":
        return "is private to its folder"
    if "detail" in parts and in_library and path.suffix == ".hpp" and "detail" not in path.parts:
        return "is private: a public header does not need it"
    if own is None or parts[1] == own:
        return None
    # A test may look at what its folder may, and no further.
    if LEVELS[parts[1]] >= LEVELS[own]:
        return f"stands at level {LEVELS[parts[1]]}, {own} at level {LEVELS[own]}"
    return None


def check_levels(root):
    for path in sources(root):
        own = own_folder(path)
        if path.parts[0] == "src" and own is not None and own not in LEVELS:
            yield f"{path}: the folder {own} has no level"
            continue
        for number, line in lines(root / path):
            match = INCLUDE.match(line)
            reason = match and level_breach(path, match[1], match[2])
            if reason:
                yield f"{path}:{number}: includes {match[2]}: {reason}"


def check_names(root):
    snake = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
    for path in sources(root):
        for part in (*path.parts[:-1], path.stem):
            if not snake.fullmatch(part):
                yield f"{path}: '{part}' is not snake_case"
        if path.suffix == ".h":
            yield f"{path}: headers end in .hpp"
        in_mirror = path.parts[0] == "tests" and path.parts[1] in LEVELS
        if in_mirror and path.suffix == ".cpp" and not path.stem.endswith("_test"):
            yield f"{path}: a test's name ends in _test.cpp; what tests share is in tests/support"
        if path.parts[0] == "src" and len(path.parts) < 4:
            yield f"{path}: belongs in a folder of src/tresse"
    for data in sorted((root / "tests" / "data").glob("*")):
        if data.is_dir() and not (data / "SOURCE.md").is_file():
            yield f"{data.relative_to(root)}: has no SOURCE.md that says where the data comes from"


LIBRARY_BANS = [
    (re.compile(r"std::(cout|cerr|clog)\b|(?<![\w:.])(?:std::)?f?printf\s*\(|fmt::print\b"), "the library never prints"),
    (re.compile(r"(?<![\w:.])(?:std::)?(exit|abort|terminate)\s*\("), "the library never ends the program"),
    (re.compile(r"(?<![\w_])assert\s*\(|#\s*include\s*<cassert>"), "use require() for input, TRESSE_ASSERT for invariants"),
    (re.compile(r"\bgetenv\s*\("), "the library does not read the environment"),
    (re.compile(r"\bthread_local\b"), "memory is a member, an argument, or tresse/base/local_memory.hpp"),
    (re.compile(r"\b(rand|srand)\s*\(|std::random_device"), "results must not depend on chance: seed a generator"),
]
HEADER_BANS = [
    (re.compile(r"\busing\s+namespace\b"), "a header must not open a namespace for those who include it"),
]
LINTED_BANS = [
    (re.compile(r"//\s*NOLINT(?!\w*\([\w-])"), "say which check is silenced: NOLINT(check-name)"),
]
SOURCE_BANS = [
    (re.compile(r"\busing\s+namespace\s+(std|Eigen)\s*;"), "name what you use"),
]
ALL_BANS = [
    (re.compile(r"\b(TODO|FIXME|XXX|HACK)\b"), "unfinished: do it, or write what is missing in the documents"),
    (re.compile(r"(?<![\w.}$])/(home|root|Users|mnt|media|srv|work)/"), "a path of one machine"),
    (re.compile(r"^(<{7}|={7}|>{7})( |$)"), "left from a merge"),
    (re.compile(r"[ \t]+$"), "space at the end of the line"),
    (re.compile(r"ffast-math|Ofast"), "results must not depend on the compiler's liberties"),
    (re.compile(r"[Ll]orem ipsum"), "unfinished text"),
]
FIGURE_BANS = [
    (re.compile(r"\brcParams\b"), "all figures have one look, that of python/tresse_plot/style.py"),
]
TEXT_SUFFIXES = {".cpp", ".hpp", ".py", ".pyi", ".md", ".cmake", ".txt", ".toml", ".json", ".in", ".ts", ".css", ".html",
                 ""}  # fmt: skip
TEXT_FOLDERS = (".ci", "app", "benchmarks", "cmake", "docs", "examples", "python", "render", "scenes", "src", "tests", "tools",
                "validation", "viewer")  # fmt: skip
SELF = pathlib.Path("tests/house/check_house.py")  # states the patterns, so holds them
FREE_OF_RULES = {SELF, pathlib.Path("src/tresse/base/assert.hpp")}


def texts(root):
    for path in sorted(p for p in root.glob("*") if p.is_file()):
        yield path.relative_to(root)
    for folder in TEXT_FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            relative = path.relative_to(root)
            if path.is_file() and not {"data", "__pycache__", "node_modules"} & set(relative.parts):
                yield relative


def check_texts(root):
    for path in texts(root):
        if path in FREE_OF_RULES or path.suffix not in TEXT_SUFFIXES or path.name == "LICENSE":
            continue
        is_source = path.suffix in (".cpp", ".hpp")
        bans = list(ALL_BANS)
        if path.suffix == ".md":
            bans = [ban for ban in bans if "ffast-math" not in ban[0].pattern]  # the documents say that it's off
        if is_source:
            bans += SOURCE_BANS
        if is_source and path.parts[0] in ("src", "app", "python", "render"):
            bans += LINTED_BANS
        if path.suffix == ".hpp":
            bans += HEADER_BANS
        if is_source and path.parts[0] == "src":
            bans += LIBRARY_BANS
        if path.parts[0] in ("tools", "validation", "python") and path.name != "style.py":
            bans += FIGURE_BANS
        first_code = None
        for number, line in lines(root / path):
            # What a comment says is prose, except for the bans that hold for every text.
            code = line.split("//")[0] if is_source else line
            first_code = first_code or code.strip()
            for pattern, reason in bans:
                everywhere = (pattern, reason) in ALL_BANS or "NOLINT" in pattern.pattern
                found = pattern.search(line if everywhere else code)
                if found:
                    yield f"{path}:{number}: '{found[0].strip() or 'blank'}': {reason}"
        if path.suffix == ".hpp" and first_code != "#pragma once":
            yield f"{path}: a header's first line of code is #pragma once"


KIND_LIST = pathlib.Path("src/tresse/bodies/shapes.hpp")
# A mesh comes from files, whose names are a scene's to keep and to read.
KIND_EXCEPTIONS = {
    pathlib.Path("src/tresse/scene/body_fields.hpp"): "Mesh",  # the list of its keys
    pathlib.Path("src/tresse/scene_file/detail/scene_mesh.cpp"): "Mesh",  # reads its files
}


def check_kinds(root):
    if not (root / KIND_LIST).is_file():
        return
    kinds = re.search(r"KindList<(\w+(?:,\s*\w+)*)>;", (root / KIND_LIST).read_text(encoding="utf-8"))
    if not kinds:
        yield f"{KIND_LIST}: has no list of kinds"
        return
    named = re.compile(r"\bbodies::(" + "|".join(re.split(r",\s*", kinds[1])) + r")\b")
    for path in sources(root, ("src", "app", "render", "python")):
        if path.parts[:3] == KIND_LIST.parts[:3]:
            continue
        for number, line in lines(root / path):
            for found in named.finditer(line.split("//")[0]):
                if KIND_EXCEPTIONS.get(path) != found[1]:
                    yield f"{path}:{number}: '{found[0]}': ask for the parts of a shape, whatever its kind"


def check_pages(root):
    longest, most = 120, 1500
    for path in sorted([root / "README.md", root / "CONTRIBUTING.md", *(root / "docs").rglob("*.md"),
                       *(root / "src").rglob("*.md")]):
        if not path.is_file():
            continue
        name = path.relative_to(root)
        reference = name.parts[:2] == ("docs", "reference")
        for number, line in lines(path):
            if len(line) > longest and not (reference and line.startswith("|")):
                yield f"{name}:{number}: {len(line)} characters, {longest} at most"
        words = len(path.read_text(encoding="utf-8").split())
        if words > most and not reference:
            yield f"{name}: {words} words, {most} at most"
    for folder in sorted((root / "src" / "tresse").glob("*/")):
        page = folder / "README.md"
        if not any(folder.rglob("*.?pp")) and not page.is_file():
            continue
        if not page.is_file():
            yield f"{folder.relative_to(root)}: has no README.md that says where to begin"
            continue
        for number, line in lines(page):
            named = re.match(r"- `([^`]+)`:", line)
            if named and not (folder / named[1]).is_file():
                yield f"{page.relative_to(root)}:{number}: names {named[1]}, which is not there"


RULES = {"levels": check_levels, "names": check_names, "texts": check_texts, "kinds": check_kinds,
         "pages": check_pages}

PLANTED = [  # rule, file, text, words of the breach
    ("levels", "src/tresse/math/a.cpp", "#include <tresse/rods/rod.hpp>", "stands at level 3"),
    ("levels", "src/tresse/rods/b.cpp", "#include <tresse/contact/contact_set.hpp>", "stands at level 3"),
    ("levels", "src/tresse/rods/c.cpp", '#include "../geometry/curves.hpp"', "climbs out"),
    ("levels", "src/tresse/rods/d.cpp", "#include <tresse/geometry/detail/x.hpp>", "is private"),
    ("levels", "src/tresse/rods/d.hpp", "#include <tresse/rods/detail/x.hpp>", "a public header does not need it"),
    ("levels", "src/tresse/record/e.hpp", "#include <hdf5.h>", "nothing but the standard library and Eigen"),
    ("levels", "src/tresse/record/f.cpp", "#include <app/commands.hpp>", "does not see the programs"),
    ("levels", "src/tresse/attic/g.cpp", "", "has no level"),
    ("levels", "tests/geometry/h_test.cpp", "#include <tresse/record/trajectory.hpp>", "stands at level 8"),
    ("names", "src/tresse/math/HelloWorld.cpp", "", "not snake_case"),
    ("names", "src/tresse/math/a.h", "", "end in .hpp"),
    ("names", "tests/math/helpers.cpp", "", "ends in _test.cpp"),
    ("names", "tests/data/cantilever/x.json", "", "SOURCE.md"),
    ("names", "src/tresse/version.hpp", "", "belongs in a folder"),
    ("texts", "src/tresse/math/a.cpp", '  std::cout << "x";', "never prints"),
    ("texts", "src/tresse/math/b.cpp", "  assert(x > 0);", "use require()"),
    ("texts", "src/tresse/math/c.cpp", "  std::exit(1);", "never ends the program"),
    ("texts", "src/tresse/math/d.hpp", "struct A {};", "#pragma once"),
    ("texts", "src/tresse/math/f.cpp", "  thread_local double x;", "memory is a member"),
    ("texts", "tests/math/e_test.cpp", "using namespace std;", "name what you use"),
    ("texts", "tests/math/e.hpp", "#pragma once\nusing namespace tresse;", "must not open"),
    ("texts", "app/f.cpp", "int x;  // NOLINT", "which check"),
    ("texts", "docs/g.md", "TODO write", "unfinished"),
    ("texts", "tools/h", "cp /home/someone/x .", "a path of one machine"),
    ("texts", "tools/figures/k.py", 'plt.rcParams["font.size"] = 9', "one look"),
    ("texts", "scenes/i.toml", "x = 1 ", "space at the end"),
    ("texts", "README.md", "<<<<<<< ours", "left from a merge"),
    ("texts", "cmake/j.cmake", "add_compile_options(-ffast-math)", "liberties"),
    ("kinds", "src/tresse/observe/a.cpp", "if (std::get_if<bodies::Comb>(&shape)) {}", "whatever its kind"),
    ("kinds", "src/tresse/scene/body_fields.hpp", "bodies::Plane x;  // and bodies::Mesh", "whatever its kind"),
    ("kinds", "src/tresse/bodies/shapes.hpp", "using Kinds = std::variant<Plane>;", "no list of kinds"),
    ("pages", "src/tresse/math/README.md", "- `nothing.hpp`: nothing\n", "which is not there"),
    ("pages", "src/tresse/rods/rod.hpp", "", "has no README.md"),
    ("pages", "docs/guide/a.md", "| a row | " + "x" * 120 + " |", "120 at most"),
    ("pages", "docs/theory/b.md", "word\n" * 1501, "1500 at most"),
]
LIST_OF_KINDS = "#pragma once\nusing Kinds = KindList<Plane, Comb,\n                       Mesh>;\n"
INNOCENT = [
    ("src/tresse/bodies/shapes.hpp", LIST_OF_KINDS),
    ("src/tresse/bodies/README.md", "# bodies\n"),
    ("src/tresse/scene/body_fields.hpp", "#pragma once\nstruct Table<bodies::Mesh> {};  // not bodies::Plane\n"),
    ("src/tresse/scene/README.md", "# scene\n"),
    ("tests/bodies/shapes_test.cpp", "bodies::Plane plane;\n"),
    ("src/tresse/rods/rod.hpp", "#pragma once\n#include <vector>\n#include <Eigen/Core>\n#include <tresse/math/x.hpp>\n"),
    ("src/tresse/rods/rod.cpp", '#include "detail/moments.hpp"\n#include <fmt/format.h>\n// printf(, assert( and thread_local in prose\n'),
    ("tests/dynamics/stepper_test.cpp", "#include <tresse/assembly/world.hpp>\n#include \"support/paths.hpp\"\n"),
    ("app/main.cpp", "#include <tresse/scene_file/scene_file.hpp>\nint main() { fmt::print(\"x\"); }\n"),
    ("docs/reference/page.md", "| " + "x" * 150 + " |\n" + "word\n" * 2000),
    ("src/tresse/rods/README.md", "# rods\n\n- `rod.hpp`: what a rod is\n"),
    ("docs/page.md", "We never use -ffast-math. See https://example.org/home/page.\n"),
]


def self_test():
    failures = []
    for rule, name, text, words in PLANTED:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text + "\n", encoding="utf-8")
            if rule == "kinds" and name != str(KIND_LIST):
                (root / KIND_LIST).parent.mkdir(parents=True, exist_ok=True)
                (root / KIND_LIST).write_text(LIST_OF_KINDS, encoding="utf-8")
            found = list(RULES[rule](root))
            if len(found) != 1 or words not in found[0]:
                failures.append(f"{rule}: {name} '{text}': wanted one breach with '{words}', found {found}")
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in INNOCENT:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text, encoding="utf-8")
        for rule, check in RULES.items():
            failures += [f"{rule}: false alarm: {breach}" for breach in check(root)]
    return failures


def main(arguments):
    if arguments == ["--self-test"]:
        breaches = self_test()
    elif arguments and arguments[0] in RULES and len(arguments) <= 2:
        root = pathlib.Path(arguments[1] if len(arguments) == 2 else pathlib.Path(__file__).parents[2]).resolve()
        breaches = list(RULES[arguments[0]](root))
    else:
        sys.exit(__doc__)
    for breach in breaches:
        print(breach)
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
