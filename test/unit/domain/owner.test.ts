import { describe, expect, it } from "vitest";
import { ownerOf, type OwnerSource } from "../../../domain/owner.ts";

const marks = (labels: Record<string, string>, annotations: Record<string, string> = {}) => ({ labels, annotations });
const USUAL: readonly OwnerSource[] = [{ podLabel: "team" }, { ownerLabel: "team" }, { namespaceLabel: "team" }];

describe("an owner", () => {
  it("is named by the first source that answers", () => {
    expect(ownerOf(USUAL, marks({ team: "vision" }), marks({ team: "lab" }))).toBe("vision");
    expect(ownerOf(USUAL, marks({}), marks({ team: "lab" }))).toBe("lab");
    expect(ownerOf(USUAL.toReversed(), marks({ team: "vision" }), marks({ team: "lab" }))).toBe("lab");
  });

  it("can be named by an annotation, where no label does", () => {
    expect(ownerOf(USUAL, marks({}, { team: "speech" }), undefined)).toBe("speech");
    expect(ownerOf(USUAL, marks({ team: "vision" }, { team: "speech" }), undefined)).toBe("vision");
  });

  it("is nobody where no source answers, an empty label included", () => {
    expect(ownerOf(USUAL, marks({ team: "" }), undefined)).toBe("unowned");
    expect(ownerOf([], marks({ team: "vision" }), undefined)).toBe("unowned");
  });
});
