import { BusError } from "./bus.ts";

/** A part of a bus that is closed with it: a membership or a follower. */
export interface Closable {
  close(): Promise<void>;
}

/** The open parts of a bus, and whether the bus itself is open. */
export interface OpenParts {
  /** Fails with `closed` after the bus began to close. */
  check(): void;
  /** Adds a part that must be closed with the bus, unless it is closed separately before. */
  keep<Opened extends Closable>(opened: Opened): Opened;
  /** Closes the open parts, then runs `rest`. A second call waits for the first. */
  close(rest: () => Promise<void>): Promise<void>;
}

/** Creates an empty set of parts. */
export function createOpenParts(): OpenParts {
  const open = new Set<Closable>();
  let closing: Promise<void> | undefined;
  return {
    check() {
      if (closing !== undefined) throw new BusError("closed", "The bus is closed.", { retriable: false });
    },
    keep(opened) {
      const closable = {
        ...opened,
        async close() {
          open.delete(closable);
          await opened.close();
        },
      };
      open.add(closable);
      return closable;
    },
    close(rest) {
      closing ??= Promise.all([...open].map((closable) => closable.close())).then(rest);
      return closing;
    },
  };
}
