import { counted } from "../domain/counted.ts";
import type { Writable } from "node:stream";
import { readableLine } from "../runtime/readable.ts";
import type { ProcessorStatus } from "../services/role.ts";
import type { SystemStatus } from "../services/system.ts";

const REFRESH_MILLIS = 1000;
const CLEAR = "\u001b[H\u001b[J";
const BOLD = "\u001b[1m";
const DIM = "\u001b[2m";
const PLAIN = "\u001b[0m";

/** Draws the state of the system repeatedly until it is stopped. */
export function startView(
  terminal: Writable,
  status: () => SystemStatus,
  logPath: string,
): { readonly stop: () => void } {
  const draw = (): void => void terminal.write(Buffer.from(`${CLEAR}${renderView(status(), logPath)}\n`));
  draw();
  const timer = setInterval(draw, REFRESH_MILLIS);
  return { stop: () => clearInterval(timer) };
}

/** Returns the view as text: the most important values for an operator, one in each line. */
export function renderView(status: SystemStatus, logPath: string): string {
  const { version, address, demo, collector, processor, processes, notReady } = status;
  const lines: [string, string][] = [];
  if (collector !== undefined) {
    const { targets, gpus, valuesPerSecond, dropped, spool, kubernetes } = collector;
    lines.push(["targets up", `${targets.up} of ${targets.total}`]);
    lines.push(["GPUs", whole(gpus)]);
    lines.push(["samples", `${whole(valuesPerSecond)} / s`]);
    lines.push(["left out", reasons(dropped)]);
    for (const { cluster, watching, objects, failure, missing } of kubernetes) {
      const seen = `${wholeOf(objects["pods"] ?? 0, "pod")}, ${wholeOf(objects["nodes"] ?? 0, "node")}`;
      const hidden = missing.length === 0 ? "" : `, ${counted(missing.length, "permission")} missing`;
      lines.push([`cluster ${cluster}`, failure ?? (watching ? `${seen}${hidden}` : "watched by another collector")]);
    }
    if (spool.messages > 0) lines.push(["spool", `${wholeOf(spool.messages, "message")} for the bus`]);
  }
  if (processor !== undefined) {
    const { rowsStored, lagMessages, freshnessSeconds, deadLetters, queue, hoursWaiting = [], month } = processor;
    const fresh =
      freshnessSeconds === undefined
        ? "nothing stored yet"
        : `${freshnessSeconds.p50.toFixed(1)} s (99 % within ${freshnessSeconds.p99.toFixed(1)} s)`;
    lines.push(["freshness", fresh]);
    lines.push(["rows stored", whole(rowsStored)]);
    lines.push(["lag", wholeOf(lagMessages, "message")]);
    if (queue !== undefined) lines.push(["waiting", waiting(queue)]);
    if (hoursWaiting.length > 0)
      lines.push([
        "to be charged",
        `${wholeOf(hoursWaiting.length, "hour")} that ${hoursWaiting.length === 1 ? "has" : "have"} ended`,
      ]);
    if (month !== undefined) lines.push([`cost of ${month.month}`, bill(month)]);
    if (deadLetters > 0) lines.push(["dead letters", whole(deadLetters)]);
  }
  if (demo !== undefined) lines.push(["history", demoHistory(demo.history)]);
  const again = Object.entries(processes).filter(([, { restarts }]) => restarts > 0);
  if (again.length > 0)
    lines.push(["restarted", again.map(([part, { restarts }]) => `${part} ${restarts}×`).join(", ")]);
  const width = Math.max(...lines.map(([name]) => name.length), 0);
  return [
    `${BOLD}gpu-ledger ${version}${PLAIN}  ${address}`,
    demo === undefined
      ? ""
      : `${BOLD}Demo fleet: no real GPU is measured.${PLAIN} The README shows how to measure your GPUs.`,
    "",
    ...lines.map(([name, value]) => `  ${DIM}${name.padEnd(width)}${PLAIN}  ${readableLine(value)}`),
    ...notReady.map((reason) => `  ! ${readableLine(reason)}`),
    ...(collector?.failing ?? []).map(
      ({ node, url, reason, detail }) => `  ! ${readableLine(`${node || url}: ${reason}: ${detail}`)}`,
    ),
    "",
    `${DIM}reports ${address}   status ${address}/api/status   metrics ${address}/metrics   log ${logPath}   Ctrl-C stops${PLAIN}`,
  ].join("\n");
}

/** Returns text about the pods that wait for a node, and the GPUs that are held without use in the meantime. */
function waiting({ pending, gangs }: NonNullable<ProcessorStatus["queue"]>): string {
  if (pending.length === 0) return "no pods";
  const sum = (of: (group: (typeof pending)[number]) => number): number =>
    pending.reduce((total, each) => total + of(each), 0);
  const oldest = Math.floor(Math.max(...pending.map(({ oldestSeconds }) => oldestSeconds)) / 60);
  const held = gangs.reduce((total, { heldDevices }) => total + heldDevices, 0);
  return `${counted(
    sum(({ pods }) => pods),
    "pod",
  )} for ${counted(
    sum(({ devices }) => devices),
    "GPU",
  )}, oldest ${oldest} min; waiting gangs hold ${counted(held, "GPU")}`;
}

/** Returns the bill so far, with the teams that have the highest cost. */
function bill({ total, teams }: NonNullable<ProcessorStatus["month"]>): string {
  if (teams.length === 0) return "no charges yet";
  const highest = teams.slice(0, 3).map(({ team, cost }) => `${team} ${money(cost)}`);
  const end = total.forecast === null ? "" : `, forecast ${money(total.forecast)}`;
  return `${money(total.cost)}, ${money(total.perHour)} per hour${end}; ${highest.join(", ")}`;
}

function money(text: string): string {
  return Number(text).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

function demoHistory({ sent, total }: { readonly sent: number; readonly total: number }): string {
  if (sent >= total) return "complete";
  const part = sent / total;
  const filled = Math.round(part * 24);
  return `${"█".repeat(filled)}${"░".repeat(24 - filled)} ${Math.floor(part * 100)} %`;
}

function reasons(counts: Readonly<Record<string, number | undefined>>): string {
  const texts = Object.entries(counts).map(([reason, count]) => `${reason} ${whole(count ?? 0)}`);
  return texts.length === 0 ? "nothing" : texts.join(", ");
}

/** Returns a whole number of things. */
function wholeOf(count: number, noun: string): string {
  return counted(count, noun, whole(count));
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
