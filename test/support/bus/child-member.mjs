// A member of a group. It prints the messages that it handles, and its own events after a "!"; see child-member.ts.
import { openChildBus } from "./child-bus.mjs";

const {
  bus: make,
  group,
  topic,
  commitEvery,
} = /** @type {import("./child-member.ts").ChildMemberOptions} */ (JSON.parse(process.argv[2] ?? ""));
const bus = await openChildBus(make);
/** @type {Map<number, number>} */
const counts = new Map();
/** @param {string} line */
const say = (line) => process.stdout.write(`${line}\n`);

const member = await bus.consume({
  group,
  topics: [topic],
  handler: {
    async onMessages(messages) {
      for (const message of messages) {
        const count = (counts.get(message.partition) ?? 0) + 1;
        counts.set(message.partition, count);
        // Printed first: if the member is killed in between, the test must not miss a committed message.
        say(Buffer.from(message.value ?? []).toString());
        if (count % commitEvery !== 0) continue;
        await member.commit(message, message.offset + 1);
        say("!committed");
      }
    },
    onAssigned: () => say("!assigned"),
    async onRevoked(partitions) {
      say("!revoked");
      for (const partition of partitions) {
        await member.commit(partition, 0).catch((error) => say(`!${/** @type {{ code: string }} */ (error).code}`));
      }
    },
  },
});
