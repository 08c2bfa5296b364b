import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PageLimits } from "../../../../collectors/exporters/page/kind.ts";
import { createPageReader, type PageReading } from "../../../../collectors/exporters/page/reader.ts";
import { createTemplates } from "../../../../collectors/exporters/page/templates.ts";
import { dcgmPage } from "../../../support/dcgm-page.ts";
import { rounds } from "../../../support/rounds.ts";

const source = (key: string) => ({
  key,
  origin: () => ({ cluster: "test", node: "node-a", target: key, collector: "c" }),
});

/** A reading as plain values for comparisons. */
function plain(reading: PageReading): unknown {
  if ("failure" in reading) return reading;
  const { hosts, dropped } = reading;
  return {
    hosts: hosts.map(({ stable, values }) => ({
      stable: JSON.parse(Buffer.from(stable).toString()) as unknown,
      values: [...values],
    })),
    dropped,
  };
}

/** The reading of a page by a reader that has not seen the target before. */
const afresh = (page: Buffer): unknown => plain(createPageReader(createTemplates(1e8)).read(source("t"), page, true));

const number = fc.oneof(
  fc.integer({ min: 0, max: 100 }).map(String),
  fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value.toFixed(6)),
  fc.constantFrom("9223372036854775794", "2147483632", "140737488355328", "4294967295", "1.26272101025e+11", "-1"),
);

const FAMILIES = [
  "DCGM_FI_DEV_SM_CLOCK",
  "DCGM_FI_DEV_GPU_UTIL",
  "DCGM_FI_DEV_MEMORY_TEMP",
  "CUSTOM",
  "DCGM_FI_DEV_GPU_UTIL_RATIO",
];

const page = (numbers: readonly string[], pods: readonly (string | undefined)[]): string => {
  let next = 0;
  return dcgmPage({
    gpus: 4,
    host: "host",
    families: FAMILIES.map((name) => (name === "CUSTOM" ? "DCGM_FI_DEV_CUSTOM_THING" : name)),
    value: () => numbers[next++ % numbers.length]!,
    pod: (gpu) => pods[gpu],
  });
};

type Change = (lines: string[], at: number, other: number, text: string) => string[];

/** Differences of a page from the one before. */
const CHANGES: Record<string, Change> = {
  nothing: (lines) => lines,
  "a line left out": (lines, at) => lines.filter((_, i) => i !== at % lines.length),
  "a line twice": (lines, at) => lines.flatMap((line, i) => (i === at % lines.length ? [line, line] : [line])),
  "two lines swapped": (lines, at, other) => {
    const copy = [...lines];
    const [a, b] = [at % copy.length, other % copy.length];
    [copy[a], copy[b]] = [copy[b]!, copy[a]!];
    return copy;
  },
  "a foreign line": (lines, at, _, text) => [
    ...lines.slice(0, at % lines.length),
    text,
    ...lines.slice(at % lines.length),
  ],
  "bytes within a line": (lines, at, other, text) =>
    lines.map((line, i) =>
      i === at % lines.length ? `${line.slice(0, other % line.length)}${text}${line.slice(other % line.length)}` : line,
    ),
  "a line cut": (lines, at, other) =>
    lines.map((line, i) => (i === at % lines.length ? line.slice(0, other % line.length) : line)),
  "a value of text": (lines, at, _, text) =>
    lines.map((line, i) => (i === at % lines.length ? line.replace(/ [^ ]*$/, ` ${text}`) : line)),
  "a time": (lines, at) => lines.map((line, i) => (i === at % lines.length ? `${line} 1700000000000` : line)),
  "carriage returns": (lines) => lines.map((line) => `${line}\r`),
  "another label": (lines, at) =>
    lines.map((line, i) => (i === at % lines.length ? line.replace("{", '{pod="other",') : line)),
};

describe("reading by template and in full", () => {
  it("gives the same message for pages with any changes between two scrapes", () => {
    fc.assert(
      fc.property(
        fc.array(number, { minLength: 20, maxLength: 20 }),
        fc.array(fc.array(number, { minLength: 20, maxLength: 20 }), { minLength: 1, maxLength: 3 }),
        fc.array(fc.option(fc.constantFrom("train-0", "train-1"), { nil: undefined }), { minLength: 4, maxLength: 4 }),
        fc.constantFrom(...Object.keys(CHANGES)),
        fc.nat(1000),
        fc.nat(1000),
        fc.constantFrom("x", '"', "NaN", "+Inf", "<<<NULL>>>", "1", "}", "\\", " ", "go_goroutines 7", "é"),
        fc.boolean(),
        (first, laters, pods, change, at, other, text, newline) => {
          const reader = createPageReader(createTemplates(1e8));
          reader.read(source("t"), Buffer.from(page(first, pods)), true);
          for (const later of laters) {
            const lines = CHANGES[change]!(page(later, pods).trimEnd().split("\n"), at, other, text);
            const bytes = Buffer.from(lines.join("\n") + (newline ? "\n" : ""));
            expect(plain(reader.read(source("t"), bytes, true))).toEqual(afresh(bytes));
          }
        },
      ),
      { numRuns: rounds(20_000) },
    );
  });

  it("needs no second parse while only numbers change, or lines of a family change places", () => {
    const reader = createPageReader(createTemplates(1e8));
    const pods = ["a", "b", undefined, undefined];
    const read = (text: string) => reader.read(source("t"), Buffer.from(text), true);
    expect(read(page(["1"], pods))).toMatchObject({ templated: false });
    expect(read(page(["2", "33", "0.5"], pods))).toMatchObject({ templated: true });
    const lines = page(["7", "8", "9"], pods).split("\n");
    [lines[2], lines[5]] = [lines[5]!, lines[2]!];
    const swapped = read(lines.join("\n"));
    expect(swapped).toMatchObject({ templated: true });
    expect(plain(swapped)).toEqual(afresh(Buffer.from(lines.join("\n"))));
  });

  it("shares one layout and one program between targets with equal pages", () => {
    const templates = createTemplates(1e8);
    const reader = createPageReader(templates);
    const bytesAfter = (host: string) => {
      const text = dcgmPage({ gpus: 8, host, value: () => "1" });
      reader.read(source(host), Buffer.from(text), true);
      return templates.stats.bytes;
    };
    const first = bytesAfter("host-1");
    const second = bytesAfter("host-2") - first;
    expect(second).toBeLessThan(first / 3);
    templates.release("host-1");
    templates.release("host-2");
    expect(templates.stats).toEqual({ templates: 0, bytes: 0, refused: 0 });
  });

  it("releases the data of a target's removed lines, also if other targets have the same layout", () => {
    const templates = createTemplates(1e8);
    const reader = createPageReader(templates);
    const pageOf = (label: string): Buffer =>
      Buffer.from(`DCGM_FI_X{gpu="0",UUID="GPU-0",${label}="a"} 1\nDCGM_FI_X{gpu="0",UUID="GPU-0",${label}="b"} 1\n`);
    reader.read(source("steady"), pageOf("same"), true);
    reader.read(source("changing"), pageOf("l0"), true);
    const { bytes } = templates.stats;
    for (let round = 1; round < 10; round++) reader.read(source("changing"), pageOf(`l${round}`), true);
    expect(templates.stats).toEqual({ templates: 2, bytes, refused: 0 });
    templates.release("steady");
    templates.release("changing");
    expect(templates.stats).toEqual({ templates: 0, bytes: 0, refused: 0 });
  });

  it("keeps its byte budget, and reads refused targets in full and correctly", () => {
    const templates = createTemplates(10_000);
    const reader = createPageReader(templates);
    const bytes = Buffer.from(dcgmPage({ gpus: 8, host: "h", value: () => "1" }));
    for (let i = 0; i < 3; i++) {
      const reading = reader.read(source("h"), bytes, true);
      expect(reading).toMatchObject({ templated: false });
      expect(plain(reading)).toEqual(plain(createPageReader(createTemplates(1e8)).read(source("h"), bytes, true)));
    }
    expect(templates.stats).toEqual({ templates: 0, bytes: 0, refused: 3 });
  });
});

describe("unexpected pages", () => {
  const read = (text: string, complete = true) =>
    createPageReader(createTemplates(1e6)).read(source("t"), Buffer.from(text), complete);

  it("are refused as not an exposition if they are HTML, with the line", () => {
    expect(read("<!DOCTYPE html>\n<html><body>Not found</body></html>\n")).toEqual({
      failure: { reason: "not-exposition", detail: "no line can be read as a sample; line 1: no metric name" },
    });
  });

  it("are refused as foreign if they are node_exporter's", () => {
    expect(read("node_load1 0.5\nnode_boot_time_seconds 1.7e9\n")).toMatchObject({
      failure: { reason: "foreign-page" },
    });
  });

  it("are scrapes without GPUs if they are empty, as an exporter's page is while GPUs are bound", () => {
    const reading = read("");
    expect(plain(reading)).toMatchObject({ hosts: [{ stable: { devices: [] }, values: [] }], dropped: {} });
  });

  it("lose a last line that the transfer may have cut, unless the framing proves it complete", () => {
    const cut = 'DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-1"} 90\nDCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-1"} 4';
    expect(plain(read(cut, false))).toMatchObject({ hosts: [{ values: [0.9] }], dropped: { "unterminated-line": 1 } });
    expect(plain(read(cut, true))).toMatchObject({ hosts: [{ values: [0.9, 4] }], dropped: {} });
  });

  it("give the rows of each host of a federated page to that host, also by template, and drop rows without a host", () => {
    const line = (host: string, gpu: number, value: number): string =>
      `DCGM_FI_DEV_GPU_UTIL{Hostname="${host}",UUID="GPU-${host}-${gpu}",gpu="${gpu}",instance="10.0.0.1:9400"} ${value}`;
    const of = (value: number): Buffer => {
      const nameless = `DCGM_FI_DEV_GPU_UTIL{UUID="GPU-x",gpu="0",instance="10.0.0.9:9400"} 5`;
      return Buffer.from(`${[line("b", 0, value), line("a", 0, 10), nameless, line("b", 1, 30)].join("\n")}\n`);
    };
    const reader = createPageReader(createTemplates(1e6));
    const gathering = {
      ...source("t"),
      origin: (_: unknown, host: string) => ({ cluster: "test", node: host, target: "t", collector: "c" }),
    };
    for (const [value, templated] of [
      [20, false],
      [40, true],
    ] as const) {
      const reading = reader.read(gathering, of(value), true);
      expect(reading).toMatchObject({ gpus: 3, dropped: { "no-host": 1 }, templated });
      expect(plain(reading)).toMatchObject({
        hosts: [
          { stable: { node: "a", devices: [{ gpu: "0", uuid: "GPU-a-0" }] }, values: [0.1] },
          { stable: { node: "b", devices: [{ uuid: "GPU-b-0" }, { uuid: "GPU-b-1" }] }, values: [value / 100, 0.3] },
        ],
      });
    }
  });

  it("keep the GPUs of two hosts separate if only an index names the GPUs", () => {
    const line = (node: string, value: number): string =>
      `gpu_gfx_activity{node="${node}",hostname="metrics-exporter-bcdfg",gpu_id="0",gpu_uuid="00000000-0000"} ${value}`;
    const page = Buffer.from(`${line("a", 10)}\n${line("b", 20)}\n`);
    const gathering = {
      ...source("t"),
      origin: (_: unknown, host: string) => ({ cluster: "test", node: host, target: "t", collector: "c" }),
    };
    expect(plain(createPageReader(createTemplates(1e6)).read(gathering, page, true))).toMatchObject({
      hosts: [
        { stable: { node: "a" }, values: [0.1] },
        { stable: { node: "b" }, values: [0.2] },
      ],
    });
  });

  it.each([
    ["series", { series: 24, devices: 10 }, "too-many-series", "more series, families or unreadable lines than 24"],
    ["devices", { series: 100, devices: 0 }, "too-many-devices", "more GPUs, instances and holders than 0"],
  ] as const)("are refused with more %s than allowed", (_, limits, reason, detail) => {
    const page = Buffer.from(dcgmPage({ gpus: 1, host: "h", value: () => "1" }));
    const readWith = (allowed: Partial<PageLimits>): PageReading =>
      createPageReader(createTemplates(1e6), allowed).read(source("t"), page, true);
    expect(readWith(limits)).toEqual({ failure: { reason, detail } });
    expect(readWith({ series: 25, devices: 1 })).toMatchObject({ gpus: 1 });
  });
});
