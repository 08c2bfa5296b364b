import { describe, expect, it } from "vitest";
import { readBook } from "../../../../domain/price/read.ts";
import { bookOf } from "./book-of.ts";

const HOURLY = { per: "gpu-hour", list: "1", from: "2026-01-01" };

const namesOf = (prices: readonly object[]): readonly string[] => bookOf({ prices }).prices.map(({ name }) => name);

describe("the name of a price entry", () => {
  it.each<[unknown, string]>([
    [{}, "everything from 2026-01-01"],
    [{ cluster: "prod", model: "H100", capacityType: "reserved" }, "H100 reserved prod from 2026-01-01"],
    [
      { nodeLabel: "rack=r7", instanceType: "p4d.24xlarge", pool: "a", region: "eu", zone: "eu-1" },
      "p4d.24xlarge a eu eu-1 rack=r7 from 2026-01-01",
    ],
  ])("is derived from the match and the beginning of the entry: %o", (match, name) => {
    expect(namesOf([{ ...HOURLY, match }])).toEqual([name]);
  });

  it("has the exact time if the entry does not begin at midnight, and the machines that the entry lists", () => {
    const owned = { inService: "2026-01-01", purchase: "1", months: 12, machines: ["dgx-1", "dgx-2"] };
    expect(
      namesOf([
        { ...HOURLY, match: {}, from: "2026-01-01T00:30:00Z" },
        { match: {}, from: "2026-01-01", owned },
      ]),
    ).toEqual(["everything from 2026-01-01T00:30:00Z", "dgx-1 dgx-2 from 2026-01-01"]);
  });

  it("stays the same if an entry is inserted before it", () => {
    const [own, above] = [
      { ...HOURLY, match: { model: "H100" } },
      { ...HOURLY, match: { model: "L4" } },
    ];
    expect(namesOf([own])).toEqual(["H100 from 2026-01-01"]);
    expect(namesOf([above, own])).toEqual(["L4 from 2026-01-01", "H100 from 2026-01-01"]);
  });

  it("is the one that the book gives; names of commitments and fixed costs begin with their kind", () => {
    const standing = { from: "2026-01-01", until: "2027-01-01", amount: "1", per: "hour" };
    const book = bookOf({
      prices: [{ ...HOURLY, match: {}, name: "H100 contract of 2026" }],
      commitments: [standing, { ...standing, name: "savings plan" }],
      fixed: [{ ...standing, name: "support" }],
    });
    expect([...book.prices, ...book.commitments, ...book.fixed].map(({ name }) => name)).toEqual([
      "H100 contract of 2026",
      "commitment everything from 2026-01-01",
      "commitment savings plan",
      "fixed cost support",
    ]);
  });

  it("is unique: derived names are numbered, and a given name that two entries have is refused", () => {
    const standing = { from: "2026-01-01", amount: "1", per: "hour" };
    expect(bookOf({ fixed: [standing, standing] }).fixed.map(({ name }) => name)).toEqual([
      "fixed cost everything from 2026-01-01",
      "fixed cost everything from 2026-01-01 (2)",
    ]);
    const one = { ...HOURLY, match: { pool: "a" }, name: "a contract" };
    const read = readBook({ currency: "USD", prices: [one, { ...one, match: { pool: "b" } }] });
    expect(read).toMatchObject({
      problems: [{ key: "prices[1].name", allowed: "a name that no other entry has: prices[0] has it" }],
    });
    const derived = { ...HOURLY, match: { pool: "b" } };
    expect(readBook({ currency: "USD", prices: [derived, { ...one, name: "b from 2026-01-01" }] })).toMatchObject({
      problems: [{ key: "prices[1].name", allowed: "a name that no other entry has: prices[0] has it" }],
    });
    expect(namesOf([{ ...one, name: "b from 2026-01-01" }, derived])).toEqual([
      "b from 2026-01-01",
      "b from 2026-01-01 (2)",
    ]);
    const long = readBook({ currency: "USD", prices: [{ ...one, name: "x".repeat(101) }] });
    expect(long).toMatchObject({ problems: [{ key: "prices[0].name", allowed: "a name of at most 100 characters" }] });
  });
});
