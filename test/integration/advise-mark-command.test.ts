import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keepCards } from "../../processors/ledger/advice/keep-cards.ts";
import { makeCards, type Advice } from "../../processors/ledger/advice/make-cards.ts";
import { readAdviceCard } from "../../reports/read/advice.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { readScenario } from "../../scenarios/read.ts";
import { playWithRollups } from "../support/advice/play.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { createTestDatabase } from "../support/database.ts";
import { sharedStore } from "../support/embedded-store.ts";

const PRICES = [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "2.00" }];

/** A day in which a training of vision does nothing with one GPU of a node, and the node of another pool is free. */
const SCENARIO = {
  title: "a day with two wastes",
  period: { start: "2026-03-02T00:00:00Z", end: "2026-03-03T00:00:00Z" },
  scrapeInterval: "5m",
  nodes: [
    { name: "gpu-a", model: "NVIDIA-L4", gpus: 1 },
    { name: "gpu-b", model: "NVIDIA-L4", gpus: 1, pool: "spare" },
  ],
  namespaces: { vision: { labels: { team: "vision" } } },
  pods: [
    {
      name: "done-0",
      namespace: "vision",
      node: "gpu-a",
      holds: { gpus: 1 },
      devices: [0],
      type: "training",
      activity: 0,
      memoryUsedMiB: 500,
      workload: { kind: "Job", name: "done" },
    },
  ],
  prices: PRICES,
};
const SPAN = "2026-03-02/2026-03-03";

describe("gpu-ledger advise mark", () => {
  const embedded = sharedStore();
  let folder: CommandFolder;
  let config: string;
  let store: StoreClient;
  let made: Advice;
  let id: string;

  beforeAll(async () => {
    folder = createCommandFolder();
    const { username, password } = embedded.user;
    const of = { kind: "clickhouse", database: "advise_mark", clickhouse: { url: embedded.url, username, password } };
    config = folder.write("mark.yaml", { prices: PRICES, store: of });
    store = await createTestDatabase("advise_mark");
    await playWithRollups(store, readScenario(JSON.stringify(SCENARIO), "the test"));
    const parsed = parseConfig(JSON.stringify({ prices: PRICES }), { source: "test", folder: ".", env: {} });
    const window = { from: Date.UTC(2026, 2, 2), until: Date.UTC(2026, 2, 3) };
    made = await makeCards(store, ledgerOf(parsed), { window, advice: parsed.advice });
    await keepCards(store, made, { basis: "", madeAt: window.until, seconds: 1 });
    id = made.cards.find(({ kind }) => kind === "idle-workload")!.id;
  });
  afterAll(async () => {
    await store.close();
    await folder.dispose();
  });

  const mark = (...args: readonly string[]) => folder.call(["advise", "mark", ...args, "--config", config]);
  const advise = (...args: readonly string[]) => folder.call(["advise", SPAN, "--config", config, ...args]);

  it("records who dismissed a card, why and until when, on the card and in the audit trail", async () => {
    const done = await mark(id, "--as", "dismissed", "--why", "a demo", "--until", "2126-01-01", "--by", "ada");
    expect(done).toMatchObject({
      code: 0,
      stdout: `${id} is dismissed until 2126-01-01: Workload that does nothing, vision/Job/done of vision\n`,
    });
    const until = Date.UTC(2126, 0, 1);
    const { stored } = (await readAdviceCard(store, id, { teams: "all" }))!;
    expect(stored.mark).toMatchObject({ what: "dismissed", who: "ada", why: "a demo", until });
    const audit = await folder.call(["audit", "--what", "advice*", "--format", "json", "--config", config]);
    expect(JSON.parse(audit.stdout)).toEqual([
      {
        at: new Date(stored.mark!.at).toISOString().replace("Z", "000Z"),
        who: "ada",
        what: "advice dismissed",
        why: "a demo",
        subject: id,
        details: '{"until":"2126-01-01 00:00:00.000"}',
      },
    ]);
  });

  it("hides a dismissed card of fresh cards too, unless all are asked for", async () => {
    const { stdout } = await advise();
    expect(stdout).not.toContain(id);
    expect(stdout).toContain("1 dismissed card not shown. --all shows them.\n");
    expect((await advise("--all")).stdout).toMatch(new RegExp(`^${id} .*dismissed by ada until 2126-01-01$`, "m"));
    const one = (await advise("--card", id)).stdout;
    expect(one).toContain("\nDecision\n  dismissed by ada until 2126-01-01: a demo\n");
    const json = JSON.parse((await advise("--all", "--format", "json")).stdout) as { cards: readonly Decided[] };
    expect(json.cards.find((card) => card.id === id)!.mark).toMatchObject({ what: "dismissed", who: "ada" });
    expect((await advise("--format", "csv")).stdout).not.toContain(id);
    expect((await advise("--all", "--format", "csv")).stdout).toContain(",dismissed by ada until 2126-01-01\r\n");
  });

  it("opens a card again, and has a decision without an end", async () => {
    expect((await mark(id, "--as", "open", "--why", "the demo is over")).code).toBe(0);
    expect((await advise()).stdout).toContain(id);
    expect((await mark(id, "--as", "taken", "--why", "deleted", "--by", "bo")).stdout).toContain(`${id} is taken: `);
    expect((await advise()).stdout).toMatch(new RegExp(`^${id} .*taken by bo$`, "m"));
  });

  it.each([
    [["000000000000", "--as", "taken", "--why", "w"], "000000000000: no stored card has this id"],
    [["ID", "--as", "taken", "--why", " "], "--why: must have the reason"],
    [["ID", "--as", "taken"], "required option '--why <text>' not specified"],
    [["ID", "--as", "ignored", "--why", "w"], "Allowed choices are taken, dismissed, open"],
    [["ID", "--as", "taken", "--why", "w", "--until", "2126-01-01"], "--until: only a dismissal has an end"],
    [["ID", "--as", "dismissed", "--why", "w", "--until", "soon"], "--until soon: must be a date such as"],
    [["ID", "--as", "dismissed", "--why", "w", "--until", "2026-03-01"], "--until 2026-03-01: must be in the future"],
  ])("refuses %j with its reason, and records nothing", async (args, reason) => {
    const count = async () => (await store.query<{ marks: string }>("SELECT count() AS marks FROM advice_marks"))[0];
    const before = await count();
    const { code, stderr } = await mark(...args.map((arg) => (arg === "ID" ? id : arg)));
    expect(code).toBe(2);
    expect(stderr).toContain(reason);
    expect(await count()).toEqual(before);
  });
});

interface Decided {
  readonly id: string;
  readonly mark: object | null;
}
