/** A series that a test feeds in: its name with labels, and its values in promtool's notation. */
export interface InputSeries {
  readonly series: string;
  readonly values: string;
}

/** An alert that is expected: its labels but its name's, and those annotations that the catalogue does not give word by word. */
export interface ExpectedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

/** What is asked at a time. */
export type Expectation =
  | { readonly at: string; readonly alert: string; readonly firing: readonly ExpectedAlert[] }
  | { readonly at: string; readonly expr: string; readonly samples: Readonly<Record<string, number>> };

/** A test of rules. */
export interface RuleCase {
  /** A sentence. */
  readonly name: string;
  /** How far apart the values of inputs are; 30s where nothing is said. */
  readonly every?: string;
  /** How often rules are evaluated; 30s where nothing is said, more where days must pass. */
  readonly evaluate?: string;
  /** Recorded series among them take the place of the rules that make them. */
  readonly input: readonly InputSeries[];
  readonly expect: readonly Expectation[];
}

/** That an alert does not fire at some times. */
export function silent(alert: string, ...times: readonly string[]): readonly Expectation[] {
  return times.map((at) => ({ at, alert, firing: [] }));
}

/** That an alert fires at some times, as stated. */
export function fires(
  alert: string,
  expected: ExpectedAlert | readonly ExpectedAlert[],
  ...times: readonly string[]
): readonly Expectation[] {
  return times.map((at) => ({ at, alert, firing: [expected].flat() }));
}

/** A series by its name and labels; those that are empty are left out. */
export function named(name: string, labels: Readonly<Record<string, string>>): string {
  const list = Object.entries(labels).filter(([, value]) => value !== "");
  return `${name}{${list.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(",")}}`;
}

/** That a recorded series has these values and no others. */
export function records(
  record: string,
  samples: readonly (readonly [labels: Readonly<Record<string, string>>, value: number])[],
  ...times: readonly string[]
): readonly Expectation[] {
  return gives(record, Object.fromEntries(samples.map(([labels, value]) => [named(record, labels), value])), ...times);
}

/** That an expression gives these values, by series as promtool prints them. */
export function gives(
  expr: string,
  samples: Readonly<Record<string, number>>,
  ...times: readonly string[]
): readonly Expectation[] {
  return times.map((at) => ({ at, expr, samples }));
}
