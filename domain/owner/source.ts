import type { Owner, OwnerSubject } from "./owner.ts";

/** A source of owners. Returns the owners of a workload at a time, in order of precedence. */
export type Source = (subject: OwnerSubject, atMillis: number) => readonly Owner[];
