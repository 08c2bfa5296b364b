import { httpPlace, queryOf } from "./http-place.ts";
import { readContainerPage } from "./listing-page.ts";
import type { ExportPlace } from "./place.ts";

/** A container of Azure Blob Storage. */
export interface Container {
  /** The address of the container: `https://bills.blob.core.windows.net/exports`. */
  readonly url: string;
  /** The beginning of the names that are read. */
  readonly prefix: string;
  /** A shared access signature that permits to list and to read: `sv=2024-11-04&ss=b&…&sig=…`. */
  readonly sasToken: string;
}

/**
 * Returns the exports of a container.
 *
 * Source: https://learn.microsoft.com/rest/api/storageservices/list-blobs.
 */
export function containerPlace({ url, prefix, sasToken }: Container): ExportPlace {
  const base = url.replace(/\/$/, "");
  const signature = sasToken.replace(/^\?/, "");
  return httpPlace({
    base,
    kind: "a container of Azure",
    fetch: (address, options) => fetch(address, options),
    listing: (token) => {
      const more = token === undefined ? {} : { marker: token };
      return `${base}?${queryOf({ restype: "container", comp: "list", prefix, ...more })}&${signature}`;
    },
    page: readContainerPage,
    file: (path) => `${base}/${path}?${signature}`,
  });
}
