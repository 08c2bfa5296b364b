import { expect, it } from "vitest";
import { createNewest, ENDS_REMEMBERED_MILLIS } from "../../../../../processors/ingest/holdings/newest.ts";

const fact = (resourceVersion: string, seenAtMillis: number, ended = false) => ({
  epoch: 1,
  resourceVersion,
  seenAtMillis,
  ...(ended ? { end: { atMillis: seenAtMillis, inferred: false } } : {}),
});

it("the newest fact of an object wins over replays and late facts, also after its end", () => {
  const newest = createNewest();
  const facts = [fact("5", 0), fact("5", 0), fact("4", 0), fact("6", 1, true), fact("5", 0)];
  expect(facts.map((one) => newest.take("a", one))).toEqual([true, false, false, true, false]);
});

it("an object that came back after its end counts as existing", () => {
  const newest = createNewest();
  newest.take("a", fact("5", 0, true));
  expect(newest.take("a", fact("6", 1))).toBe(true);
  for (let turn = 1; turn < 5; turn++) newest.take("b", fact(String(turn), turn * ENDS_REMEMBERED_MILLIS));
  expect(newest.take("a", fact("5", 0, true))).toBe(false);
});

it("an end is remembered for hours, and then forgotten", () => {
  const newest = createNewest();
  newest.take("a", fact("5", 0, true));
  newest.take("b", fact("1", ENDS_REMEMBERED_MILLIS));
  expect(newest.take("a", fact("4", 0))).toBe(false);
  newest.take("b", fact("2", 2 * ENDS_REMEMBERED_MILLIS));
  expect(newest.take("a", fact("4", 0))).toBe(true);
});

it("a tombstone leaves nothing in the memory", () => {
  const newest = createNewest();
  newest.take("a", fact("5", 0));
  newest.forget("a");
  expect(newest.take("a", fact("1", 0))).toBe(true);
});
