import fc from "fast-check";

type Parameters = readonly (readonly [name: string, value: string])[];

/** A request: the address with its query as it is sent, and the `Accept` header. */
export interface OddRequest {
  readonly url: string;
  readonly accept: string;
}

/** Parameters of the server with values that some route accepts. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  span: "month lastmonth today 36h 9999h 400d 2026-03 2026-03-31 2026-03-01/2026-04-01 2026-03-31T22:00Z/2026-04-01T00:00Z 0001-01 9999-12 2026-13 275760-09 1h 0h 2026-02-30 9999-12-31/9999-12-31 2026-04-01/2026-03-01".split(
    " ",
  ),
  period: "2026-03 2026-04 9999-12 0000-01 2026-3 lastmonth".split(" "),
  policy: "default showback by-usage __proto__".split(" "),
  kind: "showback chargeback".split(" "),
  by: "team state team,state namespace,workload label.run-id label. cluster,node,gpu,team,state,workload chargeDay team,team pod price layout label.__proto__ constructor".split(
    " ",
  ),
  where:
    "team=vision team=nlp team!=vision team=nlp,vision node=gpu-a state=active label.run-id=r1 label.a!= pod= workload!=x team= =x team cluster=*,team=nlp constructor=x".split(
      " ",
    ),
  limit: "1 1000 0 -1 1e3 1.5 0x10 9007199254740993".split(" "),
  cursor: [
    "e30",
    "e30=",
    "eyJsZWRnZXJWZXJzaW9uIjoiIiwiYXQiOjB9",
    "eyJhdCI6LTF9",
    "bnVsbA",
    "W10",
    "eyJsZWRnZXJWZXJzaW9uIjoxLCJhdCI6MWUzMDh9",
  ],
  format: "json ndjson csv parquet html manifest lines-csv xml".split(" "),
  check: "true false 1".split(" "),
  line: "default/gpu-a/0@2026-03-31T22:30:00Z default/gpu-a/1@2026-03-31T22:30:00Z default/gpu-a/1@2026-03-31T22:30Z //@ a/b/c@9999-12-31T00:00:00Z default/gpu-a/-1@2026-03-31T22:30:00Z default/gpu-a/99999999999999999999@2026-03-31T22:30:00Z".split(
    " ",
  ),
  team: "vision nlp platform unowned".split(" "),
  costCenter: ["", "cc"],
  cluster: ["default", "*"],
  namespace: ["vision", "default"],
  workload: ["v-0", ""],
  workloadKind: ["Pod", ""],
  pod: ["v-0", "%"],
  node: ["gpu-a", "gpu-b"],
  gpu: ["0", "1", "2", "-1", "1e9", "99999999999999999999", "0/1"],
  window:
    "today week 1d 24h 2026-03-31T22:00:00Z,2026-04-01T00:00:00Z 1774994400,1775001600 lastmonth 9999d 0d 1e9h -1d 2026-03-31T22:00:00Z,".split(
      " ",
    ),
  aggregate:
    "team namespace pod controller node label:run-id label: namespace,pod cluster team,team container annotation:x constructor".split(
      " ",
    ),
  accumulate: "true false day week hour month".split(" "),
  accumulateBy: "true day all".split(" "),
  step: "1h 1d 7d 0h 1m 99999d -1h 1e3h".split(" "),
  filter: [
    'namespace:"vision"',
    'team:"nlp"',
    'label[run-id]:"r1"',
    'namespace!:"a"+pod:"b"',
    '(namespace:"a"|pod:"b")',
    `${"(".repeat(500)}`,
    `${"(".repeat(2_000)}pod:"a"${")".repeat(2_000)}`,
    'namespace<~:"v"',
    'label[__proto__]:"x"',
    'namespace:"a\\"',
    ":",
    '"',
  ],
  includeIdle: ["true", "maybe"],
  idle: ["false"],
  shareIdle: ["weighted"],
  shareSplit: ["even", "weighted"],
  page: ["1", "2", "-1", "99999999999"],
  workloads: ["2", "x"],
};
const NAMES = Object.keys(WORDS);
const wordsOf = (name: string): readonly string[] => (Object.hasOwn(WORDS, name) ? WORDS[name]! : []);
/** Values that no parameter expects. */
const HOSTILE = fc.oneof(
  fc.constantFrom(
    ..."__proto__ constructor toString hasOwnProperty NaN Infinity -0 1e309 null undefined [object%20Object] ../../etc/passwd {x:String} {{x}} ${x} %s".split(
      " ",
    ),
    "' OR 1=1 --",
    "\\'; DROP TABLE charges; --",
    "\\",
    "\\x",
    "\\'",
    "`",
    "\u0000",
    "a\u0000b",
    "\n",
    "\r\nx-y: z",
    "\t",
    "\u202E",
    "\uFEFF",
    "💥",
    "é",
    "ß",
    "İ",
    "\uFFFF",
    "<script>alert(1)</script>",
    "=",
    "==",
    "!=",
    ",",
    ",,,",
    "/",
    "@",
    "*",
    "%",
    "%%",
    ".",
    "label.",
    "label.\u0000",
    "",
  ),
  fc
    .constantFrom("a", ",", "team,", "label.x,", "label.a=b,", "((", "💥", "\\", "'")
    .chain((piece) => fc.integer({ min: 10, max: 4_000 }).map((count) => piece.repeat(count))),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ maxLength: 20 }),
  fc.integer().map(String),
  fc.date().map((date) => (Number.isNaN(date.getTime()) ? "Invalid Date" : date.toISOString())),
);
const any = <Value>(...values: readonly Value[]): fc.Arbitrary<Value> => fc.constantFrom(...values);
const wordOf = (name: string): fc.Arbitrary<string> => {
  const words = wordsOf(name);
  return words.length === 0 ? HOSTILE : any(...words);
};

const value = (name: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 5, arbitrary: wordOf(name) },
    { weight: 3, arbitrary: HOSTILE },
    { weight: 1, arbitrary: any(...NAMES).chain(wordOf) },
  );
const parameter = fc
  .oneof(
    { weight: 8, arbitrary: any(...NAMES) },
    {
      weight: 1,
      arbitrary: any(
        "__proto__",
        "constructor",
        "x",
        "",
        "team[]",
        "by[__proto__]",
        "where[0]",
        "where[a][b]",
        "span.length",
        "%00",
        "toString",
      ),
    },
  )
  .chain((name) => value(name).map((text) => [name, text] as const));

type Change = (parameters: Parameters) => Parameters;

/** Changes one parameter. */
const one =
  (at: number, of: (parameter: Parameters[number]) => Parameters[number]): Change =>
  (parameters) =>
    parameters.map((each, index) => (index === at % parameters.length ? of(each) : each));
const place = fc.nat(9);
const SUFFIXES = ["[]", "[0]", "[a]", "[__proto__]", ".x", "%5B%5D"];

/** A change of the parameters of a request. */
const change: fc.Arbitrary<Change> = fc.oneof(
  parameter.map((added): Change => (of) => [...of, added]),
  fc.tuple(place, HOSTILE).map(([at, text]) => one(at, ([name]) => [name, text])),
  fc.tuple(place, fc.nat()).map(([at, pick]) =>
    one(at, ([name, old]) => {
      const words = wordsOf(name);
      return [name, words[pick % words.length] ?? old];
    }),
  ),
  place.map(
    (at): Change =>
      (of) =>
        of.toSpliced(at % Math.max(1, of.length), 1),
  ),
  fc.tuple(place, fc.integer({ min: 1, max: 60 })).map(([at, times]): Change => (of) => [
    ...of,
    ...Array.from({ length: times }, () => of[at % of.length] ?? (["x", ""] as const)),
  ]),
  fc.tuple(place, any(...SUFFIXES)).map(([at, suffix]) => one(at, ([name, old]) => [`${name}${suffix}`, old])),
);

const ENCODERS: readonly ((text: string) => string)[] = [
  (text) => encodeURIComponent(text),
  (text) => encodeURIComponent(text),
  (text) => encodeURIComponent(text).replaceAll("%20", "+"),
  (text) => encodeURIComponent(encodeURIComponent(text)),
  // A part of the address as it is, except for what would end the request line or begin the fragment.
  (text) => text.replaceAll(/[^\u0021-\u007E]|#/gu, encodeURIComponent),
  (text) => `${encodeURIComponent(text)}%`,
  (text) => `${encodeURIComponent(text)}%ff%C0%80`,
];

/** Requests of some paths: parameters of other routes, wrong, repeated and nested ones, prototypes' names, huge and odd texts. */
export function oddRequests(paths: readonly string[], valid: readonly string[]): fc.Arbitrary<OddRequest> {
  const like = any(...valid).map((url) => {
    const { pathname, searchParams } = new URL(url, "http://server");
    return { path: pathname, parameters: [...searchParams] as Parameters };
  });
  const made = fc.record({ path: any(...paths), parameters: fc.array(parameter, { maxLength: 6 }) });
  return fc
    .tuple(
      fc.oneof({ weight: 3, arbitrary: like }, { weight: 2, arbitrary: made }),
      fc.array(change, { maxLength: 4 }),
      any(...ENCODERS),
      any("*/*", "application/json", "text/html", ""),
    )
    .map(([{ path, parameters }, changes, encode, accept]) => {
      const changed = changes.reduce<Parameters>((of, each) => each(of), parameters);
      const query = changed.map(([name, text]) => `${encode(name)}=${encode(text)}`).join("&");
      return { url: query === "" ? path : `${path}?${query}`, accept };
    });
}
