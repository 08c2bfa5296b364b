import { isObject } from "../object.ts";

/**
 * A shape check. Returns why a value does not have the shape, as a sentence that begins with the value's path; undefined if it has the
 * shape.
 */
export type Shape = (value: unknown, path: string) => string | undefined;

/** A shape for each field of a type. */
export type FieldShapes<Value> = { readonly [Field in keyof Required<Value>]: Shape };

/** The shape of a text. */
export const text: Shape = (value, path) => (typeof value === "string" ? undefined : `${path} is not a text`);

/** The shape of a boolean. */
export const flag: Shape = (value, path) => (typeof value === "boolean" ? undefined : `${path} is not true or false`);

/** The shape of a flag that is `true` unless it is absent. */
export const mark: Shape = (value, path) => (value === true ? undefined : `${path} is not true`);

/** The shape of a finite number of at least 0. */
export const amount: Shape = (value, path) =>
  typeof value === "number" && value >= 0 && value < Infinity ? undefined : `${path} is not a number of at least 0`;

/** Returns the shape of a whole number from 0 to `most`. */
export function whole(most: number): Shape {
  return (value, path) =>
    Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) <= most
      ? undefined
      : `${path} is not a whole number from 0 to ${most}`;
}

/** The shape of any JSON value. */
export const anything: Shape = () => undefined;

/** Returns the shape of an optional value. */
export function optional(shape: Shape): Shape {
  return (value, path) => (value === undefined ? undefined : shape(value, path));
}

/** Returns the shape of a list with items of a shape. */
export function listOf(item: Shape): Shape {
  return (value, path) =>
    Array.isArray(value) ? firstProblem(value.entries(), () => item, path) : `${path} is not a list`;
}

/** Returns the shape of a record with values of a shape. `__proto__` is not a valid name. */
export function recordOf(shape: Shape): Shape {
  const noName: Shape = (_, path) => `${path} is not a name`;
  return (value, path) =>
    isObject(value)
      ? firstProblem(Object.entries(value), (name) => (name === "__proto__" ? noName : shape), path)
      : `${path} is not an object`;
}

/** Returns the shape of an object with fields of these shapes. Other fields are allowed. */
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

/** Returns the shape of an object whose shape depends on the text in one field. */
export function byField(name: string, shapes: ReadonlyMap<string, Shape>): Shape {
  return (value, path) => {
    if (!isObject(value)) return `${path} is not an object`;
    const kind = value[name];
    const shape = typeof kind === "string" ? shapes.get(kind) : undefined;
    return shape === undefined ? `${path}.${name} is not one of ${[...shapes.keys()].join(", ")}` : shape(value, path);
  };
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
