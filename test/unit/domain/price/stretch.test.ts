import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkPrices } from "../../../../domain/price/check.ts";
import { winnerAt } from "../../../../domain/price/match.ts";
import { rankEntries } from "../../../../domain/price/rank.ts";
import { joinStretches, originOf, stretches, type Stretch } from "../../../../domain/price/stretch.ts";
import { at, bookOf, KNOWN } from "./book-of.ts";

const entry = (match: unknown, from: string, until?: string): unknown => ({
  match,
  from,
  until,
  per: "gpu-hour",
  list: "1",
});
const rankedOf = (...prices: readonly unknown[]) => rankEntries(bookOf({ prices }).prices);

/** Stretches as `from–until: winner`, times without their year and without zero seconds. */
const texts = (list: readonly Stretch[]): readonly string[] =>
  list.map(({ fromMillis, untilMillis, winner }) => {
    const time = (millis: number): string =>
      Number.isFinite(millis) ? new Date(millis).toISOString().slice(5, 16) : "…";
    const who = {
      priced: () => "entry" in winner && winner.entry.key,
      tied: () => "tied",
      unpriced: () => "unpriced",
    };
    return `${time(fromMillis)} ${time(untilMillis)} ${who[winner.kind]()}`;
  });

describe("a time is cut where the winner changes", () => {
  it("also inside an hour, and at no other time", () => {
    const ranked = rankedOf(
      entry({ model: "*A100*" }, "2026-01-01", "2026-03-01T10:30:00Z"),
      entry({ pool: "dgx", zone: "eu-west-1a" }, "2026-02-01", "2026-02-15"),
      // It begins to hold while another entry wins, and changes nothing.
      entry({ cluster: "prod" }, "2026-02-10"),
      entry({ pool: "other" }, "2026-02-11"),
    );
    expect(texts(stretches(ranked, KNOWN, -Infinity, at("2026-04-01T00:00:00Z")))).toEqual([
      "… 01-01T00:00 unpriced",
      "01-01T00:00 02-01T00:00 prices[0]",
      "02-01T00:00 02-15T00:00 prices[1]",
      "02-15T00:00 03-01T10:30 prices[0]",
      "03-01T10:30 04-01T00:00 prices[2]",
    ]);
  });

  it("is one stretch if nothing changes, and none if the span is empty", () => {
    const ranked = rankedOf(entry({}, "2026-01-01"));
    const [from, until] = [at("2026-02-01T00:00:00Z"), at("2026-02-01T01:00:00Z")];
    expect(texts(stretches(ranked, KNOWN, from, until))).toEqual(["02-01T00:00 02-01T01:00 prices[0]"]);
    expect(stretches(ranked, KNOWN, from, from)).toEqual([]);
    expect(texts(stretches([], KNOWN, from, until))).toEqual(["02-01T00:00 02-01T01:00 unpriced"]);
  });

  it("so that the winner of a stretch wins at every moment in it, and another winner follows on each side", () => {
    const day = fc.integer({ min: 1, max: 28 }).map((date) => `2026-02-${String(date).padStart(2, "0")}`);
    const anyEntry = fc.record({
      match: fc.constantFrom(
        {},
        { pool: "dgx" },
        { pool: "no" },
        { zone: "eu-west-1a" },
        { nodeLabel: { rack: "r7" } },
        { nodeLabel: { row: "b" } },
      ),
      from: day,
      until: fc.option(fc.constantFrom("2026-03-01", "2026-03-02"), { nil: undefined }),
    });
    const distinct = {
      selector: (made: { match: object; from: string }) => JSON.stringify([made.match, made.from]),
      maxLength: 8,
    };
    fc.assert(
      fc.property(fc.uniqueArray(anyEntry, distinct), (made) => {
        const ranked = rankedOf(...made.map(({ match, from, until }) => entry(match, from, until)));
        const list = stretches(ranked, KNOWN, at("2026-02-01T00:00:00Z"), at("2026-03-05T00:00:00Z"));
        list.forEach(({ fromMillis, untilMillis, winner }, index) => {
          expect(winnerAt(ranked, KNOWN, fromMillis)).toEqual(winner);
          expect(winnerAt(ranked, KNOWN, untilMillis - 1)).toEqual(winner);
          expect(winnerAt(ranked, KNOWN, Math.floor((fromMillis + untilMillis) / 2))).toEqual(winner);
          expect(list[index + 1]?.fromMillis ?? untilMillis).toBe(untilMillis);
          expect(list[index + 1]?.winner).not.toEqual(winner);
        });
      }),
    );
  });

  it("also where one tie follows another tie", () => {
    const ranked = rankedOf(
      entry({ nodeLabel: "rack=r7" }, "2026-01-01", "2026-02-02"),
      entry({ nodeLabel: "row=b" }, "2026-01-01", "2026-02-03"),
      entry({ nodeLabel: "shelf=1" }, "2026-01-01", "2026-02-03"),
    );
    const facts = { ...KNOWN, labels: { ...KNOWN.labels, shelf: "1" } };
    const list = stretches(ranked, facts, at("2026-02-01T00:00:00Z"), at("2026-02-04T00:00:00Z"));
    expect(texts(list)).toEqual([
      "02-01T00:00 02-02T00:00 tied",
      "02-02T00:00 02-03T00:00 tied",
      "02-03T00:00 02-04T00:00 unpriced",
    ]);
  });

  it("but not if a change of facts changes no price", () => {
    const ranked = rankedOf(entry({ pool: "dgx" }, "2026-01-01"), entry({ pool: "dgx", zone: "b" }, "2026-01-01"));
    const [begin, turn, end] = [at("2026-02-01T00:00:00Z"), at("2026-02-02T00:00:00Z"), at("2026-02-03T00:00:00Z")];
    const moved = (zone: string): readonly Stretch[] =>
      joinStretches([...stretches(ranked, KNOWN, begin, turn), ...stretches(ranked, { ...KNOWN, zone }, turn, end)]);
    expect(texts(moved("c"))).toEqual(["02-01T00:00 02-03T00:00 prices[0]"]);
    expect(texts(moved("b"))).toEqual(["02-01T00:00 02-02T00:00 prices[0]", "02-02T00:00 02-03T00:00 prices[1]"]);
  });
});

describe("the cost of a stretch is counted", () => {
  const appeared = at("2026-02-10T12:00:00Z");
  const owned = { inService: "2026-02-03", purchase: "1", months: 12 };

  it("from the slot's first appearance if the entry already won before", () => {
    const [, stretch] = stretches(rankedOf(entry({}, "2026-01-01")), KNOWN, -Infinity, at("2026-03-01T00:00:00Z"));
    expect(stretch && originOf(stretch, appeared)).toBe(appeared);
  });

  it("from the moment at which the entry last began to win, if that is later", () => {
    const ranked = rankedOf(entry({}, "2026-01-01"), entry({ pool: "dgx" }, "2026-02-12", "2026-02-13"));
    const list = stretches(ranked, KNOWN, -Infinity, at("2026-03-01T00:00:00Z"));
    expect(list.slice(1).map((stretch) => originOf(stretch, appeared))).toEqual([
      appeared,
      at("2026-02-12T00:00:00Z"),
      at("2026-02-13T00:00:00Z"),
    ]);
  });

  it("from the service of an owned machine on, also if the machine was seen later", () => {
    const list = stretches(rankedOf({ match: {}, from: "2026-01-01", owned }), KNOWN, -Infinity, Infinity);
    expect(texts(list)).toEqual(["… 02-03T00:00 unpriced", "02-03T00:00 … prices[0]"]);
    expect(list[1] && originOf(list[1], appeared)).toBe(at("2026-02-03T00:00:00Z"));
  });
});

describe("a check of a book", () => {
  it("names the gaps and the ties in each node's life within the period", () => {
    const ranked = rankedOf(
      entry({ pool: "dgx" }, "2026-01-01", "2026-02-20"),
      entry({ nodeLabel: "rack=r7" }, "2026-02-05", "2026-02-07"),
      entry({ nodeLabel: "row=b" }, "2026-02-05", "2026-02-07"),
    );
    const [fromMillis, untilMillis] = [at("2026-02-01T00:00:00Z"), at("2026-03-01T00:00:00Z")];
    const nodes = [
      { facts: KNOWN, fromMillis: -Infinity, untilMillis: Infinity },
      { facts: { ...KNOWN, pool: "none", labels: {} }, fromMillis: at("2026-02-25T00:00:00Z"), untilMillis: Infinity },
      { facts: { ...KNOWN, pool: "none" }, fromMillis: untilMillis, untilMillis: Infinity },
    ];
    const found = checkPrices(ranked, nodes, { fromMillis, untilMillis });
    expect(
      found.map(({ kind, entries, ...times }) => [
        kind,
        new Date(times.fromMillis).getUTCDate(),
        new Date(times.untilMillis).getUTCDate(),
        entries.map(({ key }) => key),
      ]),
    ).toEqual([
      ["tie", 5, 7, ["prices[1]", "prices[2]"]],
      ["gap", 20, 1, []],
      ["gap", 25, 1, []],
    ]);
  });

  it("finds nothing in a book with exactly one price for everything", () => {
    const life = { facts: KNOWN, fromMillis: -Infinity, untilMillis: Infinity };
    const period = { fromMillis: at("2026-02-01T00:00:00Z"), untilMillis: at("2026-03-01T00:00:00Z") };
    expect(checkPrices(rankedOf(entry({}, "2026-01-01")), [life], period)).toEqual([]);
  });
});
