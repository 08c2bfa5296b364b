import type { Config } from "../../runtime/config/schema.ts";
import { ledgerOf } from "../../runtime/config/ledger.ts";
import type { Finding } from "./finding.ts";

/** Yields the entries of the price book that stand for costs which an export can have, too. */
export function* checkInvoices(config: Config): Generator<Finding> {
  const { invoices } = config;
  if (invoices.length === 0) return;
  const { book } = ledgerOf(config);
  const owned = book.prices.filter(({ per }) => per === "owned");
  const entries = [...book.commitments, ...book.fixed, ...owned].map(({ name }) => name);
  const sources = invoices.map(({ name }) => name).join(", ");
  if (entries.length === 0)
    yield { ok: true, what: "invoices", answer: `${sources}; the price book has no entry for the same costs` };
  else
    yield {
      ok: true,
      warns: true,
      what: "invoices",
      answer: `${sources} can have the costs of ${entries.join(", ")}, too: leave out what an export covers`,
    };
}
