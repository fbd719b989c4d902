//<![CDATA[
"use strict";
(() => {
  // Replace the titles of SVG elements by tooltips that appear at once, also on touch screens.
  const tip = document.body.appendChild(document.createElement("div"));
  tip.className = "tip";
  tip.setAttribute("role", "status");
  for (const title of document.querySelectorAll("svg title")) {
    const owner = title.parentNode;
    if (owner.tagName === "svg") continue;
    owner.dataset.tip = title.textContent;
    title.remove();
  }
  const show = (event) => {
    const owner = event.target.closest && event.target.closest("[data-tip]");
    tip.classList.toggle("on", Boolean(owner));
    if (!owner) return;
    tip.textContent = owner.dataset.tip;
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    tip.style.left = Math.max(8, Math.min(event.clientX + 12, room)) + "px";
    const below = event.clientY + 18 + tip.offsetHeight > window.innerHeight;
    tip.style.top = (below ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18) + "px";
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);

  const SHOWN = 300;
  const make = (tag, text) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const number = (v) => {
    if (v === 0) return "0";
    const digits = Math.floor(Math.log10(Math.abs(v)));
    return (digits >= -4 && digits < 6 ? v.toFixed(Math.max(0, 3 - digits)) : v.toExponential(3)).replaceAll("-", "−");
  };
  const quoted = (v) => {
    const plain = v === null ? "" : String(v);
    // Names come from files; a quote keeps spreadsheets from evaluating them as formulas.
    const risky = /^[=+\-@\t\r]/.test(plain) && !/^[-+]?[0-9.]+(e[-+]?[0-9]+)?$/i.test(plain);
    const text = risky ? "'" + plain : plain;
    return /[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
  };

  for (const table of document.querySelectorAll("table.listing")) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const bars = heads.map((head) => Number(head.dataset.max || 0));
    const numeric = heads.map((head) => head.classList.contains("number"));
    // A row: its values, and its element, created on demand.
    const rows = [...body.rows].map((element) => ({
      element,
      values: [...element.cells].map((cell, at) => {
        if (!("v" in cell.dataset)) return null;
        return numeric[at] ? Number(cell.dataset.v) : cell.dataset.v;
      }),
    }));
    const rest = table.parentNode.querySelector("script.rest");
    const isRanked = rest && "ranked" in rest.dataset;
    const columns = rest ? JSON.parse(rest.textContent) : [[]];
    columns[0].forEach((_, at) => {
      const values = columns.map((column) => column[at]);
      rows.push({ element: null, values: isRanked ? [rows.length + 1, ...values] : values });
    });
    table.parentNode.querySelector(".without-script")?.remove();
    const element = (row) => {
      if (row.element) return row.element;
      row.element = make("tr");
      row.element.className = "dropped";
      row.values.forEach((value, at) => {
        const cell = row.element.appendChild(make("td"));
        if (value === null) return;
        if (numeric[at]) cell.className = "number";
        const text = cell.appendChild(make("span", numeric[at] ? (Number.isInteger(value) ? value : number(value)) : value));
        if (bars[at] > 0) {
          text.className = "value";
          const bar = cell.appendChild(make("span"));
          bar.className = "bar";
          bar.style.setProperty("--s", (100 * Math.max(0, value)) / bars[at]);
        }
      });
      return row.element;
    };

    const tools = make("div");
    tools.className = "tools";
    const search = tools.appendChild(make("input"));
    search.type = "search";
    search.placeholder = "Search";
    search.setAttribute("aria-label", "Search the table");
    const count = tools.appendChild(make("span"));
    count.className = "count";
    const save = tools.appendChild(make("button", "Download CSV"));
    save.type = "button";
    table.closest(".scroll").before(tools);

    let by = -1;
    let down = false;
    let matching = rows;
    const draw = () => {
      const query = search.value.trim().toLowerCase();
      matching = rows.filter((row) => !query || row.values.some((v) => v !== null && String(v).toLowerCase().includes(query)));
      if (by >= 0) {
        const order = (a, b) => (numeric[by] ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true }));
        const empty = (row) => row.values[by] === null;
        // Empty cells are last in both directions.
        matching = [...matching].sort((a, b) =>
          empty(a) || empty(b) ? empty(a) - empty(b) : (down ? -1 : 1) * order(a.values[by], b.values[by]));
      }
      body.replaceChildren(...matching.slice(0, SHOWN).map(element));
      const all = matching.length === rows.length ? String(rows.length) : matching.length + " of " + rows.length;
      count.textContent = matching.length > SHOWN ? "first " + SHOWN + " of " + all : all + " shown";
      heads.forEach((head, at) => {
        head.setAttribute("aria-sort", at !== by ? "none" : down ? "descending" : "ascending");
      });
    };
    heads.forEach((head, at) => {
      const button = make("button", head.textContent);
      button.type = "button";
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        // The first click on a column with bars sorts in descending order.
        down = by === at ? !down : numeric[at] && bars[at] > 0;
        by = at;
        draw();
      });
    });
    search.addEventListener("input", draw);
    save.addEventListener("click", () => {
      const lines = [heads.map((head) => head.textContent), ...matching.map((row) => row.values)];
      const text = lines.map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";
      const link = make("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "text/csv;charset=utf-8" }));
      link.download = table.dataset.file;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
    draw();
  }
})();
//]]>
