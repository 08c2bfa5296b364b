import { readdirSync, readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PageLimits } from "../../../../../collectors/exporters/page/kind.ts";
import { createReader, messagesOf, type PageReading } from "../../../../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../../../../collectors/exporters/page/templates.ts";
import { SERVING_PAGES, type ServingSource } from "../../../../../collectors/exporters/serving/pages.ts";
import { createTenants, TENANT_RULES, type TenantRules } from "../../../../../collectors/exporters/serving/tenants.ts";
import { OTHER_TENANTS } from "../../../../../domain/serving/tenants.ts";
import { createServingDecoder, servingKey } from "../../../../../domain/messages/serving-message.ts";
import type { ServingScrape } from "../../../../../domain/serving/scrape.ts";
import { rounds } from "../../../../support/rounds.ts";

const ORIGIN = {
  cluster: "prod",
  node: "gpu-a",
  target: "http://10.0.0.7:8000/metrics",
  collector: "c-0",
  namespace: "chat",
  pod: "qwen-0",
  podUid: "7f1c-uid",
};
const MOMENT = {
  epoch: 1,
  sequence: 4,
  scrapedAtMillis: 1_790_000_000_000,
  intervalMillis: 15_000,
  durationMicros: 80,
};
const FOLDER = "test/fixtures/pages/serving";
const FILES = readdirSync(FOLDER);

const sourceOf = (rules: Partial<TenantRules> = {}): ServingSource => ({
  key: "serving t",
  origin: ORIGIN,
  tenants: createTenants({ ...TENANT_RULES, ...rules }),
});
const readerOf = (limits: Partial<PageLimits> = {}) => createReader(SERVING_PAGES, createTemplates(1e8), limits);

/** Returns the scrape of a page, through its message. */
function scrapeOf(reading: PageReading): ServingScrape {
  if ("failure" in reading) throw new Error(reading.failure.detail);
  const messages = messagesOf(reading, MOMENT);
  expect(messages).toHaveLength(1);
  const scrape = createServingDecoder().decode(messages[0]!.message);
  if ("invalid" in scrape) throw new Error(scrape.invalid);
  return scrape;
}

/** Returns the values of each row, by tenant or part and column. The buckets of a row are added. */
function rowsOf({ shape: { series, columns }, values }: ServingScrape): Record<string, Record<string, number>> {
  const rows: Record<string, Record<string, number>> = {};
  for (const [row, { model, tenant, part = "" }] of series.entries()) {
    const sums = (rows[[model, tenant ?? part.replace(/\/?#\d+$/, "")].join("/")] ??= {});
    for (const [index, column] of columns.entries()) {
      const value = values[row * columns.length + index]!;
      const sum = sums[column];
      if (Number.isNaN(value)) continue;
      sums[column] = sum === undefined ? value : column === "created_ms" ? Math.min(sum, value) : sum + value;
    }
  }
  return rows;
}

const read = (text: string, rules: Partial<TenantRules> = {}): ServingScrape =>
  scrapeOf(readerOf().read(sourceOf(rules), Buffer.from(text), true));

describe("the reader of engines' and gateways' pages", () => {
  it("makes one message with the pod, the rows and the drop counts", () => {
    const scrape = read(readFileSync(`${FOLDER}/litellm-1.110.prom`, "utf8"));
    expect(scrape).toMatchObject({ ...ORIGIN, ...MOMENT, dropped: { "email-tenant": 5 } });
    expect(scrape.shape.exporter).toBe("litellm");
    expect(rowsOf(scrape)["qwen3-32b/batch-job"]).toMatchObject({ generation_tokens: 90 });
  });

  it.each(FILES)("a page that was read by template has the same message as in full: %s", (file) => {
    const text = readFileSync(`${FOLDER}/${file}`, "utf8");
    const value = fc.oneof(
      fc.integer({ min: 0, max: 2_000_000 }).map((number) => `${number}.0`),
      fc.constantFrom("0.5", "2147483633", "140737488355329", "1.7508060005e+09", "9.9e+15", "-1", "3e+20"),
    );
    const reader = readerOf();
    const source = sourceOf();
    reader.read(source, Buffer.from(text), true);
    fc.assert(
      fc.property(fc.array(value, { minLength: 5, maxLength: 12 }), (numbers) => {
        let next = 0;
        const changed = text.replaceAll(/ [^ \n#]+$/gm, (line, at: number) =>
          text.slice(text.lastIndexOf("\n", at) + 1).startsWith("#") ? line : ` ${numbers[next++ % numbers.length]}`,
        );
        const page = Buffer.from(changed);
        const templated = reader.read(source, page, true);
        expect(templated).toMatchObject({ templated: true });
        expect(scrapeOf(templated)).toEqual(scrapeOf(readerOf().read(sourceOf(), page, true)));
      }),
      { numRuns: rounds(200) },
    );
  });

  it.each(FILES)("the order of lines changes no value: %s", (file) => {
    const text = readFileSync(`${FOLDER}/${file}`, "utf8");
    const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    const expected = rowsOf(read(text));
    fc.assert(
      fc.property(fc.shuffledSubarray(lines, { minLength: lines.length }), (shuffled) => {
        const rows = rowsOf(read(`${shuffled.join("\n")}\n`));
        expect(Object.keys(rows).toSorted()).toEqual(Object.keys(expected).toSorted());
        for (const [row, values] of Object.entries(expected))
          for (const [column, value] of Object.entries(values)) expect(rows[row]![column]).toBeCloseTo(value, 3);
      }),
      { numRuns: rounds(100) },
    );
  });

  it("keeps counters with the values of DCGM's markers, and a counter that falls", () => {
    const reader = readerOf();
    const source = sourceOf();
    const page = (tokens: string): Buffer => Buffer.from(`vllm:generation_tokens_total{model_name="m"} ${tokens}\n`);
    for (const tokens of [2_147_483_633, 140_737_488_355_329, 17])
      expect(rowsOf(scrapeOf(reader.read(source, page(`${tokens}.0`), true)))).toEqual({
        "m/": { generation_tokens: tokens },
      });
  });

  it("has no value of a cell if one of its series has none", () => {
    const line = (reason: string, value: string): string =>
      `vllm:request_success_total{model_name="m",finished_reason="${reason}"} ${value}\n`;
    const scrape = read(`${line("stop", "5")}${line("abort", "NaN")}`);
    expect(rowsOf(scrape)).toEqual({ "m/": { requests_stop: 5 } });
    expect(scrape.dropped).toEqual({ "not-a-number": 1 });
  });

  it("drops a series that is on the page twice", () => {
    const line = 'vllm:prompt_tokens_total{model_name="m"} 5\n';
    const scrape = read(`${line}${line}`);
    expect(rowsOf(scrape)).toEqual({ "m/": { prompt_tokens: 5 } });
    expect(scrape.dropped).toEqual({ "duplicate-series": 1 });
  });

  it("has a row with gauges only if the engine has no counter", () => {
    expect(rowsOf(read('trtllm_num_requests_running{model_name="m"} 3\n'))).toEqual({ "m/": { running: 3 } });
  });

  it("reads cached tokens without a source only if the page has none with a source", () => {
    const cached = 'vllm:prompt_tokens_cached_total{model_name="m"} 7\n';
    expect(rowsOf(read(cached))).toEqual({ "m/": { cached_tokens: 7 } });
    const hit = 'vllm:prompt_tokens_by_source_total{model_name="m",source="local_cache_hit"} 6\n';
    expect(rowsOf(read(`${cached}${hit}`))).toEqual({ "m/": { cached_device_tokens: 6 } });
  });

  it("adds series whose labels have no meaning, and takes ranks once", () => {
    const line = (labels: string, value: number): string =>
      `sglang:generation_tokens_total{model_name="m",${labels}} ${value}\n`;
    expect(
      rowsOf(read(`${line('is_streaming="true",team="a"', 5)}${line('is_streaming="false",team="b"', 2)}`)),
    ).toEqual({ "m/": { generation_tokens: 7 } });
    const running = (tp: number, pp: number): string =>
      `sglang:num_running_reqs{model_name="m",tp_rank="${tp}",pp_rank="${pp}"} ${10 * pp + tp + 1}\n`;
    // Rank 10 is behind rank 9, and the page has no rank 0.
    expect(rowsOf(read([running(10, 0), running(9, 0), running(1, 1)].join("")))).toEqual({ "m/": { running: 10 } });
  });

  it("a gateway without requests has no rows, and is no failure: its families have no series", () => {
    const text = "# HELP litellm_input_tokens_metric_total Own.\n# TYPE litellm_input_tokens_metric_total counter\n";
    const { shape, failure } = read(`# TYPE python_info gauge\npython_info{version="3.12"} 1.0\n${text}`);
    expect(shape).toMatchObject({ exporter: "litellm", columns: [], series: [] });
    expect(failure).toBeUndefined();
  });

  it.each([
    ["a program's own metrics", "go_goroutines 12\n"],
    ["a GPU exporter", readFileSync("test/fixtures/pages/dcgm-4.8.3-sorted.prom", "utf8")],
  ])("%s is a foreign page", (_, text) => {
    expect(readerOf().read(sourceOf(), Buffer.from(text), true)).toMatchObject({
      failure: { reason: "foreign-page", detail: expect.stringContaining("inference engine or gateway") as string },
    });
  });

  it("a page with rows beyond a message is a failed scrape", () => {
    const lines = Array.from(
      { length: 2000 },
      (_, tenant) => `litellm_requests_metric_total{model="m",team="t${tenant}"} 1\n`,
    );
    const reading = readerOf({ messageBytes: 50_000 }).read(sourceOf(), Buffer.from(lines.join("")), true);
    expect(reading).toMatchObject({ failure: { reason: "too-large" } });
  });
});

describe("the tenants of a gateway's page", () => {
  const line = (labels: string, value = 1): string =>
    `litellm_output_tokens_metric_total{model="m",${labels}} ${value}\n`;

  it("are the first value of the job's labels, and no other label is read", () => {
    const page = line('customer="acme",team="t1",user="u1"', 5) + line('customer="",team="t1",user="u2"', 7);
    expect(rowsOf(read(page))).toEqual({ "m/t1": { generation_tokens: 12 } });
    expect(rowsOf(read(page, { labels: ["customer", "team"] }))).toEqual({
      "m/acme": { generation_tokens: 5 },
      "m/t1": { generation_tokens: 7 },
    });
    expect(rowsOf(read(page, { labels: [] }))).toEqual({ "m/": { generation_tokens: 12 } });
    expect(JSON.stringify(read(page).shape)).not.toContain("u1");
  });

  it.each(["ana@corp.example", "Ana Diaz <ana.diaz+llm@corp.example>", "prefix:bo@b.co"])(
    "a tenant that looks like an e-mail address has no name, unless the job allows it: %s",
    (email) => {
      const page = line(`team="${email}"`, 5);
      expect(rowsOf(read(page))).toEqual({ "m/": { generation_tokens: 5 } });
      expect(JSON.stringify(read(page).shape)).not.toContain("@");
      expect(read(page).dropped).toEqual({ "email-tenant": 1 });
      expect(rowsOf(read(page, { allowEmails: true }))).toEqual({ [`m/${email}`]: { generation_tokens: 5 } });
    },
  );

  it.each([
    ["evil", ["llm"], undefined, { "gateway-namespace": 1 }],
    ["llm", ["llm"], "t", {}],
    ["evil", ["*"], "t", {}],
    [undefined, [], "t", {}],
  ] as const)("of a pod in namespace %s with gateways in %s: %s", (namespace, gateways, tenant, dropped) => {
    const source = { ...sourceOf(), tenants: createTenants({ ...TENANT_RULES, gateways }, namespace) };
    const scrape = scrapeOf(readerOf().read(source, Buffer.from(line('team="t"', 5)), true));
    expect(scrape.shape.series.map((series) => series.tenant)).toEqual([tenant]);
    expect(scrape.dropped).toEqual(dropped);
  });

  it.each(["unattributed", "other"])("with a name that bills reserve have none: %s", (name) => {
    expect(rowsOf(read(line(`team="${name}"`, 5)))).toEqual({ "m/": { generation_tokens: 5 } });
    expect(read(line(`team="${name}"`, 5)).dropped).toEqual({ "reserved-tenant": 1 });
  });

  it("with a very long name, and texts that a slow expression would search for long, are read at once", () => {
    const page = Array.from({ length: 128 }, (_, index) => line(`team="${"a".repeat(4_000)}${index}"`, 1)).join("");
    const begun = process.cpuUsage();
    expect(rowsOf(read(page))).toEqual({ "m/other": { generation_tokens: 128 } });
    // The former expression took 5 s for this page.
    expect(process.cpuUsage(begun).user).toBeLessThan(1_500_000);
  });

  it("beyond the limit are added into one, and the kept ones stay when tenants come and go", () => {
    const reader = readerOf();
    const source = sourceOf({ most: 3 });
    const page = (tenants: readonly number[]): Buffer =>
      Buffer.from(tenants.map((tenant) => line(`team="t${tenant}"`, 10 + tenant)).join(""));
    const rows = (tenants: readonly number[]): [Record<string, number>, object] => {
      const scrape = scrapeOf(reader.read(source, page(tenants), true));
      const tokens = Object.entries(rowsOf(scrape)).map(([row, values]) => [
        row.slice(2),
        values["generation_tokens"]!,
      ]);
      return [Object.fromEntries(tokens) as Record<string, number>, scrape.dropped];
    };
    expect(rows([1, 2, 3, 4, 5])).toEqual([{ t1: 11, t2: 12, t3: 13, [OTHER_TENANTS]: 29 }, { "tenant-limit": 2 }]);
    expect(rows([0, 4, 5, 3, 1])).toEqual([{ [OTHER_TENANTS]: 39, t3: 13, t1: 11 }, { "tenant-limit": 3 }]);
    expect(rows([2, 4])).toEqual([{ t2: 12, [OTHER_TENANTS]: 14 }, { "tenant-limit": 1 }]);
  });

  it("are 10,000 on one page, in a message that the bus accepts", () => {
    const columns = ["input_tokens", "output_tokens", "input_cached_tokens", "requests", "spend"];
    const page = Array.from({ length: 12_000 }, (_, tenant) =>
      columns
        .map((name) => `litellm_${name}_metric_total{model="qwen3-32b",team="team-${tenant}"} ${tenant}.0\n`)
        .join(""),
    ).join("");
    const scrape = read(page);
    expect(Object.keys(rowsOf(scrape))).toHaveLength(10_001);
    expect(scrape.dropped).toEqual({ "tenant-limit": 5 * 2000 });
    const rows = rowsOf(scrape);
    const sum = (from: number, until: number): number => ((from + until - 1) * (until - from)) / 2;
    expect(rows[`qwen3-32b/${OTHER_TENANTS}`]).toMatchObject({ generation_tokens: sum(10_000, 12_000) });
    expect(Object.values(rows).reduce((all, values) => all + values["generation_tokens"]!, 0)).toBe(sum(0, 12_000));
  });
});

describe("the key of a message", () => {
  it("is the pod's UID, its name, or the address", () => {
    expect(servingKey(ORIGIN)).toBe('["prod","7f1c-uid"]');
    expect(servingKey({ ...ORIGIN, podUid: "" })).toBe('["prod","chat","qwen-0"]');
    expect(servingKey({ ...ORIGIN, podUid: "", pod: "" })).toBe('["prod","http://10.0.0.7:8000/metrics"]');
  });
});
