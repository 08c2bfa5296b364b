import type { FactMessage } from "../../domain/messages/fact-message.ts";

/** A message of a played scenario, with its topic and the time at which a collector would have sent it. */
export interface PlayedMessage extends FactMessage {
  readonly topic: string;
  /** Milliseconds since the epoch. */
  readonly atMillis: number;
}
