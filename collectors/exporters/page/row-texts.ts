import type { Steps } from "../../../runtime/steps.ts";
import { PageError } from "../http/page-error.ts";

/** The most bytes of a message in addition to its rows and values: head, key and drop counts. */
const MOST_REST_BYTES = 4096;
const ROWS_OF_STEP = 256;

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

/** Returns rows as JSON, in steps. Throws a {@link PageError} `too-large` as soon as they do not fit into the message. */
export function* rowTexts(rows: readonly object[], size: SizeCheck): Steps<readonly string[]> {
  const texts: string[] = [];
  let length = 0;
  for (const [index, row] of rows.entries()) {
    if (index % ROWS_OF_STEP === 0) yield;
    const text = JSON.stringify(row);
    texts.push(text);
    size.check((length += text.length));
  }
  return texts;
}
