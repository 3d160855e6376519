// Theme, tooltips, sorting, picking a rank. The page reads well without it.
(function () {
  "use strict";
  var root = document.documentElement;
  var tip = document.getElementById("tip");

  function each(list, act) { Array.prototype.forEach.call(list, act); }

  // Theme: follows the system until the button is pressed; forgotten with the page.
  var button = document.getElementById("theme");
  var system = window.matchMedia("(prefers-color-scheme: dark)");
  function isDark() {
    return root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  }
  function label() {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Use light colours" : "Use dark colours");
  }
  button.removeAttribute("aria-pressed");
  button.hidden = false;
  button.addEventListener("click", function () {
    root.dataset.theme = isDark() ? "light" : "dark";
    label();
  });
  system.addEventListener("change", label);
  label();

  // Tooltips: the mark nearest to the pointer, or stepped through by arrow keys.
  var lit = null;
  function visibleMarks(chart) {
    return Array.prototype.filter.call(chart.querySelectorAll("[data-tip]"), function (mark) {
      return mark.getClientRects().length;
    });
  }
  function hide() {
    if (lit) { lit.classList.remove("lit"); }
    lit = null;
    tip.hidden = true;
  }
  function show(mark) {
    if (mark === lit) { return; }
    hide();
    lit = mark;
    mark.classList.add("lit");
    tip.textContent = mark.dataset.tip;
    tip.hidden = false;
    place();
  }
  function place() {
    if (!lit) { return; }
    var box = lit.getBoundingClientRect();
    var middle = box.left + box.width / 2 - tip.offsetWidth / 2;
    var above = box.top - tip.offsetHeight - 8;
    tip.style.left = Math.max(8, Math.min(middle, root.clientWidth - tip.offsetWidth - 8)) + "px";
    tip.style.top = (above > 4 ? above : box.bottom + 8) + "px";
  }
  function distance(mark, x, y) {
    var box = mark.getBoundingClientRect();
    var dx = Math.max(box.left - x, 0, x - box.right);
    var dy = Math.max(box.top - y, 0, y - box.bottom);
    var middle = Math.hypot(box.left + box.width / 2 - x, box.top + box.height / 2 - y);
    return Math.hypot(dx, dy) + middle / 1000;
  }
  each(document.querySelectorAll(".chart"), function (chart) {
    function point(event) {
      var best = null;
      var least = 24;
      visibleMarks(chart).forEach(function (mark) {
        var d = distance(mark, event.clientX, event.clientY);
        if (least > d) { least = d; best = mark; }
      });
      if (best) { show(best); } else { hide(); }
    }
    chart.addEventListener("pointermove", point);
    chart.addEventListener("pointerdown", point);
    chart.addEventListener("pointerleave", hide);
    chart.addEventListener("blur", hide);
    chart.addEventListener("keydown", function (event) {
      var steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      if (event.key === "Escape") { hide(); return; }
      if (!(event.key in steps)) { return; }
      var marks = visibleMarks(chart);
      if (!marks.length) { return; }
      event.preventDefault();
      var now = marks.indexOf(lit);
      var next = now === -1 ? 0 : (now + steps[event.key] + marks.length) % marks.length;
      marks[next].scrollIntoView({ block: "nearest", inline: "nearest" });
      show(marks[next]);
    });
  });
  window.addEventListener("scroll", place, { passive: true, capture: true });

  // Sorting: by number where a cell has one, by text else; missing numbers last.
  each(document.querySelectorAll("table.sortable"), function (table) {
    var heads = table.tHead.rows[table.tHead.rows.length - 1].cells;
    each(heads, function (head, column) {
      head.querySelector("button").addEventListener("click", function () {
        var numeric = head.classList.contains("n");
        var was = head.getAttribute("aria-sort");
        var up = was === "none" ? !numeric : was === "descending";
        each(heads, function (other) { other.setAttribute("aria-sort", "none"); });
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        var body = table.tBodies[0];
        var rows = Array.prototype.slice.call(body.rows);
        rows.sort(function (a, b) {
          var x = a.cells[column];
          var y = b.cells[column];
          var order;
          if (x.dataset.v !== undefined) {
            if (x.dataset.v === "" || y.dataset.v === "") {
              return (x.dataset.v === "") - (y.dataset.v === "");
            }
            order = Number(x.dataset.v) - Number(y.dataset.v);
          } else {
            order = x.textContent.localeCompare(y.textContent);
          }
          return up ? order : -order;
        });
        rows.forEach(function (row) { body.appendChild(row); });
      });
    });
  });

  // Picking a rank.
  var pick = document.getElementById("rank-pick");
  if (pick) {
    pick.parentElement.hidden = false;
    pick.addEventListener("change", function () {
      each(document.querySelectorAll("tr[data-rank]"), function (row) {
        row.hidden = pick.value !== "" ? row.dataset.rank !== pick.value : false;
      });
      document.querySelector("tr[data-rank]").closest("details").open = true;
    });
  }

  // Saving the numbers.
  var save = document.getElementById("save");
  save.hidden = false;
  save.addEventListener("click", function () {
    var text = document.getElementById("report-data").textContent;
    var pretty = JSON.stringify(JSON.parse(text), null, 2);
    var link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([pretty], { type: "application/json" }));
    link.download = "report.json";
    link.click();
    setTimeout(function () { URL.revokeObjectURL(link.href); }, 1000);
  });

  // Print everything: open what is folded, and fold it again.
  var opened = [];
  window.addEventListener("beforeprint", function () {
    hide();
    opened = Array.prototype.filter.call(document.querySelectorAll("details"), function (d) { return !d.open; });
    opened.forEach(function (d) { d.open = true; });
  });
  window.addEventListener("afterprint", function () {
    opened.forEach(function (d) { d.open = false; });
  });
})();
