import { fileURLToPath } from "node:url";

/** The program of the store's own process, next to this file in a build. */
export const STORE_PROGRAM = fileURLToPath(new URL("main.js", import.meta.url));
