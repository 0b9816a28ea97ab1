/** Defaults and caps of the sandbox. `docs/sandbox.md` tells them to users; a test compares the two. */

const MIB = 1024 * 1024;

export const SANDBOX_LIMITS = {
  /** Heap of a run when the caller names none, in bytes. */
  memoryDefault: 64 * MIB,
  /** A larger request is clamped (§13.4 a), and an overrun names the effective limit. */
  memoryCeiling: 256 * MIB,
  /** The engine's own minimum; a smaller request is raised to it. */
  memoryFloor: 8 * MIB,
  /** One transfer across the boundary: text and bytes. */
  transferBytes: 16 * MIB,
  /** One transfer: values and slots, an array's length counted. */
  transferElements: 1_000_000,
  /** Levels of nesting in one transfer. */
  transferDepth: 500,
  /** Processor time to read one transfer, beyond its parsing, and more of it for each element: four times what the dearest take. */
  transferFreeMs: 250,
  transferMsPerElement: 0.005,
  /** Functions that one side may hand to the other during a run. */
  functions: 10_000,
  /** Calls of one run to host functions that are under way at a time; more wait inside the sandbox. */
  callsInFlight: 1000,
  /** What those calls may carry together: the host keeps it until it answers. */
  callsInFlightBytes: 32 * MIB,
  /** The newest are kept; bytes are those of the memory that they would take. */
  logEntries: 1000,
  logBytes: MIB,
  /** One entry is cut where it is written. */
  logEntryBytes: 64 * 1024,
  logEntryElements: 10_000,
  logEntryDepth: 100,
  logTextLength: 16 * 1024,
  /** A run that reports more is ended: reports are data, and none may be lost silently. */
  reportEntries: 10_000,
  reportBytes: 16 * MIB,
  /** What a run may always hold of its reports, logs and arguments of calls under way, in bytes of memory. */
  heldByRun: MIB,
  /** What all runs of one sandbox may hold beyond that, together. */
  heldTogether: 128 * MIB,
  /** A child that has said more than this and was not told that it was taken does not keep to its own flow. */
  untakenBytes: 40 * MIB,
  untakenMessages: 1000,
  /** The part of a child's frame that is not a value: at most an error, whose texts JSON may write six times as long. */
  frameHeadBytes: 512 * 1024,
  /** What one child may say out of turn, of runs that have ended, before it is taken for a liar. */
  staleMessages: 2048,
  errorNameLength: 256,
  errorMessageLength: 16_384,
  errorStackLength: 16_384,
  filenameLength: 256,
  /** Source of a run, its modules included. */
  sourceBytes: 16 * MIB,
  /** A child that has not acknowledged a stop by then is killed. */
  stopGraceMs: 100,
  /** Children held for functions in results, and runs begun inside a bridged function: beyond the pool. */
  outsidePool: 16,
  /** A run that took its place so long ago does not keep a tenant that has none from beginning. */
  longRunMs: 2000,
  runsPerChild: 200,
  /** A child that holds more when idle is replaced. */
  childRestingBytes: 200 * MIB,
} as const;

/** What one transfer may hold, as the codec wants it told. It goes into the isolate too, which has no clock of ours. */
export const TRANSFER = {
  maxBytes: SANDBOX_LIMITS.transferBytes,
  maxElements: SANDBOX_LIMITS.transferElements,
  maxDepth: SANDBOX_LIMITS.transferDepth,
} as const;

/** What one entry of the console may hold. */
export const LOG_ENTRY = {
  maxBytes: SANDBOX_LIMITS.logEntryBytes,
  maxElements: SANDBOX_LIMITS.logEntryElements,
  maxDepth: SANDBOX_LIMITS.logEntryDepth,
  maxText: SANDBOX_LIMITS.logTextLength,
} as const;
