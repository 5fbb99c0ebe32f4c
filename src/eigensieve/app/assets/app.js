"use strict";
(() => {
  // Addresses are relative, so they hold the secret of this page's own address. Texts only ever go through textContent.
  const byId = (id) => document.getElementById(id);
  const many = (v) => v.toLocaleString("en");
  const counted = (n, word) => `${many(n)} ${word}${n === 1 ? "" : "s"}`;
  function make(parent, tag, text, attributes) {
    const node = document.createElement(tag);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
  }
  const list = (id, texts) => { byId(id).textContent = ""; texts.forEach((text) => make(byId(id), "li", text)); };
  // Notes name the option of the command line that changes them; here there are fields for that.
  const plain = (text) => text.replace(/ \([^()]*--[^()]*\)/g, "").replace(/[;:] [^;:]*--[^;]*/g, "");
  function problem(id, text) { byId(id).textContent = text || ""; byId(id).hidden = !text; }
  async function ask(address, method, body, signal) {
    let answer;
    try { answer = await fetch(address, { method, signal, body: body === undefined ? undefined : JSON.stringify(body) }); }
    catch { if (signal && signal.aborted) return null; throw new Error("eigensieve does not answer. Start it again with: eigensieve app"); }
    const found = await answer.json().catch(() => ({ error: "The answer cannot be read." }));
    if (signal && signal.aborted) return null;
    if (!answer.ok) throw new Error(found.error);
    return found;
  }

  // ---- 1. the table
  const drop = byId("drop");
  function send(file) {
    problem("table-problem");
    for (const id of ["look", "choose", "result"]) byId(id).hidden = true;
    const request = new XMLHttpRequest();  // it tells how far an upload is
    request.open("PUT", "table?name=" + encodeURIComponent(file.name));
    request.upload.onprogress = (event) => { byId("drop-text").textContent = `${file.name}: ${Math.round(100 * event.loaded / (event.total || 1))} %`; };
    request.onload = () => {
      let found = {};
      try { found = JSON.parse(request.responseText); } catch { /* no answer of ours */ }
      if (request.status === 200) { taken(found.table); return; }
      byId("drop-text").textContent = "Drop a table here, or click to choose one";
      problem("table-problem", found.error || "The table was not taken.");
    };
    request.onerror = () => problem("table-problem", "The table did not arrive. It may be too large, or a folder: pack a folder, or use eigensieve select in a shell.");
    request.send(file);
  }
  function taken(name) {
    byId("drop-text").textContent = name;
    byId("reading").reset();
    byId("preview-box").hidden = true;  // of the table before
    list("look-notes", []);
    watch({ selection: null });  // no table before this one
    look();
  }
  drop.addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files.length) send(event.dataTransfer.files[0]);
  });
  byId("file").addEventListener("change", (event) => { if (event.target.files.length) send(event.target.files[0]); event.target.value = ""; });

  // ---- 2. how it was understood
  const reading = () => Object.fromEntries([...new FormData(byId("reading"))].map(([key, value]) => [key, value.trim()]));
  let looking = new AbortController();
  async function look() {
    byId("look").hidden = false;
    byId("shape").textContent = "Reading the table ...";
    problem("table-problem");
    looking.abort();  // a later look answers
    looking = new AbortController();
    try {
      const found = await ask("look", "POST", reading(), looking.signal);
      if (found) show(found);
    } catch (error) {
      byId("shape").textContent = "";
      byId("preview-box").hidden = byId("start").disabled = true;
      problem("table-problem", error.message);
    }
  }
  function show(found) {
    const p = found.preview, missing = found.missing_values ? `, ${counted(found.missing_values, "missing value")}` : "";
    byId("shape").textContent = `${counted(found.samples, "sample")} in the ${found.samples_in} of the file, ${counted(found.features, "feature")}${missing}. ` +
      (p.features.length < found.features || p.values.length < found.samples ? "The first of them:" : "");
    const table = byId("preview"), head = table.tHead, body = table.tBodies[0];
    byId("preview-box").hidden = false;
    head.textContent = body.textContent = "";
    const known = [["label", found.label], ["batch", found.batch], ["donors", found.donors]].filter(([, value]) => value);
    const row = make(head, "tr");
    make(row, "th", "sample");
    known.forEach(([kind, value]) => make(row, "th", `${kind}: ${value.name}`, { class: "known" }));
    p.features.forEach((name) => make(row, "th", name));
    p.values.forEach((values, i) => {
      const line = make(body, "tr");
      make(line, "td", p.samples ? p.samples[i] : String(i + 1));
      known.forEach(([kind]) => make(line, "td", p[kind][i], { class: "known" }));
      values.forEach((value) => make(line, "td", value === null ? "–" : String(+value.toPrecision(5))));
    });
    list("look-notes", [...found.notes, ...found.would].filter((text) => !text.startsWith("--")).map(plain));
    byId("columns").textContent = "";
    p.columns.forEach((name) => make(byId("columns"), "option", undefined, { value: name }));
    byId("number").max = found.features;
    byId("number").value = Math.min(byId("number").value || 20, found.features);  // a larger one would keep the form from being sent
    byId("choose").hidden = false;
    byId("start").disabled = false;
  }
  byId("reading").addEventListener("change", look);
  byId("reading").addEventListener("submit", (event) => event.preventDefault());

  // ---- 3. the selection
  byId("number").addEventListener("input", () => { document.querySelector("[name=how][value=number]").checked = true; });
  byId("selecting").addEventListener("submit", async (event) => {
    event.preventDefault();
    const how = new FormData(byId("selecting")).get("how");
    problem("run-problem", how === "number" && !byId("number").value ? "Type how many features." : "");
    if (!byId("run-problem").hidden) return;
    const choices = { ...reading(), n_features: how === "number" ? byId("number").value : how, stability: byId("stability").checked ? "10" : "" };
    try { watch(await ask("selection", "POST", choices)); } catch (error) { problem("run-problem", error.message); }
  });
  byId("stop").addEventListener("click", async () => {
    byId("stop").disabled = true;
    try { watch(await ask("selection", "DELETE")); } catch (error) { problem("run-problem", error.message); }
  });
  let timer = 0;
  function watch(state) {
    const run = state.selection, running = run && run.state === "running";
    clearTimeout(timer);
    byId("stop").hidden = !running;
    byId("stop").disabled = false;
    byId("start").disabled = running;
    byId("result").hidden = !run || run.state !== "done";
    byId("progress").textContent = !run ? "" : running ? `${run.progress.replace(/^\[(.*?)\]\s*[\d.]+s\s*/, "$1: ") || "Starting"} (${Math.round(run.seconds)} s)` :
      run.state === "stopped" ? "Stopped. Nothing was written." : run.state === "done" ? `Done in ${run.seconds.toFixed(1)} s.` : "";
    problem("run-problem", run && run.state === "failed" ? run.error : "");
    if (running) timer = setTimeout(poll, 400);
    else if (run && run.state === "done") result(run);
  }
  async function poll() {
    try { watch(await ask("selection", "GET")); } catch (error) { problem("run-problem", error.message); }
  }

  // ---- 4. the result
  byId("copy").addEventListener("click", async () => {
    await navigator.clipboard.writeText(byId("command").textContent).then(() => { byId("copy").textContent = "Copied"; }, () => {});
  });
  const FILES = { output: "selected columns", weights: "weights of all features", model: "model", report: "report" };
  function result(run) {
    byId("result-text").textContent = `${many(run.selected)} of ${counted(run.features, "feature")} selected from ${counted(run.samples, "sample")}`;
    byId("names").textContent = run.names.join(", ") + (run.selected > run.names.length ? ` and ${many(run.selected - run.names.length)} more` : "");
    byId("files").textContent = "";
    for (const role in FILES) {
      if (run.files[role]) make(byId("files"), "a", "Save " + FILES[role], { href: `files/${role}?save=1`, download: run.files[role], id: "save-" + role });
    }
    if (run.files.report) make(byId("files"), "a", "Open report alone", { href: "files/report", target: "_blank", rel: "noopener" });
    list("run-notes", run.notes.map(plain));
    byId("command").textContent = run.command;
    byId("copy").textContent = "Copy";
    const frame = byId("report");
    frame.hidden = !run.files.report;
    frame.getBoundingClientRect();  // the report draws for the frame's width, so lay it out first
    if (run.files.report) frame.src = "files/report?at=" + Date.now();
  }

  ask("selection", "GET").then((state) => {
    if (state.table) { taken(state.table); watch(state); }
    document.documentElement.dataset.ready = "yes";
  }).catch((error) => problem("table-problem", error.message));
})();
