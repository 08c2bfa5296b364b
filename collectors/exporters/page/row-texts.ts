import type { Steps } from "../../../runtime/steps.ts";
import { PageError } from "../http/page-error.ts";

/** The most bytes of a message in addition to its rows and values: head, key and drop counts. */
const MOST_REST_BYTES = 4096;
const CHARACTERS_OF_STEP = 64 * 1024;

/** The check of the size of a message. */
export interface SizeCheck {
  /** Throws a {@link PageError} `too-large` if the message is too large with this number of bytes for its rows. */
  check(bytes: number): void;
}

/** Creates the check of a message with a number of values. */
export function createSizeCheck(values: number, messageBytes: number): SizeCheck {
  return {
    check(bytes) {
      if (MOST_REST_BYTES + values * 8 + bytes <= messageBytes) return;
      throw new PageError("too-large", `the rows of one host are too large for a message of ${messageBytes} bytes`);
    },
  };
}

/**
 * Returns rows as JSON with commas between them, in steps and in one part for each step. Throws a {@link PageError} `too-large` as soon as
 * they do not fit into the message.
 */
export function* rowTexts(rows: readonly object[], size: SizeCheck): Steps<readonly Uint8Array[]> {
  const parts: Uint8Array[] = [];
  let text = "";
  let bytes = 0;
  for (const [index, row] of rows.entries()) {
    if (index > 0) text += ",";
    text += JSON.stringify(row);
    if (text.length < CHARACTERS_OF_STEP && index + 1 < rows.length) continue;
    const part = utf8.encode(text);
    size.check((bytes += part.length));
    parts.push(part);
    text = "";
    yield;
  }
  return parts;
}

const utf8 = new TextEncoder();
