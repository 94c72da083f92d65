#!/usr/bin/env python3
"""Runs the tests of the viewer's page where npm, its packages and a browser are: view_page.py WHAT
--program TRESSE --work FOLDER. FOLDER is where tools/build_viewer worked. Exits with 77, and says why, where they are not."""

import argparse
import os
import pathlib
import shutil
import subprocess

SCENES = pathlib.Path(__file__).resolve().parents[2] / "scenes"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["parts", "browser", "look", "share", "compare"])
    parser.add_argument("--program", required=True)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--pictures", help="folder for pictures of the page")
    parser.add_argument("--only", help="one step of those in viewer/tests")
    arguments = parser.parse_args()
    program = pathlib.Path(arguments.program).resolve()  # the tests work in another folder
    page = program.parents[1] / "share/tresse/viewer/index.html"
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    reason = None
    if not shutil.which("node"):
        reason = "no node"
    elif not (arguments.work / "node_modules/playwright-core").is_dir() or not page.is_file():
        reason = "the page is not built: cmake --build FOLDER --target viewer"
    elif arguments.what != "parts" and not browser:
        reason = "no Chromium: tools/install_dependencies readers"
    elif arguments.what != "parts" and not os.environ.get("TRESSE_TEST_BROWSER"):
        reason = "minutes without a graphics card; set TRESSE_TEST_BROWSER=1"
    if reason:
        print(f"SKIPPED: {reason}")
        return 77
    if arguments.what == "parts":
        command = ["npx", "vitest", "run"]
    else:
        command = ["node", f"tests/{arguments.what}.mjs", "--program", str(program), "--browser", browser]
        command += ["--scene", str(SCENES / "three_point_bending.toml"), "--meshes", str(SCENES / "mesh.toml")]
        command += ["--scenes", str(SCENES)]
        command += ["--pictures", arguments.pictures] if arguments.pictures else []
        command += ["--only", arguments.only] if arguments.only else []
    return subprocess.run(command, cwd=arguments.work, timeout=600, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
