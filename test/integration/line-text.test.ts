import { afterAll, beforeAll, expect, it } from "vitest";
import { lineText } from "../../processors/ledger/closing/line-hashes.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { nullableAmount, text } from "../../runtime/store/schema/types.ts";
import { createTestDatabase } from "../support/database.ts";

let store: StoreClient;
beforeAll(async () => {
  store = await createTestDatabase("line_text");
});
afterAll(() => store.close());

it("a closing's text of a line differs by the added column that has the value, and is as before for the first one", async () => {
  const texts = ["latest", "node", "layout", "later"].map((name) => ({ name, type: text }));
  const columns = [...texts, { name: "amount", type: nullableAmount }];
  const sql = `SELECT ${lineText(columns, new Set(["layout", "later", "latest", "amount"]))} AS line
    FROM VALUES('layout String, later String, latest String, amount Nullable(Decimal(38, 9))', ('', '', '', NULL),
      ('mig', '', '', NULL), ('', 'x', '', NULL), ('', '', 'x', NULL), ('mig', 'y', 'x', 0))
    ARRAY JOIN ['gpu-a'] AS node`;
  const lines = (await store.query<{ line: string }>(sql)).map(({ line }) => line.replaceAll("\u001f", "|"));
  expect(lines).toEqual([
    "gpu-a",
    "gpu-a|mig",
    "gpu-a|later=x",
    "gpu-a|latest=x",
    "gpu-a|amount=0|later=y|latest=x|mig",
  ]);
});
