import { describe, expect, it, onTestFinished } from "vitest";
import { periodOf } from "../../domain/period.ts";
import type { CloseError } from "../../processors/ledger/closing/close-error.ts";
import type { CloseReport } from "../../processors/ledger/closing/close.ts";
import { readAudit } from "../../processors/ledger/closing/audit.ts";
import { readClosed } from "../../processors/ledger/closed/closed.ts";
import { readStatements } from "../../reports/read/statements.ts";
import { verifyClosings } from "../../processors/ledger/closing/verify.ts";
import { dropSuperseded } from "../../processors/ledger/term/superseded.ts";
import { explain } from "../../reports/explain/read-explanation.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import type { Scenario } from "../../scenarios/files.ts";
import { openBooks, type Books } from "../support/books.ts";
import { createTestDatabase } from "../support/database.ts";
import { scenarioWith } from "../support/played.ts";

const APRIL_3 = Date.UTC(2026, 3, 3);
const APRIL_10 = Date.UTC(2026, 3, 10);
const MAY_3 = Date.UTC(2026, 4, 3);

/** Two GPUs at 3 an hour for the last two hours of March and the first of April; vision holds one of them all the time. */
function fleet(given: Readonly<Record<string, unknown>> = {}): Scenario {
  return scenarioWith({
    period: { start: "2026-03-31T22:00:00Z", end: "2026-04-01T01:00:00Z" },
    nodes: [
      { name: "gpu-a", model: "NVIDIA-A100-SXM4-40GB", gpus: 2, instanceType: "p4d", until: "2026-04-01T01:00:00Z" },
    ],
    namespaces: { vision: { labels: { team: "vision" } }, nlp: { labels: { team: "nlp" } } },
    pods: [{ name: "v-0", namespace: "vision", node: "gpu-a", holds: { gpus: 1 }, devices: [0], activity: 1 }],
    prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "3.00" }],
    ...given,
  });
}

/** The same fleet, with a pod that was unknown. */
function withLatePod(): Scenario {
  const [first] = fleet().pods;
  return fleet({
    pods: [
      { ...plain(first), scheduled: undefined },
      {
        name: "n-0",
        namespace: "nlp",
        node: "gpu-a",
        holds: { gpus: 1 },
        devices: [1],
        finished: "2026-03-31T23:00:00Z",
      },
    ],
  });
}

function plain(pod: Scenario["pods"][number] | undefined): Readonly<Record<string, unknown>> {
  return { name: pod!.name, namespace: pod!.namespace, node: "gpu-a", holds: { gpus: 1 }, devices: [0], activity: 1 };
}

describe("the books of a billing period", () => {
  let count = 0;

  /** Books with all hours charged on the 3rd of April. */
  async function booksOf(scenario: Scenario, without?: string): Promise<Books> {
    const store = await createTestDatabase(`closing_${(count += 1)}`);
    onTestFinished(() => store.close());
    const books = openBooks(store, scenario);
    await books.arrive(scenario, without);
    expect((await books.settle(APRIL_3)).breaches).toEqual([]);
    return books;
  }

  const words = ({ document }: CloseReport): readonly string[] =>
    document.statements.map(({ team, effective, posted, gpuHours }) => `${team} ${gpuHours} ${effective} ${posted}`);
  const sums = async (store: StoreClient, by: string): Promise<readonly string[]> => {
    const rows = await store.query<{ key: string; hours: string; cost: string }>(
      `SELECT ${by} AS key, toString(sum(gpu_hours)) AS hours, toString(sum(effective_cost)) AS cost
       FROM charges_published GROUP BY key ORDER BY key`,
    );
    return rows.map(({ key, hours, cost }) => `${key} ${hours} ${cost}`);
  };

  it("can be inspected, are closed once, and not before their date", async () => {
    const books = await booksOf(fleet());
    const look = await books.close("2026-03", APRIL_3, { isDryRun: true });
    // Two hours of two GPUs at 3.
    expect(words(look)).toEqual(["platform 2 6 6", "vision 2 6 6"]);
    expect(look).toMatchObject({ objections: [], unsettled: [], differences: undefined });
    expect(look.document.total).toMatchObject({ effective: "12", posted: "12", coverage: "1", unpricedGpuHours: "0" });

    const refusal = (period: string, now: number): Promise<CloseError> =>
      books.close(period, now).then(
        () => {
          throw new Error("it was closed");
        },
        (error: unknown) => error as CloseError,
      );
    expect(await refusal("2026-03", Date.UTC(2026, 2, 31, 23))).toMatchObject({
      code: "not-due",
      message: "2026-03 has not ended: it ends with 2026-04-01, and can be closed from 2026-04-03 on (closing.day)",
    });
    expect(await refusal("2026-03", APRIL_3 - 1)).toMatchObject({ code: "not-due" });
    expect(await refusal("2026-04", MAY_3)).toMatchObject({ code: "earlier-open" });
    expect(await refusal("2026-02", APRIL_3)).toMatchObject({ code: "nothing-charged" });

    const closed = await books.close("2026-03", APRIL_3);
    expect(words(closed)).toEqual(words(look));
    expect(closed.differences).toEqual([]);
    expect(await refusal("2026-03", MAY_3)).toMatchObject({
      code: "already-closed",
      message: expect.stringContaining("finance closed it at 2026-04-03T00:00:00.000Z") as string,
    });
  });

  it("stay as they were closed, and late data makes corrections in the open period", async () => {
    const books = await booksOf(fleet());
    await books.close("2026-03", APRIL_3);
    const before = await sums(books.store, "team");
    await books.arrive(withLatePod(), undefined);
    books.use(withLatePod());
    expect((await books.settle(APRIL_10)).breaches).toEqual([]);
    // nlp held GPU 1 in the hour from 22:00: an hour moves from the platform to nlp.
    expect(before).toEqual(["platform 3 9", "vision 3 9"]);
    expect(
      await sums(books.store, "concat(toString(billing_period), ' ', toString(from_at < '2026-04-01'), ' ', team)"),
    ).toEqual([
      "2026-03-01 1 platform 2 6",
      "2026-03-01 1 vision 2 6",
      "2026-04-01 0 platform 1 3",
      "2026-04-01 0 vision 1 3",
      "2026-04-01 1 nlp 1 3",
      "2026-04-01 1 platform -1 -3",
    ]);
    await books.settle(APRIL_10);
    expect(await sums(books.store, "team")).toEqual(["nlp 1 3", "platform 2 6", "vision 3 9"]);
  });

  const deviations = async (store: StoreClient): Promise<readonly string[]> =>
    (await verifyClosings(store, undefined)).flatMap(({ deviations: found }) => found.map(({ what }) => what));

  it("take corrections into the next statement, and freeze them there", async () => {
    const books = await booksOf(fleet());
    await books.close("2026-03", APRIL_3);
    await books.arrive(withLatePod());
    books.use(withLatePod());
    await books.settle(APRIL_10);
    const april = await books.close("2026-04", MAY_3);
    // An hour of two GPUs in April; and the hour of March that moved from the platform to nlp.
    expect(words(april)).toEqual(["nlp 1 3 3", "platform 0 0 0", "vision 1 3 3"]);
    expect(april.document.total).toMatchObject({ effective: "6", corrections: "0", gpuHours: "2" });

    // The price of March falls to 2: nothing of March or April changes, May has the whole difference.
    const before = await sums(books.store, "concat(toString(billing_period), ' ', team)");
    const prices = [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "2.00" }];
    books.use({ ...withLatePod(), prices });
    await books.settle(MAY_3);
    expect(await sums(books.store, "concat(toString(billing_period), ' ', team)")).toEqual([
      ...before,
      "2026-05-01 nlp 0 -1",
      "2026-05-01 platform 0 -2",
      "2026-05-01 vision 0 -3",
    ]);
    // By charge period, originals and corrections are the recomputed cost: 4 GPU-hours in March and 2 in April, at 2.
    expect(await sums(books.store, "toString(toStartOfMonth(from_at))")).toEqual(["2026-03-01 4 8", "2026-04-01 2 4"]);
    // Again, when that changes back: the corrections in May so far are replaced.
    books.use(withLatePod());
    await books.settle(MAY_3);
    expect(await sums(books.store, "concat(toString(billing_period), ' ', team)")).toEqual(before);
    expect(await deviations(books.store)).toEqual([]);
  });

  it("keep their source runs, for any number of recomputations of the hours", async () => {
    const books = await booksOf(fleet());
    await books.close("2026-03", APRIL_3);
    const closed = await verifyClosings(books.store, undefined);
    const count = async (): Promise<unknown> =>
      books.store.query("SELECT toString(count()) AS rows FROM usage_hours WHERE from_at < '2026-04-01'");
    await books.arrive(withLatePod());
    books.use(withLatePod());
    await books.settle(APRIL_10);
    await books.settle(APRIL_10 + 1);
    await dropSuperseded(books.store, APRIL_10 + 2 * 3_600_000);
    expect(await verifyClosings(books.store, undefined)).toEqual(closed);
    // One row of the platform's GPU and one of vision's an hour, as closed; and as with the late pod.
    expect(await count()).toEqual([{ rows: "8" }]);
    const hour = { from: Date.UTC(2026, 2, 31, 22), until: Date.UTC(2026, 2, 31, 23) };
    const ofTeam = (team: string) => [{ dimension: "team", values: [team] }];
    const question = { policy: "default", kind: "showback", span: { name: "an hour", ...hour } } as const;
    const explanation = await explain(books.store, { ...question, where: ofTeam("nlp") });
    expect(explanation.lines).toMatchObject([
      { isCorrection: true, billingPeriod: "2026-04", pod: "n-0", segment: {} },
    ]);
    // By the month in which it is booked, it is on the statement of April, with another hour's.
    const period = periodOf(Date.UTC(2026, 3, 1));
    const booked = { policy: "default", kind: "chargeback", span: period, where: ofTeam("nlp") } as const;
    const [statement] = (await readStatements(books.store, { policy: "default", where: ofTeam("nlp"), period }, "USD"))
      .statements;
    expect(statement).toMatchObject({
      cost: (await explain(books.store, booked)).cost,
      corrections: statement!.cost,
    });
    const [original] = (await explain(books.store, { ...question, where: ofTeam("platform") })).lines;
    expect(original).toMatchObject({
      isCorrection: false,
      billingPeriod: "2026-03",
      segment: { unavailableBecause: "" },
    });
  });

  it("show which rows were changed", async () => {
    const books = await booksOf(fleet());
    await books.close("2026-03", APRIL_3);
    expect(await deviations(books.store)).toEqual([]);
    const { store } = books;
    await store.command(
      "ALTER TABLE charges UPDATE effective_cost = effective_cost + toDecimal128('0.000000001', 9) WHERE team = 'vision' AND from_at = '2026-03-31 22:00:00' SETTINGS mutations_sync = 1",
    );
    expect(await deviations(store)).toEqual([
      "the lines of vision",
      "the cost of vision's lines",
      "the total's effective",
    ]);
    await store.command(
      "ALTER TABLE statements UPDATE posted = posted + 1 WHERE team = 'platform' SETTINGS mutations_sync = 1",
    );
    expect(await deviations(store)).toContain("the statement of platform, column posted");
    await store.command(
      "ALTER TABLE closings UPDATE document = replace(document, 'finance', 'lisa') WHERE 1 SETTINGS mutations_sync = 1",
    );
    expect(await deviations(store)).toContain("the closing's document");
    await store.command("ALTER TABLE closed_runs DELETE WHERE kind = 'usage' SETTINGS mutations_sync = 1");
    expect(await deviations(store)).toContain("the runs that were frozen");
  });

  it("are closed by one of two clients that close them at once; the other one gets the name of the first", async () => {
    const books = await booksOf(fleet());
    const both = await Promise.allSettled([
      books.close("2026-03", APRIL_3, { by: "finance" }),
      books.close("2026-03", APRIL_3, { by: "lisa" }),
    ]);
    const { periods } = await readClosed(books.store);
    expect(periods).toHaveLength(1);
    const [first, second] = periods[0]!.closedBy === "finance" ? both : both.toReversed();
    expect(first).toMatchObject({ status: "fulfilled", value: { closeId: periods[0]!.closeId } });
    expect(second).toMatchObject({ status: "rejected", reason: { code: "already-closed" } });
    expect(String((second as PromiseRejectedResult).reason)).toContain(periods[0]!.closedBy);
    expect(await sums(books.store, "team")).toEqual(["platform 3 9", "vision 3 9"]);
    expect(await deviations(books.store)).toEqual([]);
    const trail = await readAudit(books.store);
    expect(trail.map(({ what, subject, why }) => `${what} ${subject}: ${why}`).toSorted()).toEqual([
      "close 2026-03: the month is over",
      "close that came second 2026-03: the month is over",
    ]);
  });

  it("are as open as before if a close was killed between its steps", async () => {
    const books = await booksOf(fleet());
    const before = await sums(books.store, "team");
    for (const table of ["closed_runs", "statements", "closings"]) {
      const dying: StoreClient = {
        ...books.store,
        insertJson: (name, rows) =>
          name === table ? Promise.reject(new Error("killed")) : books.store.insertJson(name, rows),
      };
      await expect(openBooks(dying, fleet()).close("2026-03", APRIL_3)).rejects.toThrow("killed");
    }
    expect((await readClosed(books.store)).periods).toEqual([]);
    expect(await sums(books.store, "team")).toEqual(before);
    await books.close("2026-03", APRIL_3);
    expect(await deviations(books.store)).toEqual([]);
  });

  it("are not closed while an hour is missing, is charged by other rules, or does not sum to its cost", async () => {
    const books = await booksOf(fleet());
    books.use(fleet({ prices: [{ match: {}, from: "2026-01-01", per: "gpu-hour", effective: "4.00" }] }));
    await expect(books.close("2026-03", APRIL_3)).rejects.toMatchObject({
      code: "unsettled",
      message: expect.stringContaining("2 hours are not charged with the current usage") as string,
    });
    books.use(fleet());
    await books.store.insertJson("breaches", [
      {
        cluster: "default",
        window_start: Date.UTC(2026, 2, 31, 22) / 1000,
        policy: "default",
        node: "gpu-a",
        slot: "1",
        what: "effective",
        expected: "3",
        found: "2",
        found_at: "2026-04-03T00:00:01.000Z",
      },
    ]);
    await expect(books.close("2026-03", APRIL_3 + 2000)).rejects.toMatchObject({
      code: "breach",
      message:
        "charges of GPU 1 of default/gpu-a in the hour from 2026-03-31T22:00:00.000Z do not sum to their cost: effective is 2, expected 3 under default",
    });
    await books.settle(APRIL_3 + 3000);
    await books.store.command(
      "ALTER TABLE runs DELETE WHERE kind = 'usage' AND window_start = '2026-03-31 23:00:00' SETTINGS mutations_sync = 1",
    );
    await expect(books.close("2026-03", APRIL_3 + 4000)).rejects.toMatchObject({
      code: "unsettled",
      message: expect.stringContaining("default 2026-03-31T23:00:00.000Z") as string,
    });
  });
});
