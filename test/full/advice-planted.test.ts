import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CARD_KINDS, type Card, type CardKind } from "../../domain/advice/card.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { makeCards, type Advice } from "../../processors/ledger/advice/make-cards.ts";
import { advice as adviceSchema } from "../../runtime/config/advice.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { PLANTED_PRICES, plantedFleet } from "../support/advice/planted-fleet.ts";
import { plantHours } from "../support/advice/planted-week.ts";
import { createTestDatabase } from "../support/database.ts";

/** A Monday. */
const START = Date.UTC(2026, 2, 2);
const HOURS = 7 * 24;
const WINDOW = { from: START, until: START + HOURS * HOUR_MILLIS };
const EACH = Number(process.env["PLANTED_EACH"] ?? 100);
const HEALTHY = Number(process.env["PLANTED_HEALTHY"] ?? 1_000);

const LEDGER = ledgerOf(
  parseConfig(JSON.stringify({ prices: PLANTED_PRICES, owners: { team: [{ namespaceLabel: "team" }] } }), {
    source: "the test",
    folder: ".",
    env: {},
  }),
);

describe("the cards of a fleet with planted waste", () => {
  const fleet = plantedFleet({ seed: 1, each: EACH, healthy: HEALTHY });
  let store: StoreClient;
  let advice: Advice;
  const subjectOf = ({ subject }: Card): string => subject.workload || subject.pool;

  beforeAll(async () => {
    store = await createTestDatabase("advice_planted");
    await plantHours(store, { cluster: "prod", start: START, hours: HOURS, ...fleet });
    const begun = performance.now();
    advice = await makeCards(store, LEDGER, { window: WINDOW, advice: adviceSchema.parse({}) });
    const seconds = (performance.now() - begun) / 1000;
    const gpus = fleet.nodes.reduce((sum, node) => sum + node.gpus, 0);
    print(`${advice.cards.length} cards of a week of ${gpus} GPUs in ${seconds.toFixed(1)} s`);
  }, 1_800_000);
  afterAll(() => store.close());

  it.each(Object.keys(CARD_KINDS) as CardKind[])("find %s with a precision and a recall of at least 0.9", (kind) => {
    const found = advice.cards.filter((card) => card.kind === kind).map(subjectOf);
    const right = found.filter((name) => fleet.planted.get(name) === kind);
    const [precision, recall] = [right.length / found.length, right.length / EACH];
    const wrong = found.filter((name) => fleet.planted.get(name) !== kind);
    const missed = [...fleet.planted].filter(([name, of]) => of === kind && !right.includes(name));
    const names = [...wrong, ...missed.map(([name]) => name)].slice(0, 10).join(" ");
    print(`${kind}: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)} ${names}`);
    expect(precision).toBeGreaterThanOrEqual(0.9);
    expect(recall).toBeGreaterThanOrEqual(0.9);
  });

  it("give at most one in a thousand healthy workloads a card", () => {
    const wrong = advice.cards.map(subjectOf).filter((name) => !fleet.planted.has(name));
    print(`${wrong.length} of ${HEALTHY} healthy workloads have a card ${wrong.slice(0, 10).join(" ")}`);
    expect(wrong.length).toBeLessThanOrEqual(HEALTHY / 1_000);
  });
});

describe("the cards of the same fleet", () => {
  it("are the same in any order of the input, and each time", async () => {
    const { nodes, workloads } = plantedFleet({ seed: 2, each: 2, healthy: 28 });
    const cards: (readonly Card[])[] = [];
    for (const [name, order] of [["advice_forward", 1] as const, ["advice_backward", -1] as const]) {
      const store = await createTestDatabase(name);
      const inOrder = <Item>(items: readonly Item[]): readonly Item[] => (order === 1 ? items : items.toReversed());
      const of = { nodes: inOrder(nodes), workloads: inOrder(workloads) };
      await plantHours(store, { cluster: "prod", start: START, hours: HOURS, ...of });
      for (let turn = 0; turn < 2; turn++)
        cards.push((await makeCards(store, LEDGER, { window: WINDOW, advice: adviceSchema.parse({}) })).cards);
      await store.close();
    }
    expect(cards[0]!.length).toBeGreaterThan(10);
    for (const other of cards.slice(1)) expect(other).toEqual(cards[0]);
    expect(new Set(cards[0]!.map(({ id }) => id)).size).toBe(cards[0]!.length);
  }, 900_000);
});

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
