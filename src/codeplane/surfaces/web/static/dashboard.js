// What the server cannot do: the reader's own time zone, charts, and a word when the connection is gone.
(() => {
  "use strict";
  const ranges = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];

  function span(seconds) {
    const whole = Math.max(0, Math.floor(seconds));
    for (let at = 0; at < ranges.length - 1; at++) {
      const [size, unit] = ranges[at];
      if (whole >= size) {
        const rest = Math.floor((whole % size) / ranges[at + 1][0]);
        return `${Math.floor(whole / size)} ${unit}` + (rest ? ` ${rest} ${ranges[at + 1][1]}` : "");
      }
    }
    return `${whole} s`;
  }

  const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
  const hour = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hour12: false });
  const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hour12: false });

  function tellTimes() {
    const now = Date.now();
    for (const time of document.querySelectorAll("time[datetime]")) {
      const then = Date.parse(time.dateTime);
      if (Number.isNaN(then)) continue;
      let text;
      if (time.hasAttribute("data-ago")) {
        const seconds = (now - then) / 1000;
        text = seconds >= 0 ? `${span(seconds)} ago` : `in ${span(-seconds)}`;
      } else {
        text = (Math.abs(now - then) < 72e6 ? clock : day).format(then);
      }
      if (time.textContent !== text) time.textContent = text;
    }
  }

  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function drawCharts() {
    for (const place of document.querySelectorAll("[data-chart]")) {
      const drawn = place.querySelector(".uplot");
      if (drawn && place.dataset.drawn === place.dataset.chart) continue;
      const series = JSON.parse(place.dataset.chart);
      place.replaceChildren();
      const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
      new uPlot({
        width: place.clientWidth, height: 120, padding: [8, 4, 0, 0],
        cursor: { y: false },
        series: [
          { value: (plot, at) => (at == null ? "" : clock.format(at * 1000)), label: "at" },
          { label: "calls", stroke: colour("--accent"), width: 1.5, fill: colour("--accent-soft"), points: { show: false } },
          { label: "p95 ms", stroke: colour("--waiting"), width: 1.5, scale: "ms", points: { show: true, size: 4 }, spanGaps: true },
        ],
        axes: [{ ...axis, size: 22, space: 60, values: (plot, ticks) => ticks.map((at) => (plot.scales.x.max - plot.scales.x.min < 600 ? clock : hour).format(at * 1000)) }, { ...axis, size: 34 }, { ...axis, scale: "ms", side: 1, grid: { show: false }, size: 56 }],
        scales: { x: { time: true }, y: { range: (plot, low, high) => [0, Math.max(1, high)] }, ms: { range: (plot, low, high) => [0, Math.max(1, high || 1)] } },
        legend: { live: false },
      }, [series.at, series.calls, series.p95], place);
      place.dataset.drawn = place.dataset.chart;
    }
  }

  // How many wait is in the title too, which is all that is seen of a page in the background.
  function tellCount() {
    const badge = document.querySelector("#badge .badge");
    const count = badge ? parseInt(badge.textContent, 10) : 0;
    const text = (count ? `(${count}) ` : "") + document.title.replace(/^\(\d+\) /, "");
    if (document.title !== text) document.title = text;
  }

  function refresh() {
    tellTimes();
    tellCount();
    drawCharts();
  }

  function connected(yes) {
    const text = document.getElementById("connection");
    if (text) text.hidden = yes;
  }

  // There are as many streams as the server holds: trying again would not help, unlike when it is away.
  function crowded() {
    const text = document.getElementById("crowded");
    if (text) text.hidden = false;
    connected(true);
  }

  document.addEventListener("htmx:sse:error", (event) => (event.detail.status === 429 ? crowded() : connected(false)));
  document.addEventListener("htmx:response:error", (event) => { if (event.detail.ctx.response.status === 429) crowded(); });
  document.addEventListener("htmx:sse:after:connection", () => connected(true));
  document.addEventListener("htmx:after:swap", refresh);
  // Signed out elsewhere, or events are gone: load again instead of showing what no longer follows. Not while the server
  // is away, since a page that could not be loaded does not come back by itself.
  function reload() {
    fetch("/dashboard/badge").then(() => window.location.reload(), () => { connected(false); setTimeout(reload, 1000); });
  }
  document.addEventListener("ended", reload);
  window.addEventListener("resize", () => {
    for (const place of document.querySelectorAll("[data-chart]")) delete place.dataset.drawn;
    drawCharts();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const place of document.querySelectorAll("[data-chart]")) delete place.dataset.drawn;
    drawCharts();
  });
  // On a phone the navigation is wider than the screen.
  const current = document.querySelector("nav [aria-current]");
  if (current) {
    const row = current.closest("nav");
    row.scrollLeft = current.offsetLeft - (row.clientWidth - current.clientWidth) / 2;
  }
  setInterval(tellTimes, 5000);
  refresh();
})();
