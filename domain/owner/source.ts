import type { Owner, OwnerSubject } from "./owner.ts";

/** Something that can name an owner: those that it names for a workload at a time, the first to count first. */
export type Source = (subject: OwnerSubject, atMillis: number) => readonly Owner[];
