"use strict";
(() => {
  const D = JSON.parse(document.getElementById("data").textContent);
  const F = D.features, N = F.names.length, S = D.samples;
  const byId = (id) => document.getElementById(id);
  const SVG = "http://www.w3.org/2000/svg";
  const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A900", "#7b61c9", "#8c6d5a", "#5f7a8a",
    "#a3386b", "#3d8f3d", "#c9752b", "#4a5fc1", "#9c9c2e", "#2aa7a7", "#b0527f", "#6f8f1f", "#7d4f9e", "#a8574b"];
  // Colours of data; a dark page mixes them with white, so that dark ones can be seen.
  const lifted = (shade) => `color-mix(in srgb, ${shade}, white var(--lift))`;
  const colour = (i) => lifted(PALETTE[i % PALETTE.length]);
  byId("views").hidden = false;
  const narrow = innerWidth < 760, PLOT = narrow ? 380 : 560;  // drawing units: text keeps a readable size on a phone

  // ---- small helpers: every text from the data goes through textContent, never through markup
  function make(parent, tag, attributes, text) {
    const node = document.createElement(tag);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  }
  function draw(parent, tag, attributes, text) {
    const node = document.createElementNS(SVG, tag);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }
  const short = (text, length) => { const c = Array.from(text); return c.length > length ? c.slice(0, length - 1).join("") + "…" : text; };
  // Names cut to a length so that they can be told apart: at the end, in the middle, or before what they begin with alike.
  function distinct(list, length) {
    const all = new Set(list).size, middle = (text) => {
      const c = Array.from(text), head = Math.ceil((length - 1) / 2);
      return c.length > length ? c.slice(0, head).join("") + "…" + c.slice(c.length - (length - 1 - head)).join("") : text;
    };
    let common = 0;
    while (list.length > 1 && list[0][common] !== undefined && list.every((text) => text[common] === list[0][common])) common++;
    const tail = (text) => Array.from(text).length > length && common > 2 ? short("…" + text.slice(common), length) : short(text, length);
    for (const cut of [(text) => short(text, length), middle, tail]) {
      const made = list.map(cut);
      if (new Set(made).size === all) return made;
    }
    return list.map((text, i) => Array.from(text).length > length ? short(tail(text), length - 4) + " #" + (i + 1) : text);
  }
  const format = (v) => v === null ? "–" : v === 0 ? "0" : Math.abs(v) >= 1e-3 && Math.abs(v) < 1e5 ? String(+v.toPrecision(4)) : v.toExponential(2);
  const many = (v) => v.toLocaleString("en");
  const ruler = document.createElement("canvas").getContext("2d");
  ruler.font = "10.5px system-ui, sans-serif";
  const width = (text) => ruler.measureText(text).width;
  function bytes(text) {
    const raw = atob(text), out = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
    return out;
  }
  const extent = (values) => values.reduce((e, v) => v === null ? e : [Math.min(e[0], v), Math.max(e[1], v)], [Infinity, -Infinity]);
  function ticks(low, high, count) {
    const raw = (high - low) / count || 1, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || raw;
    const out = [];
    for (let t = Math.ceil(low / step) * step; t <= high + step * 1e-9; t += step) out.push(Math.abs(t) < step * 1e-9 ? 0 : t);
    return out;
  }

  // ---- the two sets that link all views: marked features and marked samples
  const marked = new Set(), markedSamples = new Set(), watchers = [];
  let query = "";
  const matches = (i) => !query || F.names[i].toLowerCase().includes(query);
  function changed() {
    for (const watch of watchers) watch();
    const bar = byId("marked-bar"), parts = [];
    if (marked.size) parts.push(many(marked.size) + (marked.size === 1 ? " feature: " + short(F.names[[...marked][0]], 40) : " features marked"));
    if (markedSamples.size) parts.push(many(markedSamples.size) + (markedSamples.size === 1 ? " sample marked" : " samples marked"));
    bar.hidden = !parts.length;
    byId("marked-text").textContent = parts.join(", ");
  }
  function toggle(set, items, add) {
    if (!add && items.length === 1 && set.has(items[0])) set.delete(items[0]);
    else items.forEach((item) => set.add(item));
    changed();
  }
  byId("clear").addEventListener("click", () => { marked.clear(); markedSamples.clear(); changed(); });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") { marked.clear(); markedSamples.clear(); changed(); } });

  const tip = byId("tip");
  function tooltip(node, text) {
    node.addEventListener("pointermove", (event) => {
      const message = text(event);
      tip.hidden = !message;
      if (!message) return;
      tip.textContent = message;
      const box = tip.getBoundingClientRect();
      tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 4)) + "px";
      tip.style.top = (event.clientY + box.height + 22 > innerHeight ? event.clientY - box.height - 10 : event.clientY + 16) + "px";
    });
    node.addEventListener("pointerleave", () => { tip.hidden = true; });
  }
  const about = (i) => F.names[i] + "\nrank " + many(F.rank[i]) + ", " + D.source.weight_name + " " + format(F.weight[i]) + (F.selected[i] ? ", selected" : "");

  // ---- a rectangle drawn with the mouse marks what lies inside; a click marks one
  function brushable(svg, width, inside, nearest, set) {
    let start = null, box = null;
    const at = (event) => {
      const frame = svg.getBoundingClientRect();
      return [(event.clientX - frame.left) * width / frame.width, (event.clientY - frame.top) * width / frame.width];
    };
    svg.addEventListener("pointerdown", (event) => { if (event.button === 0 && event.pointerType !== "touch") { start = at(event); event.preventDefault(); } });
    svg.addEventListener("pointermove", (event) => {
      if (!start) return;
      const [x, y] = at(event);
      if (!box && Math.hypot(x - start[0], y - start[1]) < 4) return;
      if (!box) { box = draw(svg, "rect", { class: "brush" }); svg.setPointerCapture(event.pointerId); }
      box.setAttribute("x", Math.min(x, start[0])); box.setAttribute("y", Math.min(y, start[1]));
      box.setAttribute("width", Math.abs(x - start[0])); box.setAttribute("height", Math.abs(y - start[1]));
    });
    svg.addEventListener("pointerup", (event) => {
      if (!start || !box) { start = null; return; }
      const [x, y] = at(event), found = inside(Math.min(x, start[0]), Math.min(y, start[1]), Math.max(x, start[0]), Math.max(y, start[1]));
      box.remove(); box = null; start = null; svg.brushed = true;
      if (!event.shiftKey) set.clear();
      toggle(set, found, true);
    });
    svg.addEventListener("click", (event) => {
      if (svg.brushed) { svg.brushed = false; return; }
      const item = nearest(...at(event));
      if (item !== null) toggle(set, [item], false);
    });
  }

  // ---- weight curve
  function curve() {
    const C = D.curve, W = narrow || D.map || D.panel ? PLOT : 1100, H = narrow ? 280 : 330, L = 52, R = 12, T = 14, B = 40;
    const svg = draw(byId("curve"), "svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Sorted weights" });
    let [low, high] = extent(C.weight);
    low = Math.min(0, low); if (high <= low) high = low + 1;
    const most = Math.log(Math.max(2, C.total));
    const X = (rank) => L + (W - L - R) * Math.log(rank) / most, Y = (w) => T + (H - T - B) * (high - w) / (high - low);
    for (const t of ticks(low, high, 5)) {
      draw(svg, "line", { class: "grid", x1: L, x2: W - R, y1: Y(t), y2: Y(t) });
      draw(svg, "text", { x: L - 6, y: Y(t) + 4, "text-anchor": "end" }, format(t));
    }
    const ranks = [];
    for (let p = 1; p <= C.total; p *= 10) ranks.push(p);
    if (C.total <= 10) for (let p = 2; p <= C.total; p++) { if (!ranks.includes(p)) ranks.push(p); }
    else if (C.total > 3 * ranks[ranks.length - 1]) ranks.push(C.total);
    for (const p of ranks) draw(svg, "text", { x: X(p), y: H - B + 16, "text-anchor": p === C.total ? "end" : "middle" }, many(p));
    draw(svg, "text", { x: (L + W - R) / 2, y: H - 6, "text-anchor": "middle" }, "rank");
    draw(svg, "path", { class: "axis", d: `M${L} ${T}V${H - B}H${W - R}` });
    draw(svg, "polyline", { class: "trail", points: C.rank.map((r, i) => X(r).toFixed(1) + "," + Y(C.weight[i]).toFixed(1)).join(" ") });
    if (C.cut && C.cut < C.total) {
      const x = X(C.cut + 0.5), right = x > W * 0.6;
      draw(svg, "line", { class: "cut", x1: x, x2: x, y1: T, y2: H - B });
      draw(svg, "text", { class: "cut-label", x: right ? x - 6 : x + 6, y: T + 10, "text-anchor": right ? "end" : "start" }, many(C.cut) + " selected");
    }
    if (C.null !== null && C.null > low && C.null < high) {
      draw(svg, "line", { class: "axis", "stroke-dasharray": "2 3", x1: L, x2: W - R, y1: Y(C.null), y2: Y(C.null) });
      const cut = C.cut ? X(C.cut + 0.5) : W, right = cut < L + 150;  // beside the line of the cut
      draw(svg, "text", { class: "halo", x: right ? W - R : L + 6, y: Y(C.null) - 5, "text-anchor": right ? "end" : "start" }, "hardly reached by chance");
    }
    const dots = [];
    C.rank.forEach((rank, i) => {
      if (C.feature[i] < 0 || i >= 600) return;
      const node = draw(svg, "circle", { class: "dot" + (C.selected[i] ? " chosen" : ""), cx: X(rank), cy: Y(C.weight[i]), r: C.selected[i] ? 3.4 : 2.2 });
      node.dataset.feature = C.feature[i];
      dots.push({ node, feature: C.feature[i], x: X(rank), y: Y(C.weight[i]) });
    });
    link(svg, W, dots);
    downloads("curve", svg, () => [["rank", "feature", D.source.weight_name, "selected"],
      ...C.rank.map((rank, i) => [rank, C.feature[i] < 0 ? "" : F.names[C.feature[i]], C.weight[i], C.selected[i]])]);
  }

  // ---- shared by curve and map: marking, dimming by the search, tool tips
  function link(svg, W, dots) {
    const nearest = (x, y) => {
      let best = null, least = 14;
      for (const dot of dots) {
        const d = Math.hypot(dot.x - x, dot.y - y) / (dot.reach || 1);
        if (d < least) { least = d; best = dot; }
      }
      return best;
    };
    brushable(svg, W, (x0, y0, x1, y1) => dots.filter((d) => d.x >= x0 && d.x <= x1 && d.y >= y0 && d.y <= y1).map((d) => d.feature),
      (x, y) => { const dot = nearest(x, y); return dot ? dot.feature : null; }, marked);
    tooltip(svg, (event) => {
      const frame = svg.getBoundingClientRect();
      const dot = nearest((event.clientX - frame.left) * W / frame.width, (event.clientY - frame.top) * W / frame.width);
      return dot ? about(dot.feature) : "";
    });
    watchers.push(() => {
      for (const dot of dots) {
        dot.node.classList.toggle("marked", marked.has(dot.feature));
        dot.node.classList.toggle("dimmed", !matches(dot.feature));
        if (dot.label) dot.label.classList.toggle("dimmed", !matches(dot.feature));
      }
    });
  }

  // ---- how few would do: share of the structure that the first picks show
  function panel() {
    const P = D.panel;
    if (!P) { byId("panel-section").hidden = true; return; }
    byId("panel-hint").textContent = "How well the nearest neighbours on the first picks predict " +
      (P.by_label ? "the labels" : "the structure of the samples") + " (R², number of picks on a logarithmic scale). " +
      `With ${many(P.taken)} picks R² reaches 95 % of its largest value.`;
    const W = PLOT, H = narrow ? 280 : 330, L = 52, R = 12, T = 14, B = 40, last = P.size[P.size.length - 1];
    const svg = draw(byId("panel"), "svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Structure shown by the first picks" });
    const X = (size) => L + (W - L - R) * Math.log(size) / Math.log(last), Y = (share) => T + (H - T - B) * (1 - share);
    for (const t of [0, 0.25, 0.5, 0.75, 1]) {
      draw(svg, "line", { class: "grid", x1: L, x2: W - R, y1: Y(t), y2: Y(t) });
      draw(svg, "text", { x: L - 6, y: Y(t) + 4, "text-anchor": "end" }, format(t));
    }
    for (const size of [1, 2, 5, 10, 20, 50, 100, 200].filter((size) => size <= last)) draw(svg, "text", { x: X(size), y: H - B + 16, "text-anchor": "middle" }, many(size));
    draw(svg, "text", { x: (L + W - R) / 2, y: H - 6, "text-anchor": "middle" }, "features picked");
    draw(svg, "path", { class: "axis", d: `M${L} ${T}V${H - B}H${W - R}` });
    draw(svg, "polyline", { class: "trail", points: P.size.map((size, i) => X(size).toFixed(1) + "," + Y(P.shown[i]).toFixed(1)).join(" ") });
    const x = X(P.taken), right = x > W * 0.6;
    draw(svg, "line", { class: "cut", x1: x, x2: x, y1: T, y2: H - B });
    draw(svg, "text", { class: "cut-label", x: right ? x - 6 : x + 6, y: H - B - 8, "text-anchor": right ? "end" : "start" }, many(P.taken) + " selected");
    P.size.forEach((size, i) => {
      const dot = draw(svg, "circle", { class: "dot" + (size <= P.taken ? " chosen" : ""), cx: X(size), cy: Y(P.shown[i]), r: 3.4 });
      tooltip(dot, () => many(size) + (size === 1 ? " feature: R² " : " features: R² ") + format(P.shown[i]));
    });
    downloads("panel", svg, () => [["features", "R2"], ...P.size.map((size, i) => [size, P.shown[i]])]);
  }

  // ---- topographical map: an ellipse a feature, its axes are the weights in two rounds
  function map() {
    const M = D.map;
    if (!M) {
      byId("map-section").hidden = true;
      if (!D.panel) byId("curve").parentNode.classList.remove("half");
      return;
    }
    const shown = M.feature.length;
    byId("map-hint").textContent = "One ellipse per feature. Across: its direction and weight in round 1 of Q-alpha. Up: the same in round 2, which looks for another structure. " +
      (shown < M.of_features ? `Shown are the ${many(shown)} best of ${many(M.of_features)} features.` : "");
    const W = PLOT, H = 330, L = 30, R = 12, T = 12, B = 32;
    const svg = draw(byId("map"), "svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Topographical map of the features" });
    const pad = (e) => { const p = 0.08 * (e[1] - e[0]) || 1; return [e[0] - p, e[1] + p]; };
    const [x0, x1] = pad(extent(M.x)), [y0, y1] = pad(extent(M.y));
    const X = (v) => L + (W - L - R) * (v - x0) / (x1 - x0), Y = (v) => T + (H - T - B) * (y1 - v) / (y1 - y0);
    draw(svg, "path", { class: "axis", d: `M${L} ${T}V${H - B}H${W - R}` });
    draw(svg, "text", { x: (L + W - R) / 2, y: H - 8, "text-anchor": "middle" }, "direction in round 1 (radians)");
    draw(svg, "text", { x: 0, y: 0, transform: `translate(16 ${(T + H - B) / 2}) rotate(-90)`, "text-anchor": "middle" }, "direction in round 2");
    const largest = Math.max(...M.rx, ...M.ry) || 1, size = (v) => 2 + 16 * v / largest;
    const order = M.feature.map((_, i) => i).sort((a, b) => M.rx[b] + M.ry[b] - M.rx[a] - M.ry[a]);
    const dots = [];
    for (const i of order) {
      const f = M.feature[i];
      const node = draw(svg, "ellipse", { class: "ellipse" + (F.selected[f] ? " chosen" : ""), cx: X(M.x[i]), cy: Y(M.y[i]), rx: size(M.rx[i]), ry: size(M.ry[i]) });
      node.dataset.feature = f;
      dots.push({ node, feature: f, x: X(M.x[i]), y: Y(M.y[i]), rx: size(M.rx[i]), ry: size(M.ry[i]), reach: Math.max(0.6, size(Math.max(M.rx[i], M.ry[i])) / 14) });
    }
    // A name stands in its ellipse or beside it, where it is inside the frame and meets no other name.
    const boxes = [], free = (b) => b[0] >= L && b[2] <= W - R && b[1] >= T && b[3] <= H - B && !boxes.some((o) => b[0] < o[2] && b[2] > o[0] && b[1] < o[3] && b[3] > o[1]);
    const named = dots.slice(0, 60), texts = distinct(named.map((dot) => F.names[dot.feature]), 14);
    for (const [number, dot] of named.entries()) {
      const half = width(texts[number]) / 2 + 2, over = dot.ry + 9, side = dot.rx + half + 2;
      const place = [[0, 0], [0, over], [0, -over], [side, 0], [-side, 0]].map(([dx, dy]) => [dot.x + dx, dot.y + dy]).find(([x, y]) => free([x - half, y - 7, x + half, y + 7]));
      if (!place) continue;
      boxes.push([place[0] - half, place[1] - 7, place[0] + half, place[1] + 7]);
      dot.label = draw(svg, "text", { class: "name halo", x: place[0], y: place[1] + 4, "text-anchor": "middle" }, texts[number]);
    }
    link(svg, W, dots);
    downloads("map", svg, () => [["feature", "direction_1", "direction_2", "weight_1", "weight_2"],
      ...M.feature.map((f, i) => [F.names[f], M.x[i], M.y[i], M.rx[i], M.ry[i]])]);
  }

  // ---- feature table; only a window of rows is in the page at a time
  const COLUMNS = [
    { key: "rank", title: "Rank", number: true, value: (i) => F.rank[i] },
    { key: "name", title: "Feature", value: (i) => F.names[i] },
    { key: "weight", title: D.source.weight_name[0].toUpperCase() + D.source.weight_name.slice(1), number: true, value: (i) => F.weight[i], bar: true },
    F.null && { key: "null", title: "Above chance", number: true, value: (i) => F.null[i] },
    F.stability && { key: "stability", title: "Selected again", number: true, value: (i) => F.stability[i], percent: true },
    { key: "copy", title: "Largest |r|", number: true, value: (i) => F.copy[i] },
    { key: "selected", title: "Selected", value: (i) => F.selected[i] ? "yes" : "" },
  ].filter(Boolean);
  const STEP = 200;
  let sortKey = "rank", rising = true, rows = [], limit = STEP;
  function refilter() {
    const onlySelected = byId("only-selected").checked && !query, onlyMarked = byId("only-marked").checked;
    rows = [];
    for (let i = 0; i < N; i++) if ((!onlySelected || F.selected[i]) && (!onlyMarked || marked.has(i)) && matches(i)) rows.push(i);
    const column = COLUMNS.find((c) => c.key === sortKey), sign = rising ? 1 : -1;
    rows.sort((a, b) => {
      const x = column.value(a), y = column.value(b);
      if (x === y) return F.rank[a] - F.rank[b];
      if (x === null) return 1;
      if (y === null) return -1;
      return sign * (column.number ? x - y : x < y ? -1 : 1);
    });
    limit = STEP;
    byId("count").textContent = `${many(rows.length)} of ${many(D.counts.features)} features`;
    redraw();
  }
  const heaviest = Math.max(...F.weight.slice(0, 5000).map(Math.abs), 1e-300);
  function row(i) {
    const tr = make(null, "tr", { class: (F.selected[i] ? "chosen" : "") + (marked.has(i) ? " marked" : "") });
    tr.dataset.feature = i;
    for (const c of COLUMNS) {
      const value = c.value(i);
      const text = !c.number ? value : c.percent ? (value === null ? "–" : Math.round(100 * value) + " %") : c.key === "rank" ? many(value) : format(value);
      const td = make(tr, "td", { class: c.number ? "number" : c.key === "name" ? "wide" : "" }, text);
      if (c.bar) make(make(td, "span", { class: "bar" }), "b", {}).style.width = Math.max(0, 100 * Math.abs(value || 0) / heaviest) + "%";
    }
    return tr;
  }
  function redraw() {
    const body = document.createElement("tbody");
    for (const i of rows.slice(0, limit)) body.appendChild(row(i));
    byId("features").replaceChild(body, byId("features").tBodies[0]);
  }
  function table() {
    const head = make(byId("features").tHead, "tr", {});
    for (const c of COLUMNS) {
      const th = make(head, "th", { class: c.number ? "number" : "", scope: "col", tabindex: 0 }, c.title);
      const sort = () => {
        rising = sortKey === c.key ? !rising : c.key === "rank" || c.key === "name";
        sortKey = c.key;
        for (const other of head.children) other.removeAttribute("aria-sort");
        th.setAttribute("aria-sort", rising ? "ascending" : "descending");
        refilter();
      };
      th.addEventListener("click", sort);
      th.addEventListener("keydown", (event) => { if (event.key === "Enter") sort(); });
    }
    byId("features").addEventListener("click", (event) => {
      const tr = event.target.closest("tbody tr");
      if (tr) toggle(marked, [+tr.dataset.feature], false);
    });
    byId("table-box").addEventListener("scroll", (event) => {
      const box = event.target;
      if (limit < rows.length && box.scrollTop + box.clientHeight > box.scrollHeight - 400) { limit += STEP; redraw(); }
    });
    byId("search").addEventListener("input", (event) => { query = event.target.value.trim().toLowerCase(); refilter(); changed(); });
    byId("only-selected").addEventListener("change", refilter);
    byId("only-marked").addEventListener("change", refilter);
    byId("copy").addEventListener("click", async () => {
      const chosen = marked.size ? [...marked] : rows, text = chosen.map((i) => F.names[i]).join("\n");
      try { await navigator.clipboard.writeText(text); } catch {
        const area = make(document.body, "textarea", {}); area.value = text; area.select(); document.execCommand("copy"); area.remove();
      }
      byId("count").textContent = `${many(chosen.length)} names copied`;
    });
    watchers.push(() => {
      if (byId("only-marked").checked) { refilter(); return; }
      for (const tr of byId("features").tBodies[0].rows) tr.classList.toggle("marked", marked.has(+tr.dataset.feature));
    });
    const picked = F.weight.filter((_, i) => F.selected[i]);
    if (picked.some((weight, i) => i && weight > picked[i - 1])) byId("table-hint").textContent = "The rank is the order of selection. A feature that repeats earlier ones comes later than its " + D.source.weight_name + " alone would put it.";
    byId("only-selected").checked = D.counts.selected > 0;
    const rest = F.rest;
    if (rest.count) byId("rest").textContent = `The table holds the best ${many(N)} features. The other ${many(rest.count)}` +
      (rest.selected ? ` (${many(rest.selected)} of them selected)` : "") + ` have ${D.source.weight_name}s of at most ${format(rest.largest)}, ${format(rest.mean)} on average. The weights table (--weights) lists all features.`;
    refilter();
  }

  // ---- heat map and correlation: pixels on a canvas, marks and names in SVG above it
  const hex = (name) => {
    const value = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    return [1, 3, 5].map((i) => parseInt(value.slice(i, i + 2), 16));
  };
  function scale() {
    const low = hex("--low"), mid = hex("--mid"), high = hex("--high"), out = [];
    for (let i = 0; i < 256; i++) {
      const t = (i - 127.5) / 127.5, end = t < 0 ? low : high;
      out.push(mid.map((m, c) => Math.round(m + (end[c] - m) * Math.abs(t))));
    }
    return out;
  }
  const images = [];
  function image(width, height, values, node) {
    const canvas = document.createElement("canvas");
    canvas.width = width; canvas.height = height;
    const paint = () => {
      const context = canvas.getContext("2d"), pixels = context.createImageData(width, height), table = scale();
      values.forEach((v, i) => { const c = table[v]; pixels.data.set([c[0], c[1], c[2], 255], 4 * i); });
      context.putImageData(pixels, 0, 0);
      node.setAttribute("href", canvas.toDataURL());
    };
    images.push(paint);
    paint();
  }
  for (const medium of ["(prefers-color-scheme: dark)", "print"]) matchMedia(medium).addEventListener("change", () => images.forEach((paint) => paint()));

  // Colours of a number from low to high (viridis), and of a number that is not known.
  const STOPS = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"];
  const RANGE = S.target ? extent(S.target) : null;
  function shade(value) {
    if (value === null) return "var(--rest)";
    const at = (STOPS.length - 1) * Math.max(0, Math.min(1, (value - RANGE[0]) / (RANGE[1] - RANGE[0] || 1))), i = Math.min(STOPS.length - 2, Math.floor(at));
    const [low, high] = [STOPS[i], STOPS[i + 1]].map((stop) => [1, 3, 5].map((k) => parseInt(stop.slice(k, k + 2), 16)));
    return lifted("rgb(" + low.map((v, k) => Math.round(v + (high[k] - v) * (at - i))).join(",") + ")");
  }
  // Entries below a picture, [text, colour] each; they wrap, and the picture grows. A target has one bar.
  function legend(svg, entries) {
    const frame = svg.viewBox.baseVal, left = 8;
    let x = left, y = frame.height + 12;
    for (const [text, fill] of entries) {
      const bar = fill === "target", g = draw(svg, "g", { class: "legend" });
      if (bar) Array.from({ length: 48 }, (_, i) => draw(g, "rect", { x: 2 * i, y: -8, width: 2.3, height: 10, fill: shade(RANGE[0] + (RANGE[1] - RANGE[0]) * i / 47) }));
      else draw(g, "circle", { cx: 5, cy: -3.5, r: 5, fill });
      const words = draw(g, "text", { x: bar ? 104 : 15, y: 0 }, short(text, narrow ? 44 : 70)), wide = (bar ? 104 : 15) + words.getComputedTextLength() + 16;
      if (x > left && x + wide > frame.width) { x = left; y += 17; }
      g.setAttribute("transform", `translate(${x} ${y})`);
      x += wide;
    }
    if (entries.length) svg.setAttribute("viewBox", `0 0 ${frame.width} ${y + 8}`);
  }
  const targetEntries = () => [[`${S.target_name}: ${format(RANGE[0])} to ${format(RANGE[1])}`, "target"]].concat(S.target.includes(null) ? [["not known", "var(--rest)"]] : []);
  const labelEntries = () => S.label_names.map((name, c) => ["label " + name, colour(c)]);

  // ---- every picture can be saved: as SVG in light colours, and the figures behind it as CSV
  const STYLES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "paint-order", "opacity", "font-family", "font-size", "font-weight", "text-anchor", "image-rendering"];
  function save(name, kind, text) {
    const link = make(null, "a", { download: name, href: URL.createObjectURL(new Blob([text], { type: kind })) });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60000);
  }
  function standalone(svg) {
    const root = document.documentElement, copy = svg.cloneNode(true);
    root.dataset.scheme = "light";  // no frame is drawn before it is taken back
    images.forEach((paint) => paint());
    const originals = svg.querySelectorAll("*"), [, , wide, high] = svg.getAttribute("viewBox").split(" ");
    copy.querySelectorAll("*").forEach((node, i) => {
      const style = getComputedStyle(originals[i]);
      // programs that open the file know rgb(), and not color(), in which mixed colours are told
      const value = (key) => style.getPropertyValue(key).replace(/color\(srgb ([\d.e-]+) ([\d.e-]+) ([\d.e-]+)\)/, (_, ...parts) => `rgb(${parts.slice(0, 3).map((part) => Math.round(255 * part)).join(",")})`);
      node.setAttribute("style", STYLES.map((key) => `${key}:${value(key)}`).join(";"));
      if (node.tagName === "image") node.setAttribute("href", originals[i].getAttribute("href"));
      node.removeAttribute("class");
      node.removeAttribute("fill");
    });
    const paper = document.createElementNS(SVG, "rect");
    for (const [key, value] of [["width", wide], ["height", high], ["fill", getComputedStyle(root).getPropertyValue("--panel")]]) paper.setAttribute(key, value);
    copy.prepend(paper);
    copy.setAttribute("width", wide);
    copy.setAttribute("height", high);
    delete root.dataset.scheme;
    images.forEach((paint) => paint());
    return new XMLSerializer().serializeToString(copy);
  }
  const cell = (value) => value === null || value === undefined ? "" : /[",\r\n]/.test(value) ? '"' + String(value).replaceAll('"', '""') + '"' : value;
  function downloads(id, svg, rows) {
    const line = make(byId(id), "p", { class: "downloads" }, "Save: "), name = "eigensieve-" + id;
    make(line, "button", { type: "button" }, "picture (SVG)").addEventListener("click", () => save(name + ".svg", "image/svg+xml", standalone(svg)));
    make(line, "button", { type: "button" }, "figures (CSV)").addEventListener("click", () => save(name + ".csv", "text/csv", rows().map((row) => row.map(cell).join(",")).join("\n") + "\n"));
  }
  const byLabel = S.grouped_by === "label", byTarget = S.grouped_by === "target";
  const group = (c) => colour(c + (S.label && !byLabel ? S.label_names.length : 0));  // labels have the first colours
  const clusterEntries = (n) => Array.from({ length: n }, (_, c) => [byLabel ? "label " + S.label_names[c] : `group ${c + 1}`, group(c)]);

  function heat() {
    const H = D.heat;
    if (!H) { byId("heat").hidden = true; byId("heat-hint").textContent = "No feature is selected."; return; }
    const q = H.clusters.length, m = H.features.length;
    const order = byTarget ? `by ${S.target_name}` : S.n_clusters > 1 ? `by ${byLabel ? "label" : "group (k-means on the embedding)"}` : "along their leading direction";
    byId("heat-hint").textContent = `Standardised values, from −${H.clip} (blue) to ${H.clip} (orange) deviations. Samples are ordered ${order}, similar features stand side by side. ` +
      (H.tree.length ? "The tree joins features by their mean correlation. " : "") +
      (m < H.of_features ? `Shown are the ${many(m)} best of ${many(H.of_features)} selected features. ` : "") + (q < H.of_samples ? `${many(q)} of ${many(H.of_samples)} samples, evenly taken.` : "");
    const heads = distinct(H.features.map((f) => F.names[f]), narrow ? 20 : 30);
    const tree = H.tree.length ? (narrow ? 34 : 60) : 0, L = Math.max(...heads.map(width)) + 12 + tree, T = 4, R = 8, W = narrow ? 380 : 1100, rowHeight = Math.max(13, Math.min(22, 360 / m)), strip = 9;
    // strips above the values: the groups, and the labels or the target where they are another thing
    const strips = [S.n_clusters > 1 && H.clusters.map(group), H.target && H.target.map(shade), H.label && !byLabel && H.label.map((c) => colour(c))].filter(Boolean);
    const top = T + strips.length * (strip + 2) + 2, height = top + m * rowHeight + 6, wide = W - L - R;
    const svg = draw(byId("heat"), "svg", { viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": "Heat map: features by samples" });
    strips.forEach((fills, row) => fills.forEach((fill, i) => draw(svg, "rect", { class: "strip", x: L + wide * i / q, y: T + row * (strip + 2), width: wide / q + 0.3, height: strip, fill })));
    const across = (h) => 4 + (tree - 8) * (1 - h / Math.max(...H.tree.map((merge) => merge[4]), 1e-9)), down = (place) => top + rowHeight * (place + 0.5);
    for (const [a, b, from, to, h] of H.tree) draw(svg, "path", { class: "tree", d: `M${across(from).toFixed(1)} ${down(a).toFixed(1)}H${across(h).toFixed(1)}V${down(b).toFixed(1)}H${across(to).toFixed(1)}` });
    const flat = bytes(H.values), turned = new Uint8Array(flat.length);
    for (let s = 0; s < q; s++) for (let f = 0; f < m; f++) turned[f * q + s] = flat[s * m + f];
    const picture = draw(svg, "image", { x: L, y: top, width: wide, height: m * rowHeight, preserveAspectRatio: "none", style: "image-rendering:pixelated" });
    image(q, m, turned, picture);
    const tags = H.features.map((f, i) => {
      const tag = draw(svg, "text", { class: "tag", x: L - 6, y: top + rowHeight * (i + 0.5) + 3.5, "text-anchor": "end" }, heads[i]);
      tag.dataset.feature = f;
      return tag;
    });
    const at = (event) => {
      const frame = svg.getBoundingClientRect();
      const x = (event.clientX - frame.left) * W / frame.width, y = (event.clientY - frame.top) * W / frame.width;
      return [Math.floor((y - top) / rowHeight), Math.floor((x - L) / wide * q)];
    };
    svg.addEventListener("click", (event) => { const [f] = at(event); if (f >= 0 && f < m) toggle(marked, [H.features[f]], false); });
    tooltip(svg, (event) => {
      const [f, s] = at(event);
      if (f < 0 || f >= m) return "";
      if (s < 0 || s >= q) return about(H.features[f]);
      const value = (turned[f * q + s] / 127.5 - 1) * H.clip, known = H.samples[s];
      return F.names[H.features[f]] + "\n" + (known >= 0 ? S.id[known] + ": " : "") + value.toFixed(1) + " deviations";
    });
    const marks = draw(svg, "g", {});
    watchers.push(() => {
      marks.textContent = "";
      H.features.forEach((f, i) => {
        tags[i].classList.toggle("marked", marked.has(f));
        tags[i].classList.toggle("dimmed", !matches(f));
        if (marked.has(f)) draw(marks, "rect", { class: "heat-mark", x: L, y: top + i * rowHeight, width: wide, height: rowHeight }).dataset.feature = f;
      });
      H.samples.forEach((s, i) => {
        if (markedSamples.has(s)) draw(marks, "rect", { class: "sample-mark", x: L + wide * i / q, y: T, width: Math.max(1, wide / q), height: top - T + m * rowHeight });
      });
    });
    legend(svg, [...(S.n_clusters > 1 ? clusterEntries(S.n_clusters) : []), ...(H.target ? targetEntries() : []), ...(H.label && !byLabel ? labelEntries() : [])]);
    const place = (s) => H.samples[s] < 0 ? "" : S.id[H.samples[s]];
    downloads("heat", svg, () => [["sample", "group", "label", "target", ...H.features.map((f) => F.names[f])],
      ...H.clusters.map((c, s) => [place(s), c + 1, H.label ? S.label_names[H.label[s]] : "", H.target ? H.target[s] : "",
        ...H.features.map((_, f) => +((turned[f * q + s] / 127.5 - 1) * H.clip).toFixed(2))])]);
  }

  // ---- the samples in the plane
  function samples() {
    const beside = byId("redundancy").querySelector("svg");  // as high as its neighbour
    const W = PLOT, H = narrow ? 320 : Math.max(380, beside ? beside.viewBox.baseVal.height - 24 : 0), pad = 18;
    const shown = S.x.length;
    byId("samples-hint").textContent = `By the ${S.axes}${S.target ? ", coloured by " + S.target_name : ""}. Drag to mark samples; they light up in the heat map. ` + (shown < S.total ? `${many(shown)} of ${many(S.total)} samples, evenly taken.` : "");
    const svg = draw(byId("samples"), "svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": "Embedding of the samples" });
    const [x0, x1] = extent(S.x), [y0, y1] = extent(S.y);
    const X = (v) => pad + (W - 2 * pad) * (v - x0) / (x1 - x0 || 1), Y = (v) => pad + (H - 2 * pad) * (y1 - v) / (y1 - y0 || 1);
    const useLabel = S.label !== null;
    const dots = S.x.map((x, i) => {
      const cx = X(x), cy = Y(S.y[i]), fill = S.target ? shade(S.target[i]) : useLabel ? colour(S.label[i]) : colour(S.cluster[i]);
      const node = draw(svg, "circle", { class: "sample", cx, cy, r: shown > 800 ? 3 : 5, fill, "fill-opacity": 0.82 });
      node.dataset.sample = i;
      return { node, i, x: cx, y: cy };
    });
    const nearest = (x, y) => {
      let best = null, least = 12;
      for (const d of dots) { const e = Math.hypot(d.x - x, d.y - y); if (e < least) { least = e; best = d; } }
      return best;
    };
    brushable(svg, W, (a, b, c, d) => dots.filter((p) => p.x >= a && p.x <= c && p.y >= b && p.y <= d).map((p) => p.i),
      (x, y) => { const d = nearest(x, y); return d ? d.i : null; }, markedSamples);
    tooltip(svg, (event) => {
      const frame = svg.getBoundingClientRect();
      const d = nearest((event.clientX - frame.left) * W / frame.width, (event.clientY - frame.top) * W / frame.width);
      return d ? S.id[d.i] + (S.n_clusters > 1 && !byLabel ? "\ngroup " + (S.cluster[d.i] + 1) : "") + (useLabel ? "\nlabel " + S.label_names[S.label[d.i]] : "") +
        (S.target ? "\n" + S.target_name + " " + (S.target[d.i] === null ? "not known" : format(S.target[d.i])) : "") : "";
    });
    watchers.push(() => { for (const d of dots) d.node.classList.toggle("marked", markedSamples.has(d.i)); });
    legend(svg, S.target ? targetEntries() : useLabel ? labelEntries() : S.n_clusters > 1 ? clusterEntries(S.n_clusters) : []);
    downloads("samples", svg, () => [["sample", "x", "y", "group", "label", "target"],
      ...S.id.map((id, i) => [id, S.x[i], S.y[i], S.cluster[i] + 1, useLabel ? S.label_names[S.label[i]] : "", S.target ? S.target[i] : ""])]);
  }

  // ---- correlations among the chosen
  function correlations() {
    const R = D.redundancy, m = R ? R.features.length : 0;
    if (m < 2) { byId("redundancy-section").hidden = true; return; }
    byId("redundancy-hint").textContent = `Correlations of the selected features (blue −1, orange 1). The ${many(R.used)} carry as much as ${R.effective.toFixed(1)} uncorrelated ones; ` +
      `${R.n_copies ? many(R.n_copies) : "no"} pair${R.n_copies === 1 ? " has" : "s have"} |r| of at least ${R.threshold}. ` + (m < R.of_features ? `The ${many(m)} best of ${many(R.of_features)} are drawn. ` : "") +
      (R.used < R.of_features ? `Figures are for the best ${many(R.used)}.` : "");
    const heads = distinct(R.features.map((f) => F.names[f]), narrow ? 16 : 20);
    const W = PLOT, L = Math.max(...heads.map(width)) + 10, T = 6, side = W - L - 8, size = side / m, height = T + side + 6;
    const svg = draw(byId("redundancy"), "svg", { viewBox: `0 0 ${W} ${height}`, role: "img", "aria-label": "Correlation of the selected features" });
    const picture = draw(svg, "image", { x: L, y: T, width: side, height: side, preserveAspectRatio: "none", style: "image-rendering:pixelated" });
    const values = bytes(R.r);
    image(m, m, values, picture);
    const every = Math.max(1, Math.ceil(10 / size));
    R.features.forEach((f, i) => { if (i % every === 0) draw(svg, "text", { class: "tag", x: L - 5, y: T + size * (i + 0.5) + 3.5, "text-anchor": "end" }, heads[i]); });
    const at = (event) => {
      const frame = svg.getBoundingClientRect();
      return [Math.floor(((event.clientY - frame.top) * W / frame.width - T) / size), Math.floor(((event.clientX - frame.left) * W / frame.width - L) / size)];
    };
    const ok = (i) => i >= 0 && i < m;
    svg.addEventListener("click", (event) => {
      const [i, j] = at(event);
      if (!ok(i)) return;
      if (ok(j) && i !== j) { marked.clear(); toggle(marked, [R.features[i], R.features[j]], true); } else toggle(marked, [R.features[i]], false);
    });
    tooltip(svg, (event) => {
      const [i, j] = at(event);
      if (!ok(i)) return "";
      if (!ok(j)) return about(R.features[i]);
      return F.names[R.features[i]] + "\n" + F.names[R.features[j]] + "\nr = " + (values[i * m + j] / 127.5 - 1).toFixed(2);
    });
    const marks = draw(svg, "g", {});
    watchers.push(() => {
      marks.textContent = "";
      R.features.forEach((f, i) => { if (marked.has(f)) draw(marks, "rect", { class: "heat-mark", x: L, y: T + i * size, width: side, height: size }).dataset.feature = f; });
    });
    downloads("redundancy", svg, () => [["r", ...R.features.map((f) => F.names[f])], ...R.features.map((f, i) => [F.names[f], ...R.features.map((_, j) => +(values[i * m + j] / 127.5 - 1).toFixed(2))])]);
  }

  curve(); panel(); map(); table(); heat(); correlations(); samples(); changed();
  document.documentElement.dataset.ready = "yes";
})();
