// Search, filter and sort the table of servers. Without this script the table
// is whole and in the order of names.
(function () {
  "use strict";
  var table = document.getElementById("servers");
  var filter = document.getElementById("filter");
  if (!table || !filter) return;
  var body = table.tBodies[0];
  var text = function (row, selector) {
    var node = row.querySelector(selector);
    return node ? node.textContent : "";
  };
  // A dash, for "none", becomes NaN and goes last in every order.
  var number = function (s) { return parseFloat(s.replace(/,/g, "")); };
  var rows = Array.prototype.map.call(body.rows, function (row, i) {
    return {
      node: row, position: i,
      words: (text(row, ".c-name") + " " + text(row, ".c-operator")).toLowerCase(),
      grade: row.dataset.grade, auth: row.dataset.auth,
      score: number(text(row, ".c-score")), tools: number(text(row, ".c-tools")),
      operator: text(row, ".c-operator").toLowerCase()
    };
  });
  var q = document.getElementById("q");
  var grade = document.getElementById("f-grade");
  var auth = document.getElementById("f-auth");
  var sort = document.getElementById("f-sort");
  var shown = document.getElementById("shown");
  var none = document.getElementById("none");

  var by = function (field, sign) {
    return function (a, b) {
      var x = a[field], y = b[field];
      if (x !== x || y !== y) return (x !== x) - (y !== y) || a.position - b.position;
      return sign * (x - y) || a.position - b.position;
    };
  };
  var orders = {
    name: function (a, b) { return a.position - b.position; },
    worst: by("score", 1),
    best: by("score", -1),
    tools: by("tools", -1),
    operator: function (a, b) {
      return a.operator < b.operator ? -1 : a.operator > b.operator ? 1 : a.position - b.position;
    }
  };

  var apply = function () {
    var words = q.value.toLowerCase().split(/\s+/).filter(Boolean);
    var n = 0;
    rows.forEach(function (r) {
      var ok = (!grade.value || r.grade === grade.value) && (!auth.value || r.auth === auth.value) &&
        words.every(function (w) { return r.words.indexOf(w) >= 0; });
      r.node.hidden = !ok;
      if (ok) n++;
    });
    shown.textContent = n === rows.length ? n + " servers" : n + " of " + rows.length + " servers";
    none.hidden = n > 0;
    table.hidden = n === 0;
  };
  var order = function () {
    var all = document.createDocumentFragment();
    rows.slice().sort(orders[sort.value] || orders.name).forEach(function (r) { all.appendChild(r.node); });
    body.appendChild(all);
  };
  q.addEventListener("input", apply);
  grade.addEventListener("change", apply);
  auth.addEventListener("change", apply);
  sort.addEventListener("change", order);
  filter.hidden = false;
  order();
  apply();
})();
