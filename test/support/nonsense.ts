import fc from "fast-check";

/** Unexpected values. */
const ODD: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(null, [], {}, [null], "", "\u0000", "__proto__", true, 0, -1, 0.5, 1e308, -0, 2 ** 53, 1e15),
  fc.constantFrom({ length: 1e9 }, [[]], "9".repeat(400), "x".repeat(10_000), { ["__proto__"]: { polluted: true } }),
  fc.jsonValue({ maxDepth: 2 }),
);

type Place = readonly (string | number)[];

function placesOf(value: unknown, at: Place = []): Place[] {
  if (typeof value !== "object" || value === null) return [at];
  const below = Object.entries(value).flatMap(([key, part]) =>
    placesOf(part, [...at, Array.isArray(value) ? Number(key) : key]),
  );
  return [at, ...below];
}

function replaced(value: unknown, [key, ...rest]: Place, by: unknown): unknown {
  if (key === undefined) return by;
  if (Array.isArray(value))
    return value.map((part: unknown, index) => (index === key ? replaced(part, rest, by) : part));
  const fields = (typeof value === "object" ? (value ?? {}) : {}) as Record<string, unknown>;
  return { ...fields, [key]: replaced(fields[key], rest, by) };
}

/** A valid value of JSON with up to three changes: another value, or an additional field. */
export function nonsense(good: unknown): fc.Arbitrary<unknown> {
  const change = fc.tuple(
    fc.nat(),
    ODD,
    fc.option(fc.constantFrom("__proto__", "constructor", "length", "x"), { nil: undefined }),
  );
  return fc.array(change, { minLength: 1, maxLength: 3 }).map((changes) =>
    changes.reduce<unknown>((value, [nat, odd, field]) => {
      const places = placesOf(value);
      const place = places[nat % places.length]!;
      return replaced(value, field === undefined ? place : [...place.slice(0, -1), field], odd);
    }, good),
  );
}
