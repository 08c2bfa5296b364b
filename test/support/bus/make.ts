import type { Bus } from "../../../runtime/bus/bus.ts";

/** How a child process opens the same bus. */
export type ChildBus =
  | { readonly make: "embedded"; readonly folder: string }
  | { readonly make: "kafka"; readonly brokers: readonly string[] };

/** One make of the bus, with what a test must be able to do to it from outside. */
export interface BusMake {
  /** Another instance on the same messages, as another process would have. */
  open(): Promise<Bus>;
  readonly childBus: ChildBus;
  /** Makes retention take everything before `offset` away. */
  removeBefore(topic: string, partition: number, offset: number): Promise<void>;
  /** Puts a message into partition 0 whose checksum does not fit its value. */
  putBroken(topic: string, key: string): Promise<void>;
  stop(): Promise<void>;
}
