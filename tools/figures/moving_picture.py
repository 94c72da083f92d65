#!/usr/bin/python3
"""One moving picture, which browsers show, from the numbered pictures of `tresse render --frames`.

usage: tools/figures/moving_picture.py PICTURES... -o FILE.webp [--rate 25] [--quality 80] [--hold 0]
"""

import argparse

from PIL import Image  # of Debian's python3-pil, which matplotlib needs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pictures", nargs="+")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--rate", type=float, default=25, help="pictures a second")
    parser.add_argument("--hold", type=float, default=0, help="seconds that the last picture stays")
    parser.add_argument("--quality", type=int, default=80, help="0 to 100")
    arguments = parser.parse_args()
    first, *others = [Image.open(name).convert("RGB") for name in arguments.pictures]
    each = round(1e3 / arguments.rate)
    durations = [each] * len(others) + [each + round(1e3 * arguments.hold)]
    first.save(arguments.output, save_all=True, append_images=others, duration=durations, loop=0,
               quality=arguments.quality, method=6, minimize_size=True)  # fmt: skip


if __name__ == "__main__":
    main()
