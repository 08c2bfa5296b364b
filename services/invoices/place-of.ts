import { bucketPlace } from "../../invoices/place/bucket.ts";
import { containerPlace } from "../../invoices/place/container.ts";
import { folderPlace } from "../../invoices/place/folder.ts";
import type { ExportPlace } from "../../invoices/place/place.ts";
import type { InvoiceSource } from "../../runtime/config/invoices.ts";
import type { SourceReading } from "./read-source.ts";

/** Returns the folder, the bucket or the container of a source; undefined if its files are only given to the command. */
export function placeOf({ folder, bucket, container }: InvoiceSource): ExportPlace | undefined {
  if (folder !== undefined) return folderPlace(folder);
  if (container !== undefined) return containerPlace(container);
  return bucket === undefined ? undefined : bucketPlace(bucket);
}

/** Returns how the lines of a configured source are read. */
export function readingOf(source: InvoiceSource): SourceReading {
  const { name, mapping, instanceTypes, accounts, services, rates, finalAfter } = source;
  const lower = (names: readonly string[]): ReadonlySet<string> => new Set(names.map((each) => each.toLowerCase()));
  const keeps = { instanceTypes: lower(instanceTypes), accounts: new Set(accounts), services: lower(services) };
  return { name, mapping, keeps, rates, finalAfter };
}
