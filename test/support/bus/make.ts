import type { Bus } from "../../../runtime/bus/bus.ts";

/** The way in which a child process opens the same bus. */
export type ChildBus =
  | { readonly make: "embedded"; readonly folder: string }
  | { readonly make: "kafka"; readonly brokers: readonly string[] };

/** An implementation of the bus, with the operations that a test needs from outside. */
export interface BusMake {
  /** Another instance with the same messages, as in another process. */
  open(): Promise<Bus>;
  readonly childBus: ChildBus;
  /** Removes all messages before `offset`, as retention does. */
  removeBefore(topic: string, partition: number, offset: number): Promise<void>;
  /** Writes a message with a wrong checksum to partition 0. */
  putBroken(topic: string, key: string): Promise<void>;
  stop(): Promise<void>;
}
