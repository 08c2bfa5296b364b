import pino from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readCard, type CardJson } from "../../domain/advice/card-json.ts";
import { amountOf, difference, formatAmount, sum, type Money } from "../../domain/exact/units.ts";
import { DAY_MILLIS } from "../../domain/time.ts";
import { keepCards, readBasis } from "../../processors/ledger/advice/keep-cards.ts";
import { makeCards } from "../../processors/ledger/advice/make-cards.ts";
import { readSpan } from "../../reports/question/span.ts";
import { readAdviceCard } from "../../reports/advice/read-cards.ts";
import { advice as adviceSchema } from "../../runtime/config/advice.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import { parseConfig } from "../../runtime/config/load.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { cardsJob } from "../../services/leader/cards.ts";
import { readScenario } from "../../scenarios/read.ts";
import { playWithRollups } from "../support/advice/play.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { createTestDatabase } from "../support/database.ts";
import { sharedStore } from "../support/embedded-store.ts";

const PRICES = [
  { match: { model: "NVIDIA-A100*" }, from: "2026-01-01", per: "gpu-hour", effective: "3.60" },
  { match: { model: "NVIDIA-L4" }, from: "2026-01-01", per: "gpu-hour", effective: "0.80" },
];
const DEFAULT_ADVICE = adviceSchema.parse({});
const held = (name: string, namespace: string, device: number, of: object): object => ({
  name,
  namespace,
  node: "gpu-a",
  holds: { gpus: 1 },
  devices: [device],
  ...of,
});

/** A day of a node of four GPUs at 3.60 an hour, and of two free nodes at 0.80: 24 × (4 × 3.60 + 2 × 0.80) = 384. */
const SCENARIO = {
  title: "a day with waste",
  period: { start: "2026-03-02T00:00:00Z", end: "2026-03-03T00:00:00Z" },
  scrapeInterval: "5m",
  nodes: [
    { name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 4 },
    { name: "gpu-b", model: "NVIDIA-L4", gpus: 1, pool: "small" },
    { name: "gpu-c", model: "NVIDIA-L4", gpus: 1, pool: "small" },
  ],
  namespaces: { vision: { labels: { team: "vision" } }, nlp: { labels: { team: "nlp" } } },
  pods: [
    held("train-0", "vision", 0, { type: "training", activity: 0.9, memoryUsedMiB: 30_000 }),
    held("done-0", "vision", 1, {
      type: "training",
      activity: 0,
      memoryUsedMiB: 500,
      workload: { kind: "Job", name: "done" },
    }),
    held("notebook-0", "nlp", 2, { type: "notebook", activity: 0.1, memoryUsedMiB: 6_000 }),
    held("gang-0", "nlp", 3, {
      type: "training",
      activity: 0.8,
      memoryUsedMiB: 20_000,
      gang: { group: "g", size: 2 },
      workload: { kind: "Job", name: "gang" },
    }),
  ],
  prices: PRICES,
};

describe("gpu-ledger advise", () => {
  const embedded = sharedStore();
  let folder: CommandFolder;
  let config: string;
  let store: StoreClient;

  beforeAll(async () => {
    folder = createCommandFolder();
    const { username, password } = embedded.user;
    const of = { kind: "clickhouse", database: "advice_cards", clickhouse: { url: embedded.url, username, password } };
    config = folder.write("cards.yaml", { prices: PRICES, store: of });
    store = await createTestDatabase("advice_cards");
    await playWithRollups(store, readScenario(JSON.stringify(SCENARIO), "the test"));
  }, 300_000);
  afterAll(async () => {
    await store.close();
    await folder.dispose();
  });

  const SPAN = "2026-03-02/2026-03-03";
  const run = (...args: readonly string[]) => folder.call(["advise", SPAN, "--config", config, ...args]);
  async function cardsOf(...args: readonly string[]): Promise<readonly CardJson[]> {
    const { code, stdout } = await run("--format", "json", ...args);
    expect(code).toBe(0);
    return (JSON.parse(stdout) as { readonly cards: readonly CardJson[] }).cards;
  }

  it("finds each waste of the day with its saving, and no card for the training that works", async () => {
    const found = (await cardsOf()).map(({ kind, subject, saving }) => [
      kind,
      subject.workload || subject.pool,
      saving.owner,
      saving.organization,
      saving.organizationIfFreedLeave,
    ]);
    expect(found).toEqual([
      // 24 h × 3.60. The freed GPU goes on to cost as much.
      ["waiting-gang", "gang", "86.4", "0", "86.4"],
      ["idle-workload", "done", "86.4", "0", "86.4"],
      // 24 h × (3.60 − 0.80). An L4 comes, and the A100 stays or leaves.
      ["smaller-model", "notebook-0", "67.2", "-19.2", "67.2"],
      // 24 h × 2 × 0.80
      ["empty-nodes", "small", "38.4", "38.4", "38.4"],
    ]);
  });

  it("has the next best change of a workload as an alternative", async () => {
    const [{ alternatives }] = (await cardsOf("--kind", "smaller-model")) as [CardJson];
    // 1g.10gb is 1/7 of the compute and 2/8 of the memory of an A100 of 40 GB: a quarter. 24 h × 3.60 × 3/4.
    expect(alternatives).toEqual([
      { kind: "smaller-part", what: "Request a MIG instance 1g.10gb instead of a whole GPU.", owner: "64.8" },
    ]);
  });

  it("has the same saving as a what-if with the card's change, to the last digit", async () => {
    for (const { kind, changes, saving, subject } of await cardsOf()) {
      for (const freed of kind === "smaller-model" ? ["stay", "leave"] : ["stay"]) {
        const file = folder.write("what-if.yaml", { freed, changes });
        const { stdout } = await run("--what-if", file, "--format", "json");
        const { was, otherwise, lines } = JSON.parse(stdout) as Compared;
        const less = (one: string, other: string): string =>
          formatAmount(difference(amountOf<"currency">(one), amountOf<"currency">(other)));
        const organization = freed === "stay" ? saving.organization : saving.organizationIfFreedLeave;
        expect(less(was.total, otherwise.total)).toBe(organization);
        if (freed === "leave") continue;
        expect(less(otherwise.free, was.free)).toBe(saving.freed);
        const ofOwner = lines.find(({ team }) => team === subject.team)!;
        expect(less(ofOwner.was.cost, ofOwner.otherwise.cost)).toBe(saving.owner);
      }
    }
  });

  it("has lines of both bills that sum to the saving", async () => {
    for (const { lines, saving, subject } of await cardsOf()) {
      const less = (of: typeof lines): string =>
        formatAmount(difference(sumOf(of.map(({ was }) => was)), sumOf(of.map(({ otherwise }) => otherwise))));
      expect(less(lines)).toBe(saving.organization);
      expect(less(lines.filter(({ team }) => team === subject.team))).toBe(saving.owner);
    }
  });

  it("filters by team and kind, and shows one card", async () => {
    expect((await cardsOf("--team", "vision")).map(({ kind }) => kind)).toEqual(["idle-workload"]);
    const [{ id }] = (await cardsOf("--kind", "idle-workload")) as [CardJson];
    const { stdout } = await run("--card", id);
    expect(stdout).toContain("Workload that does nothing: vision/Job/done of vision\n");
    expect(stdout).toContain("the owner would have paid 86.4 USD less, 2628 USD less a month.\n");
    expect(stdout).toContain("  kubectl -n vision delete jobs.batch/done   # of Volcano: jobs.batch.volcano.sh/done\n");
    expect(stdout).toContain("The organization would have paid the same: GPUs that nobody holds cost 86.4 USD more.\n");
    expect((await run("--card", "nothing")).code).toBe(2);
  });

  it("prints a table, and CSV", async () => {
    const table = (await run()).stdout;
    expect(table).toContain("2026-03-02 to 2026-03-03: 4 cards\n");
    expect(table).toContain(
      "The organization pays 278.4 USD less if freed GPUs leave, and 19.2 USD less while they stay. Together the owners pay 278.4 USD less.\n",
    );
    const csv = (await run("--format", "csv")).stdout.trimEnd().split("\r\n");
    expect(csv).toHaveLength(5);
    expect(csv[0]).toContain("id,kind,team,");
  });

  it("has no card from a time without published usage", async () => {
    const { stdout } = await folder.call(["advise", "2026-02", "--config", config]);
    expect(stdout).toBe("2026-02-01 to 2026-03-01: no cards\n");
  });

  it("keeps the cards, so that readers see the last run of each window", async () => {
    const ledger = ledgerOf(parseConfig(JSON.stringify({ prices: PRICES }), { source: "test", folder: ".", env: {} }));
    const read = readSpan(SPAN, 0);
    if ("error" in read) throw new Error(read.error);
    const { from, until } = read.span;
    const window = { from, until };
    const advice = await makeCards(store, ledger, { window, advice: DEFAULT_ADVICE });
    expect(await readBasis(store, window)).toMatchObject({ last: undefined });
    for (const basis of ["first", "second"])
      await keepCards(store, advice, { basis, madeAt: until + (basis === "first" ? 1 : 2), seconds: 1 });
    expect(await readBasis(store, window)).toMatchObject({ last: "second" });
    const next = { ...advice, window: { from: from + DAY_MILLIS, until: until + DAY_MILLIS } };
    await keepCards(store, next, { basis: "next", madeAt: until, seconds: 1 });
    const rows = await store.query<{ id: string; since: string; card: string }>(
      `SELECT id, toString(toDate(since_at)) AS since, card FROM advice_cards_published ORDER BY until_at, id`,
    );
    expect(rows).toHaveLength(2 * advice.cards.length);
    expect(new Set(rows.map(({ since }) => since))).toEqual(new Set(["2026-03-03"]));
    const back = rows.slice(0, 4).map(({ card }) => readCard(JSON.parse(card) as CardJson));
    expect(back).toEqual(advice.cards.toSorted((one, other) => (one.id < other.id ? -1 : 1)));
  });

  it("are made by the leader once for the same usage and rules", async () => {
    const text = JSON.stringify({ prices: PRICES, advice: { days: 1 } });
    const options = {
      config: parseConfig(text, { source: "test", folder: ".", env: {} }),
      store,
      now: () => Date.parse("2026-03-03T01:00:00Z"),
      isBehind: () => false,
    };
    /** Looks once as a leader with some rules. Returns the number of stored runs of these rules, and what was logged. */
    const lookAs = async (rulesHash: string): Promise<readonly [runs: number, lines: number]> => {
      const lines: string[] = [];
      const logger = pino({}, { write: (line: string) => void lines.push(line) });
      await cardsJob({ ...options, logger, rulesHash }).work(new AbortController().signal);
      const [row] = await store.query<{ runs: string }>(
        "SELECT toString(count()) AS runs FROM advice_runs WHERE position(basis, {rulesHash:String}) > 0",
        { rulesHash },
      );
      return [Number(row!.runs), lines.length];
    };
    expect(await lookAs("rules-1")).toEqual([1, 1]);
    expect(await lookAs("rules-1")).toEqual([1, 0]);
    expect(await lookAs("rules-2")).toEqual([1, 1]);
  });

  describe("with the verb mark", () => {
    let id: string;

    beforeAll(async () => {
      [{ id }] = (await cardsOf("--kind", "idle-workload")) as [CardJson];
    });

    const mark = (...args: readonly string[]) => folder.call(["advise", "mark", ...args, "--config", config]);

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
      const { stdout } = await run();
      expect(stdout).not.toContain(id);
      expect(stdout).toContain("1 dismissed card not shown. --all shows them.\n");
      expect((await run("--all")).stdout).toMatch(new RegExp(`^${id} .*dismissed by ada until 2126-01-01$`, "m"));
      const one = (await run("--card", id)).stdout;
      expect(one).toContain("\nDecision\n  dismissed by ada until 2126-01-01: a demo\n");
      const json = JSON.parse((await run("--all", "--format", "json")).stdout) as { cards: readonly Decided[] };
      expect(json.cards.find((card) => card.id === id)!.mark).toMatchObject({ what: "dismissed", who: "ada" });
      expect((await run("--format", "csv")).stdout).not.toContain(id);
      expect((await run("--all", "--format", "csv")).stdout).toContain(",dismissed by ada until 2126-01-01\r\n");
    });

    it("opens a card again, and has a decision without an end", async () => {
      expect((await mark(id, "--as", "open", "--why", "the demo is over")).code).toBe(0);
      expect((await run()).stdout).toContain(id);
      expect((await mark(id, "--as", "taken", "--why", "deleted", "--by", "bo")).stdout).toContain(`${id} is taken: `);
      expect((await run()).stdout).toMatch(new RegExp(`^${id} .*taken by bo$`, "m"));
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
});

interface Decided {
  readonly id: string;
  readonly mark: object | null;
}

interface Compared {
  readonly was: { readonly total: string; readonly free: string };
  readonly otherwise: { readonly total: string; readonly free: string };
  readonly lines: readonly {
    readonly team: string;
    readonly was: { readonly cost: string };
    readonly otherwise: { readonly cost: string };
  }[];
}

function sumOf(amounts: readonly string[]): Money {
  return sum(amounts.map((amount) => amountOf<"currency">(amount)));
}
