#!/usr/bin/python3
"""A picture of the viewer's page, by Chromium without a window: viewer_picture.py RUN -o FILE.png [--link TEXT].

The link is what stands behind the # in the address of the page, which says all that is shown. As in

    tools/figures/viewer_picture.py out/knot -o viewer.png --link "frame=95&colour=curvature"
"""

import argparse
import pathlib
import shutil
import subprocess
import tempfile

from PIL import Image  # of Debian's python3-pil, which matplotlib needs

ROOT = pathlib.Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 3000  # milliseconds of the page's own time, which stands still while the page fetches


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=pathlib.Path, help="folder of a run")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True)
    parser.add_argument("--link", default="")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=800)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/tresse")
    arguments = parser.parse_args()
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        parser.error("no Chromium here: install the Debian package chromium")
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([arguments.program, "view", arguments.run, "--no-open"], stdout=subprocess.PIPE, text=True)
        try:
            address = server.stdout.readline().strip()
            picture = pathlib.Path(folder, "page.png")
            subprocess.run([browser, "--headless", "--no-sandbox", f"--user-data-dir={folder}/profile", "--hide-scrollbars",
                            "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist",
                            "--blink-settings=preferredColorScheme=1",  # the light look
                            f"--window-size={arguments.width},{arguments.height}", f"--virtual-time-budget={PATIENCE}",
                            f"--screenshot={picture}", f"{address}#{arguments.link}"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300, check=True)  # fmt: skip
            Image.open(picture).convert("RGB").save(arguments.output, optimize=True)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
