"""Opens the sample reports in a real headless Chromium and uses them.

    cargo run -p fairer-nmf-report --example sample_reports -- DIR
    REPORTS=DIR pytest crates/fairer-nmf-report/tests/browser.py

REPORTS: folder with the pages of SAMPLES (chromium.py); made with cargo if unset.
SHOTS:   folder for screenshots; a temporary one if unset.
Further report files can be given in REPORT_FILES, separated by colons.
"""

import base64
import itertools
import math
import re

import pytest
# Skips all that follows where there is no browser.
from chromium import (  # noqa: F401
    DESKTOP,
    PAPER,
    PHONE,
    browser,
    column,
    ground,
    report,
    reports,
    shots,
    shown,
    unfold,
    visit,
)
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys


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
    mark = shown(browser, "#summary .chart .mark")[0]
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", mark)
    ActionChains(browser).move_to_element(mark).perform()
    tip = browser.find_element(By.ID, "tip")
    assert tip.is_displayed() and "%" in tip.text
    ActionChains(browser).move_to_element(browser.find_element(By.CSS_SELECTOR, "#summary h3")).perform()
    assert not tip.is_displayed()


def test_arrow_keys_read_values(browser, report):
    visit(browser, report)
    chart = browser.find_element(By.CSS_SELECTOR, "#summary .chart")
    chart.send_keys(Keys.ARROW_RIGHT)
    tip = browser.find_element(By.ID, "tip")
    first = tip.get_attribute("textContent")
    chart.send_keys(Keys.ARROW_RIGHT)
    second = tip.get_attribute("textContent")
    assert "%" in first and "%" in second and first != second


def test_the_tab_key_reaches_everything_and_shows_where_it_is(browser, reports):
    visit(browser, reports["demo"])
    wanted = browser.execute_script("""
        const all = document.querySelectorAll('a[href], button, select, summary, [tabindex="0"]');
        const seen = [...all].filter(e => e.checkVisibility());
        seen.forEach((e, i) => { e.dataset.stop = i; });
        return seen.length""")
    reached, unmarked = set(), []
    for _ in range(wanted):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        stop, outline, name = browser.execute_script("""
            const at = document.activeElement;
            return [at.dataset.stop, getComputedStyle(at).outlineStyle, at.outerHTML.slice(0, 60)]""")
        reached.add(stop)
        if outline == "none":
            unmarked.append(name)
    assert wanted > 30 and reached == {str(i) for i in range(wanted)}
    assert unmarked == []


def test_sorting(browser, report):
    visit(browser, report)
    unfold(browser)
    table = browser.find_element(By.CSS_SELECTOR, "#who-pays table")
    heads = table.find_elements(By.CSS_SELECTOR, "thead tr:last-child th")
    index = next(i for i, head in enumerate(heads) if head.text.startswith("Rows"))
    for direction in ["descending", "ascending"]:
        heads[index].find_element(By.TAG_NAME, "button").send_keys(Keys.ENTER)
        assert heads[index].get_attribute("aria-sort") == direction
        rows = [float(v) for v in column(table, index)]
        assert rows == sorted(rows, reverse=direction == "descending")
    button = heads[0].find_element(By.TAG_NAME, "button")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", button)
    button.click()
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


# Machado, Oliveira and Fernandes 2009, severity 1: linear RGB as others see it.
VISIONS = {
    "usual": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}


def linear(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]


def lab(colour, vision):
    """CIE L*a*b* (D65) of a colour as seen with a vision."""
    r, g, b = (min(1, max(0, sum(m * c for m, c in zip(row, linear(colour))))) for row in VISIONS[vision])
    x = (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047
    y = 0.2126 * r + 0.7152 * g + 0.0722 * b
    z = (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883
    x, y, z = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(("colours", "media"), [("light", ""), ("dark", ""), ("dark", "print")])
def test_colours_stay_apart(browser, reports, colours, media, vision):
    """Ten units of L*a*b* are a plain difference; marks and dashes differ as well."""
    visit(browser, reports["demo"], DESKTOP, colours, media)
    palette = browser.execute_script("""
        const style = getComputedStyle(document.documentElement);
        return [...Array(7).keys()].map(i => style.getPropertyValue('--c' + i).trim())""")
    assert len(set(palette)) == 7
    for a, b in itertools.combinations(palette, 2):
        assert math.dist(lab(a, vision), lab(b, vision)) > 10, (a, b)


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


def too_wide(browser, selector):
    """Tables of which a part is only seen by scrolling."""
    return browser.execute_script("""
        return [...document.querySelectorAll(arguments[0])].filter(t => t.getClientRects().length)
            .filter(t => t.scrollWidth > t.parentElement.clientWidth).map(t => t.ariaLabel)""", selector)


@pytest.mark.parametrize("width", [1000, 800])
def test_the_first_table_fits_a_screen(browser, report, width):
    visit(browser, report, (width, 800))
    assert too_wide(browser, "#who-pays table") == []


@pytest.mark.parametrize("width", [390, 320])
def test_every_table_fits_a_phone(browser, report, width):
    visit(browser, report, (width, 844))
    unfold(browser)
    assert too_wide(browser, "table") == []


def test_a_table_is_still_one_on_a_phone(browser, reports):
    visit(browser, reports["sixty"], PHONE)
    unfold(browser)
    table = browser.find_element(By.CSS_SELECTOR, "#who-pays table")
    cell = table.find_element(By.CSS_SELECTOR, "tbody td")
    assert cell.value_of_css_property("display") != "table-cell", "it is laid out as a list"
    nodes = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = [node.get("role", {}).get("value") for node in nodes]
    assert roles.count("rowheader") >= 60 and roles.count("row") > 60 and roles.count("table") > 1
    rows = next(b for b in shown(browser, "#who-pays thead button") if b.text.startswith("Rows"))
    rows.send_keys(Keys.ENTER)
    counts = [float(v) for v in column(table, 1)]
    assert len(counts) == 60 and counts == sorted(counts, reverse=True)


# What a printer gets of what is dark, wide, folded or cut off on a screen.
FAULTS_IN_PRINT = r"""
    const seen = [...document.body.querySelectorAll('*')].filter(e => e.getClientRects().length);
    const share = c => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
    // The contrast of a colour with white paper.
    const contrast = text => {
        const [r, g, b] = text.match(/[\d.]+/g).map(Number).map(share);
        return 1.05 / (0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05);
    };
    const ownText = e => [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
    const name = e => e.tagName + '.' + (e.className.baseVal ?? e.className) + ': ' + e.textContent.slice(0, 40);
    // Numbers on dark cells of a heat map are white.
    const onHeat = e => e.getAttribute('fill') === 'var(--on-heat)';
    const written = seen.filter(ownText).filter(e => !e.closest('#tip'));
    const colour = e => e.closest('svg') ? getComputedStyle(e).fill : getComputedStyle(e).color;
    return {
        ground: contrast(getComputedStyle(document.body).backgroundColor),
        pale: written.filter(e => contrast(colour(e)) < 4.5 && !onHeat(e)).map(name),
        wide: seen.filter(e => e.getBoundingClientRect().right > innerWidth + 1).map(name),
        cut: seen.filter(e => e.matches('.scroll') &&
            (e.scrollHeight > e.clientHeight || e.scrollWidth > e.clientWidth)).map(name),
        controls: seen.filter(e => e.matches('nav, select, button#theme, button#save')).map(name),
        folded: [...document.querySelectorAll('details:not([open])')].map(name),
        tall: seen.filter(e => e.matches('svg') && e.getBoundingClientRect().height > 1047).map(name),
    };"""


@pytest.mark.parametrize("size", [PAPER, (500, 700)])
def test_print_is_dark_on_white_and_whole(browser, report, size):
    visit(browser, report, size, "dark", "print")
    # A reader who chose the dark theme, too; the button is not in print.
    browser.execute_script("document.documentElement.dataset.theme = 'dark'")
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    faults = browser.execute_script(FAULTS_IN_PRINT)
    assert faults.pop("ground") == 1, "paper is white"
    assert faults == dict.fromkeys(faults, [])
    rows = browser.execute_script("""
        return [...document.querySelectorAll('main > section:not(#summary) tbody tr')]
            .filter(r => !r.getClientRects().length).length""")
    assert rows == 0, "all tables are there; the first sheet has its picture alone"


def check_what_leads(browser, size, headings):
    """Verdict, picture, headings and three caveats in plain words, on the first screen."""
    verdict, chart = (shown(browser, f"#summary {part}")[0].rect for part in (".verdict", ".chart"))
    assert verdict["y"] + verdict["height"] <= chart["y"], "the verdict leads"
    assert chart["y"] + chart["height"] <= size[1], "the picture is on the first screen"
    assert [h.text for h in shown(browser, "#summary h3")] == headings
    words = shown(browser, "#summary")[0].text.lower()
    for word in ("dictionar", "baseline", " rank", "norm"):
        assert word not in words, f"{word}: plain words lead"
    caveats = shown(browser, "#summary .caveats li")
    assert len(caveats) == 3
    last = caveats[2].rect
    if size == DESKTOP:
        assert last["y"] + last["height"] <= size[1], "all that leads is on one screen"


@pytest.mark.parametrize("size", [DESKTOP, (390, 844), PHONE])
def test_the_first_screen_has_verdict_and_picture(browser, reports, size):
    visit(browser, reports["demo"], size)
    check_what_leads(browser, size, ["Who is better and who is worse off?", "What follows?", "Keep in mind"])
    caveats = [c.text.lower() for c in shown(browser, "#summary .caveats li")]
    for word in ("rank", "norm", "dictionar", "nmf", "baseline"):
        assert not any(word in caveat for caveat in caveats), word


@pytest.mark.parametrize("size", [DESKTOP, (390, 844), PHONE])
@pytest.mark.parametrize("name", ["sweep", "compared"])
def test_the_first_screen_of_a_page_without_a_test(browser, reports, name, size):
    visit(browser, reports[name], size)
    check_what_leads(browser, size, ["What follows?", "Keep in mind"])
    assert "random groups of the same size" in shown(browser, "#summary .chart")[0].text


@pytest.mark.parametrize("width", [390, 320, 1200])
def test_no_text_of_a_picture_is_cut_off(browser, reports, width):
    for name in ("demo", "three", "sixty", "sweep", "compared"):
        visit(browser, reports[name], (width, 844))
        unfold(browser)
        outside = browser.execute_script("""
            return [...document.querySelectorAll('.chart svg text')]
                .filter(t => t.getClientRects().length && t.textContent.trim())
                .filter(t => {
                    const [text, all] = [t, t.closest('.chart')].map(e => e.getBoundingClientRect());
                    return text.left < all.left - 1 || text.right > all.right + 1;
                }).map(t => t.textContent)""")
        assert outside == [], name


@pytest.mark.parametrize("width", [390, 1200])
def test_no_table_scrolls_up_and_down_inside_the_page(browser, report, width):
    visit(browser, report, (width, 844))
    unfold(browser)
    traps = browser.execute_script("""
        return [...document.querySelectorAll('.scroll')].filter(e => e.scrollHeight > e.clientHeight + 1).length""")
    assert traps == 0


def test_the_summary_is_one_sheet_of_paper(browser, report):
    visit(browser, report, PAPER, "light", "print")
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    bottom = browser.execute_script(
        "return document.getElementById('summary').getBoundingClientRect().bottom + scrollY")
    assert bottom <= PAPER[1]


def test_sheets_of_paper_are_not_left_blank(browser, report):
    """What keeps together on a sheet must not push much white before it: a sixth, and one sheet for the end."""
    visit(browser, report, PAPER, "light", "print")
    browser.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    height = browser.execute_script("""
        const summary = document.getElementById('summary').getBoundingClientRect();
        return document.documentElement.getBoundingClientRect().bottom - summary.bottom""")
    a4 = {"paperWidth": 8.27, "paperHeight": 11.69}
    page = browser.execute_cdp_cmd("Page.printToPDF", a4)
    sheets = len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(page["data"])))
    needed = height / PAPER[1]
    assert needed <= sheets - 1 <= 7 / 6 * needed + 1, f"{sheets} sheets, {needed:.1f} after the first"


def test_a_printer_gets_what_is_folded(browser, reports):
    visit(browser, reports["demo"])
    folded = "document.querySelectorAll('details:not([open])').length"
    before = browser.execute_script(f"""
        window.addEventListener('beforeprint', () => {{ window.inPrint = {folded}; }});
        return {folded}""")
    browser.execute_cdp_cmd("Page.printToPDF", {})
    assert before > 3
    assert browser.execute_script("return window.inPrint") == 0
    assert browser.execute_script(f"return {folded}") == before, "and the screen is as it was"


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
