import type { ServerTls } from "../config/server-tls.ts";
import { readTlsFiles, usableFiles, type UsableFiles } from "./tls-files.ts";
import { TlsError } from "./tls-error.ts";

/** The consequences of a reading of the files. */
export interface RereadEvents {
  /** The files have changed and can be served. */
  changed(usable: UsableFiles): void;
  /** The changed files cannot be served. `isNew` is true for the first reading of these files. */
  failed(error: TlsError, isNew: boolean): void;
  /** The files are the served ones again, after files that could not be served. */
  recovered(): void;
}

/**
 * Returns a function that reads the files again and compares their content. A watch of the files would miss Kubernetes' changes of a Secret,
 * which replace a link to their folder. Files that cannot be served count from their second reading on, because the first one can be in the
 * middle of a change.
 */
export function createReread(settings: ServerTls, first: UsableFiles, events: RereadEvents): () => Promise<void> {
  let served = JSON.stringify(first.files);
  /** The files that could not be served, or the reason why they could not be read. */
  let broken: { readonly state: string; readonly readings: number } | undefined;

  return async function reread() {
    let state = "";
    try {
      const files = await readTlsFiles(settings);
      state = JSON.stringify(files);
      if (state !== served) {
        events.changed(usableFiles(settings, files));
        served = state;
      } else if (broken !== undefined && broken.readings > 1) events.recovered();
      broken = undefined;
    } catch (error) {
      if (!(error instanceof TlsError)) throw error;
      state ||= error.message;
      const readings = broken?.state === state ? broken.readings + 1 : 1;
      broken = { state, readings };
      if (readings > 1) events.failed(error, readings === 2);
    }
  };
}
