import pino from "pino";
import { expect, it } from "vitest";
import type { AccessEntry } from "../../../../reports/access/audit.ts";
import { createEndedSessions } from "../../../../reports/sign-in/ended-sessions.ts";
import type { StoreClient } from "../../../../runtime/store/client.ts";
import { StoreError } from "../../../../runtime/store/store-error.ts";

/** Two servers of one store, which can be away. */
function servers() {
  const state = { millis: 1_000_000, isAway: false, queries: 0 };
  const entries: { readonly at: number; readonly subject: string }[] = [];
  const away = (): void => {
    if (state.isAway) throw new StoreError("unavailable", "away", { retriable: true });
  };
  const store = {
    query: (_: string, { since }: { readonly since: number }) => {
      state.queries += 1;
      return Promise.resolve()
        .then(away)
        .then(() => entries.filter(({ at }) => at >= since));
    },
  } as unknown as StoreClient;
  const record = ({ subject }: AccessEntry): Promise<void> =>
    Promise.resolve()
      .then(away)
      .then(() => void entries.push({ at: state.millis, subject }));
  const of = { sessionMillis: 600_000, now: () => state.millis, logger: pino({ level: "silent" }) };
  const [here, there] = [createEndedSessions(store, record, of), createEndedSessions(store, record, of)];
  return { state, entries, here, there };
}

it("end at once on their server, and within 3 s on others, without their id in the trail", async () => {
  const { state, entries, here, there } = servers();
  expect(await there.has("one")).toBe(false);
  await here.add("one", "ann");
  expect([await here.has("one"), await there.has("one"), await here.has("two")]).toEqual([true, false, false]);
  state.millis += 3_000;
  expect([await there.has("one"), await there.has("two")]).toEqual([true, false]);
  expect(JSON.stringify(entries)).not.toContain("one");
});

it("are read once for many requests, and are those of the longest session", async () => {
  const { state, here } = servers();
  await Promise.all(Array.from({ length: 50 }, (_, index) => here.has(`${index}`)));
  expect(state.queries).toBe(1);
  await here.add("one", "ann");
  state.millis += 600_001;
  await here.has("two");
  expect(await here.has("one")).toBe(false);
});

it("end on their server alone while the store is away, and the last known ones count", async () => {
  const { state, here, there } = servers();
  await here.add("one", "ann");
  expect(await there.has("one")).toBe(true);
  state.isAway = true;
  state.millis += 10_000;
  await here.add("two", "ann");
  expect([await here.has("two"), await there.has("two"), await there.has("one")]).toEqual([true, false, true]);
});
