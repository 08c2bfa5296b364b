/** Says why a value is not of a shape, in a sentence that begins with the value's path; undefined where it is. */
export type Shape = (value: unknown, path: string) => string | undefined;

/** A shape for each field that a type has. */
export type FieldShapes<Value> = { readonly [Field in keyof Required<Value>]: Shape };

/** A text. */
export const text: Shape = (value, path) => (typeof value === "string" ? undefined : `${path} is not a text`);

/** True or false. */
export const flag: Shape = (value, path) => (typeof value === "boolean" ? undefined : `${path} is not true or false`);

/** A mark that is `true` where it is not absent. */
export const mark: Shape = (value, path) => (value === true ? undefined : `${path} is not true`);

/** A finite number of at least 0. */
export const amount: Shape = (value, path) =>
  typeof value === "number" && value >= 0 && value < Infinity ? undefined : `${path} is not a number of at least 0`;

/** A whole number from 0 to `most`. */
export function whole(most: number): Shape {
  return (value, path) =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most
      ? undefined
      : `${path} is not a whole number from 0 to ${most}`;
}

/** Anything that JSON has. */
export const anything: Shape = () => undefined;

/** The same, or absent. */
export function optional(shape: Shape): Shape {
  return (value, path) => (value === undefined ? undefined : shape(value, path));
}

/** A list whose items are of a shape. */
export function listOf(item: Shape): Shape {
  return (value, path) =>
    Array.isArray(value) ? firstProblem(value.entries(), () => item, path) : `${path} is not a list`;
}

/** Values of a shape by name. `__proto__` is no name. */
export function recordOf(shape: Shape): Shape {
  const noName: Shape = (_, path) => `${path} is no name`;
  return (value, path) =>
    isObject(value)
      ? firstProblem(Object.entries(value), (name) => (name === "__proto__" ? noName : shape), path)
      : `${path} is not an object`;
}

/** An object with fields of these shapes, and others. */
export function fields(shapes: Readonly<Record<string, Shape>>): Shape {
  const names = Object.keys(shapes);
  return (value, path) =>
    isObject(value)
      ? firstProblem(
          names.map((name) => [name, value[name]]),
          (name) => shapes[name]!,
          path,
        )
      : `${path} is not an object`;
}

/** An object whose fields follow from the text in one of them. */
export function byField(name: string, shapes: ReadonlyMap<string, Shape>): Shape {
  return (value, path) => {
    if (!isObject(value)) return `${path} is not an object`;
    const kind = value[name];
    const shape = typeof kind === "string" ? shapes.get(kind) : undefined;
    return shape === undefined ? `${path}.${name} is not one of ${[...shapes.keys()].join(", ")}` : shape(value, path);
  };
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function firstProblem<Name extends string | number>(
  parts: Iterable<readonly [Name, unknown]>,
  shapeOf: (name: Name) => Shape,
  path: string,
): string | undefined {
  for (const [name, value] of parts) {
    const problem = shapeOf(name)(value, `${path}.${name}`);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
