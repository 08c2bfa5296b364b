import { spawn, type ChildProcess } from "node:child_process";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { keepRunning, runningChild, type RunningProcess } from "../../../../runtime/lifecycle/keep-running.ts";

const WAITS = "setInterval(() => {}, 1000)";
const IGNORES_SIGTERM = `process.on("SIGTERM", () => {}); process.stdout.write("ready"); ${WAITS}`;

interface Running extends RunningProcess {
  readonly child: ChildProcess;
}

function startChild(script: string, graceMillis = 20_000): Running {
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "ignore"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, ...runningChild(child, () => child.kill("SIGTERM"), graceMillis) };
}

/** A process that waits, kept running; `start` may be replaced. */
function keep(start: () => Promise<Running> = () => Promise.resolve(startChild(WAITS))) {
  const events: string[] = [];
  const kept = keepRunning(startChild(WAITS), {
    start,
    pauses: { firstMillis: 10, longestMillis: 40 },
    onEnded: (reason) => events.push(reason),
    onRestarted: (restarts) => events.push(`restart ${restarts}`),
    onStartFailed: (error) => events.push((error as Error).message),
  });
  return { kept, events };
}

describe("a process that is kept running", () => {
  it("is started again whenever it ends, until it is stopped", async () => {
    const { kept, events } = keep();
    const first = kept.current!.child;
    first.kill("SIGKILL");
    await vi.waitFor(() => expect(kept.restarts).toBe(1), 90_000);
    const second = kept.current!.child;
    expect(second.pid).not.toBe(first.pid);
    await kept.stop();
    expect(second.signalCode).toBe("SIGTERM");
    expect([kept.current, events]).toEqual([undefined, ["SIGKILL", "restart 1"]]);
  });

  it("is started again after starts that fail", async () => {
    const starts = [Promise.reject(new Error("no port")), Promise.reject(new Error("no folder"))];
    for (const start of starts) start.catch(() => undefined);
    const { kept, events } = keep(() => starts.shift() ?? Promise.resolve(startChild(WAITS)));
    kept.current!.child.kill("SIGKILL");
    await vi.waitFor(() => expect(kept.restarts).toBe(1), 90_000);
    expect(events).toEqual(["SIGKILL", "no port", "no folder", "restart 1"]);
    await kept.stop();
  });

  it("is stopped if it starts while the restarts end", async () => {
    let finish: ((started: Running) => void) | undefined;
    const { kept } = keep(() => new Promise((resolve) => (finish = resolve)));
    kept.current!.child.kill("SIGKILL");
    const late = startChild(WAITS);
    await vi.waitFor(() => expect(finish).toBeDefined(), 90_000);
    const stopped = kept.stop();
    finish!(late);
    await stopped;
    expect([late.child.signalCode, kept.restarts]).toEqual(["SIGTERM", 0]);
  });
});

describe("a child process", () => {
  it("is killed if it does not end within the grace period", async () => {
    const { child, stop } = startChild(IGNORES_SIGTERM, 100);
    await new Promise((resolve) => child.stdout!.once("data", resolve));
    await stop();
    expect(child.signalCode).toBe("SIGKILL");
  });

  it("has ended if it could not be started", async () => {
    const child = spawn("/no/such/program");
    await expect(runningChild(child, () => undefined, 1_000).ended).resolves.toContain("ENOENT");
  });
});
