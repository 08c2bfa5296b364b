import { crc32 } from "node:zlib";
import type { OutgoingMessage } from "./bus.ts";

const SCHEMA_HEADER = "schema";
const CHECKSUM_HEADER = "crc32";
const NO_BYTES = new Uint8Array(0);

/** The parsed headers of a message. */
export interface Envelope {
  /** 0 if the sender wrote none, or a value that is not a whole number. */
  readonly schemaVersion: number;
  /** True if the checksum matches the value; `false` if there is none. */
  readonly intact: boolean;
  /** The headers other than the version and the checksum. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Returns the checksum of a value: CRC-32 (ISO 3309, as in gzip) in eight hexadecimal digits. A tombstone has the checksum of no bytes.
 * Kafka checks its own CRC at the broker, but kafkajs checks nothing when it reads.
 */
export function checksumOf(value: Uint8Array | null): string {
  return crc32(value ?? NO_BYTES)
    .toString(16)
    .padStart(8, "0");
}

/** Returns the headers to send with a message: its own, and the schema version and the checksum, which take precedence. */
export function sealHeaders(message: OutgoingMessage): Record<string, string> {
  return {
    ...message.headers,
    [SCHEMA_HEADER]: String(message.schemaVersion),
    [CHECKSUM_HEADER]: checksumOf(message.value),
  };
}

/** Parses a message's headers. Never throws: an unreadable header counts as not intact or as version 0. */
export function openHeaders(headers: Readonly<Record<string, string>>, value: Uint8Array | null): Envelope {
  const { [SCHEMA_HEADER]: schema, [CHECKSUM_HEADER]: checksum, ...rest } = headers;
  return {
    schemaVersion: schema !== undefined && /^\d{1,9}$/.test(schema) ? Number(schema) : 0,
    intact: checksum === checksumOf(value),
    headers: rest,
  };
}
