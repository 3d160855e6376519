"""A headless Chromium for the tests of the reports: fixtures, sizes of screens, and looks at a page."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: no browser tests")
from selenium.webdriver.chrome.options import Options  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
DRIVER = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("no chromium and chromedriver found: browser tests skipped", allow_module_level=True)

FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
--disable-background-networking --disable-component-update --disable-sync --hide-scrollbars""".split()
PHONE, DESKTOP = (360, 740), (1200, 900)
# A4 within margins of 1 cm, in CSS pixels.
PAPER = (718, 1047)
SAMPLES = ["demo", "three", "sixty", "hostile", "sweep", "compared"]


@pytest.fixture(scope="session")
def reports():
    """Path of every report by name."""
    folder = os.environ.get("REPORTS")
    if folder is None:
        folder = tempfile.mkdtemp(prefix="reports-")
        crate = Path(__file__).parents[1]
        command = ["cargo", "run", "--quiet", "--example", "sample_reports", "--", folder]
        subprocess.run(command, cwd=crate, check=True)
    found = {name: Path(folder, f"{name}.html").resolve() for name in SAMPLES}
    for extra in filter(None, os.environ.get("REPORT_FILES", "").split(":")):
        found[Path(extra).stem] = Path(extra).resolve()
    return found


@pytest.fixture(scope="session")
def shots():
    folder = Path(os.environ.get("SHOTS") or tempfile.mkdtemp(prefix="shots-"))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def browser():
    options = Options()
    options.binary_location = CHROMIUM
    profile = tempfile.mkdtemp(prefix="chromium-")
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()
    shutil.rmtree(profile, ignore_errors=True)


def resize(browser, size):
    """Sets the viewport, which a window cannot make as narrow as a phone."""
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def scheme(browser, value, media=""):
    feature = {"name": "prefers-color-scheme", "value": value}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": [feature]})


def visit(browser, path, size=DESKTOP, colours="light", media=""):
    scheme(browser, colours, media)
    resize(browser, size)
    browser.get(path.as_uri())


@pytest.fixture(params=SAMPLES + [Path(p).stem for p in filter(None, os.environ.get("REPORT_FILES", "").split(":"))])
def report(request, reports):
    return reports[request.param]


def shown(browser, selector):
    return [e for e in browser.find_elements(By.CSS_SELECTOR, selector) if e.is_displayed()]


def ground(browser):
    return browser.execute_script("return getComputedStyle(document.body).backgroundColor")


def column(table, index):
    rows = table.find_elements(By.CSS_SELECTOR, "tbody tr")
    return [row.find_elements(By.CSS_SELECTOR, "th,td")[index].get_attribute("data-v") for row in rows]


def unfold(browser):
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
