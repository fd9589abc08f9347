"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const findings = JSON.parse(find("findings").textContent);
  const root = document.documentElement;
  root.classList.add("js");

  /* light and dark */
  const theme = find("theme");
  const prefersDark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : prefersDark.matches);
  const nameTheme = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  const remember = (value) => { try { localStorage.setItem("limo-theme", value); } catch { /* some browsers store nothing for a page opened from disk */ } };
  const remembered = () => { try { return localStorage.getItem("limo-theme"); } catch { return null; } };
  if (["light", "dark"].includes(remembered())) root.dataset.theme = remembered();
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    nameTheme();
  });
  prefersDark.addEventListener("change", nameTheme);
  theme.hidden = false;
  nameTheme();

  /* what a measure means, on hover and on focus */
  const tip = find("tip");
  let owner = null;
  const hideTip = () => { tip.hidden = true; owner = null; };
  const showTip = (term) => {
    const about = find(term.getAttribute("aria-describedby"));
    tip.replaceChildren(...Array.from(about.childNodes, (node) => node.cloneNode(true)));
    tip.hidden = false;
    owner = term;
    const at = term.getBoundingClientRect();
    const left = Math.max(12, Math.min(at.left, innerWidth - tip.offsetWidth - 12));
    const below = at.bottom + 8;
    const fits = below + tip.offsetHeight < innerHeight;
    tip.style.left = `${left}px`;
    tip.style.top = `${fits ? below : Math.max(8, at.top - tip.offsetHeight - 8)}px`;
  };
  for (const term of document.querySelectorAll(".term")) {
    term.addEventListener("mouseenter", () => showTip(term));
    term.addEventListener("focus", () => showTip(term));
    term.addEventListener("click", () => showTip(term));
    term.addEventListener("mouseleave", () => { if (document.activeElement !== term) hideTip(); });
    term.addEventListener("blur", hideTip);
  }
  addEventListener("keydown", (event) => { if (event.key === "Escape") hideTip(); });
  addEventListener("scroll", () => { if (owner) showTip(owner); }, { passive: true });

  /* the document as a file */
  const save = find("save");
  save.hidden = false;
  save.addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([find("findings").textContent], { type: "application/json" }));
    link.download = "findings.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });

  /* tables as LaTeX */
  const copy = find("copy");
  if (copy) {
    copy.hidden = false;
    const text = find("latex");
    const chosen = () => {
      getSelection().selectAllChildren(text);
      return document.execCommand("copy");
    };
    copy.addEventListener("click", async () => {
      let done = true;
      try { await navigator.clipboard.writeText(text.textContent); } catch { done = chosen(); }
      find("copied").textContent = done ? "copied" : "select the text and copy it";
    });
  }

  /* a cue where a table continues beyond the edge */
  const frames = [...document.querySelectorAll(".scroll, nav")];
  const cue = (frame) => {
    const rest = frame.scrollWidth - frame.clientWidth;
    frame.classList.toggle("more-left", rest > 1 && frame.scrollLeft > 1);
    frame.classList.toggle("more-right", rest > 1 && frame.scrollLeft < rest - 1);
    if (frame.tagName === "NAV") return;
    const next = frame.nextElementSibling;
    const has = next?.classList.contains("scroll-cue");
    if (rest > 1 && !has) {
      const note = document.createElement("p");
      note.className = "scroll-cue";
      note.setAttribute("aria-hidden", "true");
      note.textContent = "scroll sideways for more →";
      frame.after(note);
    } else if (rest <= 1 && has) {
      next.remove();
    }
  };
  const cues = () => frames.forEach(cue);
  for (const frame of frames) frame.addEventListener("scroll", () => cue(frame), { passive: true });
  addEventListener("resize", cues);
  document.addEventListener("toggle", cues, true);
  requestAnimationFrame(cues);

  /* the table of labels: only visible rows are in the page */
  if (!findings.labels) return;
  const ROW = 34;
  const SPARE = 8;
  const { names, positives, models } = findings.labels;
  const lower = names.map((name) => name.toLocaleLowerCase());
  const number = (value) => (value === null || value === undefined ? NaN : Number(value));
  const minus = (text) => text.replace("-", "−");
  const infinite = (value) => (value > 0 ? "∞" : "−∞");
  const fixed = (value) => (Number.isFinite(value) ? minus(value.toFixed(3)) : infinite(value));
  const short = (value) => (Number.isFinite(value) ? minus(String(Number(value.toPrecision(4)))) : infinite(value));
  const whole = (value) => String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
  const KINDS = {
    auc: ["AUC", fixed], f1: ["F1", fixed], best_f1: ["Best F1", fixed],
    margin: ["Margin", short], threshold: ["Threshold", short], threshold_error: ["Threshold error", whole],
  };
  const column = (title, values, form) => ({ title, raw: values, values: Float64Array.from(values, number), form });
  const common = [{ title: "Label" }, column("Instances", positives, whole)];
  const ofModel = (m) => [...common, ...Object.keys(KINDS).filter((k) => k in models[m]).map((k) => column(KINDS[k][0], models[m][k], KINDS[k][1]))];
  const byKind = (kind) => [...common, ...models.flatMap((own, m) => (kind in own ? [column(findings.models[m].name, own[kind], KINDS[kind][1])] : []))];

  const show = find("show");
  const table = find("table");
  const body = table.tBodies[0];
  const frame = find("window");
  const search = find("search");
  let columns = [];
  let order = [];
  let sorted = { at: 0, down: false };

  const collator = new Intl.Collator(undefined, { numeric: true });
  const alphabet = Uint32Array.from(names.keys()).sort((a, b) => collator.compare(names[a], names[b]));
  const place = new Uint32Array(names.length);
  alphabet.forEach((label, at) => { place[label] = at; });

  const sort = () => {
    const { at, down } = sorted;
    const sign = down ? -1 : 1;
    if (at === 0) {
      order.sort((a, b) => sign * (place[a] - place[b]));
    } else {
      const values = columns[at].values;
      order.sort((a, b) => {
        const x = values[a], y = values[b];
        if (x !== x || y !== y) return (x !== x) - (y !== y) || place[a] - place[b];
        return x === y ? place[a] - place[b] : x < y ? -sign : sign;
      });
    }
  };
  const cell = (tag, text, title) => {
    const made = document.createElement(tag);
    made.textContent = text;
    if (title) made.title = title;
    return made;
  };
  const line = (label, at) => {
    const row = document.createElement("tr");
    row.setAttribute("aria-rowindex", at + 2);
    const head = cell("th", "", names[label]);
    head.scope = "row";
    head.append(cell("bdi", names[label]));
    row.append(head);
    for (const { values, raw, form } of columns.slice(1)) {
      const value = values[label];
      const made = cell("td", "");
      made.className = "num";
      if (value !== value) {
        made.textContent = "–";
      } else {
        const data = cell("data", form(value));
        data.value = raw[label];
        made.append(data);
      }
      row.append(made);
    }
    return row;
  };
  const gap = (rows) => {
    const made = document.createElement("tr");
    made.className = "gap";
    made.setAttribute("aria-hidden", "true");
    const inner = cell("td", "");
    inner.colSpan = columns.length;
    inner.style.height = `${rows * ROW}px`;
    made.append(inner);
    return made;
  };
  const paint = () => {
    const first = Math.max(0, Math.floor(frame.scrollTop / ROW) - SPARE);
    const last = Math.min(order.length, Math.ceil((frame.scrollTop + frame.clientHeight) / ROW) + SPARE);
    const rows = [];
    if (first) rows.push(gap(first));
    for (let at = first; at < last; at += 1) rows.push(line(order[at], at));
    if (last < order.length) rows.push(gap(order.length - last));
    const before = frame.clientHeight;
    body.replaceChildren(...rows);
    if (frame.clientHeight > before) paint(); /* an empty table is low: the first rows raise it */
  };
  const paintHead = () => {
    const row = document.createElement("tr");
    columns.forEach(({ title }, at) => {
      const head = document.createElement("th");
      head.scope = "col";
      if (at) head.className = "num";
      head.setAttribute("aria-sort", at !== sorted.at ? "none" : sorted.down ? "descending" : "ascending");
      const button = cell("button", title, title);
      button.type = "button";
      button.addEventListener("click", () => {
        sorted = { at, down: at === sorted.at ? !sorted.down : false };
        sort();
        for (const [k, other] of [...row.children].entries()) {
          other.setAttribute("aria-sort", k !== at ? "none" : sorted.down ? "descending" : "ascending");
        }
        frame.scrollTop = 0;
        paint();
      });
      head.append(button);
      row.append(head);
    });
    table.tHead.replaceChildren(row);
  };
  const select = () => {
    const wanted = search.value.trim().toLocaleLowerCase();
    order = [...names.keys()].filter((label) => lower[label].includes(wanted));
    sort();
    find("found").textContent = wanted ? `${whole(order.length)} of ${whole(names.length)} labels` : `${whole(names.length)} labels`;
    table.setAttribute("aria-rowcount", order.length + 1);
    frame.scrollTop = 0;
    paint();
  };
  const choose = (what) => {
    const [kind, which] = what.split(":");
    columns = kind === "model" ? ofModel(Number(which)) : byKind(which);
    const hardest = columns.length > 2 ? 2 : 1;
    sorted = { at: hardest, down: false };
    table.style.setProperty("--cells", columns.length - 1);
    paintHead();
    select();
  };

  find("explorer").hidden = false;
  if (show) {
    const offered = Object.keys(KINDS).filter((kind) => models.some((own) => kind in own));
    for (const kind of offered) {
      const option = cell("option", KINDS[kind][0]);
      option.value = `kind:${kind}`;
      find("by").append(option);
    }
    show.addEventListener("change", () => choose(show.value));
  }
  let pending = false;
  frame.addEventListener("scroll", () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => { pending = false; paint(); });
  }, { passive: true });
  search.addEventListener("input", select);
  addEventListener("resize", paint);
  choose(show ? show.value : "model:0");
})();
