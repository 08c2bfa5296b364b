import type { ListedFile } from "../find/listing.ts";
import type { ExportStream } from "../source.ts";

/** A folder, bucket or container in which a provider lays down exports. All methods fail with a {@link PlaceError}. */
export interface ExportPlace {
  list(): Promise<readonly ListedFile[]>;
  /** Returns the text of a small file: a manifest. */
  text(key: string): Promise<string>;
  /** Returns the path or the bytes of a file. */
  open(key: string): Promise<string | ExportStream>;
}

/** A place that cannot be read now. Trying again can help. */
export class PlaceError extends Error {
  readonly code = "unreadable-place";
  readonly retriable = true;

  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = "PlaceError";
  }
}

/** Returns the message of an error, with that of its cause: the message of a failed `fetch` names no reason. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  return cause instanceof Error && cause.message !== "" ? `${message}: ${cause.message}` : message;
}
