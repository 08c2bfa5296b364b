/** The client's errors of both stores, real and embedded, as codes. */
import { ClickHouseError } from "@clickhouse/client";
import { StoreError, type StoreErrorCode } from "./store-error.ts";

/** ClickHouse's error numbers (src/Common/ErrorCodes.cpp) by their meaning for the program. */
const codesByMeaning: Readonly<
  Record<Exclude<StoreErrorCode, "folder-locked" | "migration-mismatch">, readonly number[]>
> = {
  // Network, socket, Keeper, read-only replicas, shutting down, quorum not reached, no replica alive.
  unavailable: [203, 209, 210, 225, 236, 242, 279, 285, 286, 289, 319, 425, 494, 999],
  // TIMEOUT_EXCEEDED, UNFINISHED (a distributed DDL in time).
  timeout: [159, 341],
  // TOO_MANY_SIMULTANEOUS_QUERIES, MEMORY_LIMIT_EXCEEDED, TOO_MANY_PARTS, CANNOT_SCHEDULE_TASK.
  overloaded: [202, 241, 252, 439, 711],
  // TOO_MANY_ROWS, TOO_SLOW, TOO_MANY_BYTES, TOO_MANY_ROWS_OR_BYTES.
  "over-limit": [158, 160, 307, 396],
  // QUERY_WAS_CANCELLED, QUERY_WAS_CANCELLED_BY_CLIENT.
  canceled: [394, 734],
  "disk-full": [243],
  "not-migrated": [16, 60, 81],
  denied: [164, 192, 193, 194, 195, 497, 516],
  rejected: [],
};

const meaningByCode = new Map(
  Object.entries(codesByMeaning).flatMap(([meaning, codes]) =>
    codes.map((code): [number, StoreErrorCode] => [code, meaning as StoreErrorCode]),
  ),
);

/** Errors that a retry can help, because they pass by themselves or with less load. */
const retriableCodes: ReadonlySet<StoreErrorCode> = new Set(["unavailable", "timeout", "overloaded", "disk-full"]);

const socketCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_SOCKET",
  "ERR_STREAM_PREMATURE_CLOSE",
]);

/**
 * Converts an error of the client into a {@link StoreError}. An unlisted number means that the statement or the rows were refused; a retry
 * would only hide a bug. `TOO_MANY_PARTS` shares number 252 with an insert into more than 100 partitions. That error names the partitions
 * in its text and cannot pass by itself. After `signal` was aborted, every error is `canceled`.
 */
export function storeErrorOf(error: unknown, signal?: AbortSignal): StoreError {
  if (error instanceof StoreError) return error;
  if (signal?.aborted === true)
    return new StoreError("canceled", "The query's caller did not wait for its result.", {
      retriable: false,
      cause: error,
    });
  if (error instanceof ClickHouseError) return fromServer(error);
  if (!(error instanceof Error)) return new StoreError("unavailable", String(error), { retriable: true, cause: error });
  const socketCode = (error as NodeJS.ErrnoException).code;
  if (error.message === "Timeout error." || socketCode === "ETIMEDOUT") {
    return new StoreError("timeout", "The store did not answer within the timeout.", { retriable: true, cause: error });
  }
  if ((socketCode !== undefined && socketCodes.has(socketCode)) || /socket hang up|aborted/i.test(error.message)) {
    return new StoreError("unavailable", `The store cannot be reached: ${error.message}`, {
      retriable: true,
      cause: error,
    });
  }
  // A plain Error is not an answer of ClickHouse but, for example, a proxy's page. It has no information about the statement or the rows.
  if (error.constructor === Error) {
    const message = `The store cannot be reached. Another program answers at its address: ${error.message.trim().slice(0, 200)}`;
    return new StoreError("unavailable", message, { retriable: true, cause: error });
  }
  return new StoreError("rejected", error.message, { retriable: false, cause: error });
}

function fromServer(error: ClickHouseError): StoreError {
  const number = Number(error.code);
  const tooManyPartitions = number === 252 && /partitions/i.test(error.message);
  const code = tooManyPartitions ? "rejected" : (meaningByCode.get(number) ?? "rejected");
  return new StoreError(code, `${error.message.trim()} (${error.code} ${error.type ?? ""})`, {
    retriable: retriableCodes.has(code),
    cause: error,
  });
}
