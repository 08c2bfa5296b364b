/** An input series of a test: its name with labels, and its values in promtool's notation. */
export interface InputSeries {
  readonly series: string;
  readonly values: string;
}

/** An expected alert: its labels except its name, and its annotations that vary. Constant annotations come from the catalog. */
export interface ExpectedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** An expectation at a time. */
export type Expectation =
  | { readonly at: string; readonly alert: string; readonly firing: readonly ExpectedAlert[] }
  | { readonly at: string; readonly expr: string; readonly samples: Readonly<Record<string, number>> };

/** A test of rules. */
export interface RuleCase {
  /** A sentence. */
  readonly name: string;
  /** The interval between the values of inputs; the default is 30s. */
  readonly every?: string;
  /** The interval between evaluations of the rules; the default is 30s, and it is longer where days must pass. */
  readonly evaluate?: string;
  /** A recorded series in the input replaces the rule that makes it. */
  readonly input: readonly InputSeries[];
  readonly expect: readonly Expectation[];
}

/** The expectation that an alert does not fire at some times. */
export function silent(alert: string, ...times: readonly string[]): readonly Expectation[] {
  return times.map((at) => ({ at, alert, firing: [] }));
}

/** The expectation that an alert fires at some times, as given. */
export function fires(
  alert: string,
  expected: ExpectedAlert | readonly ExpectedAlert[],
  ...times: readonly string[]
): readonly Expectation[] {
  return times.map((at) => ({ at, alert, firing: [expected].flat() }));
}

/** A series by its name and labels; empty labels are left out. */
export function named(name: string, labels: Readonly<Record<string, string>>): string {
  const list = Object.entries(labels).filter(([, value]) => value !== "");
  return `${name}{${list.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(",")}}`;
}

/** The expectation that a recorded series has these values and no others. */
export function records(
  record: string,
  samples: readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[],
  ...times: readonly string[]
): readonly Expectation[] {
  return gives(record, Object.fromEntries(samples.map(([labels, value]) => [named(record, labels), value])), ...times);
}

/** The expectation that an expression returns these values, by series as promtool prints them. */
export function gives(
  expr: string,
  samples: Readonly<Record<string, number>>,
  ...times: readonly string[]
): readonly Expectation[] {
  return times.map((at) => ({ at, expr, samples }));
}
