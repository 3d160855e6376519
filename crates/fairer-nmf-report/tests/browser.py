"""Opens the sample reports in a real headless Chromium and uses them.

    cargo run -p fairer-nmf-report --example sample_reports -- DIR
    REPORTS=DIR pytest crates/fairer-nmf-report/tests/browser.py

REPORTS: folder with demo.html, sixty.html and hostile.html; made with cargo if unset.
SHOTS:   folder for screenshots; a temporary one if unset.
Further report files can be given in REPORT_FILES, separated by colons.
"""

import base64
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: no browser tests")
from selenium.webdriver.chrome.options import Options  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.action_chains import ActionChains  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
DRIVER = os.environ.get("CHROMEDRIVER") or shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("no chromium and chromedriver found: browser tests skipped", allow_module_level=True)

FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
--disable-background-networking --disable-component-update --disable-sync --hide-scrollbars""".split()
PHONE, DESKTOP = (360, 740), (1200, 900)
SAMPLES = ["demo", "sixty", "hostile"]


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


def scheme(browser, value):
    feature = {"name": "prefers-color-scheme", "value": value}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": [feature]})


def visit(browser, path, size=DESKTOP, colours="light"):
    scheme(browser, colours)
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


def test_console_is_silent(browser, report):
    visit(browser, report)
    for details in browser.find_elements(By.CSS_SELECTOR, "details:not([open]) > summary"):
        browser.execute_script("arguments[0].click()", details)
    browser.find_element(By.ID, "theme").click()
    assert browser.get_log("browser") == []


def test_nothing_is_fetched(browser, report):
    visit(browser, report)
    assert browser.execute_script("return performance.getEntriesByType('resource').map(e => e.name)") == []


def test_hover_shows_values(browser, report):
    visit(browser, report)
    mark = shown(browser, "#who-pays .chart .mark")[0]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", mark)
    ActionChains(browser).move_to_element(mark).perform()
    tip = browser.find_element(By.ID, "tip")
    assert tip.is_displayed() and "%" in tip.text
    ActionChains(browser).move_to_element(browser.find_element(By.CSS_SELECTOR, "#who-pays h2")).perform()
    assert not tip.is_displayed()


def test_arrow_keys_read_values(browser, report):
    visit(browser, report)
    chart = browser.find_element(By.CSS_SELECTOR, "#who-pays .chart")
    chart.send_keys(Keys.ARROW_RIGHT)
    tip = browser.find_element(By.ID, "tip")
    first = tip.get_attribute("textContent")
    chart.send_keys(Keys.ARROW_RIGHT)
    second = tip.get_attribute("textContent")
    assert "%" in first and "%" in second and first != second


def test_sorting(browser, report):
    visit(browser, report)
    table = browser.find_element(By.CSS_SELECTOR, "#who-pays table")
    heads = table.find_elements(By.CSS_SELECTOR, "thead tr:last-child th")
    index = next(i for i, head in enumerate(heads) if head.text.startswith("Rows"))
    for direction in ["descending", "ascending"]:
        heads[index].find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
        assert heads[index].get_attribute("aria-sort") == direction
        rows = [float(v) for v in column(table, index)]
        assert rows == sorted(rows, reverse=direction == "descending")
    heads[0].find_element(By.TAG_NAME, "button").click()
    assert heads[0].get_attribute("aria-sort") == "ascending"
    assert heads[index].get_attribute("aria-sort") == "none"


def test_theme(browser, report):
    visit(browser, report, colours="light")
    light = ground(browser)
    browser.find_element(By.ID, "theme").click()
    dark = ground(browser)
    assert dark != light
    browser.find_element(By.ID, "theme").click()
    assert ground(browser) == light
    visit(browser, report, colours="dark")
    assert ground(browser) == dark
    browser.find_element(By.ID, "theme").click()
    assert ground(browser) == light


def test_picking_a_rank(browser, reports):
    visit(browser, reports["demo"])
    pick = browser.find_element(By.ID, "rank-pick")
    pick.find_element(By.CSS_SELECTOR, "option[value='3']").click()
    assert {row.get_attribute("data-rank") for row in shown(browser, "tr[data-rank]")} == {"3"}


@pytest.mark.parametrize("size", [PHONE, (320, 640), DESKTOP])
def test_no_sideways_scrolling(browser, report, size):
    visit(browser, report, size)
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    widths = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert widths[0] <= widths[1]


def test_text_in_charts_is_legible_on_a_phone(browser, report):
    visit(browser, report, PHONE)
    least = browser.execute_script("""
        return Math.min(...[...document.querySelectorAll('.chart svg')].filter(s => s.getClientRects().length)
            .map(s => 11 * s.getBoundingClientRect().width / s.viewBox.baseVal.width))""")
    assert least >= 9.5


def test_charts_and_tables_are_named(browser, report):
    visit(browser, report)
    unnamed = browser.execute_script("""
        return [...document.querySelectorAll('svg[role=img]')].filter(s => !s.getAttribute('aria-label')).length
            + [...document.querySelectorAll('table')].filter(t => !t.ariaLabel).length
            + [...document.querySelectorAll('button')].filter(b => !b.textContent && !b.ariaLabel).length""")
    assert unnamed == 0
    assert len(browser.find_elements(By.TAG_NAME, "main")) == 1


def test_hostile_names_do_not_run(browser, reports):
    visit(browser, reports["hostile"])
    browser.execute_script("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert browser.title == "<script>alert(1)</script>"
    assert browser.execute_script("return document.scripts.length") == 2
    assert browser.execute_script("return document.styleSheets.length") == 1
    assert browser.find_elements(By.CSS_SELECTOR, "img, iframe, textarea, [onerror], [onmouseover]") == []
    assert "<script>alert(1)</script>" in browser.find_element(By.CSS_SELECTOR, "#who-pays .lead").text + browser.find_element(
        By.CSS_SELECTOR, "#who-pays table").text
    assert browser.get_log("browser") == []


def test_policy_stops_foreign_scripts(browser, reports):
    visit(browser, reports["demo"])
    browser.execute_script("""
        const s = document.createElement('script'); s.textContent = 'window.ran = 1';
        document.body.append(s);""")
    assert browser.execute_script("return window.ran") is None
    assert any("Content Security Policy" in entry["message"] for entry in browser.get_log("browser"))


def screenshot(browser, path):
    height = browser.execute_script("return document.documentElement.scrollHeight")
    width = browser.execute_script("return innerWidth")
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, 14000), "scale": 1}
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip, "captureBeyondViewport": True})
    path.write_bytes(base64.b64decode(shot["data"]))


def test_screenshots(browser, report, shots):
    for label, size, colours in [("desktop", DESKTOP, "light"), ("dark", DESKTOP, "dark"), ("phone", PHONE, "light")]:
        visit(browser, report, size, colours)
        screenshot(browser, shots / f"{report.stem}-{label}.png")
    visit(browser, report)
    page = browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True, "preferCSSPageSize": True})
    path = shots / f"{report.stem}-print.pdf"
    path.write_bytes(base64.b64decode(page["data"]))
    assert path.stat().st_size > 10_000
