import type { ScrapeFailure } from "../../../domain/scrape.ts";
import type { Target } from "../targets/target.ts";
import type { Connections } from "./connections.ts";
import { fetchPage, type PageAnswer, type PageRequest } from "./fetch-page.ts";
import type { ReceiveBuffers } from "./receive-buffers.ts";

/** A companion whose page is missing, with the reason. */
export interface MissedCompanion {
  readonly url: string;
  readonly reason: ScrapeFailure;
  readonly detail: string;
}

const LINE_END = Buffer.from("\n");

/**
 * Fetches a target's page and those of its companions concurrently, and appends the companions' pages to it. If a companion fails, the
 * others count. If the target's own page fails, everything fails.
 */
export async function fetchTarget(
  connections: Pick<Connections, "of" | "once">,
  buffers: ReceiveBuffers,
  { url, companions = [] }: Pick<Target, "url" | "companions">,
  request: Omit<PageRequest, "url">,
): Promise<{ readonly answer: PageAnswer; readonly missed: readonly MissedCompanion[] }> {
  const [own, ...beside] = await Promise.all(
    [url, ...companions].map((each) => fetchPage(connections, buffers, { ...request, url: new URL(each) })),
  );
  const missed = beside.flatMap((each, index) => ("page" in each ? [] : [{ url: companions[index]!, ...each }]));
  return { answer: joined(own!, beside, buffers), missed };
}

function joined(own: PageAnswer, beside: readonly PageAnswer[], buffers: ReceiveBuffers): PageAnswer {
  const others = beside.filter((each) => "page" in each);
  if (!("page" in own) || others.length === 0) {
    for (const { release } of others) release();
    return own;
  }
  const body = buffers.take();
  for (const { page, release } of [own, ...others]) {
    body.append(page);
    body.append(LINE_END);
    release();
  }
  const complete = own.complete && others.every((each) => each.complete);
  return { page: body.page(), complete, release: body.release };
}
