import pino from "pino";
import { expect, it } from "vitest";
import { createAccessTrail, strangersTrail, type AccessEntry } from "../../../../reports/access/audit.ts";
import { DAY_MILLIS, MINUTE_MILLIS } from "../../../../domain/time.ts";

/** A trail whose entries are collected. The store is away while `isAway` is true. */
function createTrail() {
  const entries: AccessEntry[] = [];
  const state = { millis: 0, isAway: false };
  const clock = { nowMillis: () => state.millis, monotonicMillis: () => state.millis };
  const record = async (entry: AccessEntry): Promise<void> => {
    await Promise.resolve();
    if (state.isAway) throw new Error("away");
    entries.push(entry);
  };
  return { trail: createAccessTrail(record, { clock, logger: pino({ level: "silent" }) }), entries, state };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("records the use of a token once a day, and again after a failed entry", async () => {
  const { trail, entries, state } = createTrail();
  const use = (name: string, address: string): void =>
    trail.used("token used", { name, role: "finance", teams: "all" }, address);
  state.isAway = true;
  use("grafana", "10.0.0.1");
  await settled();
  state.isAway = false;
  for (const name of ["grafana", "grafana", "books", "grafana"]) use(name, "10.0.0.1");
  await settled();
  state.millis += DAY_MILLIS;
  use("grafana", "10.0.0.2");
  await settled();
  expect(entries.map(({ who, what, details }) => [who, what, details["address"]])).toEqual([
    ["grafana", "token used", "10.0.0.1"],
    ["books", "token used", "10.0.0.1"],
    ["grafana", "token used", "10.0.0.2"],
  ]);
});

it("records at most 60 refused tokens in a minute, and the number of the others", async () => {
  const { trail, entries, state } = createTrail();
  for (let count = 0; count < 100; count++) trail.refused("unknown", { address: "10.0.0.1" });
  await settled();
  expect(entries).toHaveLength(60);
  state.millis += MINUTE_MILLIS;
  trail.refused("revoked", { address: "10.0.0.1" });
  trail.refused("revoked", { address: "10.0.0.1" });
  await settled();
  expect(entries.slice(60).map(({ subject, details }) => [subject, details])).toEqual([
    ["revoked", { address: "10.0.0.1", unrecordedBefore: 40 }],
    ["revoked", { address: "10.0.0.1" }],
  ]);
});

it("counts an entry of a stranger that was not stored", async () => {
  const entries: AccessEntry[] = [];
  const failing = new Error("away");
  const answers = [Promise.reject(failing), Promise.reject(failing), Promise.resolve()];
  const record = strangersTrail((entry) => (entries.push(entry), answers.shift()!), pino({ level: "silent" }));
  for (const subject of ["one", "two", "three"])
    await record({ who: "", what: "sign-in failed", subject, details: { address: "10.0.0.1" } });
  expect(entries.at(-1)).toMatchObject({ subject: "three", details: { unrecordedBefore: 2 } });
});
