import { PLATFORM, UNOWNED } from "./owner.ts";

/** Characters that are not visible, alone or beside others: formats, controls, variation selectors, fillers. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{C}]/gu;

/** Returns a name as a person reads it: of Unicode's compatible characters one (NFKC), without case, invisible characters and outer spaces. */
export function readName(name: string): string {
  return name.normalize("NFKC").replaceAll(INVISIBLE, "").normalize("NFKC").toLowerCase().trim();
}

/** Returns whether a name is, for a program that compares exactly, one of a bill's own names for costs that belong to no team. */
export function isReserved(team: string): boolean {
  return team === UNOWNED || team === PLATFORM;
}

/** Returns whether a person reads a name as one of the reserved names, or as nothing at all. */
export function readsReserved(team: string): boolean {
  const read = readName(team);
  return isReserved(read) || read === "";
}
