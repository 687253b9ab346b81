// Shows a report's data (Go: package report, type Data). TuneReport.show(data) draws it, and
// draws what has changed when it is called again: what is chosen on the page stays chosen, and a
// section in which the reader is busy stays as it is. A tune may come as a Brief, which the list
// alone shows; TuneReport.onchoose(ids) is told which are wanted whole.
"use strict";
const TuneReport = (() => {
  // Okabe and Ito's colours, told apart by the colour-blind too; the black follows the theme.
  const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8c6bb1", "#7f7f7f"];
  // Viridis (van der Walt and Smith, 2015): even steps of lightness.
  const viridis = ["#440154", "#3b528b", "#21918c", "#5ec962", "#fde725"];
  const LINES = 2000; // of parallel coordinates, and how many of them are the fastest
  const FASTEST = 500;
  let data = null;
  const chosen = { tune: "", beside: "", followed: true }; // by the reader; followed: it is the first, whichever
  const drawn = new Map(); // chart's element: the function that draws it
  const memories = new Map(); // what the reader chose in a tune's sections
  const memory = (t, part) => { const key = t.id + " " + part; if (!memories.has(key)) memories.set(key, {}); return memories.get(key); };

  // -- text

  const el = (name, attributes = {}, ...children) => {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes)) {
      if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
      else if (v !== undefined && v !== false) e.setAttribute(k, v === true ? "" : v);
    }
    e.append(...children.filter((c) => c !== undefined && c !== null));
    return e;
  };
  // code is a schedule's text, which breaks after slashes.
  const code = (text) => el("code", {}, ...text.split("/").flatMap((part, i) => (i ? ["/", el("wbr"), part] : [part])));
  const scaled = (v, unit) => {
    if (!(v > 0)) return "-";
    for (const [s, p] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) if (v >= s) return digits(v / s) + " " + p + unit;
    return digits(v) + " " + unit;
  };
  const digits = (v) => (v >= 1000 ? v.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",") : String(+v.toPrecision(4)));
  const rate = (v) => { const u = unitOf(v); return v > 0 && v < Infinity ? digits(v / u.s) + " " + u.name : "-"; };
  // unitOf is the scale and name in which a rate has two digits or more before the point.
  const unitOf = (v) => {
    const [s, name] = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]].find(([s]) => v >= s * 10) || [1, ""];
    return { s, name: name + "Cells/s" };
  };
  const time = (s) => {
    if (!(s > 0)) return "-";
    for (const [k, u] of [[1, "s"], [1e-3, "ms"], [1e-6, "us"]]) if (s >= k) return digits(s / k) + " " + u;
    return digits(s / 1e-9) + " ns";
  };
  const range = (low, high) => { const [a, b] = [time(low), time(high)], u = b.slice(b.indexOf(" ")); return (a.endsWith(u) ? a.slice(0, -u.length) : a) + " to " + b; };
  const bytes = (v) => scaled(v, "B");
  const whole = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
  const share = (v) => (100 * v).toFixed(v < 0.1 ? 1 : 0) + " %";

  // -- a tune's points

  const text = (t, i) => {
    const f = t.families[t.points.family[i]];
    const values = t.points.values[i];
    return f.name + f.params.map((p, k) => (p.optional && values[k] === (p.default || 0) ? "" : "/" + p.name + "=" + values[k])).join("");
  };
  const timed = (t) => t.byTime || (t.byTime = t.points.seconds.map((_, i) => i).filter((i) => t.points.seconds[i] > 0).sort((a, b) => t.points.seconds[a] - t.points.seconds[b]));
  const rateOf = (t, i) => t.cells / t.points.seconds[i];
  // unit is that of a chart's rates.
  const unit = (t) => unitOf(t.best >= 0 ? rateOf(t, t.best) : 1e10);
  const valuesOf = (t, family, k) => {
    const set = new Set();
    t.points.family.forEach((f, i) => { if (f === family && t.points.seconds[i] > 0) set.add(t.points.values[i][k]); });
    return [...set].sort((a, b) => a - b);
  };
  // varied are the places of a family's parameters that have more than one value.
  const varied = (t, family) => {
    const key = "varied" + family;
    return t[key] || (t[key] = t.families[family].params.map((_, k) => k).filter((k) => valuesOf(t, family, k).length > 1));
  };
  // ofRoof is the best rate's share of one step at copy bandwidth; 0 = not known.
  const ofRoof = (t) => (t.copy > 0 && t.step_bytes > 0 && t.seconds > 0 ? t.step_bytes / t.seconds / t.copy : 0);
  const bestFamily = (t) => (t.best >= 0 ? t.points.family[t.best] : 0);

  // -- charts

  const dark = () => document.documentElement.dataset.theme === "dark";
  const ink = () => (dark() ? "#e6e9ed" : "#1b1f24");
  const faint = () => (dark() ? "#333c47" : "#d8dde3");
  const axis = (name, type, more = {}) => ({
    name, type, nameLocation: "middle", nameGap: 30, nameTextStyle: { color: ink(), fontSize: 12 }, axisLine: { show: true, lineStyle: { color: ink() } },
    axisLabel: { color: ink(), hideOverlap: true, fontSize: 11 }, splitLine: { lineStyle: { color: faint() } }, ...more });
  const base = () => ({
    animation: false, backgroundColor: "transparent", textStyle: { color: ink(), fontFamily: "system-ui, sans-serif" }, color: colours,
    tooltip: { confine: true, backgroundColor: dark() ? "#222a33" : "#fff", borderColor: faint(), textStyle: { color: ink(), fontSize: 12 }, extraCssText: "max-width:90vw;white-space:normal;overflow-wrap:anywhere" } });
  const legend = (more = {}) => ({ type: "plain", top: 0, left: 0, itemWidth: 18, itemHeight: 10, itemGap: 12, textStyle: { color: ink(), fontSize: 12 }, ...more });
  const floor2 = (v) => 2 ** Math.floor(Math.log2(v)), ceil2 = (v) => 2 ** Math.ceil(Math.log2(v)); // of log axes, whose ticks are powers of two
  const power = (v) => (v >= 1e5 || v < 1e-4 ? v.toExponential(0).replace("e+", "e") : v >= 1 ? digits(v) : String(+v.toPrecision(2)));

  // draw makes or renews the chart of an element; without a function it is drawn as before.
  const draw = (box, option) => {
    if (option) drawn.set(box, option);
    const chart = echarts.getInstanceByDom(box) || echarts.init(box, null, { renderer: "canvas" });
    chart.setOption(drawn.get(box)(), { notMerge: true });
    return chart;
  };
  // later draws a chart when it comes near the window: a page opens with those in sight. One that is listened to has a function that does both.
  const watcher = new IntersectionObserver((list) => {
    for (const e of list) if (e.isIntersecting) { watcher.unobserve(e.target); (e.target.listen || draw)(e.target); }
  }, { rootMargin: "300px" });
  const later = (box, option) => {
    drawn.set(box, option);
    if (echarts.getInstanceByDom(box)) draw(box); else watcher.observe(box);
  };
  const redraw = () => { for (const box of drawn.keys()) if (echarts.getInstanceByDom(box)) draw(box); };
  // sweep forgets charts that are no longer on the page.
  const sweep = () => {
    for (const box of drawn.keys()) {
      if (box.isConnected) continue;
      watcher.unobserve(box);
      const c = echarts.getInstanceByDom(box);
      if (c) c.dispose();
      drawn.delete(box);
    }
  };
  let slot = null; // that is being filled
  // chartBox is the place of a chart: in a section that is made anew the one that was there.
  const chartBox = (label, kind = "") => (slot && slot.querySelector(`.chart[aria-label="${label}"]`)) || el("div", { class: "chart " + kind, role: "img", tabindex: "0", "aria-label": label });
  const section = (title, note, ...rest) => el("section", { "aria-label": title }, el("h2", {}, title), note ? el("p", {}, note) : null, ...rest);
  const table = (head, rows, numeric = []) => el("div", { class: "scroll" }, el("table", {},
    el("thead", {}, el("tr", {}, ...head.map((h, k) => el("th", { scope: "col", class: numeric.includes(k) ? "n" : undefined }, h)))),
    el("tbody", {}, ...rows.map((r) => el("tr", {}, ...r.map((c, k) => el("td", { class: numeric.includes(k) ? "n" : undefined, "data-label": head[k] }, c)))))));
  const numbers = (head, rows, numeric) => el("details", {}, el("summary", {}, "Numbers"), table(head, rows, numeric));
  const choice = (label, list, value, change) => el("label", {}, label, el("select", { onchange: (e) => change(+e.target.value) },
    ...list.map((name, i) => el("option", { value: i, selected: i === value }, name))));

  // -- the parts of a page

  const objectives = { time: "time", energy: "energy", edp: "energy-delay product" };

  const summary = (t) => {
    const c = t.config;
    const figures = [];
    const figure = (value, what) => figures.push(el("div", {}, el("b", {}, value), el("span", {}, what)));
    const { seconds } = t;
    figure(rate(t.cells / seconds), c && c.objective ? "chosen by " + objectives[c.objective] : c || t.origin !== "running" ? "fastest" : "best so far");
    figure(time(seconds), "a time step");
    if (t.naive > 0 && seconds > 0) figure(digits(t.naive / seconds) + " x", "times naive");
    if (ofRoof(t) > 0) figure(share(ofRoof(t)), "of one step at copy bandwidth");
    if (c && c.energy) figure(digits(c.energy.winner.joules_per_billion_cells) + " J", "for 10^9 cell updates");
    figure(whole(t.search.point.length), t.phase ? "evaluated so far" : "evaluated by the search");
    if (t.search.seconds.length) figure(digits(Math.max(...t.search.seconds.slice(-50))) + " s", t.origin === "recording" ? "of search, simulated" : "of search");
    if (t.recorded) figure(whole(t.points.seconds.length), "schedules recorded");
    const warnings = c ? c.warnings : [];
    return section(t.problem + " on " + t.device.name, t.phase ? "Under way: " + t.phase + (t.trying ? ", trying " + t.trying : "") + "." : { store: "From the store.", recording: "From a recording; its search was replayed in simulated time.", running: "Ended." }[t.origin],
      el("div", { class: "figures" }, ...figures),
      c ? el("p", {}, "Winner: ", code(c.schedule.text)) : null,
      warnings.length ? el("ul", { class: "warn", "aria-label": "Warnings" }, ...warnings.map((w) => el("li", {}, w))) : null,
      t.notes.length ? el("ul", { class: "note" }, ...t.notes.map((n) => el("li", {}, n))) : null);
  };

  const progress = (t) => {
    if (!t.search.point.length) return null;
    const box = chartBox("Best rate so far against evaluations or seconds of the search");
    const u = unit(t), s = t.search, mine = memory(t, "progress");
    mine.axis = mine.axis || "evaluations";
    const lines = [];
    if (t.recorded && t.best >= 0) lines.push(["optimum", rateOf(t, t.best) / u.s]);
    if (t.predicted >= 0) {
      const measured = t.points.seconds[t.predicted];
      lines.push(["model's first choice" + (measured > 0 ? "" : ", predicted"), t.cells / (measured || t.points.predicted[t.predicted]) / u.s]);
    }
    const option = () => {
      const seconds = mine.axis === "seconds";
      const x = (k) => (seconds ? s.seconds[k] : k + 1);
      const best = s.best.map((b, k) => [x(k), b > 0 ? t.cells / b / u.s : null]);
      const each = s.point.map((i, k) => [x(k), t.points.seconds[i] > 0 ? rateOf(t, i) / u.s : null, k]).filter((p) => p[1] !== null);
      return { ...base(), grid: { left: 62, right: 24, top: 52, bottom: 44 }, legend: legend(),
        xAxis: axis(seconds ? (t.origin === "recording" ? "simulated seconds" : "seconds") : "evaluations", "value", { max: best.length ? best[best.length - 1][0] : 1, axisLabel: { ...axis().axisLabel, showMaxLabel: false } }),
        yAxis: axis(u.name, "value", { nameGap: 44 }), tooltip: { ...base().tooltip, trigger: "item" },
        series: [
          { name: "best so far", type: "line", step: "end", symbol: "none", sampling: "lttb", data: best, lineStyle: { width: 2.5 }, z: 5 },
          { name: "each schedule", type: "scatter", symbolSize: 6, large: true, data: each, itemStyle: { opacity: 0.55 }, tooltip: { formatter: (p) => text(t, s.point[p.value[2]]) + "<br>" + digits(p.value[1]) + " " + u.name } },
          ...lines.map(([name, y], k) => ({ name, type: "line", symbol: "none", color: colours[2 + k], lineStyle: { type: k ? "dotted" : "dashed", width: 2 }, data: best.length ? [[0, y], [best[best.length - 1][0], y]] : [] }))] };
    };
    later(box, option);
    const radio = (name) => el("label", {}, el("input", { type: "radio", name: "axis" + t.id, value: name, checked: mine.axis === name, onchange: () => { mine.axis = name; draw(box); } }), name);
    const rows = s.best.map((b, k) => [k, b]).filter(([k, b]) => b > 0 && (k === 0 || b !== s.best[k - 1])).map(([k, b]) => [whole(k + 1), digits(s.seconds[k]), rate(t.cells / b), code(text(t, s.point[k]))]);
    return section("Best so far", "Each dot is a schedule that the search tried." + (t.recorded ? " The optimum is the fastest of the recording." : ""),
      el("div", { class: "bar", role: "radiogroup", "aria-label": "Against" }, radio("evaluations"), radio("seconds")), box, numbers(["evaluation", "seconds", "best", "schedule"], rows, [0, 1, 2]));
  };

  const accuracy = (t) => {
    const p = t.points;
    const list = timed(t).filter((i) => p.predicted[i] > 0);
    if (!list.length) return null;
    const box = chartBox("Predicted against measured time, coloured by what limits the schedule by the model", "tall");
    const ms = (v) => v * 1e3;
    let low = Infinity, high = 0;
    for (const i of list) { low = Math.min(low, p.seconds[i], p.predicted[i]); high = Math.max(high, p.seconds[i], p.predicted[i]); }
    low = floor2(ms(low)); high = ceil2(ms(high));
    later(box, () => ({ ...base(), grid: { left: 62, right: 24, top: 74, bottom: 44 }, legend: legend(),
      xAxis: axis("predicted ms a step", "log", { logBase: 2, min: low, max: high, axisLabel: { ...axis().axisLabel, formatter: power } }),
      yAxis: axis("measured ms a step", "log", { logBase: 2, min: low, max: high, nameGap: 46, axisLabel: { ...axis().axisLabel, formatter: power } }),
      dataZoom: [{ type: "inside", zoomOnMouseWheel: "ctrl" }, { type: "inside", orient: "vertical", zoomOnMouseWheel: "ctrl" }],
      series: [...p.limiters.map((name, l) => ({ name, type: "scatter", large: true, largeThreshold: 1000, symbolSize: 4, color: colours[l % colours.length], itemStyle: { opacity: 0.6 },
        data: list.filter((i) => p.limiter[i] === l).map((i) => [ms(p.predicted[i]), ms(p.seconds[i]), i]),
        tooltip: { formatter: (q) => text(t, q.value[2]) + "<br>predicted " + time(p.predicted[q.value[2]]) + ", measured " + time(p.seconds[q.value[2]]) } })),
        { name: "as predicted", type: "line", symbol: "none", color: ink(), lineStyle: { type: "dashed", width: 1.5 }, data: [[low, low], [high, high]], z: 9 }] }));
    const rows = p.limiters.map((name, l) => {
      const of = list.filter((i) => p.limiter[i] === l).map((i) => p.seconds[i] / p.predicted[i]).sort((a, b) => a - b);
      return of.length ? [name, whole(of.length), digits(of[Math.ceil(0.1 * of.length) - 1]), digits(of[Math.ceil(0.5 * of.length) - 1]), digits(of[Math.ceil(0.9 * of.length) - 1])] : null;
    }).filter(Boolean);
    return section("Predicted against measured", "Below the dashed line a schedule is faster than the cost model predicts. Colours: what limits it, by the model. All " + whole(list.length) + " schedules with a time and a prediction.",
      box, numbers(["limiter", "schedules", "measured over predicted: 10 % below", "median", "90 % below"], rows, [1, 2, 3, 4]));
  };

  const roofline = (t) => {
    const r = t.roofline;
    if (!r.marks.length) return null;
    const box = chartBox("Roofline: cell updates a second against updates a byte of memory traffic");
    const u = unit(t);
    const xs = r.marks.map((m) => m.cells_per_byte), ys = r.marks.map((m) => m.cells_per_second / u.s);
    const left = floor2(Math.min(...xs) / 1.3), right = ceil2(Math.max(...xs, r.arithmetic > 0 && t.copy > 0 ? r.arithmetic / t.copy : 0) * 1.5);
    const memory = (x) => (x * t.copy) / u.s;
    const ridge = r.arithmetic > 0 && t.copy > 0 ? r.arithmetic / t.copy : right;
    later(box, () => ({ ...base(), grid: { left: 62, right: 24, top: 74, bottom: 44 }, legend: legend(),
      xAxis: axis("cell updates a byte to or from memory", "log", { logBase: 2, min: left, max: right, axisLabel: { ...axis().axisLabel, formatter: power } }),
      yAxis: axis(u.name, "log", { logBase: 2, nameGap: 46, min: floor2(Math.min(...ys) / 1.3), axisLabel: { ...axis().axisLabel, formatter: power } }),
      series: [
        ...(t.copy > 0 ? [{ name: "copy bandwidth, " + bytes(t.copy) + "/s", type: "line", symbol: "none", color: ink(), data: [[left, memory(left)], [Math.min(ridge, right), memory(Math.min(ridge, right))]] }] : []),
        ...(r.arithmetic > 0 ? [{ name: "arithmetic, " + rate(r.arithmetic), type: "line", symbol: "none", color: colours[7], lineStyle: { type: "dashed" }, data: [[Math.min(ridge, right), r.arithmetic / u.s], [right, r.arithmetic / u.s]] }] : []),
        ...r.marks.map((m, k) => ({ name: m.role, type: "scatter", symbol: ["circle", "diamond", "triangle"][k % 3], symbolSize: 14, color: colours[k], data: [[m.cells_per_byte, m.cells_per_second / u.s]],
          tooltip: { formatter: () => m.role + (m.schedule ? "<br>" + m.schedule : "") + "<br>" + rate(m.cells_per_second) } }))] }));
    return section("Roofline", "Kernels that fuse time steps move fewer bytes an update, so they may pass what one step at copy bandwidth allows. Bytes of kernels are the cost model's.",
      box, numbers(["", "updates a byte", "rate", "schedule"], r.marks.map((m) => [m.role, digits(m.cells_per_byte), rate(m.cells_per_second), code(m.schedule || "")]), [1, 2]));
  };

  const importance = (t) => {
    if (!t.importance.length) return null;
    const families = [...new Set(t.importance.map((i) => i.family))];
    const own = families.indexOf((t.families[bestFamily(t)] || {}).name);
    const box = chartBox("Importance of parameters", "short");
    const mine = memory(t, "importance");
    let at = families.includes(mine.family) ? families.indexOf(mine.family) : Math.max(0, own);
    const of = () => t.importance.filter((i) => i.family === families[at] && i.share >= 0.001);
    const doc = (i) => ((t.families.find((f) => f.name === i.family) || { params: [] }).params.find((p) => p.name === i.param) || {}).doc || "";
    later(box, () => ({ ...base(), grid: { left: 46, right: 56, top: 8, bottom: 40 },
      xAxis: axis("share of the divergence, %", "value"), yAxis: axis("", "category", { inverse: true, data: of().map((i) => i.param), axisLabel: { ...axis().axisLabel, interval: 0 } }),
      tooltip: { ...base().tooltip, formatter: (p) => p.name + ": " + digits(p.value) + " %<br>" + doc(of()[p.dataIndex]) },
      series: [{ type: "bar", data: of().map((i) => +(100 * i.share).toFixed(1)), barMaxWidth: 16, label: { show: true, position: "right", color: ink(), formatter: (p) => p.value + " %" } }] }));
    return section("Importance of parameters", "How much a parameter's value decides whether a schedule is among the fastest tenth of its family (PED-ANOVA: Watanabe, Bansal and Hutter, IJCAI 2023).",
      el("div", { class: "bar" }, choice("Family", families, at, (v) => { at = v; mine.family = families[v]; draw(box); })), box,
      numbers(["family", "parameter", "share", "what it is"], t.importance.map((i) => [i.family, i.param, share(i.share), doc(i)]), [2]));
  };

  const heat = (t) => {
    const families = t.families.map((_, f) => f).filter((f) => varied(t, f).length > 1);
    if (!families.length) return null;
    const u = unit(t);
    const mine = memory(t, "heat");
    let f = families.find((g) => g === mine.f) ?? (families.includes(bestFamily(t)) ? bestFamily(t) : families[0]), a, b;
    const ranked = (f) => { // the family's two most important
      const names = t.importance.filter((i) => i.family === t.families[f].name).map((i) => i.param);
      const place = (k) => { const n = names.indexOf(t.families[f].params[k].name); return n < 0 ? 99 : n; };
      return [...varied(t, f)].sort((x, y) => place(x) - place(y));
    };
    [a, b] = ranked(f);
    if (f === mine.f && varied(t, f).includes(mine.a) && varied(t, f).includes(mine.b)) [a, b] = [mine.a, mine.b];
    const box = chartBox("Heat map of two parameters", "tall");
    const option = () => {
      const xs = valuesOf(t, f, a), ys = valuesOf(t, f, b);
      const best = new Map(); // the fastest of each pair of values
      t.points.family.forEach((g, i) => {
        if (g !== f || !(t.points.seconds[i] > 0)) return;
        const key = xs.indexOf(t.points.values[i][a]) + "," + ys.indexOf(t.points.values[i][b]);
        if (!best.has(key) || t.points.seconds[i] < t.points.seconds[best.get(key)]) best.set(key, i);
      });
      const cells = [...best].map(([key, i]) => [...key.split(",").map(Number), +(rateOf(t, i) / u.s).toPrecision(4), i]);
      const rates = cells.map((c) => c[2]);
      const low = Math.min(...rates), high = Math.max(...rates);
      const crowded = xs.length > 10 || box.clientWidth / xs.length < 56;
      return { ...base(), grid: { left: 56, right: 16, top: 16, bottom: 96 },
        xAxis: axis(t.families[f].params[a].name, "category", { data: xs, splitArea: { show: false } }), yAxis: axis(t.families[f].params[b].name, "category", { data: ys, nameGap: 40 }),
        visualMap: { type: "continuous", dimension: 2, min: low, max: high > low ? high : low + 1, calculable: false, orient: "horizontal", left: "center", bottom: 4, itemWidth: 12, itemHeight: 160, text: [digits(high) + " " + u.name, digits(low)], textStyle: { color: ink() }, inRange: { color: viridis } },
        tooltip: { ...base().tooltip, formatter: (q) => digits(q.value[2]) + " " + u.name + "<br>" + text(t, q.value[3]) },
        series: [{ type: "heatmap", data: cells.map((c) => ({ value: c, label: { color: low < high && (c[2] - low) / (high - low) > 0.55 ? "#000" : "#fff" } })), label: { show: !crowded, formatter: (q) => digits(q.value[2]), fontSize: 11 } }] };
    };
    later(box, option);
    const bar = el("div", { class: "bar" });
    const keep = () => { Object.assign(mine, { f, a, b }); draw(box); };
    const choices = () => {
      const names = varied(t, f).map((k) => t.families[f].params[k].name);
      bar.replaceChildren(
        choice("Family", families.map((g) => t.families[g].name), families.indexOf(f), (v) => { f = families[v]; [a, b] = ranked(f); choices(); keep(); }),
        choice("across", names, varied(t, f).indexOf(a), (v) => { a = varied(t, f)[v]; keep(); }),
        choice("up", names, varied(t, f).indexOf(b), (v) => { b = varied(t, f)[v]; keep(); }));
    };
    choices();
    return section("Two parameters", "Each cell is the fastest schedule with these two values, whatever the others are.", bar, box);
  };

  const parallel = (t) => {
    const families = t.families.map((_, f) => f).filter((f) => varied(t, f).length > 0);
    if (!families.length) return null;
    const u = unit(t);
    const mine = memory(t, "parallel");
    let f = families.find((g) => g === mine.f) ?? (families.includes(bestFamily(t)) ? bestFamily(t) : families[0]);
    let cursor = 0; // axis of the keyboard
    let picked = new Map(); // axis: [low, high] as places among its values, or rates
    const box = chartBox("Parallel coordinates of schedules. Left and right choose an axis, up and down a value, shift makes it a range, escape clears.", "tall");
    const out = el("div", { "aria-live": "polite" });
    const of = () => timed(t).filter((i) => t.points.family[i] === f);
    const axes = () => varied(t, f);
    const lines = (list) => { // the fastest, and every n-th of the rest
      if (list.length <= LINES) return list;
      const n = (list.length - FASTEST) / (LINES - FASTEST);
      return list.slice(0, FASTEST).concat(Array.from({ length: LINES - FASTEST }, (_, k) => list[FASTEST + Math.floor(k * n)]));
    };
    const option = () => {
      const list = of(), few = lines(list), narrow = box.clientWidth < 600;
      const most = rateOf(t, list[0]) / u.s, least = rateOf(t, list[list.length - 1]) / u.s;
      return { ...base(), tooltip: undefined,
        parallel: { left: 28, right: 56, top: 40, bottom: 64, axisExpandable: false, parallelAxisDefault: { nameLocation: "end", nameGap: 12, nameTextStyle: { color: ink(), fontSize: 12 }, axisLine: { lineStyle: { color: ink() } }, axisTick: { show: false }, axisLabel: { color: ink(), fontSize: narrow ? 9 : 11, textBorderColor: dark() ? "#1a2028" : "#f6f7f9", textBorderWidth: 3 }, areaSelectStyle: { width: 18, borderColor: colours[1], color: colours[1], opacity: 0.4 } } },
        parallelAxis: [...axes().map((k, d) => ({ dim: d, name: t.families[f].params[k].name, type: "category", data: valuesOf(t, f, k).map(String) })),
          { dim: axes().length, name: u.name, type: "value", min: 0, max: Math.ceil(most * 1.02), axisLabel: { color: ink(), formatter: digits } }],
        visualMap: { type: "continuous", dimension: axes().length, min: least, max: most, orient: "horizontal", left: "center", bottom: 0, itemWidth: 12, itemHeight: 160, calculable: false, text: [u.name, ""], textStyle: { color: ink() }, inRange: { color: viridis } },
        series: [{ type: "parallel", progressive: 0, inactiveOpacity: 0.02, activeOpacity: 0.8, lineStyle: { width: 1, opacity: few.length > 500 ? 0.25 : 0.6 }, data: few.slice().reverse().map((i) => [...axes().map((k) => String(t.points.values[i][k])), rateOf(t, i) / u.s]) }] };
    };
    const matches = (i) => {
      for (const [d, [low, high]] of picked) {
        const v = d < axes().length ? valuesAt(d).indexOf(t.points.values[i][axes()[d]]) : rateOf(t, i) / u.s;
        if (v < low || v > high) return false;
      }
      return true;
    };
    let cache = {};
    const valuesAt = (d) => cache[f + "," + d] || (cache[f + "," + d] = valuesOf(t, f, axes()[d]));
    const nameAt = (d) => (d < axes().length ? t.families[f].params[axes()[d]].name : u.name);
    const rangeText = (d, [low, high]) => (d < axes().length ? valuesAt(d).filter((_, n) => n >= low && n <= high).join(", ") : digits(low) + " to " + digits(high));
    const tell = () => {
      const list = of().filter(matches);
      const what = [...picked].map(([d, r]) => nameAt(d) + ": " + rangeText(d, r)).join("; ");
      out.toggleAttribute("data-busy", picked.size > 0);
      out.replaceChildren(
        el("p", { class: "picked" }, (what ? "Chosen: " + what + ". " : "Nothing is chosen: drag along an axis. ") + whole(list.length) + " of " + whole(of().length) + " schedules" + (list.length ? ", the fastest " + rate(rateOf(t, list[0])) : "") + "."),
        table(["rate", "registers", "schedule"], list.slice(0, 8).map((i) => [rate(rateOf(t, i)), t.points.registers[i] ? String(t.points.registers[i]) : "-", code(text(t, i))]), [0, 1]));
    };
    const listen = () => {
      const chart = draw(box);
      chart.off("axisareaselected");
      chart.on("axisareaselected", () => {
        picked = new Map();
        chart.getModel().eachComponent("parallelAxis", (m) => {
          const on = m.activeIntervals || [];
          if (on.length) picked.set(m.option.dim, [Math.min(...on.map((r) => r[0])), Math.max(...on.map((r) => r[1]))]);
        });
        tell();
      });
    };
    // pick brushes one axis as a drag does.
    const pick = (d, range) => {
      const chart = draw(box);
      const m = chart.getModel().getComponent("parallelAxis", d);
      chart.dispatchAction({ type: "axisAreaSelect", parallelAxisId: m.id, intervals: range ? [range] : [] });
    };
    box.onkeydown = (e) => {
      const n = axes().length;
      const range = picked.get(cursor);
      let at = range ? [Math.ceil(range[0]), Math.floor(range[1])] : null;
      const last = cursor < n ? valuesAt(cursor).length - 1 : 0;
      if (e.key === "ArrowLeft") cursor = Math.max(0, cursor - 1);
      else if (e.key === "ArrowRight") cursor = Math.min(n - 1, cursor + 1);
      else if (e.key === "ArrowUp" || e.key === "ArrowDown") {
        const step = e.key === "ArrowUp" ? 1 : -1;
        const to = at ? Math.min(last, Math.max(0, (step > 0 ? at[1] : at[0]) + step)) : step > 0 ? 0 : last;
        at = e.shiftKey && at ? [Math.min(at[0], to), Math.max(at[1], to)] : [to, to];
        pick(cursor, at);
      } else if (e.key === "Escape") { for (const d of [...picked.keys()]) pick(d, null); }
      else return;
      e.preventDefault();
      keys.textContent = "Axis " + nameAt(cursor) + ". Left, right: axis; up, down: value; shift: range; escape: clear.";
    };
    const keys = el("p", { class: "keys" }, "Drag along an axis to choose a range, click it to clear. By keyboard: left, right: axis; up, down: value; shift: range; escape: clear.");
    drawn.set(box, option);
    box.listen = listen;
    if (echarts.getInstanceByDom(box)) listen(); else watcher.observe(box);
    const thinned = el("p", {});
    const family = (v) => {
      f = families[v]; picked = new Map(); cursor = 0;
      const n = of().length;
      thinned.textContent = n > LINES ? "Drawn are " + whole(LINES) + " of " + whole(n) + " schedules: the " + FASTEST + " fastest, and every " + digits((n - FASTEST) / (LINES - FASTEST)) + "th of the rest by rank. Choosing counts all of them." : "All " + whole(n) + " timed schedules of the family.";
      if (echarts.getInstanceByDom(box)) listen();
      tell();
    };
    const s = section("All parameters", null, thinned, el("div", { class: "bar" }, choice("Family", families.map((g) => t.families[g].name), families.indexOf(f), (v) => { mine.f = families[v]; family(v); }),
      el("button", { type: "button", onclick: () => { for (const d of [...picked.keys()]) pick(d, null); } }, "Clear")), keys, box, out);
    family(families.indexOf(f));
    return s;
  };

  const finals = (t) => {
    if (!t.finals.length) return null;
    const near = t.finals.filter((f) => f.role !== "baseline");
    const box = chartBox("Median and interval of the final schedules", "short");
    const us = (v) => v * 1e6;
    later(box, () => ({ ...base(), grid: { left: 40, right: 24, top: box.clientWidth < 420 ? 52 : 30, bottom: 44 }, legend: legend(),
      xAxis: axis("us a step", "value", { scale: true, axisLabel: { ...axis().axisLabel, formatter: digits } }), yAxis: axis("", "category", { inverse: true, data: near.map((_, k) => String(k + 1)) }),
      series: [
        { name: "95 % interval", type: "custom", color: colours[0], data: near.map((f, k) => [us(f.low || f.seconds), us(f.high || f.seconds), k]), encode: { x: [0, 1], y: 2 },
          renderItem: (_, api) => { const a = api.coord([api.value(0), api.value(2)]), b = api.coord([api.value(1), api.value(2)]); return { type: "rect", shape: { x: a[0], y: a[1] - 4, width: Math.max(1, b[0] - a[0]), height: 8 }, style: { fill: colours[5], opacity: 0.55 } }; } },
        { name: "samples of the search", type: "scatter", color: colours[7], symbolSize: 5, itemStyle: { opacity: 0.7 }, data: near.flatMap((f, k) => f.samples.map((v) => [us(v), k])) },
        { name: "median", type: "scatter", color: colours[1], symbol: "diamond", symbolSize: 10, data: near.map((f, k) => [us(f.seconds), k]), tooltip: { formatter: (q) => near[q.dataIndex].schedule + "<br>" + time(near[q.dataIndex].seconds) } }] }));
    return section("The best, timed again", t.config ? "Timed in turn, so that what disturbs a moment falls on all. A tie is what timing cannot tell from the winner; of ties the simplest wins." : "Not timed again: these are the medians of their first measurement.",
      box, table(["", "role", "median", "95 % interval", "rate", "schedule"], t.finals.map((f) => [f.role === "baseline" ? "" : String(near.indexOf(f) + 1), f.role, time(f.seconds),
        f.low > 0 ? range(f.low, f.high) : "-", rate(t.cells / f.seconds), code(f.schedule)]), [0, 2, 3, 4]));
  };

  // energy is what the finalists drew, or the winner alone where time decided.
  const energy = (t) => {
    const e = t.config && t.config.energy;
    if (!e) return null;
    const list = e.finals || [e.winner], ms = (v) => v * 1e3, baseline = t.finals.find((f) => f.role === "baseline");
    const best = (d) => [...(e.best ? Object.keys(objectives).filter((o) => e.best[o] === d.schedule).map((o) => "best by " + objectives[o]) : []), ...(baseline && baseline.schedule === d.schedule ? ["baseline"] : [])].join(", ");
    const box = e.finals ? chartBox("Energy against time of the finalists", "short") : null;
    if (box) later(box, () => ({ ...base(), grid: { left: 62, right: 24, top: 16, bottom: 44 }, xAxis: axis("ms a step, without a pause", "value", { scale: true }), yAxis: axis("J for 10^9 cell updates", "value", { scale: true, nameGap: 44 }),
      series: [{ type: "scatter", symbolSize: 10, data: list.map((d) => ({ value: [ms(d.seconds_per_step), d.joules_per_billion_cells], itemStyle: { color: colours[d.schedule === e.winner.schedule ? 1 : 0] } })),
        tooltip: { formatter: (q) => { const d = list[q.dataIndex]; return d.schedule + "<br>" + digits(d.joules_per_billion_cells) + " J, " + digits(d.watts) + " W" + (best(d) ? "<br>" + best(d) : ""); } } }] }));
    return section("Energy", "Of the whole board, by its energy counter, while launches follow each other without a pause; what it takes when idle is in it. Clocks may be lower there than in short samples.", box,
      table(["", "J / 10^9 cells", "95 % interval", "power", "SM clock", "clocks lowered by", "a step", "schedule"], list.map((d) => [best(d) || (d.schedule === e.winner.schedule ? "winner" : ""), digits(d.joules_per_billion_cells), digits(d.low) + " to " + digits(d.high),
        digits(d.watts) + " W", scaled(d.sm_clock_hz, "Hz"), d.clocks_lowered ? d.clocks_lowered.join(", ") || "nothing" : "not known", time(d.seconds_per_step), code(d.schedule)]), [1, 2, 3, 4, 6]));
  };

  const failures = (t) => {
    const counts = t.points.statuses.map((s, k) => [s, t.points.status.filter((x) => x === k).length]);
    return section("What became of the schedules", !counts.length ? "None is known." : counts.map(([s, n]) => whole(n) + " " + s.replace("_", " ")).join(", ") + "." + (counts.some(([s]) => s === "cut_slow") ? " Cut slow: given up early, for it cannot win; its time is known roughly." : ""),
      t.failures.length ? table(["schedules", "status", "reason", "for example"], t.failures.map((f) => [whole(f.count), f.status.replace("_", " "), f.reason, code(f.example)]), [0]) : counts.length ? el("p", {}, "None failed.") : null);
  };

  const device = (t) => {
    const d = t.device, c = t.config;
    const rows = [["device", d.name + (d.compute_capability ? ", compute capability " + d.compute_capability : "")], ["memory", bytes(d.memory_bytes) + (d.ecc ? ", with ECC" : "")], ["L2", bytes(d.l2_bytes)],
      ["SMs", d.sms > 0 ? whole(d.sms) : "-"], ["clocks", scaled(d.clock_hz, "Hz") + (d.memory_clock_hz > 0 ? ", memory " + scaled(d.memory_clock_hz, "Hz") : "")], ["copy", t.copy > 0 ? bytes(t.copy) + "/s" : "not measured"], ["driver", d.driver || "-"], ["CUDA", d.cuda_version || "-"],
      ["compiler", t.toolchain.compiler || "-"], ["options", (c ? c.kernel.options : t.toolchain.options).join(" ") || "-"], ["cache regime", t.regime], ["partitioned (MIG)", d.mig ? "yes" : "no"]];
    if (d.provenance) rows.push(["recorded by", d.provenance]);
    if (c) {
      rows.push(["search", c.search.strategy + ", seed " + c.search.seed + ": " + whole(c.search.evaluated) + " of " + whole(c.search.space) + " schedules, ended by " + c.search.stop + " after " + digits(c.search.seconds) + " s"]);
      rows.push(["checked", c.verification.checks.map((k) => whole(k.cells) + " cells, " + k.steps + " steps against " + k.against + ": error " + k.max_error.toExponential(1) + " of " + k.tolerance.toExponential(1) + " allowed").join("; ") || "-"]);
      rows.push(["kernel", c.kernel.registers + " registers, " + bytes(c.launch.shared_bytes) + " shared, " + c.kernel.blocks_per_sm + " blocks an SM; grid " + c.launch.grid.join(" x ") + ", block " + c.launch.block.join(" x ")]);
    }
    return section("Device and toolchain", null, el("div", { class: "scroll" }, el("table", {}, el("tbody", {}, ...rows.map(([k, v]) => el("tr", {}, el("th", { scope: "row" }, k), el("td", {}, v)))))));
  };

  const source = (t) => {
    if (!t.source && !t.explanation) return null;
    const pre = (title, s) => (s ? el("div", { style: "min-width:0" }, el("h2", {}, title), el("pre", { tabindex: "0", "aria-label": title }, s)) : null);
    const e = el("section", { class: "long", "aria-label": "Source" }, el("div", { class: "grid" }, pre("Where its time goes, by the cost model", t.explanation), pre("Source of the winner", t.source)));
    return e;
  };

  // -- the page: slots, each of a function that fills it

  const nameOf = (t) => t.problem + ", " + t.device.name + (t.toolchain.compiler ? ", " + t.toolchain.compiler : "");
  const byID = (id) => data.tunes.find((t) => t.id === id);

  // chooser chooses the tune that is shown, and one beside it.
  const chooser = () => {
    const names = data.tunes.map(nameOf), at = (id) => data.tunes.findIndex((t) => t.id === id);
    return el("div", { class: "bar" },
      choice("Show", names, at(chosen.tune), (k) => pick(data.tunes[k].id, chosen.beside)),
      choice("beside", ["nothing", ...names], at(chosen.beside) + 1, (k) => pick(chosen.tune, k ? data.tunes[k - 1].id : "")));
  };
  const overview = () => {
    const head = ["problem", "device", "compiler", "fastest", "times naive", "of one step at copy bandwidth", ""];
    return el("div", { class: "scroll list" }, el("table", {}, el("thead", {}, el("tr", {}, ...head.map((h, n) => el("th", { scope: "col", class: n > 2 && n < 6 ? "n" : undefined }, h)))),
      el("tbody", {}, ...data.tunes.map((t) => el("tr", { "aria-current": t.id === chosen.tune || t.id === chosen.beside ? "true" : "false" },
        ...[el("a", { href: "#" + t.id, onclick: (e) => { e.preventDefault(); pick(t.id, chosen.beside); } }, t.problem), t.device.name, t.toolchain.compiler || "-", rate(t.cells / t.seconds),
          t.naive > 0 && t.seconds > 0 ? digits(t.naive / t.seconds) : "-", ofRoof(t) > 0 ? share(ofRoof(t)) : "-", t.phase || (t.time ? t.time.slice(0, 10) : "")].map((c, n) => el("td", { class: n > 2 && n < 6 ? "n" : undefined, "data-label": head[n] }, c)))))));
  };
  const pick = (tune, beside) => {
    Object.assign(chosen, { tune, beside: beside === tune ? "" : beside, followed: false });
    layout();
    api.onchoose([chosen.tune, chosen.beside].filter(Boolean));
  };

  const rows = [[summary], [progress, roofline], [accuracy, heat], [parallel], [importance, finals], [energy], [failures], [device], [source]];
  // layout makes the slots of what is chosen. Two tunes have the same section side by side.
  const layout = () => {
    const main = document.getElementById("report");
    if (!data.tunes.length) { main.replaceChildren(el("p", {}, "No tune yet.")); sweep(); return; }
    const place = (id, part) => { const e = el("div", id && chosen.beside ? { role: "group", "aria-label": nameOf(byID(id)) } : {}); e.fill = { id, part }; return e; };
    const many = data.tunes.length > 1;
    const old = main.querySelector("section.tunes");
    const list = many ? old || el("section", { class: "tunes", "aria-label": "Tunes" }, el("h2", {}, "Tunes"), place("", chooser), place("", overview)) : null;
    const grids = chosen.beside
      ? rows.flat().map((part) => el("div", { class: "grid beside" }, place(chosen.tune, part), place(chosen.beside, part)))
      : rows.map((parts) => el("div", { class: "grid" }, ...parts.map((part) => place(chosen.tune, part))));
    if (old && many) { while (old.nextSibling) old.nextSibling.remove(); main.append(...grids); } else main.replaceChildren(...[list, ...grids].filter(Boolean));
    fill();
  };
  // busy tells whether the reader is at work in a slot: chooses, or has chosen by brushing.
  const busy = (e) => (e.contains(document.activeElement) && document.activeElement.matches("select")) || e.querySelector("[data-busy]");
  let held = false, late = false; // the mouse drags on a chart, and something has changed meanwhile
  addEventListener("pointerdown", (e) => { held = !!e.target.closest(".chart"); }, true);
  const release = () => { held = false; if (late) fill(); };
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, release, true); // a touch that scrolls is cancelled
  addEventListener("pointermove", (e) => { if (held && !e.buttons) release(); }, true);
  // fill draws the slots of what has changed.
  const fill = () => {
    if ((late = held)) return;
    const names = data.tunes.map(nameOf).join("\n");
    for (const e of document.querySelectorAll("#report div")) {
      if (!e.fill) continue;
      const { id, part } = e.fill;
      const of = id ? byID(id) : part === chooser ? names + chosen.tune + chosen.beside : data;
      if (e.of === of || e.childNodes.length && part !== overview && busy(e)) continue;
      e.of = of;
      slot = e;
      const at = e.contains(document.activeElement) ? path(e, document.activeElement) : null;
      const open = e.querySelector("details[open]");
      const s = !id ? part() : of.points ? part(of) : part === summary ? section(of.problem + " on " + of.device.name, "Is being fetched.") : null;
      slot = null;
      e.replaceChildren(...(s ? [s] : []));
      if (open && e.querySelector("details")) e.querySelector("details").open = true;
      if (at) { const same = at.reduce((n, k) => n && n.childNodes[k], e); if (same && same.focus) same.focus({ preventScroll: true }); }
    }
    sweep();
  };
  // path is where a node lies below another.
  const path = (top, n) => (n === top ? [] : [...path(top, n.parentNode), [...n.parentNode.childNodes].indexOf(n)]);

  const show = (d) => {
    data = d;
    data.tunes.forEach((t, k) => { t.id = t.id || String(k); });
    document.getElementById("made").textContent = d.tool + ", " + d.time.slice(0, 16).replace("T", " ") + " UTC";
    const before = [chosen.tune, chosen.beside].join();
    if (!byID(chosen.beside)) chosen.beside = "";
    if (chosen.followed || !byID(chosen.tune)) chosen.tune = data.tunes.length ? data.tunes[0].id : "";
    if (before !== [chosen.tune, chosen.beside].join() || !document.querySelector("#report .grid") || (data.tunes.length > 1) !== !!document.querySelector("section.tunes")) {
      layout();
    } else fill();
    if (before !== [chosen.tune, chosen.beside].join()) api.onchoose([chosen.tune, chosen.beside].filter(Boolean));
  };

  // -- light, dark, print, size

  const button = document.getElementById("theme");
  const theme = (name) => {
    document.documentElement.dataset.theme = name;
    button.textContent = name === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-pressed", String(name === "dark"));
    redraw();
  };
  const system = matchMedia("(prefers-color-scheme: dark)");
  button.addEventListener("click", () => theme(dark() ? "light" : "dark"));
  system.addEventListener("change", () => theme(system.matches ? "dark" : "light"));
  theme(system.matches ? "dark" : "light");
  let before = "light";
  addEventListener("beforeprint", () => { before = dark() ? "dark" : "light"; theme("light"); for (const box of drawn.keys()) draw(box).resize({ width: 680 }); });
  addEventListener("afterprint", () => { theme(before); for (const box of drawn.keys()) draw(box).resize({ width: "auto" }); });
  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { for (const box of drawn.keys()) { const c = echarts.getInstanceByDom(box); if (c) { c.resize(); draw(box); } } }, 100);
  });

  const api = { show, onchoose: () => {} };
  const embedded = JSON.parse(document.getElementById("data").textContent || "null");
  if (embedded) show(embedded);
  return api;
})();
