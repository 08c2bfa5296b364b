import { azure } from "./azure.ts";
import { cur } from "./cur.ts";
import type { ExportDialect, ExportHead, RowReader } from "./dialect.ts";
import { focus } from "./focus.ts";
import { gcp } from "./gcp.ts";
import type { Keeping } from "./keeping.ts";
import { mapped, type Mapping } from "./mapped.ts";
import { oci } from "./oci.ts";

/** The dialects in the order in which a file is tried. Exports in FOCUS can have columns of the provider beside those of FOCUS. */
const DIALECTS: readonly ExportDialect[] = [focus, cur, gcp, oci, azure];

/** Returns the reader for a file with these columns; undefined if no dialect knows them. With a mapping, only the mapping counts. */
export function recognize(head: ExportHead, keeping: Keeping, mapping?: Mapping): RowReader | undefined {
  if (mapping !== undefined) return mapped(mapping).open(head, keeping);
  for (const dialect of DIALECTS) {
    const reader = dialect.open(head, keeping);
    if (reader !== undefined) return reader;
  }
  return undefined;
}
