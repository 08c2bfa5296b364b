import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { z } from "zod";
import type { Viewer } from "../../reports/access/viewer.ts";
import { incidentsSchema, runDetailSchema, runsSchema } from "../../reports/api/training-schemas.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { createFilledDatabase } from "../support/database.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { figuresOf } from "../support/figures.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";
import { playTrainingFleet, TRAINING_CONFIG } from "../support/training/fleet.ts";
import { clock } from "../support/training/pods.ts";

const DAY = "span=2026-03-02";
const LLAMA = "default/vision/JobSet/llama@2026-03-02T08:00:00.000Z";
const EVAL = "default/nlp/Job/eval@2026-03-02T08:00:00.000Z";

type Part = { readonly phase?: string; readonly part?: string; readonly cost: string };
const costsOf = (parts: readonly Part[]): Readonly<Record<string, string>> =>
  Object.fromEntries(parts.flatMap(({ phase, part, cost }) => (cost === "0" ? [] : [[phase ?? part!, cost] as const])));

describe("training runs and incidents", () => {
  const embedded = sharedStore();
  let store: StoreClient;
  let server: ReportsServer;

  beforeAll(async () => {
    store = await createFilledDatabase("training", "training_fleet", playTrainingFleet);
    server = await createReportsServer(store, clock("12:30"), TRAINING_CONFIG);
  });
  afterAll(async () => {
    await server.close();
    await store.close();
  });

  async function ask<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    as: Viewer = FINANCE,
  ): Promise<z.output<Schema>> {
    const answer = await server.get(`/api/v1/training/${path}`, as);
    expect(answer).toMatchObject({ statusCode: 200 });
    return schema.parse(answer.json());
  }
  /** The GPU-hours of a workload by its lines. */
  const hoursOf = async (workload: string): Promise<string> => {
    const sql =
      "SELECT toString(sum(gpu_hours)) AS hours FROM charges_published WHERE policy = 'default' AND workload = {workload:String}";
    return (await store.query<{ hours: string }>(sql, { workload }))[0]!.hours;
  };
  const runs = (query = DAY, as?: Viewer) => ask(`runs?${query}`, runsSchema, as);
  const run = (id: string, as?: Viewer, more = "") =>
    ask(`run?id=${encodeURIComponent(id)}${more}`, runDetailSchema, as);
  const incidents = (query = DAY, as?: Viewer) => ask(`incidents?${query}`, incidentsSchema, as);

  it("lead from every figure of their pages to what it is made of", async () => {
    const [first] = (await runs()).runs;
    for (const path of [`/training?${DAY}`, `/training/run?id=${encodeURIComponent(first!.id)}`]) {
      const { links, alone } = figuresOf((await server.get(path)).body);
      expect({ path, alone }).toEqual({ path, alone: [] });
      expect(links.size).toBeGreaterThan(0);
      for (const link of links) {
        expect(link).toMatch(/^\/(training\/run|explain|api\/v1\/training\/runs)\?/);
        const { statusCode, body } = await server.get(link);
        expect({ link, statusCode }).toEqual({ link, statusCode: 200 });
        expect(body).not.toContain("No charges match");
      }
    }
  });

  it("are listed with the parts of their bills, highest cost first", async () => {
    const { currency, count, runs: found } = await runs();
    expect({ currency, count }).toEqual({ currency: "USD", count: 2 });
    expect(
      found.map(({ id, team, outcome, cost, stops, progress }) => [id, team, outcome, cost, stops, progress]),
    ).toEqual([
      [LLAMA, "vision", "succeeded", "57.12", 1, "0.768908"],
      [EVAL, "nlp", "succeeded", "10.2", 1, "0.882353"],
    ]);
    expect(found.map(({ phases }) => costsOf(phases))).toEqual([
      { starting: "1.2", productive: "43.92", recovering: "4.2", lost: "7.2", unavailable: "0.6" },
      { productive: "9", recovering: "0.3", "lost-estimated": "0.9" },
    ]);
    expect(found[1]!.phases.map(({ phase, isEstimate }) => [phase, isEstimate])).toContainEqual([
      "lost-estimated",
      true,
    ]);
    expect(found[0]!.models).toEqual([{ model: "NVIDIA-H100-80GB-HBM3", gpuHours: await hoursOf("llama") }]);
  });

  it("cost the same under another policy, for any payer", async () => {
    const { policy, runs: found } = await runs(`${DAY}&policy=by-usage`);
    expect(policy).toBe("by-usage");
    expect(found.map(({ cost }) => cost)).toEqual(["57.12", "10.2"]);
  });

  it("are listed page by page, by team, and only in a time in which they existed", async () => {
    const first = await runs(`${DAY}&limit=1`);
    expect(first.runs.map(({ id }) => id)).toEqual([LLAMA]);
    const second = await runs(`${DAY}&limit=1&cursor=${first.next}`);
    expect([second.runs.map(({ id }) => id), second.next]).toEqual([[EVAL], null]);
    expect((await runs(`${DAY}&team=nlp`)).runs.map(({ id }) => id)).toEqual([EVAL]);
    expect((await runs("span=2026-03-01")).runs).toEqual([]);
    // The figures are those of the whole run, also if the span has only its end.
    const late = await runs("span=2026-03-02T11:00Z/2026-03-02T12:00Z");
    expect(late.runs.map(({ id, cost }) => [id, cost])).toEqual([[LLAMA, "57.12"]]);
  });

  it("have a report with the stop, its fault, the lost work and the useful operations", async () => {
    const { run: of, stops, efficiency, stragglers, suggestion } = await run(LLAMA);
    expect(of).toMatchObject({
      pods: 8,
      isGang: true,
      from: "2026-03-02T08:00:00.000Z",
      until: "2026-03-02T12:00:00.000Z",
    });
    expect(stops).toHaveLength(1);
    expect(stops[0]).toMatchObject({
      at: "2026-03-02T09:50:00.000Z",
      until: "2026-03-02T10:12:00.000Z",
      cause: "failed",
      text: "XID 79 on GPU 0: gpu-b",
      node: "gpu-b",
      lostSince: "2026-03-02T09:20:00.000Z",
      lostBy: "checkpoint",
      cost: "11.4",
    });
    expect(costsOf(stops[0]!.phases)).toEqual({ recovering: "4.2", lost: "7.2" });
    // 6 × 3.5 × 10^9 × 10^9 tokens = 21 × 10^18 for 57.12: 2.72. It trained for 12.2 GPU-hours: 21 ÷ (989 × 43.92 ÷ 1000).
    expect(efficiency).toEqual({
      basis: "tokens",
      flops: "21000000000000000000",
      costPerExaflop: "2.72",
      ofPeak: "0.48346",
      tokens: "1000000000",
    });
    expect(stragglers).toBeNull();
    expect(suggestion).toMatchObject({ about: "lost", atStake: { cost: "7.2" } });
  });

  it("have an estimate of lost work that is named as one", async () => {
    const { stops, efficiency } = await run(EVAL);
    expect(stops).toMatchObject([
      { cause: "evicted", text: "evicted", lostBy: "estimate", lostSince: "2026-03-02T08:45:00.000Z" },
    ]);
    expect(efficiency).toBeNull();
  });

  it("are for viewers of their teams only", async () => {
    expect((await runs(DAY, VISION)).runs.map(({ id }) => id)).toEqual([LLAMA]);
    const other = await server.get(`/api/v1/training/run?id=${encodeURIComponent(EVAL)}`, VISION);
    const { detail } = other.json<{ detail: string }>();
    expect([other.statusCode, detail]).toEqual([404, "there is no training run with this id and charges"]);
    // The platform pays for the GPU that was unavailable.
    expect((await run(LLAMA, VISION)).run.cost).toBe("56.52");
    const seen = await incidents(DAY, VISION);
    expect(seen.incidents.map(({ text, cost }) => [text, cost])).toEqual([["XID 79 on GPU 0", "11.4"]]);
    expect(JSON.stringify(seen)).not.toMatch(/nlp|gpu-d|eval/);
  });

  it("have incidents with blocked capacity, recovery and lost work, by node, model and driver", async () => {
    const { total, incidents: found, byNode, byModel, byDriver } = await incidents();
    expect(total.cost).toBe("20.4");
    expect(
      found.map(({ at, node, text, runs: of, cost, parts }) => [
        at.slice(11, 16),
        node,
        text,
        of,
        cost,
        costsOf(parts),
      ]),
    ).toEqual([
      ["09:50", "gpu-b", "XID 79 on GPU 0", [LLAMA], "19.2", { blocked: "7.8", recovering: "4.2", lost: "7.2" }],
      ["09:00", "gpu-d", "evicted", [EVAL], "1.2", { recovering: "0.3", "lost-estimated": "0.9" }],
    ]);
    expect(found[0]!.signals.map(({ kind, code, gpu }) => [kind, code, gpu])).toEqual([
      ["xid", "79", 0],
      ["nvsentinel", "SysLogsXIDError", null],
    ]);
    expect(byNode.map(({ key, incidents: count, cost }) => [key, count, cost])).toEqual([
      ["default/gpu-b", 1, "19.2"],
      ["default/gpu-d", 1, "1.2"],
    ]);
    expect(byModel.map(({ key }) => key)).toEqual(["NVIDIA-H100-80GB-HBM3", "NVIDIA-L4"]);
    expect(byDriver.map(({ key }) => key)).toEqual(["570.86.10", ""]);
  });

  it("refuses what is no run, no cursor of these figures, and a policy without charges", async () => {
    for (const path of ["run?id=train", "run?id=a/b/c/d@2026-03-02T00:00:00.000Z"])
      expect((await server.get(`/api/v1/training/${path}`)).statusCode).toBe(404);
    expect((await server.get(`/api/v1/training/runs?${DAY}&policy=other`)).statusCode).toBe(400);
    expect((await server.get(`/api/v1/training/runs?${DAY}&cursor=x`)).statusCode).toBe(400);
    const old = Buffer.from(JSON.stringify(["old", 1])).toString("base64url");
    expect((await server.get(`/api/v1/training/runs?${DAY}&cursor=${old}`)).statusCode).toBe(410);
  });

  describe("by the command", () => {
    let folder: CommandFolder;
    let config: string;

    beforeAll(() => {
      folder = createCommandFolder();
      const { username, password } = embedded.user;
      config = folder.write("gpu-ledger.json", {
        store: { kind: "clickhouse", database: "training", clickhouse: { url: embedded.url, username, password } },
        prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.60" }],
        training: { checkpointInterval: "30m" },
      });
    });
    afterAll(() => folder.dispose());
    const call = (...args: readonly string[]) =>
      folder.call(["runs", ...args, "--span", "2026-03-02", "--config", config]);

    it("are listed, as a table or as the JSON of the API", async () => {
      const { code, stdout } = await call();
      expect(code).toBe(0);
      expect(stdout).toMatch(
        /JobSet\/llama@.* vision .* succeeded .* 57\.12 .* 76\.9 % .* 4\.20 .* 7\.20 .* 0\.00 .* 1\n/,
      );
      expect(stdout).toMatch(/Job\/eval@.* 0\.90 /);
      const json = JSON.parse((await call("--team", "nlp", "--format", "json")).stdout) as object;
      expect(json).toMatchObject({ policy: "default", currency: "USD", runs: [{ id: EVAL, cost: "10.2" }] });
    });

    it("are reported by the name of the owner or by id, with every part and one suggestion", async () => {
      const { stdout } = await call("llama");
      expect(stdout).toBe((await call(LLAMA)).stdout);
      expect(stdout).toContain(
        "JobSet vision/llama in default, of vision: succeeded, 2026-03-02 08:00Z to 2026-03-02 12:00Z",
      );
      expect(stdout).toContain(`cost: 57.12 USD for ${await hoursOf("llama")} GPU-hours`);
      expect(stdout).toMatch(/lost progress +2\.00 +7\.20 +7\.2/);
      expect(stdout).toMatch(
        /09:50Z +XID 79 on GPU 0: gpu-b +llama-2 +22 min +0\.00 +4\.20 +7\.20 +since the last checkpoint/,
      );
      expect(stdout).toContain(
        "useful operations: 2.72 USD for 10^18, 48.346 % of the dense BF16 peak while it trained",
      );
      expect(stdout).toMatch(/Suggestion \(7\.20 USD at stake\): .+\n$/);
    });

    it("have incidents with the mean time between them", async () => {
      const { stdout } = await call("--incidents");
      expect(stdout).toMatch(
        /09:50Z +gpu-b +XID 79 on GPU 0 +– +7\.80 +0\.00 +4\.20 +7\.20 +0\.00 +19\.20 +5\.33 +llama/,
      );
      expect(stdout).toMatch(/default\/gpu-d +1 +– +1\.20/);
      expect(stdout).toMatch(/NVIDIA-L4 +1 +– +1\.20/);
      const { next: _next, ...answer } = await incidents();
      expect(JSON.parse((await call("--incidents", "--format", "json")).stdout)).toEqual(answer);
    });

    it("refuses a run together with incidents, and a run that does not exist", async () => {
      expect((await call("llama", "--incidents")).code).toBe(2);
      expect((await call("nothing")).stderr).toContain("there is no training run nothing with charges in 2026-03-02");
      expect((await folder.call(["runs", "--span", "soon", "--config", config])).code).toBe(2);
    });
  });
});
