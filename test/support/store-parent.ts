import { createRequire } from "node:module";

/**
 * A process that starts a store from the build and then only lives, to be killed by a test: what becomes of the store
 * when the program dies without a word. It prints the store's process id and URL as one line of JSON.
 */
export const storeParentSource = `
  import pino from ${JSON.stringify(createRequire(import.meta.url).resolve("pino"))};
  const [folder, supervisor, main] = process.argv.slice(2);
  const { startEmbeddedStore } = await import(supervisor);
  const store = await startEmbeddedStore({ folder, program: [process.execPath, main], logger: pino({ level: "silent" }) });
  console.log(JSON.stringify({ processId: store.processId, url: store.url }));
`;
