import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { DEVICE_LABELS, GPU_SERIES, labelsOf, WORKLOAD_LABELS } from "../../../../../processors/live/gpus/series.ts";
import { METRIC_DEFINITIONS } from "../../../../../runtime/telemetry/metrics.ts";

const page = readFileSync("docs/gpu-metrics.md", "utf8");

describe("docs/gpu-metrics.md", () => {
  it("has every series of the page with its unit and its help, and no other series", () => {
    const rows = [...page.replaceAll(/\n +/g, " ").matchAll(/^- `(gpu_\w+)` \((\w+), (.*?)\): (.*)$/gm)];
    expect(rows.map(([, name, of, unit, help]) => ({ name, of, unit, help }))).toEqual(
      Object.values(GPU_SERIES).map(({ name, of, unit, help }) => ({ name, of, unit, help })),
    );
  });

  it("has every label in its order", () => {
    const [, device] = /^\| label(.*?)\n\n/ms.exec(page)!;
    const named = [...device!.matchAll(/^\| (`.*?`) +\|/gm)].flatMap(([, cell]) =>
      cell!.replaceAll("`", "").split(", "),
    );
    expect(named).toEqual([...DEVICE_LABELS]);
    const [, workload] = /^A \*\*workload\*\* has (.*?)\. What/ms.exec(page)!;
    expect([...workload!.matchAll(/`(\w+)`/g)].map(([, label]) => label)).toEqual([...WORKLOAD_LABELS]);
  });

  it("has queries that use only existing series and labels", () => {
    const known = new Map<string, readonly string[]>(
      Object.values(GPU_SERIES).map((series) => [series.name, labelsOf(series)]),
    );
    const queries = [...page.matchAll(/\| `((?:sum|max) .*?)` +\|$/gm)].map(([, query]) => query!);
    expect(queries).toHaveLength(6);
    for (const query of queries) {
      const names = query.match(/gpu_\w+/g)!;
      const labels = [...query.matchAll(/(?:by|on) \((.*?)\)/g)].flatMap(([, list]) => list!.split(", "));
      for (const name of names)
        expect(known.get(name)).toEqual(expect.arrayContaining(labels.filter((label) => label !== "currency")));
    }
  });
});

describe("the names of joined series", () => {
  it("are different from those of a processor's /metrics", () => {
    const own = new Set<string>(Object.values(METRIC_DEFINITIONS).map(({ name }) => name));
    expect(Object.values(GPU_SERIES).filter(({ name }) => own.has(name))).toEqual([]);
  });
});
