/** Where the embedded store keeps what: one folder, readable by its owner alone. */
import { mkdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";

/** The absolute paths inside a store's folder. */
export interface StoreFolder {
  /** The engine's own data; one process may hold it. */
  readonly data: string;
  /** Insert bodies on their way in; emptied at every start. */
  readonly incoming: string;
  /** The only folder that `BACKUP` and `RESTORE` may touch. */
  readonly backups: string;
  readonly configFile: string;
  readonly usersFile: string;
  readonly credentialsFile: string;
}

/** The paths inside `folder`; nothing is created. */
export function storeFolder(folder: string): StoreFolder {
  const root = resolve(folder);
  return {
    data: join(root, "data"),
    incoming: join(root, "incoming"),
    backups: join(root, "backups"),
    configFile: join(root, "config", "config.xml"),
    usersFile: join(root, "config", "users.xml"),
    credentialsFile: join(root, "credentials.json"),
  };
}

/** Creates what is missing, for the owner alone, and throws away insert bodies that a former process left behind. */
export function prepareStoreFolder(folder: string): StoreFolder {
  const paths = storeFolder(folder);
  rmSync(paths.incoming, { recursive: true, force: true });
  for (const path of [resolve(folder), paths.data, paths.incoming, paths.backups, join(resolve(folder), "config")]) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
  }
  return paths;
}
