import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DEAD_LETTER_TOPIC, SAMPLES_TOPIC } from "../../domain/messages/topics.ts";
import { toDeadLetter } from "../../processors/ingest/dead-letter.ts";
import type { Bus, ReceivedMessage } from "../../runtime/bus/bus.ts";
import { openEmbeddedBus } from "../../runtime/bus/embedded/embedded-bus.ts";
import { topicDeclarations } from "../../runtime/bus/topics.ts";
import { systemClock } from "../../runtime/clock.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { dcgmPage } from "../support/dcgm-page.ts";
import { startExporterDouble, type ExporterDouble } from "../support/exporter-double.ts";
import { silent } from "../support/pipeline.ts";

const PAGE = dcgmPage({
  gpus: 2,
  host: "gpu-node-7",
  families: ["DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE"],
  value: (_, gpu) => String(50 + 25 * gpu),
});
const HTML = "<!DOCTYPE html>\n<html><body><h1>It works!</h1></body></html>\n";

let folder: CommandFolder;
const doubles: ExporterDouble[] = [];

beforeEach(() => {
  folder = createCommandFolder();
});
afterEach(async () => {
  await folder.dispose();
  await Promise.all(doubles.splice(0).map((double) => double.close()));
});

async function startExporter(page = PAGE): Promise<ExporterDouble> {
  const double = await startExporterDouble((_, response, exporter) => exporter.page(response, page));
  doubles.push(double);
  return double;
}

describe("gpu-ledger inspect", () => {
  it("prints the reading of a saved page as a table with a column for each GPU", async () => {
    const file = folder.write("page.txt", PAGE);
    const { code, stdout, stderr } = await folder.run(["inspect", file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^dcgm-exporter: 4 samples, 2 devices, 0 lines left out\n/);
    expect(stdout).toMatch(/^ +1 +GPU-gpu-node-7-0000-4000-8000-000000000001 .*NVIDIA H100 80GB HBM3/m);
    expect(stdout).toMatch(/^value +gpu 0 +gpu 1$/m);
    expect(stdout).toMatch(/^gpu_utilization_ratio +0\.5 +0\.75$/m);
    expect(stdout).toMatch(/^power_watts +50 +75$/m);
  });

  it("reads standard input, and reports the ignored line with the reason", async () => {
    const { code, stdout } = await folder.run(["inspect", "-"], `${PAGE}DCGM_FI_DEV_GPU_TEMP{gpu="0" 50\n`);
    expect(code).toBe(0);
    expect(stdout).toContain("2 devices, 1 line left out");
    expect(stdout).toMatch(
      /left out:\nline +reason +series +why\n +9 +malformed-line +DCGM_FI_DEV_GPU_TEMP.* no comma between labels$/m,
    );
  });

  it("reads an exporter's address, and prints JSON with the page's node", async () => {
    const { url } = await startExporter();
    const { code, stdout } = await folder.call(["inspect", url, "--format", "json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      source: url,
      node: "gpu-node-7",
      exporter: "dcgm-exporter",
      samples: 4,
      devices: [
        { device: { gpu: "0" }, values: { gpu_utilization_ratio: 0.5, power_watts: 50 } },
        { device: { gpu: "1" }, values: { gpu_utilization_ratio: 0.75, power_watts: 75 } },
      ],
      drops: [],
    });
  });

  it("reports that a page of HTML is not an exposition, with exit code 1", async () => {
    const { url } = await startExporter(HTML);
    for (const source of [url, folder.write("page.html", HTML)]) {
      const { code, stdout, stderr } = await folder.call(["inspect", source]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(/^gpu-ledger: .*: not-exposition: .*\n$/);
      expect(stderr).toContain(source);
    }
  });

  it("reports that an address without a listener refused the connection, with exit code 1", async () => {
    const double = await startExporter();
    await double.close();
    const { code, stderr } = await folder.run(["inspect", double.url]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^gpu-ledger: .*: refused: .*ECONNREFUSED.*\n$/);
  });

  it("shows the rows of an engine's page, and the reason for each line without a row", async () => {
    const page = readFileSync("test/fixtures/pages/serving/vllm-0.9.prom", "utf8");
    const { code, stdout } = await folder.call(["inspect", "-"], page);
    expect(code).toBe(0);
    expect(stdout).toContain("vllm: 37 samples, 1 row, 17 lines used, 20 not used, 0 dropped");
    expect(stdout).toMatch(/^generation_tokens +4096$/m);
    expect(stdout).toMatch(/^ +1 +vllm:iteration_tokens_total_sum +it is a histogram/m);
    const json = await folder.call(["inspect", "-", "--format", "json"], page);
    const { rows, used, unused } = JSON.parse(json.stdout) as Record<"rows" | "used" | "unused", readonly unknown[]>;
    expect([rows.length, used.length, unused.length]).toEqual([1, 17, 20]);
  });

  it("shows a gateway's tenants by the given labels", async () => {
    const page = 'litellm_requests_metric_total{model="m",team="t",customer="acme"} 3\n';
    const shown = async (...options: string[]): Promise<string> =>
      (await folder.call(["inspect", "-", ...options], page)).stdout;
    expect(await shown()).toMatch(/ t +1$/m);
    expect(await shown("--tenant", "customer,team")).toMatch(/ acme +1$/m);
  });

  it.each([
    ["a text", "# A README\n\nIt has much text.\n", "the page has no GPU: it may not be the page of a GPU exporter"],
    ["nothing", "", "the page has no GPU: it may not be the page of a GPU exporter"],
    [
      "a program's own metrics",
      "gpu_ledger_windows_dirty 3\n",
      "foreign-page: no series of a known GPU exporter, inference engine or gateway; ",
    ],
  ])("reports that %s is not an exporter's page, with exit code 1", async (_, page, why) => {
    const { code, stdout, stderr } = await folder.call(["inspect", "-"], page);
    expect(code).toBe(1);
    expect(stdout).not.toContain("amd");
    expect(stderr).toContain(`gpu-ledger: -: ${why}`);
  });

  it.each([
    ["a missing file", ["inspect", "no-such-page.txt"], "no-such-page.txt is not a readable file"],
    ["an invalid address", ["inspect", "http://"], "http:// is not an address"],
    ["an unknown option", ["inspect", "-", "--bogus"], "unknown option '--bogus'"],
    ["an unknown format", ["inspect", "-", "--format", "xml"], "--format xml: must be table or json"],
    ["a timeout that is not a number", ["inspect", "http://127.0.0.1:1", "--timeout", "soon"], "--timeout soon"],
    ["no source", ["inspect"], "missing required argument"],
    ["an invalid number of shards", ["collect", "--shards", "two"], "--shards two: must be the number of collectors"],
    ["an unknown state", ["explain", "--state", "foo"], "Allowed choices are active, idle, waiting"],
    [
      "an unknown dimension",
      ["report", "--where", "foo=bar"],
      "foo is not a dimension; the dimensions are team, costCenter",
    ],
    ["an unknown command", ["ponder"], "unknown command 'ponder'"],
  ])("answers %s with one line and exit code 2", async (_, args, sentence) => {
    const { code, stdout, stderr } = await folder.call(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(sentence);
    expect(stderr.trimEnd().split("\n")).toHaveLength(1);
  });
});

describe("gpu-ledger check", () => {
  it("reports each working part with its answer, and ends with exit code 0", async () => {
    const { url } = await startExporter();
    const config = folder.write("c.yaml", { data: "data", collector: { jobs: [{ name: "gpus", targets: [url] }] } });
    const { code, stdout, stderr } = await folder.run(["check", "--config", config]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.trimEnd().split("\n")).toEqual([
      `ok    configuration: ${config}`,
      "ok    data folder data: can be read and written",
      expect.stringMatching(/^ok {4}bus \(embedded\): answers; .*gpu\.samples \(8\).*gpu\.dead-letter \(1\)/),
      "ok    store (embedded): its process starts with `gpu-ledger up`",
      "ok    job gpus, static: 1 target",
      `ok    job gpus, ${url}: dcgm-exporter, 2 devices, 0 lines left out`,
      expect.stringContaining(
        `warn  job gpus, ${url}: alerts cannot work without these counters: DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION (GPUTelemetryFrozen); `,
      ),
    ]);
    expect(stdout).toContain("DCGM_EXP_GPU_HEALTH_STATUS (GPUHealthCheckFailed)");
    expect(stdout).not.toContain("DCGM_FI_DEV_GPU_UTIL (");

    const asJson = await folder.call(["check", "--config", config, "--format", "json"]);
    expect(asJson).toMatchObject({ code: 0, stderr: "" });
    const results = JSON.parse(asJson.stdout) as Readonly<Record<"result" | "what" | "answer", string>>[];
    expect(results.map(({ result, what, answer }) => `${result.padEnd(4)}  ${what}: ${answer}`)).toEqual(
      stdout.trimEnd().split("\n"),
    );
  });

  it("reports the rows of engines and gateways, and an engine without a pod as a failure", async () => {
    const [engine, gateway, gpus] = [
      await startExporter(readFileSync("test/fixtures/pages/serving/vllm-0.33.prom", "utf8")),
      await startExporter(readFileSync("test/fixtures/pages/serving/litellm-1.110.prom", "utf8")),
      await startExporter(),
    ];
    const named = { address: engine.url, labels: { namespace: "chat", pod: "qwen-0" } };
    const checked = async (targets: readonly unknown[]): Promise<readonly string[]> => {
      const jobs = [{ name: "engines", reads: "serving", targets }];
      const config = folder.write("c.yaml", { data: "data", collector: { jobs } });
      const { stdout } = await folder.call(["check", "--config", config]);
      return stdout.split("\n").filter((line) => line.includes("job engines, http"));
    };
    expect(await checked([named, gateway.url])).toEqual([
      `ok    job engines, ${engine.url}: vllm, 2 rows of qwen3-235b, 0 lines dropped`,
      `ok    job engines, ${gateway.url}: litellm, 5 rows of qwen3-32b, 5 lines dropped`,
    ]);
    expect(await checked([engine.url, gpus.url])).toEqual([
      expect.stringMatching(
        /^FAIL .*vllm, 2 rows .*; the target has no pod, so the cost of its tokens cannot be found/,
      ),
      expect.stringMatching(/^FAIL .*foreign-page: no series of a known inference engine or gateway/),
    ]);
  });

  it("reports the problem of each unreachable target, broker and store, and ends with exit code 1", async () => {
    const [up, html, down] = [await startExporter(), await startExporter(HTML), await startExporter()];
    await down.close();
    const config = folder.write("c.yaml", {
      data: "data",
      bus: { kind: "kafka", kafka: { brokers: ["127.0.0.1:1"] } },
      store: { kind: "clickhouse", clickhouse: { url: "http://127.0.0.1:1" } },
      collector: { jobs: [{ name: "gpus", targets: [up.url, html.url, down.url] }] },
    });
    const { code, stdout, stderr } = await folder.call(["check", "--config", config]);
    expect(code).toBe(1);
    expect(stderr).toBe("gpu-ledger: 4 of 9 checks failed\n");
    expect(stdout).toMatch(/^FAIL {2}bus \(kafka\): .*ECONNREFUSED 127\.0\.0\.1:1/m);
    expect(stdout).toMatch(/^FAIL {2}store \(clickhouse\): The store cannot be reached: .*ECONNREFUSED/m);
    expect(stdout).toContain(`ok    job gpus, ${up.url}: dcgm-exporter`);
    expect(stdout).toContain(`FAIL  job gpus, ${html.url}: not-exposition: `);
    expect(stdout).toContain(`FAIL  job gpus, ${down.url}: refused: `);
  });
});

describe("gpu-ledger check, of deliveries and traces", () => {
  it("reports the destination of each, without a part of an address that may be a secret", async () => {
    const webhook = await startExporter();
    const there = join(folder.path, "there");
    mkdirSync(there);
    const to = [
      { name: "books", folder: there },
      { name: "lost", folder: join(folder.path, "gone") },
      { name: "file", folder: folder.write("file", "text") },
      { name: "chat", webhook: { url: `${webhook.url}?token=hush` } },
      { name: "deaf", webhook: { url: "https://127.0.0.1:1/hush" } },
    ];
    const config = folder.write("c.yaml", {
      data: "data",
      deliveries: [{ name: "monthly", schedule: "0 6 3 * *", to }],
      act: { webhook: { url: `${webhook.url}?token=hush` } },
      tracing: { otlp: "http://127.0.0.1:1" },
    });
    const { code, stdout } = await folder.call(["check", "--config", config]);
    expect(code).toBe(1);
    expect(stdout.split("\n").filter((line) => /delivery|cards|traces/.test(line))).toEqual([
      `ok    delivery monthly to books: ${there} can be written`,
      expect.stringContaining("FAIL  delivery monthly to lost: the file cannot be written: the folder does not exist"),
      expect.stringContaining("FAIL  delivery monthly to file: the file cannot be written: the path is not a folder"),
      `ok    delivery monthly to chat: 127.0.0.1:${new URL(webhook.url).port} accepts connections; nothing was sent`,
      expect.stringMatching(/^FAIL {2}delivery monthly to deaf: .*ECONNREFUSED/),
      `ok    cards: 127.0.0.1:${new URL(webhook.url).port} accepts connections; nothing was sent`,
      expect.stringMatching(/^FAIL {2}traces: .*ECONNREFUSED/),
    ]);
    expect(stdout).not.toContain("hush");
  });
});

describe("a wrong configuration", () => {
  const wrong = `
data: data
colector: {}
server: { listen: nowhere }
store: { kind: clickhouse }
collector:
  interval: 5 parsecs
  jobs:
    - { name: a, targets: ["http://"] }
    - { name: a, targets: [gpu-node-1], timeout: 5m }
bus: { kafka: { brokers: ["\${NO_SUCH_VARIABLE}"] } }
`;

  it.each(["up", "check", "collect", "process", "migrate", "dead-letter list"])(
    "is refused by %s with every problem at once and exit code 2, before anything starts",
    async (command) => {
      const config = folder.write("wrong.yaml", wrong);
      const { code, stdout, stderr } = await folder.call([...command.split(" "), "--config", config]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      const [first, ...problems] = stderr.trimEnd().split("\n");
      expect(first).toBe(`${config} is not a valid configuration:`);
      for (const key of ["colector", "server.listen", "collector.interval", "collector.jobs[0].targets[0]"]) {
        expect(problems.filter((problem) => problem.startsWith(`  ${key} (line `))).toHaveLength(1);
      }
      expect(stderr).toContain("NO_SUCH_VARIABLE is not");
      expect(() => readFileSync(join(folder.path, "data"))).toThrow(/ENOENT/);
    },
  );

  it("is also reported if all keys are valid and only their combination is wrong", async () => {
    const config = folder.write("wrong.yaml", {
      store: { kind: "clickhouse" },
      bus: { kind: "kafka" },
      collector: { timeout: "40s", jobs: [{ name: "a" }, { name: "a" }] },
    });
    const { code, stderr } = await folder.call(["check", "--config", config]);
    expect(code).toBe(2);
    for (const key of ["store.clickhouse", "bus.kafka", "collector.jobs[0].timeout", "collector.jobs[1].name"]) {
      expect(stderr).toContain(`  ${key}`);
    }
  });
});

describe("gpu-ledger dead-letter", () => {
  const received = (value: Uint8Array, offset: number): ReceivedMessage => ({
    topic: SAMPLES_TOPIC,
    partition: 2,
    offset,
    key: "node-a",
    value,
    schemaVersion: 1,
    intact: true,
    headers: {},
    sentAtMillis: 0,
  });

  /** Opens the data folder's bus as a processor would, and closes it before a command reads it. */
  async function withBus<Value>(use: (bus: Bus) => Promise<Value>): Promise<Value> {
    const bus = await openEmbeddedBus({ folder: join(folder.path, "data", "bus"), clock: systemClock, logger: silent });
    try {
      await bus.declare(
        topicDeclarations({ kind: "embedded", samplePartitions: 1, retention: 1e9, retentionSize: 1e9, spool: 1e9 }),
      );
      return await use(bus);
    } finally {
      await bus.close();
    }
  }

  it("lists, shows and replays dead letters, with their original bytes", async () => {
    const config = folder.write("c.yaml", { data: "data" });
    const bytes = Buffer.from([0, 1, 2, 255, ...Buffer.from("gpu-ledger")]);
    await withBus((bus) =>
      bus.send(DEAD_LETTER_TOPIC, [
        toDeadLetter(received(bytes, 41), "not-a-scrape", "14 bytes are no scrape"),
        toDeadLetter(received(Buffer.from("x"), 42), "broken-checksum", "the checksum is another"),
      ]),
    );
    const letters = (...args: string[]) => folder.call(["dead-letter", ...args, "--config", config]);

    const table = await letters("list");
    expect(table.code).toBe(0);
    expect(table.stdout).toMatch(/^id +at +reason +position +bytes +cause$/m);
    expect(table.stdout).toMatch(/^ *0 +\S+Z +not-a-scrape +gpu\.samples\/2\/41 +14 +14 bytes are no scrape$/m);
    expect(JSON.parse((await letters("list", "--format", "json")).stdout)).toMatchObject([
      { id: 0, reason: "not-a-scrape", partition: 2, offset: 41, key: "node-a", bytes: 14 },
      { id: 1, reason: "broken-checksum", bytes: 1 },
    ]);
    expect((await letters("show", "0")).stdout).toContain("00000000  00 01 02 ff 67 70 75");

    const replayed = await letters("replay", "0", "1");
    expect(replayed).toMatchObject({ code: 0, stdout: "0: sent to gpu.samples again\n1: sent to gpu.samples again\n" });
    const again = await withBus((bus) => bus.read({ topic: SAMPLES_TOPIC, partition: 0 }, 0, 10));
    expect(again.map(({ key, value, schemaVersion }) => ({ key, value: Buffer.from(value!), schemaVersion }))).toEqual([
      { key: "node-a", value: bytes, schemaVersion: 1 },
      { key: "node-a", value: Buffer.from("x"), schemaVersion: 1 },
    ]);
  });

  it("lists a dead letter once that a processor has sent twice, and another one from the same position of a new topic", async () => {
    const config = folder.write("c.yaml", { data: "data" });
    const sent = (text: string, offset: number) =>
      toDeadLetter(received(Buffer.from(text), offset), "not-a-scrape", "its bytes are no scrape");
    await withBus((bus) => bus.send(DEAD_LETTER_TOPIC, [sent("a", 1), sent("a", 2), sent("a", 1), sent("b", 1)]));
    const { stdout } = await folder.call(["dead-letter", "list", "--config", config, "--format", "json"]);
    const listed = JSON.parse(stdout) as readonly { readonly id: number; readonly offset: number }[];
    expect(listed.map(({ id, offset }) => [id, offset])).toEqual([
      [0, 1],
      [1, 2],
      [3, 1],
    ]);
  });

  it("reports a folder without dead letters, and an unknown id", async () => {
    const config = folder.write("c.yaml", { data: "data" });
    const letters = (...args: string[]) => folder.call(["dead-letter", ...args, "--config", config]);
    expect(await letters("list")).toEqual({ code: 0, stdout: "no dead letters\n", stderr: "" });
    expect(await letters("show", "7")).toMatchObject({ code: 1, stderr: "gpu-ledger: there is no dead letter 7\n" });
    expect(await letters("replay", "7")).toMatchObject({ code: 1, stderr: "gpu-ledger: there is no dead letter 7\n" });
    expect(await letters("show", "x")).toMatchObject({
      code: 2,
      stderr: "gpu-ledger: x is not the id of a dead letter\n",
    });
    expect(await letters("list", "--format", "xml")).toMatchObject({ code: 2 });
  });
});

describe("gpu-ledger generate", () => {
  it("still writes the schemas, the tables and the manifests of the repository, and prints what replaces them", async () => {
    const files = {
      config: ["config/gpu-ledger.schema.json", "config/alerts.schema.json"],
      metrics: ["docs/metrics.md", "docs/alerts.md"],
      manifests: readdirSync("deploy/kubernetes").map((name) => `deploy/kubernetes/${name}`),
    };
    for (const [what, paths] of Object.entries(files)) {
      const { code, stdout, stderr } = await folder.call(["generate", what, "--out", what]);
      const written = paths.map((path) => `${what}/${basename(path)}`);
      expect({ code, written: stdout.trim().split("\n").toSorted() }).toEqual({ code: 0, written: written.toSorted() });
      expect(stderr).toContain(`generate ${what} will go: use ${dirname(paths[0]!)}`);
      // The committed files are formatted.
      const read = (path: string): string => readFileSync(path, "utf8").replaceAll(/[\s-]/g, "");
      expect(written.map((path) => read(join(folder.path, path)))).toEqual(paths.map(read));
    }
  });
});

describe("gpu-ledger completion", () => {
  /** Returns the words that bash completes after `words`, of which the last one is incomplete. */
  function completed(script: string, ...words: readonly string[]): readonly string[] {
    const args = [
      "-c",
      `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpu_ledger; echo "\${COMPREPLY[@]}"`,
      "bash",
    ];
    return execFileSync("bash", [...args, "gpu-ledger", ...words], { encoding: "utf8" })
      .trim()
      .split(" ");
  }

  it("has the commands, options and choices of all verbs, and leaves files to the shell", async () => {
    const { code, stdout: script } = await folder.call(["completion", "bash"]);
    expect(code).toBe(0);
    expect(completed(script, "re")).toEqual(["report", "remeter", "restore"]);
    expect(completed(script, "completion", "")).toEqual(["bash", "zsh", "fish", "--help"]);
    expect(completed(script, "generate", "alerts", "--al")).toEqual(["--alertmanager"]);
    expect(completed(script, "report", "--format", "p")).toEqual(["parquet", "pdf"]);
    expect(completed(script, "report", "--config", "")).toEqual([""]);
    const help = (await folder.call(["--help"])).stdout;
    const verbs = [...help.matchAll(/^ {2}([a-z][\w-]*)/gm)].map(([, verb]) => verb).filter((verb) => verb !== "help");
    expect(completed(script, "").filter((word) => !word.startsWith("-"))).toEqual(verbs);
  });

  it("is written for zsh and fish too", async () => {
    expect((await folder.call(["completion", "zsh"])).stdout).toContain("bashcompinit\n_gpu_ledger() {\n");
    expect((await folder.call(["completion", "fish"])).stdout.split("\n")).toContain(
      "complete -c gpu-ledger -n '__fish_seen_subcommand_from check' -l format -x -a 'table json' -d 'table or json'",
    );
  });
});
