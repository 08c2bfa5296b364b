import { bucketPlace } from "../../invoices/place/bucket.ts";
import { folderPlace } from "../../invoices/place/folder.ts";
import type { ExportPlace } from "../../invoices/place/place.ts";
import type { InvoiceSource } from "../../runtime/config/invoices.ts";
import type { SourceReading } from "./read-source.ts";

/** Returns the folder or the bucket of a source; undefined if its files are only given to the command. */
export function placeOf({ folder, bucket }: InvoiceSource): ExportPlace | undefined {
  if (folder !== undefined) return folderPlace(folder);
  return bucket === undefined ? undefined : bucketPlace(bucket);
}

/** Returns how the lines of a configured source are read. */
export function readingOf({ name, mapping, instanceTypes, accounts, services, rates }: InvoiceSource): SourceReading {
  const lower = (names: readonly string[]): ReadonlySet<string> => new Set(names.map((each) => each.toLowerCase()));
  const keeps = { instanceTypes: lower(instanceTypes), accounts: new Set(accounts), services: lower(services) };
  return { name, mapping, keeps, rates };
}
