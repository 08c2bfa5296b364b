import type { Device } from "../../../domain/device.ts";
import type { Alias, Reading } from "../../../domain/dialect/dialect.ts";
import type { ExpositionSample } from "../exposition/parse.ts";
import type { RowLabels } from "./row.ts";

/** A series of a page. */
export interface Series {
  readonly index: number;
  readonly sample: ExpositionSample;
  readonly labels: RowLabels;
  readonly alias: Alias | undefined;
}

/** The series that fills a column of a row. */
export interface Cell {
  readonly series: Series;
  readonly reading: Reading;
  readonly rank: number;
}

/** The series of one device on a page, or of one holder on it. */
export interface Row {
  /** Empty if the page is of one exporter. */
  readonly host: string;
  device: Device;
  /** Labels without a device field that every series of the row has with the same value. */
  constant: Map<string, string>;
  readonly series: Series[];
  readonly cells: Map<string, Cell>;
  /** Columns whose value is the code of the series with the latest time. */
  readonly codes: Map<string, Code[]>;
}

/** A code, and the index of the number that is its time. */
export interface Code {
  readonly index: number;
  readonly code: number;
}
