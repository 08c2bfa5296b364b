import type { Writable } from "node:stream";
import type { SystemStatus } from "./system.ts";

const REFRESH_MILLIS = 1000;
const CLEAR = "\u001b[H\u001b[J";
const BOLD = "\u001b[1m";
const DIM = "\u001b[2m";
const PLAIN = "\u001b[0m";

/** Draws the state of the system again and again until it is stopped. */
export function startView(
  terminal: Writable,
  status: () => SystemStatus,
  logPath: string,
): { readonly stop: () => void } {
  const draw = (): void => void terminal.write(`${CLEAR}${renderView(status(), logPath)}\n`);
  draw();
  const timer = setInterval(draw, REFRESH_MILLIS);
  return { stop: () => clearInterval(timer) };
}

/** The view as text: what an operator wants to see at a glance, a line each. */
export function renderView(status: SystemStatus, logPath: string): string {
  const { version, address, demo, collector, processor, processes, notReady } = status;
  const lines: [string, string][] = [];
  if (collector !== undefined) {
    const { targets, gpus, valuesPerSecond, dropped, spool } = collector;
    lines.push(["targets up", `${targets.up} of ${targets.total}`]);
    lines.push(["GPUs", whole(gpus)]);
    lines.push(["samples", `${whole(valuesPerSecond)} / s`]);
    lines.push(["left out", reasons(dropped)]);
    if (spool.messages > 0) lines.push(["spool", `${whole(spool.messages)} messages wait for the bus`]);
  }
  if (processor !== undefined) {
    const { rowsStored, lagMessages, freshnessSeconds, deadLetters } = processor;
    const fresh =
      freshnessSeconds === undefined
        ? "nothing stored yet"
        : `${freshnessSeconds.p50.toFixed(1)} s (99 of 100 within ${freshnessSeconds.p99.toFixed(1)} s)`;
    lines.push(["freshness", fresh]);
    lines.push(["rows stored", whole(rowsStored)]);
    lines.push(["lag", `${whole(lagMessages)} messages`]);
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
      : `${BOLD}A demo fleet: no real GPU is measured.${PLAIN} Point it at yours: see the README.`,
    "",
    ...lines.map(([name, value]) => `  ${DIM}${name.padEnd(width)}${PLAIN}  ${value}`),
    ...notReady.map((reason) => `  ! ${reason}`),
    ...(collector?.failing ?? []).map(({ node, url, reason, detail }) => `  ! ${node || url}: ${reason}: ${detail}`),
    "",
    `${DIM}status ${address}/api/status   metrics ${address}/metrics   log ${logPath}   Ctrl-C stops${PLAIN}`,
  ].join("\n");
}

function demoHistory({ sent, total }: { readonly sent: number; readonly total: number }): string {
  if (sent >= total) return "complete";
  const part = sent / total;
  const filled = Math.round(part * 24);
  return `${"█".repeat(filled)}${"░".repeat(24 - filled)} ${Math.floor(part * 100)} %`;
}

function reasons(counts: Readonly<Record<string, number | undefined>>): string {
  const told = Object.entries(counts).map(([reason, count]) => `${reason} ${whole(count ?? 0)}`);
  return told.length === 0 ? "nothing" : told.join(", ");
}

function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
