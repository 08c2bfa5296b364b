import type { KafkaConfig, SASLOptions } from "kafkajs";
import type { Logger } from "pino";
import { kafkaLogCreator } from "./log-bridge.ts";

/** How the producer compresses. Gzip is built in everywhere; lz4 costs a tenth of its time. */
export type Compression = "none" | "gzip" | "lz4";

/** Encrypted connections; all of them PEM texts. Without `ca` the system's authorities are trusted. */
export interface KafkaTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** `false` accepts any certificate. Default `true`. */
  readonly rejectUnauthorized?: boolean;
}

/** A name and password for the brokers. */
export interface KafkaSasl {
  readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
  readonly username: string;
  readonly password: string;
}

/** A Kafka cluster and how to talk to it. */
export interface KafkaBusOptions {
  /** `host:port` of some of the brokers; the others are found through them. */
  readonly brokers: readonly string[];
  /** The name that the brokers write into their logs. */
  readonly clientId: string;
  readonly tls?: KafkaTls;
  readonly sasl?: KafkaSasl;
  /** Default `lz4`. */
  readonly compression?: Compression;
  /** After so long `send` fails with `unavailable`. Default 10,000. */
  readonly sendTimeoutMillis?: number;
  /** After so long without a heartbeat a member's partitions go to others. Default 30,000. */
  readonly sessionTimeoutMillis?: number;
  /** How long a member may drain on a rebalance before the group goes on without it. Default 60,000. */
  readonly rebalanceTimeoutMillis?: number;
  /** Of topics that `declare` creates. Default: the broker's. */
  readonly replicationFactor?: number;
  /** Of topics that `declare` creates. Default: the broker's. */
  readonly minInsyncReplicas?: number;
  /** A larger message (key, value and headers) is refused with `too-large`. Default 8 MiB. */
  readonly maxMessageBytes?: number;
  readonly logger: Logger;
}

/** The options in kafkajs's words. A connection attempt gives up after 3 s, an operation after 5 tries in about 5 s. */
export function kafkaConfig(options: KafkaBusOptions): KafkaConfig {
  return {
    brokers: [...options.brokers],
    clientId: options.clientId,
    connectionTimeout: 3_000,
    authenticationTimeout: 5_000,
    requestTimeout: options.sendTimeoutMillis ?? 10_000,
    enforceRequestTimeout: true,
    retry: { initialRetryTime: 150, maxRetryTime: 2_000, retries: 5 },
    logCreator: kafkaLogCreator(options.logger),
    ...(options.tls === undefined ? {} : { ssl: { ...options.tls } }),
    ...(options.sasl === undefined ? {} : { sasl: { ...options.sasl } as SASLOptions }),
  };
}
