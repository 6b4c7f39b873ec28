"""What the hot paths cost, as ratios within one run: `python -m bench`, or `make bench`."""
