import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import { pause } from "../../runtime/clock.ts";
import { StoreError } from "../../runtime/store/store-error.ts";
import { PdfError } from "../format/pdf.ts";
import { FocusCheckError } from "../focus/check/error.ts";
import { LinesReplacedError } from "../lines/fixed.ts";
import { TooManyGroupsError } from "../report/groups.ts";
import type { Delivery } from "./delivery.ts";
import { DeliveryError } from "./error.ts";
import { deliveredVersion } from "./focus-version.ts";
import { putIntoFolder } from "./folder.ts";
import { holdLease, type Lease, type LeaseContext } from "./lease.ts";
import { makeFile, type MakingContext } from "./make.ts";
import { detailsOf, type Parcel } from "./manifest.ts";
import { unpricedReason } from "./ready.ts";
import { writeRecord, type Claim, type DeliveryDetails, type Occasion } from "./records.ts";
import { periodName } from "./schedule.ts";
import { postingOf, postToWebhook } from "./webhook.ts";

/** The dependencies of an attempt. */
export interface AttemptContext extends MakingContext, LeaseContext {
  /** The folder in which files are made and removed again. */
  readonly folder: string;
}

/** The result of an attempt. */
export type AttemptOutcome = "delivered" | "failed" | "waiting" | "stopped" | "lost";

/** The number of characters of a reason that are stored. */
const MOST_REASON = 2_000;
const AGAIN_MILLIS = 1_000;

/**
 * Makes the file of an occasion, sends it, and records the result, on the server that claimed the attempt. A wrong file or a failing
 * recipient is an outcome. Fails with a `StoreError` if the result cannot be recorded.
 */
export async function attemptDelivery(
  context: AttemptContext,
  delivery: Delivery,
  { occasion, claim }: { readonly occasion: Occasion; readonly claim: Claim },
  stopping: AbortSignal,
): Promise<AttemptOutcome> {
  const { store, now, who, logger } = context;
  const log = logger.child({ ...named(occasion), attempt: claim.attempt });
  const lease = holdLease(context, occasion, claim);
  const write = (what: "failed" | "stopped" | "waiting" | "delivered", details: DeliveryDetails): Promise<void> =>
    writeRecord(store, occasion, { what, ...claim, at: now(), who, details });
  try {
    const parcel = await makeAndSend(context, delivery, { occasion, claim, lease }, stopping);
    await untilKept(() => write("delivered", detailsOf(parcel)), { now, until: lease.until, stopping, log });
    const { name, bytes, sha256 } = parcel.file;
    log.info({ file: name, bytes, sha256 }, "delivered");
    return "delivered";
  } catch (error) {
    if (error instanceof UnpricedError) {
      await write("stopped", {});
      await write("waiting", { reason: error.message });
      log.warn({ reason: error.message }, "a delivery waits");
      return "waiting";
    }
    if (lease.lost.aborted || (error instanceof DeliveryError && error.code === "lease-lost")) {
      log.warn("the lease of a delivery ended before it was sent: another server can have it");
      return "lost";
    }
    if (stopping.aborted) {
      await write("stopped", {});
      return "stopped";
    }
    const reason = reasonOf(error);
    log.warn(reason === undefined ? { err: error } : { reason }, "a delivery failed");
    await write("failed", { reason: (reason ?? "see the error in the log").slice(0, MOST_REASON) });
    return "failed";
  } finally {
    await lease.end();
  }
}

/** Returns the fields for logs: the period of a delivery to a recipient. */
export function named(occasion: Occasion): { delivery: string; recipient: string; period: string } {
  return { delivery: occasion.delivery, recipient: occasion.recipient, period: periodName(occasion) };
}

async function makeAndSend(
  context: AttemptContext,
  { configured, recipient }: Delivery,
  { occasion, claim, lease }: { readonly occasion: Occasion; readonly claim: Claim; readonly lease: Lease },
  stopping: AbortSignal,
): Promise<Parcel> {
  const { from, until } = occasion;
  const signal = AbortSignal.any([stopping, lease.lost]);
  const folder = await mkdtemp(join(context.folder, "gpu-ledger-delivery-"));
  try {
    const span = { name: periodName(occasion), from, until };
    const keptVersion = await deliveredVersion(context.store, occasion);
    const file = await makeFile(context, configured, span, { folder, madeAt: context.now(), signal, keptVersion });
    // Lines that were charged since the check may have no price.
    const unpriced = configured.allowUnpriced ? undefined : unpricedReason(file.figures.unpriced);
    if (unpriced !== undefined) throw new UnpricedError(unpriced);
    const parcel = { file, occasion, attempt: claim.attempt };
    await lease.confirm();
    signal.throwIfAborted();
    if (recipient.folder !== undefined) await putIntoFolder(recipient.folder, parcel, signal);
    else await postToWebhook(recipient.webhook!, postingOf(parcel), { version: context.version, signal });
    return parcel;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Writes until the store accepts the record, for at most the time of the lease. A delivery without a record is delivered again. */
async function untilKept(
  write: () => Promise<void>,
  of: { readonly now: () => number; readonly until: number; readonly stopping: AbortSignal; readonly log: Logger },
): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      const canHelp = error instanceof StoreError && error.retriable;
      if (!canHelp || of.stopping.aborted || of.now() >= of.until) {
        of.log.error(
          { err: error },
          "delivered, but the delivery could not be recorded: it will be sent again with the same key",
        );
        throw error;
      }
      await pause(AGAIN_MILLIS, of.stopping);
    }
  }
}

/** A part of the file has no price. */
class UnpricedError extends Error {}

/** Returns the reason of a failure for people; undefined if only the log may contain it. */
function reasonOf(error: unknown): string | undefined {
  if (KNOWN.some((kind) => error instanceof kind)) return (error as Error).message;
  if (error instanceof StoreError) return `the store failed: ${error.code}`;
  return undefined;
}

const KNOWN = [DeliveryError, FocusCheckError, LinesReplacedError, TooManyGroupsError, PdfError];
