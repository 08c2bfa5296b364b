/** A page, or a short text about the reason why it is missing. */
export type PageResult = { readonly page: Buffer } | { readonly failure: string };

/** The limits of each page. */
export interface PageOptions {
  readonly timeoutMillis: number;
  readonly signal: AbortSignal;
}

/** The largest page, in bytes. */
export const MOST_PAGE_BYTES = 64 * 1024 * 1024;

/** The failure of a page above the limit. */
export const TOO_LARGE = { failure: "the page is larger than 64 MB" } as const;

const MOST_CHARACTERS = 200;

/** Returns the failure of a page that did not arrive in time. */
export function noAnswer(timeoutMillis: number): { readonly failure: string } {
  return { failure: `no answer within ${timeoutMillis / 1000} s` };
}

/** Returns the first line of a message, at most 200 characters of it. */
export function shortened(message: string): string {
  return message.split("\n")[0]!.slice(0, MOST_CHARACTERS);
}
