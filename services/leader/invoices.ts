import type { Logger } from "pino";
import { dateText } from "../../domain/period.ts";
import type { PriceBook } from "../../domain/price/book.ts";
import type { InvoiceSource } from "../../runtime/config/invoices.ts";
import type { StoreClient } from "../../runtime/store/client.ts";
import { placeOf, readingOf } from "../invoices/place-of.ts";
import { readSource } from "../invoices/read-source.ts";
import type { LeaderJob } from "./jobs.ts";

/** Returns the jobs that read the exports of each source with a folder, a bucket or a container. */
export function invoiceJobs(options: {
  readonly sources: readonly InvoiceSource[];
  readonly store: StoreClient;
  readonly book: Pick<PriceBook, "currency" | "rates">;
  readonly logger: Logger;
  readonly now: () => number;
}): readonly LeaderJob[] {
  const { sources, store, book, logger, now } = options;
  return sources.flatMap((source): LeaderJob | readonly never[] => {
    const place = placeOf(source);
    if (place === undefined) return [];
    const of = { source: source.name };
    return {
      name: `exports of ${source.name}`,
      everyMillis: source.every,
      async work() {
        const { read, incomplete, failed, ended } = await readSource(readingOf(source), place, {
          store,
          book,
          now,
          by: "leader",
        });
        for (const { name, months } of read) logger.info({ ...of, export: name, months }, "an export was read");
        for (const { name, reason, file } of incomplete)
          logger.info({ ...of, export: name, reason, file }, "an export is not complete yet; it is not read");
        for (const { name, month } of ended)
          logger.warn(
            { ...of, export: name, month: dateText(month) },
            "an export is gone and others have its lines; its month counts no longer",
          );
        for (const error of failed)
          logger.warn({ ...of, err: error }, "an export cannot be read; nothing of it counts");
      },
    };
  });
}
