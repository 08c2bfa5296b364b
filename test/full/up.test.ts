import { createHash, X509Certificate } from "node:crypto";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Period } from "../../reports/read/periods.ts";
import type { SystemStatus } from "../../services/system.ts";
import { createAuthority } from "../support/certificates.ts";
import { createCommandFolder, getJson, type CommandFolder, type RunningCommand } from "../support/command.ts";
import { dcgmPage } from "../support/dcgm-page.ts";
import { requirePart } from "../support/parts.ts";
import { freePort } from "../support/ports.ts";
import { askTls } from "../support/tls-client.ts";
import { startExporterDouble, type ExporterDouble } from "../support/exporter-double.ts";

const PAGE = dcgmPage({
  gpus: 2,
  host: "gpu-node-7",
  families: ["DCGM_FI_DEV_GPU_UTIL"],
  value: (_, gpu) => String(50 + 25 * gpu),
});

/** The charges by the kind of their workloads. */
interface Charges {
  readonly rows: readonly {
    readonly dimensions: { readonly workloadKind: string };
    readonly heldGpuHours: string;
  }[];
}

const EIGHT_DAYS_MILLIS = 8 * 86_400_000;

/** Some twenty times what a first start takes on two quiet cores, so that only a hang exceeds it. */
const FIRST_START_MILLIS = 900_000;
/** The limit for the month before it, whose hours are charged one after the other: 7 minutes with nothing beside it. */
const MONTH_MILLIS = 1_800_000;

let folder: CommandFolder;
let exporter: ExporterDouble;

beforeEach(async () => {
  folder = createCommandFolder();
  exporter = await startExporterDouble((_, response, double) => double.page(response, PAGE));
});
afterEach(async () => {
  await folder.dispose();
  await exporter.close();
});

describe("gpu-ledger up", () => {
  /** Everything on one machine, with one exporter that is scraped every second. */
  function configuration(listen = "127.0.0.1:0", server = {}): string {
    const { url } = exporter;
    return folder.write("c.yaml", {
      data: "data",
      server: { listen, ...server },
      processor: { flushEvery: "200ms" },
      collector: { interval: "1s", timeout: "900ms", jobs: [{ name: "gpus", targets: [url] }] },
    });
  }

  const statusOf = async (address: string, authorization = ""): Promise<SystemStatus> => {
    const answer = await fetch(`${address}/api/status`, { headers: { authorization } });
    return (await answer.json()) as SystemStatus;
  };

  /** Waits until rows are stored; returns the address and the ids of the parts' processes. */
  async function untilItStores(
    up: RunningCommand,
    authorization?: string,
  ): Promise<{ address: string; ids: Record<string, number> }> {
    const address = await up.address();
    await expect.poll(async () => (await statusOf(address, authorization)).processor?.rowsStored).toBeGreaterThan(0);
    const { processes } = await statusOf(address, authorization);
    return { address, ids: Object.fromEntries(Object.entries(processes).map(([part, { id }]) => [part, id!])) };
  }

  it("prints its address in a pipe, stores more and more, and ends with SIGTERM", async () => {
    const up = folder.start(["up", "--config", configuration()], { ownGroup: true });
    const { address, ids } = await untilItStores(up);
    expect(Object.keys(ids).toSorted()).toEqual(["collector", "processor", "store"]);
    const before = (await statusOf(address)).processor!.rowsStored;
    expect(before).toBeTypeOf("number");
    await expect.poll(async () => (await statusOf(address)).processor?.rowsStored).toBeGreaterThan(before);
    expect(await statusOf(address)).toMatchObject({
      address,
      collector: { targets: { total: 1, up: 1 }, gpus: 2, failing: [] },
      notReady: [],
    });
    expect((await fetch(`${address}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${address}/metrics`)).text()).toMatch(/^gpu_ledger_\w+ \d/m);
    const gpus = await fetch(`${address}/metrics/gpu?cluster=default`);
    expect(gpus.headers.get("content-encoding")).toBe("gzip");
    expect(await gpus.text()).toMatch(/^gpu_device_activity_ratio\{cluster="default",.*gpu="1",.*\} 0\.75$/m);
    expect((await fetch(`${address}/metrics/gpu?node=a`)).status).toBe(400);

    const { code, stdout } = await up.end("SIGTERM");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expectGone(up, ids);
  });

  it("shows the demo's eight days, charged to the last hour, and their advice", async () => {
    const up = folder.start([
      "up",
      "--config",
      folder.write("demo.yaml", { data: "demo", server: { listen: "127.0.0.1:0" } }),
    ]);
    const address = await up.address();
    const begun = Date.now();
    /** An hour that another hour reopens waits again, so the past is complete after some time without one. */
    const quiet = { since: Infinity };
    const isComplete = async (): Promise<boolean> => {
      const { demo, processor } = await statusOf(address);
      const waiting = processor?.hoursWaiting?.filter((hour) => hour > begun - EIGHT_DAYS_MILLIS);
      const isCharged = (demo?.history.sent ?? 0) > 0 && waiting?.length === 0 && processor!.lagMessages < 50;
      quiet.since = isCharged ? Math.min(quiet.since, performance.now()) : Infinity;
      return performance.now() - quiet.since > 5_000;
    };
    await expect.poll(isComplete, { timeout: FIRST_START_MILLIS, interval: 500 }).toBe(true);
    const advice = async () => getJson<{ readonly cards: readonly unknown[] }>(`${address}/api/v1/advice`);
    await expect.poll(async () => (await advice()).cards.length, { timeout: FIRST_START_MILLIS }).toBeGreaterThan(0);
    const days = await getJson<Charges>(`${address}/api/v1/charges?span=7d&by=chargeDay`);
    const held = days.rows.map(({ heldGpuHours }) => Number(heldGpuHours));
    // Of 96 GPUs more than 40 are held at any time, and the first and the last of the days are parts.
    expect(held.length).toBeGreaterThanOrEqual(7);
    expect(held.reduce((sum, hours) => sum + hours, 0)).toBeGreaterThan(7 * 24 * 40);
    for (const path of ["/training", "/serving?span=7d", "/practices", "/advice"])
      expect(await (await fetch(`${address}${path}`)).text()).toMatch(/<data class="money" value="[1-9]/);
    expect((await up.end("SIGTERM")).code).toBe(0);
  });

  it("closes the month before the demo's history, once its hours are charged", async () => {
    const demo = { gpus: 8, history: "24h" };
    const up = folder.start([
      "up",
      "--config",
      folder.write("month.yaml", { data: "month", server: { listen: "127.0.0.1:0" }, demo }),
    ]);
    const address = await up.address();
    const closed = async () => {
      const { periods } = await getJson<{ readonly periods: readonly Period[] }>(`${address}/api/v1/periods`);
      return periods.find(({ status }) => status === "closed");
    };
    await expect.poll(closed, { timeout: MONTH_MILLIS, interval: 1_000 }).toBeDefined();
    const month = (await closed())!;
    expect(month.chargedUntil).toBe(month.until);
    expect(month.closed).toMatchObject({ by: "demo", cost: expect.stringMatching(/^[1-9]/) as string });
    const days = await getJson<Charges>(`${address}/api/v1/charges?span=${month.period}&by=chargeDay`);
    expect(days.rows).toHaveLength((Date.parse(month.until) - Date.parse(month.from)) / 86_400_000);
    expect((await up.end("SIGTERM")).code).toBe(0);
  }, 2_000_000);

  it.skipIf(!requirePart("openssl"))("serves HTTPS to people and programs, with all of its parts behind", async () => {
    const authority = createAuthority();
    try {
      const { cert, key } = authority.issue();
      const tls = { certFile: folder.write("tls.crt", cert), keyFile: folder.write("tls.key", key) };
      const token = "gpul_".padEnd(48, "A");
      const sha256 = createHash("sha256").update(token).digest("hex");
      const access = { tokens: [{ name: "ops", role: "administrator", sha256 }] };
      const up = folder.start(["up", "--config", configuration("127.0.0.1:0", { tls, access })]);
      const address = await up.address();
      expect(address).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
      const bodyOf = async (path: string): Promise<string> =>
        (await askTls(`${address}${path}`, { ca: authority.ca, headers: { authorization: `Bearer ${token}` } })).body;
      await expect
        .poll(async () => (JSON.parse(await bodyOf("/api/status")) as SystemStatus).processor?.rowsStored)
        .toBeGreaterThan(0);
      expect(await bodyOf("/metrics/gpu")).toMatch(/^gpu_device_activity_ratio\{.*gpu="1",.*\} 0\.75$/m);
      const expires = Date.parse(new X509Certificate(cert).validTo) / 1_000;
      expect(await bodyOf("/metrics")).toContain(`gpu_ledger_tls_certificate_expiry_timestamp_seconds ${expires}\n`);
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const login = await askTls(`${address}/login`, { ca: authority.ca, method: "POST", headers }, `token=${token}`);
      expect([login.status, login.cookies]).toEqual([303, [expect.stringMatching(/; Secure/)]]);
      await up.end("SIGTERM");
    } finally {
      authority.dispose();
    }
  });

  it("shows metrics to a client with their token, and keeps tokens of viewers in its own store", async () => {
    const listen = `127.0.0.1:${await freePort()}`;
    const file = configuration(listen, { metricsToken: { env: "METRICS_TOKEN" } });
    const up = folder.start(["up", "--config", file], { env: { METRICS_TOKEN: "of-metrics" } });
    const { address } = await untilItStores(up, "Bearer of-metrics");
    const statusesOf = (authorization: string): Promise<readonly number[]> => {
      const ask = async (path: string) => (await fetch(`${address}${path}`, { headers: { authorization } })).status;
      return Promise.all(["/metrics", "/metrics/gpu", "/api/status", "/readyz"].map(ask));
    };
    // A part that could not report for 10 s beside other tests is not ready.
    await expect.poll(() => statusesOf("Bearer of-metrics")).toEqual([200, 200, 200, 200]);
    expect(await statusesOf("Bearer wrong")).toEqual([401, 401, 401, 200]);
    const plain = configuration(listen);
    const made = await folder.run(["token", "create", "ops", "--role", "administrator", "--config", plain]);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^gpul_/) as unknown });
    expect((await folder.run(["token", "list", "--config", plain])).stdout).toContain(
      "ops   administrator  all    valid",
    );
    // From now on pages and the API require it.
    const pagesOf = (authorization: string) =>
      Promise.all(
        ["/", "/api/v1/periods"].map(
          async (path) => (await fetch(`${address}${path}`, { headers: { authorization } })).status,
        ),
      );
    await expect.poll(() => pagesOf("")).toEqual([401, 401]);
    const administrator = `Bearer ${made.stdout.trim().split("\n")[0]}`;
    expect(await pagesOf(administrator)).toEqual([200, 200]);
    expect(await statusesOf(administrator)).toEqual([200, 200, 200, 200]);
    const { stdout, stderr } = await up.end("SIGTERM");
    expect(stdout + stderr).not.toMatch(/gpul_|of-metrics/);
  });

  it(
    "charges the demo's past by its prices, to workloads whose pods are gone, and opens with the result",
    { timeout: 240_000 },
    async () => {
      const file = folder.write("demo.yaml", {
        data: "demo",
        server: { listen: `127.0.0.1:${await freePort()}` },
        demo: { history: "6h", gpus: 32 },
      });
      const up = folder.start(["up", "--config", file], { ownGroup: true });
      const address = await up.address();
      const heldHours = async (): Promise<Record<string, number>> => {
        const { rows } = await getJson<Charges>(`${address}/api/v1/charges?span=2d&by=workloadKind`);
        return Object.fromEntries(
          rows.map(({ dimensions, heldGpuHours }) => [dimensions.workloadKind, Number(heldGpuHours)]),
        );
      };
      const sum = (hours: Record<string, number>): number => Object.values(hours).reduce((all, each) => all + each, 0);
      await expect.poll(async () => sum(await heldHours()), { timeout: 180_000, interval: 1_000 }).toBeGreaterThan(60);
      const hours = await heldHours();
      expect(Object.keys(hours)).toEqual(expect.arrayContaining(["Deployment", "Job"]));
      // A holder with an exporter's label alone counts as a pod of its own.
      expect(hours["Pod"] ?? 0).toBeLessThan(0.02 * sum(hours));
      const page = await (await fetch(`${address}/?span=2d`)).text();
      expect(page).toContain("Demo:");
      expect(page).toMatch(/<h1><a href="\/explain\?span=[^"]*policy=showback"><data class="money" value="\d/);
      expect((await up.end("SIGTERM")).code).toBe(0);
    },
  );

  it("ends the same way with Ctrl-C, which reaches every process of the group", async () => {
    const up = folder.start(["up", "--config", configuration()], { ownGroup: true });
    const { ids } = await untilItStores(up);
    const { code, stderr } = await up.end("SIGINT");
    expect(code).toBe(0);
    expect(stderr).not.toMatch(/a part did not stop cleanly|died|a child process ended/);
    expectGone(up, ids);
  });

  it("starts each killed part again, and reports how often", async () => {
    const up = folder.start(["up", "--config", configuration()], { ownGroup: true });
    const { address, ids } = await untilItStores(up);
    for (const id of Object.values(ids)) process.kill(id, "SIGKILL");
    const restarts = async (): Promise<unknown> =>
      Object.values((await statusOf(address)).processes).map((part) => part.restarts);
    await expect.poll(restarts).toEqual([1, 1, 1]);
    const { processes } = await statusOf(address);
    for (const [part, id] of Object.entries(ids)) expect(processes[part]?.id).not.toBe(id);
    // The new processor's counters begin at 0.
    await expect.poll(async () => (await fetch(`${address}/readyz`)).status).toBe(200);
    await expect.poll(async () => (await statusOf(address)).processor?.rowsStored).toBeGreaterThan(0);
    expect((await up.end("SIGTERM")).code).toBe(0);
    expectGone(up, ids);
  });

  it("leaves nothing behind when it is killed itself", async () => {
    const up = folder.start(["up", "--config", configuration()], { ownGroup: true });
    await untilItStores(up);
    up.child.kill("SIGKILL");
    await expect.poll(() => groupLives(up), { timeout: 15_000 }).toBe(false);
    await up.ended;
  });

  it("reports the occupied address, with exit code 1 and no process left", async () => {
    const taken = createServer();
    await new Promise<void>((settle) => taken.listen(0, "127.0.0.1", settle));
    const listen = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    try {
      const up = folder.start(["up", "--config", configuration(listen)], { ownGroup: true });
      const { code, stderr } = await up.ended;
      expect(code).toBe(1);
      expect(stderr).toMatch(new RegExp(`^gpu-ledger: cannot listen on ${listen} .*EADDRINUSE`, "m"));
      expect(groupLives(up)).toBe(false);
      const collect = await folder.run(["collect", "--config", join(folder.path, "c.yaml")]);
      expect(collect.code).toBe(1);
      expect(collect.stderr).toMatch(new RegExp(`^gpu-ledger: cannot listen on ${listen} .*EADDRINUSE`, "m"));
      expect(collect.stderr).not.toContain("    at ");
    } finally {
      await new Promise((settle) => taken.close(settle));
    }
  });

  /** True if a process of the command's group still exists. */
  function groupLives({ processId }: RunningCommand): boolean {
    try {
      process.kill(-processId, 0);
      return true;
    } catch {
      return false;
    }
  }

  function expectGone(up: RunningCommand, ids: Record<string, number>): void {
    expect(groupLives(up)).toBe(false);
    for (const id of Object.values(ids)) expect(() => process.kill(id, 0)).toThrow(/ESRCH/);
  }
});
