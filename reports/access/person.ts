import type { HeaderValue } from "./credentials.ts";
import type { Viewer } from "./viewer.ts";

/** The parts of a request that identify a person. */
export interface PersonAsking {
  /** The values of each header, one for each time that it was sent. */
  readonly headers: Readonly<Record<string, readonly string[] | undefined>>;
  readonly cookie: HeaderValue;
  /** The address of the connection itself, not the one that a proxy forwards. */
  readonly peer: string | undefined;
}

/** A person as a viewer, and who has signed the person in. */
export interface PersonViewer {
  readonly viewer: Viewer;
  readonly by: "sign-in" | "proxy";
}

/** The reason why a person is not admitted. */
export type PersonRefusal = "session ended" | "no role" | "two headers";

/** Finds the person of a request. */
export interface PersonReader {
  /** Returns the viewer of a request or the reason of a refusal; undefined if the request names no person. */
  viewerOf(asking: PersonAsking): Promise<PersonViewer | PersonRefusal | undefined>;
}
