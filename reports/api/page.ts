import { z } from "zod";
import { Problem } from "../question/problem.ts";

/** A position in rows that were read once. */
export interface Cursor {
  /** The ledger version of the first page. */
  readonly ledgerVersion: string;
  readonly at: number;
}

const written = z.tuple([z.string().max(100), z.number().int().min(0)]);

/** Returns the text of a cursor. Clients give it back unchanged. */
export function cursorText({ ledgerVersion, at }: Cursor): string {
  return writeCursor([ledgerVersion, at]);
}

/** Reads a cursor. Fails with a {@link Problem} if the text is not a cursor of this server. */
export function readCursor(text: string): Cursor {
  const [ledgerVersion, at] = readCursorOf(written, text);
  return { ledgerVersion, at };
}

/** Returns a position of any kind as a cursor. */
export function writeCursor(position: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** Reads a position of a kind. Fails with a {@link Problem} if the text is not such a position. */
export function readCursorOf<Position extends z.ZodType>(kind: Position, text: string): z.output<Position> {
  const message = "`next` of a page, as it was given";
  try {
    return kind.parse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
  } catch {
    throw new Problem("wrong-parameter", `cursor: ${message}`, [{ parameter: "cursor", message }]);
  }
}

/** Returns the problem of a page whose figures are gone. */
export function pageGone(): Problem {
  return new Problem("page-gone", "the ledger has new figures since the first page: start again without a cursor");
}
