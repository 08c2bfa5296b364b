import type { DropReason } from "../domain/invoice/dialect/dialect.ts";
import type { ExportLine } from "../domain/invoice/export-line.ts";

/** A billing period that lines of a file are of, half-open, milliseconds since the epoch. */
export interface SeenPeriod {
  readonly from: number;
  readonly until: number;
  readonly lines: number;
}

/** The facts of a file that was read. */
export interface ExportSummary {
  /** The form of the file, for people. */
  readonly format: string;
  readonly rows: number;
  /** The lines that count. A row can have two. */
  readonly lines: number;
  /** The rows that do not count, by reason. */
  readonly dropped: Readonly<Partial<Record<DropReason, number>>>;
  /** The periods of the lines that count, oldest first. */
  readonly periods: readonly SeenPeriod[];
  /** The payers and currencies of the lines that count. */
  readonly payers: readonly string[];
  readonly currencies: readonly string[];
  /** The stored bytes of the file, and their hash in hexadecimal digits. */
  readonly bytes: number;
  readonly sha256: string;
}

/** The counts of a file while it is read. */
export interface Tally {
  format: string;
  rows: number;
  drop(reason: DropReason): void;
  line(line: ExportLine): void;
  summary(file: { readonly bytes: number; readonly sha256: string }): ExportSummary;
}

/** Returns empty counts. */
export function createTally(): Tally {
  const dropped = new Map<DropReason, number>();
  const periods = new Map<string, { from: number; until: number; lines: number }>();
  const [payers, currencies] = [new Set<string>(), new Set<string>()];
  let lines = 0;
  return {
    format: "",
    rows: 0,
    drop: (reason) => void dropped.set(reason, (dropped.get(reason) ?? 0) + 1),
    line({ billingFrom: from, billingUntil: until, payer, currency }) {
      lines += 1;
      payers.add(payer);
      currencies.add(currency);
      const key = `${from}/${until}`;
      const period = periods.get(key);
      if (period === undefined) periods.set(key, { from, until, lines: 1 });
      else period.lines += 1;
    },
    summary(file) {
      return {
        format: this.format,
        rows: this.rows,
        lines,
        dropped: Object.fromEntries(dropped),
        periods: [...periods.values()].toSorted((a, b) => a.from - b.from || a.until - b.until),
        payers: [...payers].toSorted(),
        currencies: [...currencies].toSorted(),
        ...file,
      };
    },
  };
}
