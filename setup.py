"""The wheel of the Python package: CMake builds its compiled part, setuptools packs it.

TRESSE_BUILD names a build folder whose compiled part is packed as it is; else it is built, for any machine, in
build/package.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
VERSION = re.search(r"project\(tresse VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")).group(1)


class BuildWithCMake(build_ext):
    def build_extension(self, ext):
        build = pathlib.Path(os.environ.get("TRESSE_BUILD", ROOT / "build/package")).resolve()
        if "TRESSE_BUILD" not in os.environ:
            if not (build / "CMakeCache.txt").exists():
                configure = ["cmake", "--preset", "package", "-B", build, f"-DTRESSE_PYTHON={sys.executable}"]
                subprocess.run(configure, cwd=ROOT, check=True)
            subprocess.run(["cmake", "--build", build, "--target", "tresse_python"], check=True)
        target = pathlib.Path(self.get_ext_fullpath(ext.name))
        made = build / "python/tresse" / target.name
        if not made.exists():
            raise SystemExit(f"{made}: not there; {build} has no compiled part for {sys.executable}")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(made, target)


setup(version=VERSION, ext_modules=[Extension("tresse._core", [])], cmdclass={"build_ext": BuildWithCMake})
