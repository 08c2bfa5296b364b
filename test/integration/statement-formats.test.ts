import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { query } from "chdb";
import { parse } from "csv-parse/sync";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { amountOf, formatAmount, sum } from "../../domain/exact/units.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { openBooks } from "../support/books.ts";
import { NOON, pagesFleet, PRICES_CONFIG } from "../support/pages-fleet.ts";
import { createTestDatabase } from "../support/database.ts";
import { createReportsServer, type ReportsServer } from "../support/reports-server.ts";

/** A price whose products end in all digits. */
const PRICE = "3.123456789";
/** Four GPUs for four hours. */
const TOTAL = "49.975308624";

type Row = Readonly<Record<string, string>>;

describe("a month's statement, by the links of its page", () => {
  let store: StoreClient;
  let server: ReportsServer;
  let folder: string;
  let links: readonly string[];

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "gpu-ledger-formats-"));
    store = await createTestDatabase("formats");
    const fleet = pagesFleet(PRICE);
    const books = openBooks(store, fleet);
    await books.arrive(fleet);
    await books.settle(NOON);
    server = await createReportsServer(store, NOON, PRICES_CONFIG);
    const { body } = await server.get("/statement?period=2026-03");
    links = [...body.matchAll(/href="(\/api\/v1\/[^"]*)"/g)].map(([, href]) => href!.replaceAll("&amp;", "&"));
  });
  afterAll(async () => {
    await server.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The exact sum of the costs of some rows. */
  const sumOf = (costs: readonly string[]): string => {
    expect(costs.length).toBeGreaterThan(3);
    return formatAmount(sum(costs.map((cost) => amountOf<"currency">(cost))));
  };
  const get = async (link: string): Promise<string> => {
    const { statusCode, body } = await server.get(link);
    expect({ link, statusCode }).toEqual({ link, statusCode: 200 });
    return body;
  };
  const linkOf = (path: string, format = ""): string => {
    const found = links.filter((link) => link.startsWith(`/api/v1/${path}?`) && link.includes(format));
    expect(found).toHaveLength(1);
    return found[0]!;
  };
  async function costsOfParquet(link: string, column: string): Promise<readonly string[]> {
    const file = join(folder, "statement.parquet");
    writeFileSync(file, (await server.get(link)).rawPayload);
    const read = query(`SELECT toString(${column}) AS cost FROM file('${file}', Parquet)`, "JSONEachRow");
    return read
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { cost: string }).cost);
  }
  const csvRows = (text: string): readonly Row[] => parse(text, { columns: true, bom: true });

  it.each([
    {
      format: "statements as JSON",
      async costs() {
        const { statements } = JSON.parse(await get(linkOf("statements"))) as { statements: { cost: string }[] };
        return statements.map(({ cost }) => cost);
      },
    },
    {
      format: "sums as CSV",
      costs: async () => csvRows(await get(linkOf("charges", "format=csv"))).map(({ cost }) => cost!),
    },
    {
      format: "sums as NDJSON",
      async costs() {
        const lines = (await get(linkOf("charges", "format=ndjson"))).trimEnd().split("\n");
        return lines.map((line) => (JSON.parse(line) as { cost: string }).cost);
      },
    },
    { format: "sums as Parquet", costs: () => costsOfParquet(linkOf("charges", "format=parquet"), "cost") },
    {
      format: "a document",
      async costs() {
        const body = /<tbody>(.*?)<\/tbody>/s.exec(await get(linkOf("charges", "format=html")))![1]!;
        const rows = [...body.matchAll(/<tr>.*?<\/tr>/gs)];
        return rows.map(([row]) => [...row.matchAll(/<data(?: class="money")? value="([^"]*)"/g)][1]![1]!);
      },
    },
    { format: "FOCUS", costs: async () => csvRows(await get(linkOf("focus"))).map((row) => row["EffectiveCost"]!) },
    {
      format: "FOCUS as Parquet",
      costs: () => costsOfParquet(`${linkOf("focus")}&format=parquet`, "EffectiveCost"),
    },
    {
      format: "lines as CSV",
      costs: async () => csvRows(await get(linkOf("charges/lines", "format=csv"))).map(({ cost }) => cost!),
    },
    {
      format: "lines as NDJSON",
      async costs() {
        const lines = (await get(linkOf("charges/lines", "format=ndjson"))).trimEnd().split("\n");
        return lines.map((line) => (JSON.parse(line) as { cost: string }).cost);
      },
    },
    { format: "lines as Parquet", costs: () => costsOfParquet(linkOf("charges/lines", "format=parquet"), "cost") },
  ])("has the same total to the last digit, added up from $format", async ({ costs }) => {
    expect(sumOf(await costs())).toBe(TOTAL);
  });

  it("has the same total on its page, on the overview, and in its explanation", async () => {
    for (const path of ["/statement?period=2026-03", "/?span=2026-03", "/explain?span=2026-03&kind=chargeback"])
      expect(await get(path)).toContain(`value="${TOTAL}"`);
  });
});
