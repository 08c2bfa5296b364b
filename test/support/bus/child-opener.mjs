// Opens a log repeatedly while another instance of this process writes to it. Prints nothing, and ends at the end of its rounds.
// Arguments: the build's module of the storage, the log's folder.
const [module, folder] = process.argv.slice(2);
const { openStorage } = await import(module);
const first = await openStorage(folder);
for (let round = 0; round < 100; round++) {
  const written = first.write(() => void first.meta.put("usedBytes", round));
  await new Promise((resolve) => setTimeout(resolve, round % 3));
  const second = await openStorage(folder);
  await written;
  await second.close();
}
await first.close();
