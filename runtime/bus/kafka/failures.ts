import { BusError } from "../bus.ts";
import type { BusErrorCode } from "../bus.ts";

/** Kafka's error names (https://kafka.apache.org/protocol#protocol_error_codes), as kafkajs spells them. */
const CODES: Readonly<Record<string, BusErrorCode>> = {
  UNKNOWN_TOPIC_OR_PARTITION: "unknown-topic",
  INVALID_TOPIC_EXCEPTION: "unknown-topic",
  MESSAGE_TOO_LARGE: "too-large",
  RECORD_LIST_TOO_LARGE: "too-large",
  ILLEGAL_GENERATION: "not-owner",
  UNKNOWN_MEMBER_ID: "not-owner",
  REBALANCE_IN_PROGRESS: "not-owner",
  FENCED_INSTANCE_ID: "not-owner",
  TOPIC_AUTHORIZATION_FAILED: "denied",
  GROUP_AUTHORIZATION_FAILED: "denied",
  CLUSTER_AUTHORIZATION_FAILED: "denied",
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "denied",
  SASL_AUTHENTICATION_FAILED: "denied",
  UNSUPPORTED_SASL_MECHANISM: "denied",
  POLICY_VIOLATION: "denied",
};

/** Errors after a topic was created or the leader of a partition changed, until each broker and client has the new metadata. */
const STALE_METADATA = new Set(["UNKNOWN_TOPIC_OR_PARTITION", "LEADER_NOT_AVAILABLE", "NOT_LEADER_FOR_PARTITION"]);

interface Failure {
  readonly name?: string;
  readonly type?: string;
  readonly cause?: unknown;
  readonly errors?: readonly unknown[];
}

/**
 * Converts a failure of kafkajs into a BusError. It searches the causes for the protocol's error name. A failure without one (a refused
 * connection, a timeout, a restarting broker) is `unavailable`, and a retry can help.
 */
export function toBusError(error: unknown, doing: string): BusError {
  if (error instanceof BusError) return error;
  const code = codeOf(error) ?? "unavailable";
  return new BusError(code, `Kafka failed while ${doing}.`, { retriable: code === "unavailable", cause: error });
}

/** Runs an operation and converts its failure into a {@link BusError}. */
export async function translating<Result>(doing: string, operation: () => Promise<Result>): Promise<Result> {
  try {
    return await operation();
  } catch (error) {
    throw toBusError(error, doing);
  }
}

/** Returns whether a broker or the client has older metadata than the cluster. */
export function isStaleMetadata(error: unknown): boolean {
  return causesOf(error).some(({ type }) => type !== undefined && STALE_METADATA.has(type));
}

function codeOf(error: unknown): BusErrorCode | undefined {
  for (const failure of causesOf(error)) {
    if (failure instanceof BusError) return failure.code;
    if (failure.name === "KafkaJSSASLAuthenticationError") return "denied";
    const code = failure.type === undefined ? undefined : CODES[failure.type];
    if (code !== undefined) return code;
  }
  return undefined;
}

/** Returns a failure, the first of its errors, its cause, and theirs. */
function causesOf(error: unknown): readonly Failure[] {
  if (typeof error !== "object" || error === null) return [];
  const failure = error as Failure;
  return [failure, ...causesOf(failure.errors?.[0]), ...causesOf(failure.cause)];
}
