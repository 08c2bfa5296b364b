import { afterAll, beforeAll, expect, it } from "vitest";
import { lineText } from "../../processors/ledger/closing/line-hashes.ts";
import { ADDED_COLUMNS } from "../../runtime/store/schema/charges.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { text } from "../../runtime/store/schema/types.ts";
import { createTestDatabase } from "../support/database.ts";

let store: StoreClient;
beforeAll(async () => {
  store = await createTestDatabase("line_text");
});
afterAll(() => store.close());

it("a closing's text of a line differs by the added column that has the value, and is as before for the first one", async () => {
  const columns = ["node", "layout", "later", "latest"].map((name) => ({ name, type: text }));
  const sql = `SELECT ${lineText(columns, new Set(["layout", "later", "latest"]))} AS line
    FROM VALUES('layout String, later String, latest String', ('', '', ''), ('mig', '', ''), ('', 'x', ''), ('', '', 'x'))
    ARRAY JOIN ['gpu-a'] AS node`;
  const lines = (await store.query<{ line: string }>(sql)).map(({ line }) => line.replaceAll("\u001f", "|"));
  expect(lines).toEqual(["gpu-a", "gpu-a|mig", "gpu-a|later=x", "gpu-a|latest=x"]);
});

it("has one added column today, so that no closed period's hash changes", () => {
  expect([...ADDED_COLUMNS]).toEqual(["layout"]);
});
