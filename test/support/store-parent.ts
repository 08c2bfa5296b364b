import { createRequire } from "node:module";

/**
 * The source of a process that starts a store from the build and then does nothing until a test kills it. The test checks what the store does when
 * its program dies suddenly. It prints the store's process id and URL as one line of JSON.
 */
export const storeParentSource = `
  import pino from ${JSON.stringify(createRequire(import.meta.url).resolve("pino"))};
  const [folder, supervisor, main] = process.argv.slice(2);
  const { startEmbeddedStore } = await import(supervisor);
  const store = await startEmbeddedStore({ folder, program: [process.execPath, main], logger: pino({ level: "silent" }) });
  console.log(JSON.stringify({ processId: store.processId, url: store.url }));
`;
