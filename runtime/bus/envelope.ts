import { crc32 } from "node:zlib";
import type { OutgoingMessage } from "./bus.ts";

const SCHEMA_HEADER = "schema";
const CHECKSUM_HEADER = "crc32";
const NO_BYTES = new Uint8Array(0);

/** What the headers of a message say of it once they are read back. */
export interface Envelope {
  /** 0 where the sender wrote none, or something that is not a whole number. */
  readonly schemaVersion: number;
  /** Whether the checksum fits the value; `false` where there is none. */
  readonly intact: boolean;
  /** The headers that are neither the version nor the checksum. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The checksum of a value: CRC-32 (ISO 3309, as in gzip) in eight hexadecimal digits. A tombstone has that of no bytes.
 * Kafka checks its own CRC at the broker, but kafkajs checks nothing when it reads.
 */
export function checksumOf(value: Uint8Array | null): string {
  return crc32(value ?? NO_BYTES)
    .toString(16)
    .padStart(8, "0");
}

/** The headers to send with a message: its own, and the schema's version and the checksum, which win over its own. */
export function sealHeaders(message: OutgoingMessage): Record<string, string> {
  return {
    ...message.headers,
    [SCHEMA_HEADER]: String(message.schemaVersion),
    [CHECKSUM_HEADER]: checksumOf(message.value),
  };
}

/** Reads a message's headers back. It never throws: what can't be read counts as not intact or as version 0. */
export function openHeaders(headers: Readonly<Record<string, string>>, value: Uint8Array | null): Envelope {
  const { [SCHEMA_HEADER]: schema, [CHECKSUM_HEADER]: checksum, ...rest } = headers;
  return {
    schemaVersion: schema !== undefined && /^\d{1,9}$/.test(schema) ? Number(schema) : 0,
    intact: checksum === checksumOf(value),
    headers: rest,
  };
}
