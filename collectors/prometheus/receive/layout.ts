/** A series of a target: its name, and its labels without those of the sender. */
export interface SlotSeries {
  readonly name: string;
  readonly labels: ReadonlyMap<string, string>;
}

/** The slots of a target's series in the values of its moments. Slots are never removed. A layout with many ended series is replaced. */
export interface Layout {
  readonly slots: readonly SlotSeries[];
  /** Returns the slot of a series. It adds a slot for a new series. */
  slotOf(series: SlotSeries): number;
}

/** Creates a layout without a slot. */
export function createLayout(): Layout {
  const slots: SlotSeries[] = [];
  const found = new Map<string, Map<string, number>>();
  const blocks = new Map<string, ReadonlyMap<string, string>>();
  return {
    slots,
    slotOf({ name, labels }) {
      const key = JSON.stringify([...labels].toSorted(([left], [right]) => (left < right ? -1 : 1)));
      // The series of one device share their labels.
      const block = blocks.get(key) ?? labels;
      if (block === labels) blocks.set(key, labels);
      const byName = found.get(key) ?? new Map<string, number>();
      if (byName.size === 0) found.set(key, byName);
      const known = byName.get(name);
      if (known !== undefined) return known;
      const slot = slots.push({ name, labels: block }) - 1;
      byName.set(name, slot);
      return slot;
    },
  };
}
