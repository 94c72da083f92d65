import sys

from tresse_plot.command import main

sys.exit(main(sys.argv[1:]))
