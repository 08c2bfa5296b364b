import fc from "fast-check";
import { stringify } from "yaml";
import { nonsense } from "./nonsense.ts";

/** Scalars and collections that a reader does not expect, as YAML. */
const ODD = [
  ..."~ null true .inf -.inf .nan 0x1F 0o17 1e400 -0 9007199254740993 1_000 2026-02-30 2026-01-01T25:00:00Z 12:30:45".split(
    " ",
  ),
  ..."\"\" '' [] {} [[]] [~] {~: ~} ? : - -- --- ... & * ! !! | > % @ ` # << *a &a !!binary !!set !!js/function".split(
    " ",
  ),
  ...'"\\u0000" "\\uD800" "\\q" {__proto__: {a: 1}} __proto__ constructor toString ${HOME} ${ ${X:-${Y}} {<<: 1}'.split(
    " ",
  ),
  "é\u202E\uFEFF",
  "\u0000",
  "9".repeat(400),
  "x".repeat(20_000),
  "${A}".repeat(2_000),
];
/** Characters with a meaning in YAML. */
const SIGNS = fc.constantFrom(
  ...`[]{}:,-?&*!|>'"%@\`#~\t \n\r\\<`.split(""),
  "- ",
  ": ",
  "  ",
  "\n---\n",
  "\n...\n",
  "<<: ",
);

type Change = (text: string) => string;

const at = (share: number, length: number): number => Math.floor(share * length);
const lineChange =
  (change: (lines: string[], index: number) => string[], share: number): Change =>
  (text) => {
    const lines = text.split("\n");
    return change(lines, at(share, lines.length)).join("\n");
  };
const part = fc.double({ min: 0, max: 0.999_999, noNaN: true });

/** A change of a YAML text that its author could make, or an attacker. */
const change: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(part, SIGNS).map(([share, sign]): Change => (text) => {
      const place = at(share, text.length);
      return `${text.slice(0, place)}${sign}${text.slice(place)}`;
    }),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(part, fc.constantFrom(...ODD))
      .map(([share, odd]) =>
        lineChange(
          (lines, index) => lines.with(index, lines[index]!.replace(/([:-] ).*$/, `$1${odd.replaceAll("$", "$$$$")}`)),
          share,
        ),
      ),
  },
  fc.tuple(part, fc.nat(20)).map(([share, length]): Change => (text) => {
    const place = at(share, text.length);
    return text.slice(0, place) + text.slice(place + length);
  }),
  part.map((share) => lineChange((lines, index) => lines.toSpliced(index, 1), share)),
  part.map((share) => lineChange((lines, index) => lines.toSpliced(index, 0, lines[index]!), share)),
  fc
    .tuple(part, fc.nat(8))
    .map(([share, indent]) =>
      lineChange((lines, index) => lines.with(index, " ".repeat(indent) + lines[index]!.trimStart()), share),
    ),
  fc.tuple(part, part).map(([one, other]) =>
    lineChange((lines, index) => {
      const second = at(other, lines.length);
      return lines.with(index, lines[second]!).with(second, lines[index]!);
    }, one),
  ),
  part.map(
    (share): Change =>
      (text) =>
        text.slice(0, at(share, text.length)),
  ),
);

const nested = (open: string, close: string, depth: number): string => open.repeat(depth) + close.repeat(depth);

/** Texts that take much time or memory, or a deep stack, of a reader without limits. The key is a key of the file. */
export function bombs(key: string): fc.Arbitrary<string> {
  const depth = fc.integer({ min: 1, max: 30_000 });
  return fc.oneof(
    depth.map((deep) => `${key}: ${nested("[", "]", deep)}`),
    depth.map((deep) => `${key}: ${nested("{a: ", "}", deep)}`),
    depth.map((deep) => `${key}: ${"[".repeat(deep)}`),
    depth.map((deep) => `${key}:\n ${"- ".repeat(deep)}x`),
    fc
      .integer({ min: 1, max: 700 })
      .map((deep) => Array.from({ length: deep }, (_, index) => `${" ".repeat(index)}${key}:`).join("\n")),
    fc
      .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 12 }))
      .map(([levels, width]) =>
        Array.from(
          { length: levels },
          (_, index) =>
            `a${index}: &a${index} [${Array.from({ length: width }, () => (index === 0 ? "x" : `*a${index - 1}`)).join(", ")}]`,
        ).join("\n"),
      ),
    fc
      .constantFrom("&a [*a]", "&a {b: *a}", "&a {<<: *a}", "*a", "&a &b x", "&a\n<<: *a")
      .map((value) => `${key}: ${value}`),
    fc
      .integer({ min: 1, max: 20_000 })
      .map((count) => Array.from({ length: count }, (_, index) => `${key}${index}: ${index}`).join("\n")),
    fc
      .integer({ min: 1, max: 10_000 })
      .map((count) => `${key}: { ${Array.from({ length: count }, (_, index) => `k${index}: *a${index}`).join(", ")} }`),
    fc.integer({ min: 1, max: 200_000 }).map((length) => `${key}: ${'"'}${"\\".repeat(length)}`),
    fc.integer({ min: 1, max: 200_000 }).map((length) => `${key}: ${"\n".repeat(length)}x`),
    fc.integer({ min: 1, max: 200_000 }).map((length) => `${key}: ${"!".repeat(length)}`),
    fc.integer({ min: 1, max: 50_000 }).map((length) => `${key}: \${${"A".repeat(length)}:-${"$".repeat(length)}`),
    fc.integer({ min: 1, max: 40_000 }).map((length) => `${key}: "${"${A:-".repeat(length)}"`),
  );
}

/** YAML like one of some texts, with up to 4 changes; or a value like its value, with odd parts; or a bomb. */
export function oddYaml(
  texts: readonly (readonly [text: string, value: unknown])[],
  key: string,
): fc.Arbitrary<string> {
  const like = fc.constantFrom(...texts);
  return fc.oneof(
    {
      weight: 8,
      arbitrary: fc
        .tuple(like, fc.array(change, { minLength: 1, maxLength: 4 }))
        .map(([[text], changes]) => changes.reduce((changed, each) => each(changed), text)),
    },
    { weight: 8, arbitrary: like.chain(([, value]) => nonsense(value)).map((value) => JSON.stringify(value) ?? "") },
    { weight: 2, arbitrary: like.chain(([, value]) => nonsense(value)).map((value) => stringify(value)) },
    { weight: 1, arbitrary: bombs(key) },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 200 }) },
  );
}
