import type { VNode } from "preact";
import type { FastifyRequest } from "fastify";
import type { ApiContext } from "../api/context.ts";
import type { Words } from "../api/words.ts";
import type { Asking } from "../server/asking.ts";

/** Adds a page under its path, made from the ledger in a ledger version. */
export type AddPage = (
  path: string,
  options: {
    readonly schema: object;
    /** True if the content changes within seconds. */
    readonly isLive?: boolean;
  },
  make: (request: FastifyRequest, asking: Asking) => Promise<Content>,
) => void;

/** The dependencies of pages. */
export interface PageContext extends ApiContext {
  readonly words: Words;
}

/** A page's title and content. */
export interface Content {
  readonly title: string;
  readonly content: VNode;
}
