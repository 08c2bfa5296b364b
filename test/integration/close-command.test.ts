import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkLedger } from "../../cli/check/ledger.ts";
import { rulesOfConfig } from "../../services/ledger-rules.ts";
import { keepBreaches } from "../../processors/ledger/runs/breaches.ts";
import { settle } from "../../processors/ledger/term/settle.ts";
import { loadConfig } from "../../runtime/config/load.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { connectTo, createTestDatabase } from "../support/database.ts";
import { scenarioWith } from "../support/played.ts";
import { storeScenario } from "../support/play.ts";
import { DAY_MILLIS, HOUR_MILLIS } from "../../domain/time.ts";

const START = Date.UTC(2026, 2, 31, 22);

/** Two hours of two GPUs at 3 an hour, one of them held by vision. */
const fleet = scenarioWith({
  period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T00:00:00Z" },
  nodes: [{ name: "gpu-a", model: "A100", gpus: 2, instanceType: "p5", until: "2026-04-01T00:00:00Z" }],
  namespaces: { vision: { labels: { team: "vision" } } },
  pods: [{ name: "v-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0], activity: 1 }],
});

describe("the commands bill, close, verify and audit", () => {
  const embedded = sharedStore();
  let folder: CommandFolder;
  let file: string;

  /** The fleet's books in a database of their own, and a configuration file that names it. */
  async function booksIn(database: string, match: string): Promise<string> {
    const { username, password } = embedded.user;
    const path = folder.write(
      `${database}.yaml`,
      `
prices: [{ match: ${match}, from: 2026-01-01, per: gpu-hour, effective: "3.00" }]
policies: [{ name: default }, { name: by-use, basis: usage }]
store:
  kind: clickhouse
  database: ${database}
  clickhouse: { url: "${embedded.url}", username: "${username}", password: "${password}" }
`,
    );
    const store = await createTestDatabase(database);
    await storeScenario(store, fleet);
    const { rules } = rulesOfConfig(loadConfig(path, {}).config);
    const windows = [0, 1].map((hour) => ({ cluster: "default", windowStart: START + hour * HOUR_MILLIS }));
    await settle(store, windows, rules, { generation: 0, now: START + 3 * HOUR_MILLIS });
    await store.close();
    return path;
  }

  beforeAll(async () => {
    folder = createCommandFolder();
    file = await booksIn("closing_commands", "{}");
  });
  afterAll(async () => {
    await folder.dispose();
  });

  const run = (...args: readonly string[]) => folder.call([...args, "--config", file]);

  it("require a month, a reason, and a readable invoice", async () => {
    expect(await run("close", "2026-13", "--why", "x")).toMatchObject({ code: 2 });
    const unexplained = await run("close", "2026-03");
    expect(unexplained).toMatchObject({ code: 2 });
    expect(unexplained.stderr).toContain("--why is required");
    const invoice = folder.write(
      "invoice.csv",
      "account,instanceType,capacityType,amount,currency\nmain,p5,spot,1e3,USD\n",
    );
    const unread = await run("close", "2026-03", "--dry-run", "--invoice", invoice);
    expect(unread).toMatchObject({ code: 2 });
    expect(unread.stderr).toContain('amount (line 2): "1e3" is not an amount as text');
    const foreign = folder.write(
      "foreign.csv",
      "account,instanceType,capacityType,amount,currency\nmain,p5,spot,1,EUR\n",
    );
    expect((await run("close", "2026-03", "--dry-run", "--invoice", foreign)).stderr).toContain(
      "invoice[0] is in EUR: an invoice must be in the price book's currency, USD",
    );
  });

  it("are preceded by a check of inexact charges, unpriced time and periods that can be closed", async () => {
    const answers = async (path: string, now: number): Promise<readonly string[]> => {
      const found: string[] = [];
      for await (const { ok, warns, what, answer } of checkLedger(loadConfig(path, {}).config, now))
        found.push(`${warns === true ? "warn" : ok ? "ok" : "FAIL"} ${what}: ${answer}`);
      return found;
    };
    expect(await answers(file, START + 3 * HOUR_MILLIS)).toEqual([
      "ok charges of the last 7 days: equal the cost of each GPU exactly",
      "ok prices of the last 7 days: every GPU-hour has a price",
      "ok billing periods: 2026-03 is open, and can be closed from 2026-04-03 on",
    ]);
    expect((await answers(file, START + 30 * DAY_MILLIS))[0]).toBe(
      "warn charges of the last 7 days: there are none, so nothing was checked",
    );
    const other = await booksIn("unpriced", "{ pool: none }");
    const store = connectTo("unpriced");
    await keepBreaches(store, { cluster: "default", windowStart: START, publishedAt: START + 4 * HOUR_MILLIS }, [
      { policy: "default", node: "gpu-a", slot: "1", what: "effective", expected: "3", found: "2.9" },
    ]);
    await store.close();
    expect(await answers(other, Date.UTC(2026, 3, 4))).toEqual([
      "FAIL charges of the last 7 days: charges of GPU 1 of default/gpu-a in the hour from 2026-03-31T22:00:00.000Z do not sum to their cost: effective is 2.9, expected 3 under default",
      "FAIL prices of the last 7 days: missing for 4 GPU-hours of NVIDIA-A100-SXM4-40GB p5; `gpu-ledger prices check` lists the nodes",
      "FAIL billing periods: 2026-03 can be closed and is still open: run `gpu-ledger close 2026-03`",
    ]);
  });

  it("compute a month under other policies, side by side, and store nothing", async () => {
    const { code, stdout, stderr } = await run(
      "bill",
      "2026-03",
      "--policy",
      "default",
      "by-use",
      "--by",
      "team",
      "--format",
      "json",
    );
    // Work of more than a few seconds reports its progress now and then.
    expect({ code, stderr: stderr.replaceAll(/^\d of \d hours\n/gm, "") }).toEqual({ code: 0, stderr: "" });
    const lines = [
      { team: "platform", gpuHours: "2", cost: "6" },
      { team: "vision", gpuHours: "2", cost: "6" },
    ];
    const bill = { total: "12", gpuHours: "4", unpricedGpuHours: "0", lines };
    expect(JSON.parse(stdout)).toEqual({ currency: "USD", policies: { default: bill, "by-use": bill } });
    expect(await run("bill", "2026-03", "--policy", "none")).toMatchObject({
      code: 2,
      stderr: "gpu-ledger: --policy none: must be one of: default, by-use\n",
    });
  });

  it("show the planned closing and later changes, close it, and record the user", async () => {
    const open = await run("statement", "2026-03", "--format", "json");
    expect(JSON.parse(open.stdout)).toMatchObject({
      billingPeriod: "2026-03",
      currency: "USD",
      closed: null,
      statements: [
        { team: "platform", cost: "6", posted: null, hash: null },
        { team: "vision", cost: "6", gpuHours: "2", states: { active: "6" }, stateGpuHours: { active: "2" } },
      ],
    });
    expect(await run("statement", "2020-01")).toMatchObject({
      code: 0,
      stdout: "2020-01 under the policy default: no charges\n",
    });
    expect(await run("statement", "2026-03", "--team", "robotics")).toMatchObject({ code: 1 });
    expect(await run("statement", "2026-03", "--policy", "by-use")).toMatchObject({ code: 2 });

    const early = await run("close", "2027-01", "--dry-run", "--by", "finance");
    expect(early).toMatchObject({ code: 1, stderr: "gpu-ledger: 2027-01 cannot be closed\n" });
    expect(early.stdout).toContain("The period cannot be closed:\n");
    const look = await run("close", "2026-03", "--dry-run", "--by", "finance");
    expect(look).toMatchObject({ code: 0, stderr: "" });
    expect(look.stdout.split("\n")).toEqual([
      "dry run of closing 2026-03: 12.00 USD under the policy default",
      "",
      "team      GPU-hours  cost  posted",
      "platform          2     6    6.00",
      "vision            2     6    6.00",
      "total             4    12   12.00",
      "",
      "coverage: 100 %; 0 of 2 held GPU-hours are unobserved",
      "without a price: 0 GPU-hours, which have no cost",
      "unowned: 0 USD",
      "lines: 4, runs: 5",
      "",
      "The period can be closed.",
      "",
    ]);
    const invoice = folder.write(
      "invoice.yaml",
      '- { account: main, instanceType: p5, capacityType: on-demand, amount: "12.50", currency: USD }\n',
    );
    const again = await run("close", "2026-03", "--dry-run", "--by", "finance", "--invoice", invoice);
    expect(again.stdout).toContain("main, p5 on-demand: invoiced 12.5, computed 12, true-up 0.5");
    expect(again.stdout).toContain("Since the last dry run:\n  total effective: 12 → 12.5");
    expect(again.stdout).toContain("  platform posted: 6 → 6.5");

    const closed = await run("close", "2026-03", "--by", "finance", "--why", "the month is over", "--invoice", invoice);
    expect(closed).toMatchObject({ code: 0, stderr: "" });
    expect(closed.stdout).toContain("2026-03 was closed by finance: 12.50 USD under the policy default");
    expect(closed.stdout).toContain("No difference from the last dry run.");
    const second = await run("close", "2026-03", "--by", "operations", "--why", "again");
    expect(second).toMatchObject({ code: 1 });
    expect(second.stderr).toContain("2026-03 is closed: finance closed it at");

    const statement = await run("statement", "2026-03", "--team", "vision");
    expect(statement).toMatchObject({ code: 0, stderr: "" });
    expect(statement.stdout.split("\n")).toEqual([
      expect.stringMatching(/^2026-03 under the policy default: closed by finance at \S+$/),
      "",
      "vision: 6 USD, exactly 6",
      "state   GPU-hours  cost",
      "active          2     6",
      "total           2     6",
      "coverage: 100 % of the held time",
      expect.stringMatching(/^SHA-256 [0-9a-f]{64}$/),
      "",
    ]);

    const verified = await run("verify", "2026-03");
    expect(verified).toMatchObject({ code: 0, stderr: "" });
    expect(verified.stdout).toMatch(
      /^2026-03, closed by finance at \S+: 12\.5 USD, 2 statements, 5 lines: as it was closed/,
    );
    expect(await run("verify", "2026-02")).toMatchObject({ code: 1 });
    expect(await run("verify", "March")).toMatchObject({ code: 2 });

    const trail = await run("audit", "--format", "json");
    const entries = JSON.parse(trail.stdout) as readonly { who: string; what: string; why: string; subject: string }[];
    expect(entries.map(({ who, what, subject, why }) => `${who} ${what} ${subject} ${why}`.trim())).toEqual([
      "finance dry-run 2027-01",
      "finance dry-run 2026-03",
      "finance dry-run 2026-03",
      "finance close 2026-03 the month is over",
    ]);
    expect((await run("audit", "--since", "2100-01-01")).stdout).toBe("no entries\n");
  });

  it("report the difference of a changed row, and end with 1", async () => {
    const store = connectTo("closing_commands");
    await store.command("ALTER TABLE charges DELETE WHERE team = 'vision' SETTINGS mutations_sync = 1");
    await store.close();
    const { code, stdout, stderr } = await run("verify");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "gpu-ledger: different from the closing: 2026-03\n" });
    expect(stdout).toContain("  the cost of vision's lines: 0, and was 6");
  });
});
