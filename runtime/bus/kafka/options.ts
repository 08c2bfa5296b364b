import type { KafkaConfig, SASLOptions } from "kafkajs";
import type { Logger } from "pino";
import { kafkaLogCreator } from "./log-bridge.ts";

/** The producer's compression. Gzip is built in everywhere; lz4 takes a tenth of its time. */
export type Compression = "none" | "gzip" | "lz4";

/** The settings of encrypted connections, as PEM texts. Without `ca`, the system's certificate authorities are trusted. */
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

/** A Kafka cluster, with the client settings. */
export interface KafkaBusOptions {
  /** `host:port` of some of the brokers. The others are discovered through them. */
  readonly brokers: readonly string[];
  /** The client name in the brokers' logs. */
  readonly clientId: string;
  readonly tls?: KafkaTls;
  readonly sasl?: KafkaSasl;
  /** Default `lz4`. */
  readonly compression?: Compression;
  /** The timeout after which `send` fails with `unavailable`. Default 10,000. */
  readonly sendTimeoutMillis?: number;
  /** The time without a heartbeat after which a member's partitions go to other members. Default 30,000. */
  readonly sessionTimeoutMillis?: number;
  /** How long a member may drain on a rebalance before the group continues without it. Default 60,000. */
  readonly rebalanceTimeoutMillis?: number;
  /** The replication factor of topics that `declare` creates. Default: the broker's. */
  readonly replicationFactor?: number;
  /** The minimum of in-sync replicas of topics that `declare` creates. Default: the broker's. */
  readonly minInsyncReplicas?: number;
  /** The largest message (key, value and headers). A larger one fails with `too-large`. Default 8 MiB. */
  readonly maxMessageBytes?: number;
  readonly logger: Logger;
}

/** Returns the options for kafkajs. A connection attempt times out after 3 s, an operation after 5 attempts in about 5 s. */
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
