/** The reason why a change does not apply to a holder that it names. */
export const LEFT = {
  shared: "the holder has only a part of its GPU",
  memory: "the holder used more memory than the smaller part, or the other GPUs, have",
  profile: "the GPU has no such MIG profile",
  held: "the node was held in that hour, or a part of it",
  room: "the node was not there all the time, or other nodes had no room for its pods",
  price: "no price per GPU-hour is known for the other GPU",
} as const;

/** See {@link LEFT}. */
export type LeftBecause = keyof typeof LEFT;
