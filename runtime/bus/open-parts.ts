import { BusError } from "./bus.ts";

/** Something of a bus that ends with it: a membership, a reading. */
export interface Closable {
  close(): Promise<void>;
}

/** What is open of a bus, and whether the bus itself still is. */
export interface OpenParts {
  /** Fails with `closed` once the bus is being closed. */
  check(): void;
  /** Keeps what must be closed with the bus, until it is closed on its own. */
  keep<Opened extends Closable>(opened: Opened): Opened;
  /** Closes what is open, then runs `rest`; a second call waits for the first. */
  close(rest: () => Promise<void>): Promise<void>;
}

/** Nothing is open yet. */
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
