import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addGpuMetrics } from "../../services/gpu-metrics.ts";
import { startProcessorRole } from "../../services/processor.ts";
import type { ProcessorRole } from "../../services/role.ts";
import { parseExposition } from "../../collectors/exporters/exposition/parse.ts";
import { encodeInventory, encodeWorkload } from "../../domain/messages/fact-message.ts";
import { INVENTORY_TOPIC, SAMPLES_TOPIC, WORKLOADS_TOPIC } from "../../domain/messages/topics.ts";
import type { Bus } from "../../runtime/bus/bus.ts";
import { openBus } from "../../runtime/bus/open.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import { createPortAccess } from "../../services/port-access.ts";
import { startStatusServer, type StatusServer } from "../../runtime/http/status-server.ts";
import { ADAPTER_VALUES, SCALED_OBJECT } from "../support/autoscaling-shapes.ts";
import { startTestStore, type TestStore } from "../support/embedded-store.ts";
import { inventoryFact, workloadFact } from "../support/facts.ts";
import { gpuWorld, type GpuWorld } from "../support/gpu-world.ts";
import { requirePart } from "../support/parts.ts";
import { createTestDatabase } from "../support/database.ts";
import { scrapeMessage, silent } from "../support/pipeline.ts";

const hasPromtool = requirePart("promtool");
const example = (name: string): Promise<string> => readFile(join("deploy/autoscaling", name), "utf8");

describe("a processor on embedded parts", () => {
  let folder: string;
  let store: TestStore;
  let bus: Bus;
  let role: ProcessorRole;
  let server: StatusServer;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "gpu-ledger-gpus-"));
    store = await startTestStore();
    await (await createTestDatabase("gpus", store)).close();
    const config = parseConfig(
      `data: ${folder}
processor: { flushEvery: 100ms }
server: { moneyOnMetrics: false }
prices: [{ from: 2026-01-01, match: {}, per: gpu-hour, list: "8" }]
owners: { team: [{ podLabel: team }] }`,
      { source: "test", folder, env: {} },
    );
    const address = { url: store.url, ...store.user, database: "gpus" };
    role = await startProcessorRole(config, address, silent, () => {});
    const metrics = () => role.registry.metrics();
    const views = {
      status: role.status,
      metrics,
      notReady: () => [],
      guard: createPortAccess("processor", { listen: "127.0.0.1:0", access: { tokens: [] } }, { logger: silent }),
    };
    server = await startStatusServer({ listen: "127.0.0.1:0" }, views, silent, (routes) =>
      addGpuMetrics(routes, role.writeGpuPage, silent),
    );
    bus = await openBus(config, silent);
  });
  afterAll(async () => {
    await bus.close();
    await server.stop();
    await role.stop();
    await store.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const lines = async (): Promise<readonly string[]> =>
    (await (await fetch(`${server.url}/metrics/gpu`)).text()).split("\n").filter((line) => line.includes("{"));

  it("serves its joined series with owners, and without money if that is not configured", async () => {
    const now = Date.now();
    const times = { created: now - 60_000, scheduled: now - 50_000 };
    await bus.send(INVENTORY_TOPIC, [encodeInventory(inventoryFact({ node: "a" }))]);
    await bus.send(WORKLOADS_TOPIC, [encodeWorkload(workloadFact({ node: "a", times }))]);
    await bus.send(SAMPLES_TOPIC, [scrapeMessage({ node: "a", sequence: 1, at: now })]);
    const workload = 'workload="train",workload_type="training",team="vision",cost_centre="",queue=""';
    const held = `cluster="test",node="a",gpu="0",uuid="GPU-a-0",gi_id="",namespace="ml",pod="train-0",${workload}`;
    await expect.poll(lines).toContain(`gpu_device_activity_ratio{${held}} 0.5`);
    const page = await lines();
    expect(page).toContain(`gpu_workload_gpus{cluster="test",namespace="ml",${workload}} 1`);
    expect(page.filter((line) => /uuid="GPU-a-1".*pod="",/.test(line)).map((line) => line.split("{")[0])).toEqual([
      "gpu_device_activity_ratio",
      "gpu_device_holders",
    ]);
    expect(page.filter((line) => line.includes("currency"))).toEqual([]);
  });
});

const HOSTILE = 'a"b\\c\nd';

/** Two processors: three pods of one Deployment on the nodes of both, another Deployment, and hostile names. */
function twoProcessors(): readonly [GpuWorld, GpuWorld] {
  const worlds = [gpuWorld(), gpuWorld()] as const;
  for (const [index, node] of ["gpu-a", "gpu-b", "gpu-c", HOSTILE].entries()) {
    for (const world of worlds) {
      const [namespace, workload] = index < 3 ? ["search", "ranker"] : [HOSTILE, HOSTILE];
      const name = `${workload}-${index}`;
      world.facts.inventory(inventoryFact({ cluster: "prod", node, uid: node }));
      world.facts.workload(
        workloadFact({
          cluster: "prod",
          uid: name,
          name,
          namespace,
          node,
          workload: { kind: "Deployment", name: workload },
        }),
      );
      const values = {
        gpu_utilization_ratio: [1, 0.5, 0, 0.125][index]!,
        power_watts: 300,
        fb_used_bytes: 2 ** 33,
        gpu_temperature_celsius: 60,
      };
      const rows = [{ gpu: "0", uuid: "GPU-a", namespace, pod: name, values }];
      world.scrape([...rows, { gpu: "1", uuid: "GPU-b", values }], { cluster: "prod", node, target: node });
    }
  }
  worlds[0].isOwn = (_, node) => node === "gpu-a";
  worlds[1].isOwn = (_, node) => node !== "gpu-a";
  return worlds;
}

/** The series of the pages as Prometheus has them, with one instance per processor. */
async function inputOf(worlds: readonly GpuWorld[]): Promise<readonly { series: string; values: string }[]> {
  const pages = await Promise.all(worlds.map((world) => world.text()));
  return pages.flatMap((page, instance) =>
    parseExposition(Buffer.from(page)).samples.map(({ name, labels, value }) => {
      const all = [...labels, ["instance", `processor-${instance}:8080`] as const];
      const text = all.map(([label, of]) => `${label}=${JSON.stringify(of)}`).join(",");
      return { series: `${name}{${text}}`, values: `${value}x10` };
    }),
  );
}

/** The queries of docs/gpu-metrics.md, and the expected answers for the two processors. */
async function documented(): Promise<Readonly<Record<string, Readonly<Record<string, number>>>>> {
  const page = await readFile("docs/gpu-metrics.md", "utf8");
  const workload = (name: string, namespace = name): string =>
    `{cluster="prod", namespace=${JSON.stringify(namespace)}, workload=${JSON.stringify(name)}}`;
  const [ranker, hostile] = [workload("ranker", "search"), workload(HOSTILE)];
  const answers = {
    "GPUs that a workload holds": { [ranker]: 3, [hostile]: 1 },
    "their activity": { [ranker]: 0.5, [hostile]: 0.125 },
    "idle GPUs of a team": { '{team="vision"}': 2.375 },
    "the hottest GPU of a workload": { [ranker]: 60, [hostile]: 60 },
    "cost of the fleet per hour": { '{currency="USD"}': 64 },
    "cost per hour without a holder": { '{currency="USD"}': 32 },
  };
  return Object.fromEntries(
    Object.entries(answers).map(([question, samples]) => {
      const row = page.split("\n").find((line) => line.startsWith(`| ${question} `));
      return [/`(.*)`/.exec(row ?? "")?.[1] ?? `no query answers: ${question}`, samples];
    }),
  );
}

describe.skipIf(!hasPromtool)("the page of GPUs, for a real Prometheus", () => {
  it("passes promtool check metrics without a complaint", async () => {
    for (const world of twoProcessors())
      expect(await checkMetrics(await world.text())).toEqual({ code: 0, printed: "" });
    const broken = await checkMetrics('gpu_device_activity_ratio{pod="a"b"} 1\n');
    expect(broken.code).not.toBe(0);
  });

  it("answers the documented queries with the values of a workload on the nodes of both processors", async () => {
    const { rules } = ADAPTER_VALUES.parse(parse(await example("prometheus-adapter.yaml")));
    const [rule] = rules.external as [(typeof rules.external)[number]];
    const { spec } = SCALED_OBJECT.parse(parse(await example("keda-scaledobject.yaml")));
    // The adapter's expansion of its template for the HPA of the example.
    const ofAdapter = rule.metricsQuery.replaceAll("<<.LabelMatchers>>", 'namespace="search",workload="ranker"');
    const answers: Readonly<Record<string, Readonly<Record<string, number>>>> = {
      [`count(${rule.seriesQuery})`]: { "{}": 3 },
      [ofAdapter]: { '{namespace="search", workload="ranker"}': 0.5 },
      [spec.triggers[0]!.metadata.query]: { "{}": 0.5 },
      // A mean of the processors' means would be different.
      'avg(gpu_workload_activity_ratio{workload="ranker"})': { "{}": 0.625 },
      ...(await documented()),
    };
    const input = await inputOf(twoProcessors());
    expect(await ask(input, answers)).toBe("");
    // With a series under another name the queries have no answer, so this test would fail.
    const renamed = input.map(({ series, values }) => ({ series: series.replace("active_gpus", "busy_gpus"), values }));
    expect(await ask(renamed, answers)).toContain("ranker");
  });

  it("is scraped by a configuration that Prometheus accepts", async () => {
    const { code } = await promtool(["check", "config", "--syntax-only", "deploy/autoscaling/scrape-config.yaml"]);
    expect(code).toBe(0);
  });
});

/** Evaluates queries with promtool for this input: the empty text if all answers are as expected, otherwise promtool's output. */
async function ask(
  input: Awaited<ReturnType<typeof inputOf>>,
  answers: Readonly<Record<string, Readonly<Record<string, number>>>>,
): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "gpu-ledger-queries-"));
  try {
    const file = join(folder, "test.yaml");
    const questions = Object.entries(answers).map(([expr, samples]) => ({
      expr,
      eval_time: "1m",
      exp_samples: Object.entries(samples).map(([labels, value]) => ({ labels, value })),
    }));
    const tests = [{ interval: "30s", input_series: input, promql_expr_test: questions }];
    await writeFile(file, stringify({ evaluation_interval: "30s", tests }, { lineWidth: 0 }));
    const { code, printed } = await promtool(["test", "rules", file]);
    return code === 0 ? "" : printed;
  } finally {
    await rm(folder, { recursive: true });
  }
}

function checkMetrics(page: string): Promise<Answer> {
  return promtool(["check", "metrics"], page);
}

interface Answer {
  readonly code: number;
  /** Complaints, on standard error or on standard output. */
  readonly printed: string;
}

function promtool(args: readonly string[], input = ""): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const child = execFile("promtool", args, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== "number") reject(error);
      else resolve({ code: Number(error?.code ?? 0), printed: `${args[0] === "test" ? stdout : ""}${stderr}` });
    });
    child.stdin?.end(input);
  });
}
