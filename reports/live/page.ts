import type { LiveFleet, LiveGpu, LiveHolder } from "./gpus.ts";

const EVIDENCE: Readonly<Record<LiveHolder["evidence"], string>> = {
  dra: "DRA",
  annotation: "annotation",
  group: "reservation's group",
  label: "exporter's label",
  "hpc-job": "job's label",
  node: "node in common",
  none: "",
};

const STYLE = `
  :root { color-scheme: light dark; }
  body { font: 14px/1.45 system-ui, sans-serif; margin: 1.5rem; }
  h1 { font-size: 1.2rem; margin: 0 0 .25rem; }
  p { margin: .25rem 0 1rem; opacity: .8; }
  .demo { border-left: 4px solid #c77700; opacity: 1; padding: .25rem .75rem; }
  table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
  th, td { padding: .2rem .5rem; text-align: left; white-space: nowrap; }
  th { border-bottom: 2px solid; font-weight: 600; position: sticky; top: 0; background: Canvas; }
  td { border-bottom: 1px solid color-mix(in srgb, CanvasText 12%, transparent); }
  td.number, th.number { text-align: right; }
  tr.free td { opacity: .55; }
  .sub { opacity: .65; }`;

/** So many rows are shown; a browser has trouble with a hundred thousand. */
const MOST_ROWS = 2_000;

/** The fleet as a page: for every GPU who holds it, since when, by which evidence, in which regime. */
export function renderFleet(fleet: LiveFleet, options: { readonly isDemo: boolean; readonly version: string }): string {
  const { gpus, unobserved, atMillis } = fleet;
  const held = gpus.filter(({ holder }) => holder !== undefined).length;
  const missing = unobserved.reduce((sum, each) => sum + each.gpus, 0);
  const rows = gpus
    .slice(0, MOST_ROWS)
    .map((gpu) => row(gpu, atMillis))
    .join("\n");
  const further = gpus.length - MOST_ROWS;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="10">
<title>GPUs and who holds them · gpu-ledger</title>
<style>${STYLE}
</style>
</head>
<body>
<h1>GPUs and who holds them</h1>
${options.isDemo ? `<p class="demo">A demo fleet: no real GPU is measured.</p>` : ""}
<p>${gpus.length} GPUs and parts of GPUs, ${held} of them held; as of ${utc(atMillis)} · gpu-ledger ${escape(options.version)}
· <a href="/api/gpus">JSON</a> · <a href="/api/status">status</a></p>
${missing === 0 ? "" : `<p>No sample of the last minutes speaks of ${missing} GPUs: ${unobserved.map(named).join(", ")}.</p>`}
<table>
<thead><tr><th>node</th><th>GPU</th><th>model</th><th>regime</th><th>holder</th><th>workload</th><th>type</th><th>team</th>
<th>since</th><th>evidence</th><th class="number">activity</th></tr></thead>
<tbody>
${rows}
</tbody>
</table>
${further > 0 ? `<p>${further} further ones are in the <a href="/api/gpus">JSON</a>.</p>` : ""}
</body>
</html>
`;
}

function row(
  { node, gpu, instance, profile, model, regime, holder, activityRatio }: LiveGpu,
  nowMillis: number,
): string {
  const part = instance === "" ? "" : ` <span class="sub">/ ${escape(instance)} ${escape(profile)}</span>`;
  const workload = holder?.workload;
  const cells = [
    escape(node),
    `${escape(gpu)}${part}`,
    escape(model),
    regime,
    holder === undefined ? "free" : holderText(holder),
    workload === undefined ? "" : `<span class="sub">${escape(workload.kind)}</span> ${escape(workload.name)}`,
    workload?.type ?? "",
    escape(workload?.team ?? ""),
    workload === undefined
      ? ""
      : `<span title="${utc(workload.sinceMillis)}">${age(nowMillis - workload.sinceMillis)}</span>`,
    holder === undefined ? "" : EVIDENCE[holder.evidence],
  ];
  const activity = activityRatio === undefined ? "" : `${(activityRatio * 100).toFixed(0)} %`;
  const kind = holder === undefined ? ` class="free"` : "";
  return `<tr${kind}>${cells.map((cell) => `<td>${cell}</td>`).join("")}<td class="number">${activity}</td></tr>`;
}

function holderText({ namespace, name, pods }: LiveHolder): string {
  const others = pods > 1 ? ` <span class="sub">and ${pods - 1} more</span>` : "";
  return `<span class="sub">${escape(namespace)}${namespace === "" ? "" : "/"}</span>${escape(name)}${others}`;
}

function named({ node, gpus }: LiveFleet["unobserved"][number]): string {
  return `${gpus} of ${escape(node)}`;
}

/** A span as people say it: its two largest units. */
function age(millis: number): string {
  const minutes = Math.max(0, Math.floor(millis / 60_000));
  const [days, hours] = [Math.floor(minutes / 1440), Math.floor((minutes % 1440) / 60)];
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes % 60} min` : `${minutes} min`;
}

function utc(millis: number): string {
  return `${new Date(millis).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
