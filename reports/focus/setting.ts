import type { FocusDraft, FocusVersion } from "../../domain/focus-version.ts";
import type { PriceBook } from "../../domain/price/book.ts";
import type { FocusConfig } from "../../runtime/config/focus.ts";
import type { Ledger } from "../../runtime/config/ledger.ts";

/** The version of FOCUS, the names for the rows that the ledger does not have, and the policy and the currency. */
export interface FocusSetting extends Omit<FocusConfig, "version"> {
  readonly version: FocusVersion;
  readonly draft?: FocusDraft;
  readonly policy: string;
  readonly currency: string;
  /** True if the sums of origins are hidden, because the reader may see only some parts of them. Then no row has a ratio. */
  readonly hidesOrigins?: boolean;
  /** The price book with the commitments. */
  readonly book?: Pick<PriceBook, "currency" | "rates" | "commitments">;
  /** The billing periods whose statements are invoices of the policy, as milliseconds of their first moments. */
  readonly invoiced?: ReadonlySet<number>;
}

/** The choices of a file. */
export interface FocusChoice {
  readonly policy: string;
  /** Default: the version of the configuration, which the ledger has decided if the configuration has none. */
  readonly version?: FocusVersion | undefined;
  readonly draft?: FocusDraft | undefined;
  readonly hidesOrigins?: boolean;
}

/** Returns the setting of a file. A configuration without a version that no ledger has decided has 1.3. */
export function focusSetting(
  focus: FocusConfig,
  { book }: Pick<Ledger, "book">,
  { version = focus.version ?? "1.3", draft, ...choice }: FocusChoice,
): FocusSetting {
  return { ...focus, ...choice, version, ...(draft && { draft }), currency: book.currency, book };
}

/** Returns the objection to a draft of another version in a sentence; undefined if there is none. */
export function objectionToDraft({ version, draft }: Pick<FocusSetting, "version" | "draft">): string | undefined {
  return draft !== undefined && version !== "1.4"
    ? `the columns of ${draft} come with version 1.4, not with ${version}`
    : undefined;
}
