import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatAmount, amountOf, sum } from "../../domain/exact/units.ts";
import { HOUR_MILLIS } from "../../domain/time.ts";
import { readChange } from "../../reports/change/read-change.ts";
import type { ChangeJson } from "../../reports/change/change-json.ts";
import { spanText, type Span } from "../../reports/question/span.ts";
import { readReport } from "../../reports/report/read-report.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { createCommandFolder, type CommandFolder } from "../support/command.ts";
import { sharedStore } from "../support/embedded-store.ts";
import { createTestDatabase } from "../support/database.ts";
import { playScenario } from "../support/play-ledger.ts";
import { scenarioWith } from "../support/played.ts";
import { createReportsServer, FINANCE, VISION, type ReportsServer } from "../support/reports-server.ts";

const START = Date.UTC(2026, 2, 2);
const at = (hour: number): string => new Date(START + hour * HOUR_MILLIS).toISOString();
const hours = (from: number, until: number): Span => {
  const of = { from: START + from * HOUR_MILLIS, until: START + until * HOUR_MILLIS };
  return { ...of, name: spanText(of) };
};
const [BEFORE, AFTER] = [hours(0, 2), hours(2, 4)];
const PRICES = 'prices: [{ match: {}, from: 2026-01-01, per: gpu-hour, effective: "3.00" }]';

/**
 * Two hours and the next two. `train` has one GPU and then two; `eval` ends and `demo` begins; the namespace `lab` moves from nlp to vision;
 * the price of a L4 rises from 1 to 2 in the middle.
 */
const FLEET = scenarioWith({
  period: { start: at(0), end: at(4) },
  nodes: [
    { name: "a", model: "NVIDIA-H100-80GB-HBM3", gpus: 4, until: at(4) },
    { name: "b", model: "NVIDIA-L4", gpus: 2, until: at(4) },
  ],
  namespaces: {
    vision: { labels: { team: "vision" } },
    lab: [{ labels: { team: "nlp" } }, { from: at(2), labels: { team: "vision" } }],
  },
  pods: [
    { name: "train", namespace: "vision", node: "a", holds: { gpus: 1 }, devices: [0], activity: 1 },
    { name: "more", namespace: "vision", node: "a", holds: { gpus: 1 }, devices: [1], activity: 1, scheduled: at(2) },
    { name: "eval", namespace: "vision", node: "a", holds: { gpus: 1 }, devices: [2], activity: 1, finished: at(2) },
    { name: "nb", namespace: "lab", node: "b", holds: { gpus: 1 }, devices: [0], activity: 1 },
  ],
  prices: [
    { match: { model: "H100" }, from: "2026-01-01", per: "gpu-hour", effective: "3.00" },
    { match: { model: "L4" }, from: "2026-01-01", until: at(2), per: "gpu-hour", effective: "1.00" },
    { match: { model: "L4" }, from: at(2), per: "gpu-hour", effective: "2.00" },
  ],
});

const text = (html: string): string => html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");

describe("the change of a cost", () => {
  const embedded = sharedStore();
  let store: StoreClient;
  let server: ReportsServer;
  let folder: CommandFolder;
  beforeAll(async () => {
    store = await createTestDatabase("change");
    await playScenario(store, FLEET);
    server = await createReportsServer(store, AFTER.until, PRICES);
    folder = createCommandFolder();
  });
  afterAll(async () => {
    await folder.dispose();
    await server.close();
    await store.close();
  });

  async function ask(query: string, as = FINANCE): Promise<ChangeJson> {
    const answer = await server.get(`/api/v1/change?span=${AFTER.name}&compare=${BEFORE.name}${query}`, as);
    expect([answer.statusCode, answer.body]).toEqual([200, expect.any(String)]);
    return answer.json();
  }
  const words = ({ parts }: ChangeJson): readonly string[] =>
    parts.map(({ team, workload, cause, cost }) => `${team} ${workload || "not held"} ${cause} ${cost}`);

  it("has the parts of each workload and cause, and they sum to it", async () => {
    const change = await ask("");
    expect(words(change)).toEqual([
      "vision eval gone -6",
      "vision more new 6",
      "vision nb moved-in 4",
      "nlp nb moved-out -2",
      // One L4 is free all the time.
      "platform not held price 2",
    ]);
    // H100: 4 × 2 h × 3 in both. L4: 2 × 2 h × 1, then 2.
    expect(change).toMatchObject({ costBefore: "28", costAfter: "32", change: "4", rest: "0", total: 5 });
    const first = await ask("&limit=2");
    expect(first).toMatchObject({ total: 5, rest: "4", change: "4" });
    expect(first.parts).toEqual(change.parts.slice(0, 2));
  });

  it("is of what a viewer may see", async () => {
    const own = await ask("", VISION);
    expect(words(own)).toEqual(["vision eval gone -6", "vision more new 6", "vision nb moved-in 4"]);
    expect(own.change).toBe("4");
    expect(words(await ask("&where=team%3Dnlp", VISION))).toEqual([]);
  });

  it("is compared with the time before by default, and has a page whose amounts lead to explanations", async () => {
    const { comparedWith } = (await server.get(`/api/v1/change?span=${AFTER.name}`, FINANCE)).json<ChangeJson>();
    expect(comparedWith.name).toBe(BEFORE.name);
    const { body, statusCode } = await server.get(`/change?span=${AFTER.name}`, FINANCE);
    expect(statusCode).toBe(200);
    const page = text(body);
    expect(page).toContain("vision/eval vision gone -6.00");
    expect(page).toContain("lab/nb nlp moved to another team -2.00");
    expect(page).not.toContain("The first charge is of");
    const early = text((await server.get(`/change?span=${BEFORE.name}`, FINANCE)).body);
    expect(early).toContain("The first charge is of 2026-03-02T00:00:00.000Z.");
    const explained = /href="([^"]*)"><data[^>]*>-6.00/.exec(body)![1]!.replaceAll("&amp;", "&");
    expect(text((await server.get(explained, FINANCE)).body)).toContain("6.00");
    expect(explained).toContain(encodeURIComponent(BEFORE.name));
  });

  it("is printed by the command with its largest parts and the sum of the others", async () => {
    const { username, password } = embedded.user;
    const config = folder.write("change.yaml", {
      prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
      store: { kind: "clickhouse", database: "change", clickhouse: { url: embedded.url, username, password } },
    });
    const run = (...args: readonly string[]) =>
      folder.call(["change", AFTER.name, "--compare", BEFORE.name, ...args, "--config", config]);
    const { code, stdout } = await run("--top", "2");
    expect([code, stdout]).toEqual([0, expect.stringContaining("4 USD: 28 USD became 32 USD")]);
    expect(stdout).toMatch(/vision +vision\/eval +gone +-6\n/);
    expect(stdout).toContain("3 smaller parts: 4 USD");
    const json = await run("--format", "json", "--where", "team=nlp");
    expect(JSON.parse(json.stdout)).toMatchObject({ change: "-2", parts: [{ cause: "moved-out", workload: "nb" }] });
    expect(await run("--top", "none")).toMatchObject({ code: 2, stderr: expect.stringContaining("--top") as string });
  });

  it("is the difference of the reports of any two times, to the last digit", async () => {
    const of = { policy: "default", where: [] };
    for (const [before, after] of [
      [hours(0, 1), hours(1, 4)],
      [hours(3, 4), hours(0, 3)],
      [hours(0, 4), hours(0, 4)],
      [hours(0, 1), hours(20, 30)],
    ] as const) {
      const change = await readChange(store, { ...of, before, after });
      const [was, is] = await Promise.all(
        [before, after].map((span) =>
          readReport(store, { ...of, kind: "showback", span, by: [] }, { currency: "USD" }, { isCompared: false }),
        ),
      );
      expect([change.costBefore, change.costAfter]).toEqual([was!.total.cost, is!.total.cost]);
      expect(formatAmount(sum(change.parts.map(({ cost }) => amountOf<"currency">(cost))))).toBe(change.change);
    }
  });
});
