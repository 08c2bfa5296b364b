/** The first action for an XID according to NVIDIA's catalog. It decides the class of the XID. */
export type XidAction =
  | "restart the application"
  | "reset the GPU"
  | "restart the machine"
  | "check the power cables"
  | "check the NVLinks"
  | "update driver and firmware"
  | "look at the code that came with it"
  | "none";

/** An XID that NVIDIA's catalog describes. */
export interface XidEntry {
  readonly code: number;
  readonly action: XidAction;
  /** A short description of the error. */
  readonly meaning: string;
}

const APPLICATION = "restart the application";
const RESET = "reset the GPU";
const NVLINKS = "check the NVLinks";

/** Facts of https://docs.nvidia.com/deploy/xid-errors/ . Codes that are unused or have no description there are left out. */
const ROWS: readonly (readonly [codes: number | readonly number[], action: XidAction, meaning: string])[] = [
  [8, APPLICATION, "the GPU stopped working on what it was given"],
  [[11, 25, 32], APPLICATION, "commands that the program sent were broken"],
  [13, APPLICATION, "an exception of the compute engine: often an access outside an array, or a bad instruction"],
  [31, APPLICATION, "a page fault: the program used memory that was not mapped"],
  [37, "none", "the firmware was asked for something that it does not know"],
  [38, "none", "the firmware's watchdog ran out"],
  [
    [39, 40, 41, 70, 71, 72, 75, 76, 77, 85, 126, 127, 128, 129, 130, 131, 132, 133, 134, 135],
    APPLICATION,
    "a copy engine failed",
  ],
  [43, "none", "the GPU stopped working on what it was given, and the program was ended"],
  [44, "none", "the compute engine failed while it changed programs"],
  [45, "look at the code that came with it", "programs were removed from the GPU after an earlier fault"],
  [46, RESET, "the GPU stopped working on what it was given"],
  [48, RESET, "a double-bit memory error, which ECC can't correct"],
  [54, "check the power cables", "an auxiliary power cable is missing or loose"],
  [60, APPLICATION, "the video processor failed"],
  [62, RESET, "a microcontroller of the GPU halted"],
  [63, "none", "a row of memory was remapped, or a page retired; it takes effect at the next reset"],
  [64, RESET, "a row of memory could not be remapped"],
  [[66, 67], "none", "the driver touched what it must not"],
  [[68, 83, 84, 88, 89, 96, 97, 98], APPLICATION, "a video decoder failed"],
  [69, APPLICATION, "the compute engine refused a command of the program"],
  [74, NVLINKS, "an NVLink failed"],
  [78, "update driver and firmware", "a virtual GPU could not start"],
  [79, "restart the machine", "the GPU is no longer reachable over PCIe: it has fallen off the bus"],
  [80, APPLICATION, "commands were damaged on their way to the GPU"],
  [[82, 99, 100, 101, 102, 103, 104, 105], APPLICATION, "a JPEG engine failed"],
  [[86, 139], APPLICATION, "the optical flow engine failed"],
  [92, "none", "single-bit memory errors are unusually many"],
  [93, "none", "the board's own memory nears the end of its life"],
  [94, APPLICATION, "a memory error that was contained: only the program that hit it is affected"],
  [95, RESET, "a memory error that could not be contained: every program on the GPU is affected"],
  [[106, 107], "none", "a test message of the management bus"],
  [109, RESET, "changing from one program to another took too long"],
  [110, RESET, "a fault of the security engine"],
  [[119, 120], RESET, "the GPU's system processor does not answer, or failed"],
  [121, "none", "an error on the link between chips"],
  [136, RESET, "a link could not be trained"],
  [137, "none", "an access over NVLink was not permitted: often a fault of the GPU at its other end"],
  [140, RESET, "an ECC error that was not recovered"],
  [141, "none", "an error on CUDA's fast path"],
  [142, "none", "a video encoder failed"],
  [143, RESET, "the GPU could not be initialized"],
  [[144, 145, 146, 147, 148, 149, 150], NVLINKS, "an NVLink of the fifth generation failed"],
  [151, "restart the machine", "encryption keys could not be renewed"],
  [[152, 153], "none", "the deep-learning accelerator failed"],
  [154, "look at the code that came with it", "what the GPU asks to be done for its recovery has changed"],
  [155, RESET, "an NVLink fault that software defines"],
  [156, RESET, "a part of the GPU was retired; it takes effect at the next reset"],
  [157, "none", "a part of the GPU could not be retired"],
  [158, RESET, "a fatal timeout of the GPU"],
  [159, "look at the code that came with it", "an error on the coherent link without data"],
  [160, "none", "a memory channel was retired"],
  [161, "none", "a memory channel could not be retired"],
  [162, "none", "power smoothing works again"],
  [163, "none", "power smoothing was switched off"],
  [164, "none", "the circuit for power smoothing nears the end of its life"],
  [165, "none", "the circuit for power smoothing is worn out"],
  [[166, 170], "none", "traffic of confidential computing that was not as it must be"],
  [167, "none", "a fatal timeout on PCIe"],
  [168, "none", "errors in protected memory: the GPU has less of it"],
  [169, "none", "a microcontroller of the GPU halted"],
  [[171, 172], "none", "details of a memory error that can't be corrected"],
];

/** The XIDs that NVIDIA's catalog describes, sorted by code. */
export const XID_CATALOG: readonly XidEntry[] = ROWS.flatMap(([codes, action, meaning]) =>
  [codes].flat().map((code) => ({ code, action, meaning })),
).toSorted((a, b) => a.code - b.code);
