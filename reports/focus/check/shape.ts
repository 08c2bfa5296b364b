import { isObject } from "../../../domain/object.ts";

/** Returns true if a JSON value has a form. */
export type Shape = (value: unknown) => boolean;

/** The forms of the keys of an object. */
export type Fields = Readonly<Record<string, Shape>>;

/** Keys that a data generator adds: `x_` and a name in Pascal case. */
const CUSTOM_KEY = /^x_[A-Z][a-zA-Z0-9]*$/;

/** The form of a text. */
export const aText: Shape = (value) => typeof value === "string";

/** The form of a number. */
export const aNumber: Shape = (value) => typeof value === "number";

/** The form of a number from 0 to 1. */
export const aFraction: Shape = (value) => typeof value === "number" && value >= 0 && value <= 1;

/** The form of true or false. */
export const aFlag: Shape = (value) => typeof value === "boolean";

/** The form of null. */
export const aNull: Shape = (value) => value === null;

/** Returns the form of one of some words. */
export const oneWord =
  (...words: readonly string[]): Shape =>
  (value) =>
    words.some((word) => word === value);

/** Returns the form that at least one of some forms has. */
export const eitherOf =
  (...shapes: readonly Shape[]): Shape =>
  (value) =>
    shapes.some((shape) => shape(value));

/** Returns the form of a list with at least some elements, each of one form. */
export const listOf =
  (each: Shape, least = 1): Shape =>
  (value) =>
    Array.isArray(value) && value.length >= least && value.every((element) => each(element));

/** Returns the form of an object with needed and optional keys, and no others. */
export const closedObject =
  (needed: Fields, optional: Fields = {}): Shape =>
  (value) =>
    isObject(value) &&
    Object.keys(needed).every((key) => Object.hasOwn(value, key)) &&
    Object.entries(value).every(([key, each]) => {
      const shape = Object.hasOwn(needed, key) ? needed[key] : Object.hasOwn(optional, key) ? optional[key] : undefined;
      return shape?.(each) === true;
    });

/** Returns the form of an object as in {@link closedObject} that may have keys of a data generator, too. */
export const openObject = (needed: Fields, optional: Fields = {}): Shape => {
  const closed = closedObject(needed, optional);
  return (value) =>
    isObject(value) && closed(Object.fromEntries(Object.entries(value).filter(([key]) => !CUSTOM_KEY.test(key))));
};
