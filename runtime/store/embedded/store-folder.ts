/** The folder of the embedded store, readable only by its owner. */
import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { makePrivateFolder, restrictFiles } from "../../private-folder.ts";

/** The absolute paths inside a store's folder. */
export interface StoreFolder {
  /** The engine's own data. Only one process may hold it. */
  readonly data: string;
  /** Incoming insert bodies; emptied at every start. */
  readonly incoming: string;
  /** The only folder that `BACKUP` and `RESTORE` may access. */
  readonly backups: string;
  readonly configFile: string;
  readonly usersFile: string;
  readonly credentialsFile: string;
  /** The address of the running store, for commands on this machine. */
  readonly addressFile: string;
}

/** Returns the paths inside `folder`. Creates nothing. */
export function storeFolder(folder: string): StoreFolder {
  const root = resolve(folder);
  return {
    data: join(root, "data"),
    incoming: join(root, "incoming"),
    backups: join(root, "backups"),
    configFile: join(root, "config", "config.xml"),
    usersFile: join(root, "config", "users.xml"),
    credentialsFile: join(root, "credentials.json"),
    addressFile: join(root, "address"),
  };
}

/** Creates missing folders for the owner alone, and deletes insert bodies of an earlier process. */
export function prepareStoreFolder(folder: string): StoreFolder {
  const paths = storeFolder(folder);
  rmSync(paths.incoming, { recursive: true, force: true });
  for (const path of [resolve(folder), paths.data, paths.incoming, paths.backups, join(resolve(folder), "config")]) {
    makePrivateFolder(path);
  }
  restrictFiles(resolve(folder));
  return paths;
}
