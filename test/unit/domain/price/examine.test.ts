import { describe, expect, it } from "vitest";
import { examineBook } from "../../../../domain/price/examine.ts";
import { bookOf } from "./book-of.ts";

type Entry = Readonly<Record<string, unknown>>;

const entry = (match: unknown, others: Entry = {}): Entry =>
  "owned" in others
    ? { match, from: "2026-01-01", ...others }
    : { match, from: "2026-01-01", per: "gpu-hour", list: "1", ...others };

/** The findings in a book, as `kind places from until`, with dates alone. */
function found(...prices: readonly Entry[]): readonly string[] {
  return examineBook(bookOf({ prices })).map(({ kind, entries, fromMillis, untilMillis }) => {
    const times = [fromMillis, untilMillis].map((at) =>
      Number.isFinite(at) ? new Date(at).toISOString().slice(0, 10) : "open",
    );
    return [kind, ...entries.map(({ key }) => key.replace("prices", "")), ...times].join(" ");
  });
}

describe("entries of equal rank", () => {
  it("tie if both can match the same node at the same time", () => {
    expect(
      found(
        entry({ nodeLabel: { rack: "r7" } }, { until: "2026-06-01" }),
        entry({ nodeLabel: { row: "b" } }, { until: "2026-04-01" }),
      ),
    ).toEqual(["tie [0] [1] 2026-01-01 2026-04-01"]);
    expect(found(entry({ model: "NVIDIA-A1*" }), entry({ model: "*-A100-PCIE" }))).toEqual([]);
    expect(found(entry({ model: "NVIDIA-A1*" }), entry({ model: "*SXM4-80GB*" }))).toEqual([
      "tie [0] [1] 2026-01-01 open",
    ]);
  });

  it("tie if they are equally long names of one model", () => {
    expect(found(entry({ model: "A100-SXM4" }), entry({ model: "A100-40GB" }))).toEqual([
      "tie [0] [1] 2026-01-01 open",
    ]);
    expect(found(entry({ model: "H100" }), entry({ model: "H100-NVL" }))).toEqual([]);
  });

  it("do not tie if no node can match both", () => {
    expect(found(entry({ pool: "a" }), entry({ pool: "b" }))).toEqual([]);
    expect(found(entry({ model: "NVIDIA-A*" }), entry({ model: "NVIDIA-H*" }))).toEqual([]);
    expect(found(entry({ nodeLabel: { rack: "r7" } }), entry({ nodeLabel: { rack: "r8" } }))).toEqual([]);
    expect(found(entry({ model: "a", pool: "x" }), entry({ model: "b", pool: "x" }))).toEqual([]);
  });

  it("do not tie if a third entry wins over both", () => {
    const both = entry({ nodeLabel: { rack: "r7", row: "b" } });
    expect(found(entry({ nodeLabel: { rack: "r7" } }), entry({ nodeLabel: { row: "b" } }), both)).toEqual([]);
  });

  it("tie where two owned entries list the same machine", () => {
    const owned = { inService: "2026-01-01", purchase: "1", months: 12 };
    const machines = (...names: string[]): Entry => entry(undefined, { owned: { ...owned, machines: names } });
    expect(found(machines("dgx-1", "dgx-2"), machines("dgx-3", "dgx-2"))).toEqual(["tie [0] [1] 2026-01-01 open"]);
    expect(found(machines("dgx-1"), machines("dgx-2"))).toEqual([]);
  });
});

describe("a gap", () => {
  const pool = (from: string, until?: string): Entry =>
    entry({ pool: "a" }, { from, ...(until === undefined ? {} : { until }) });

  it("is the time between two terms of the same match", () => {
    expect(found(pool("2026-03-01"), pool("2026-01-01", "2026-02-01"))).toEqual(["gap [0] [1] 2026-02-01 2026-03-01"]);
    expect(found(pool("2026-02-01"), pool("2026-01-01", "2026-02-01"))).toEqual([]);
  });

  it("does not exist if another entry has a price for that time", () => {
    const rest = entry({}, { from: "2026-01-15" });
    expect(found(pool("2026-03-01"), pool("2026-01-01", "2026-02-01"), rest)).toEqual([]);
    expect(found(pool("2026-03-01"), pool("2026-01-01", "2026-02-01"), entry({ pool: "a", zone: "z" }))).toEqual([
      "gap [0] [1] 2026-02-01 2026-03-01",
    ]);
  });

  it("can be between the terms of a machine that two entries list", () => {
    const owned = { inService: "2026-01-01", purchase: "1", months: 12, machines: ["dgx-1"] };
    expect(
      found(
        entry(undefined, { owned, until: "2026-02-01" }),
        entry(undefined, { owned: { ...owned, inService: "2026-03-01" }, from: "2026-02-01" }),
      ),
    ).toEqual(["gap [0] [1] 2026-02-01 2026-03-01"]);
  });
});

describe("an entry that never wins", () => {
  it("may end before its machine is in service", () => {
    const owned = { inService: "2026-06-01", purchase: "1", months: 12 };
    expect(found(entry({ pool: "a" }, { owned, until: "2026-05-01" }))).toEqual(["never [0] 2026-01-01 2026-05-01"]);
  });

  it("may have a later entry with the same match before its machine is in service", () => {
    const owned = { inService: "2026-06-01", purchase: "1", months: 12 };
    expect(found(entry({ pool: "a" }, { owned }), entry({ pool: "a" }, { from: "2026-02-01" }))).toEqual([
      "never [0] 2026-01-01 open",
    ]);
  });

  it("is different from an entry that wins for some nodes, or for some time", () => {
    expect(
      found(
        entry({}),
        entry({ model: "NVIDIA-A100*" }),
        entry({ model: "NVIDIA-A100" }),
        entry({ model: "NVIDIA-A100*" }, { from: "2026-02-01" }),
      ),
    ).toEqual([]);
  });
});
