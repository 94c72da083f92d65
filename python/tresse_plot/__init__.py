"""Figures of a run's tables: python3 -m tresse_plot RUN... -o FILE."""
