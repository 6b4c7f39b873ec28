"""Where the browser is."""

import os
import shutil


def find_chromium() -> str | None:
    """The browser that CHROMIUM names, else one under a usual name, else nothing."""
    for name in (os.environ.get("CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"):
        if name and (found := shutil.which(name)):
            return found
    return None
