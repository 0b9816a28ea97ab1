/** Defaults and caps of the sandbox. `docs/sandbox.md` documents them for users; a test compares the two. */

const MIB = 1024 * 1024;

export const SANDBOX_LIMITS = {
  /** Default heap limit of a run, in bytes. */
  memoryDefault: 64 * MIB,
  /** A larger request is clamped to this (§13.4 a); the error of an overrun names the effective limit. */
  memoryCeiling: 256 * MIB,
  /** The engine's own minimum; a smaller request is raised to it. */
  memoryFloor: 8 * MIB,
  /** Maximum size of one transfer across the boundary: text and bytes together. */
  transferBytes: 16 * MIB,
  /** Maximum elements of one transfer: values and slots; an array counts with its length. */
  transferElements: 1_000_000,
  /** Maximum nesting depth of one transfer. */
  transferDepth: 500,
  /** CPU time to decode one transfer after JSON parsing, plus an allowance per element: four times the worst case. */
  transferFreeMs: 250,
  transferMsPerElement: 0.005,
  /** Functions that one side may hand to the other during a run. */
  functions: 10_000,
  /** Maximum pending calls of one run to host functions; further calls wait inside the sandbox. */
  callsInFlight: 1000,
  /** Maximum memory of their arguments together: the host keeps them until it answers. */
  callsInFlightBytes: 32 * MIB,
  /** Only the newest log entries of a run are kept. `logBytes` is their estimated size in memory. */
  logEntries: 1000,
  logBytes: MIB,
  /** Limits of one log entry, applied in the isolate when it is written. */
  logEntryBytes: 64 * 1024,
  logEntryElements: 10_000,
  logEntryDepth: 100,
  logTextLength: 16 * 1024,
  /** A run that reports more than this is ended: reports are data, so none may be dropped silently. */
  reportEntries: 10_000,
  reportBytes: 16 * MIB,
  /** Memory in bytes that each account of a run (reports and logs; arguments of pending calls) may always hold. */
  heldByRun: MIB,
  /** Memory in bytes that all runs of one sandbox may hold together beyond that. */
  heldTogether: 128 * MIB,
  /** A child that sends more than this without waiting for an acknowledgement violates its own flow control. */
  untakenBytes: 40 * MIB,
  untakenMessages: 1000,
  /** Size of a frame from a child without its value: at most an error, whose texts JSON can make six times as long. */
  frameHeadBytes: 512 * 1024,
  /** Messages about ended runs that a child may send while a run is current; beyond, it violates the protocol. */
  staleMessages: 2048,
  errorNameLength: 256,
  errorMessageLength: 16_384,
  errorStackLength: 16_384,
  filenameLength: 256,
  /** Maximum length of the source of a run in characters, its modules included. */
  sourceBytes: 16 * MIB,
  /** Milliseconds after which a child that has not acknowledged a stop is killed. */
  stopGraceMs: 100,
  /** Maximum runs outside the pool: those held for functions in results, and those begun inside a bridged function. */
  outsidePool: 16,
  /** Milliseconds after which a run no longer keeps a tenant without a place from beginning (host/run-queue.ts, L3). */
  longRunMs: 2000,
  runsPerChild: 200,
  /** An idle child with more resident memory than this is replaced. */
  childRestingBytes: 200 * MIB,
} as const;

/** Limits of one transfer, as the codec takes them. No time limit: the isolate, which gets them too, has no clock. */
export const TRANSFER = {
  maxBytes: SANDBOX_LIMITS.transferBytes,
  maxElements: SANDBOX_LIMITS.transferElements,
  maxDepth: SANDBOX_LIMITS.transferDepth,
} as const;

/** Limits of one console entry, as the codec takes them. */
export const LOG_ENTRY = {
  maxBytes: SANDBOX_LIMITS.logEntryBytes,
  maxElements: SANDBOX_LIMITS.logEntryElements,
  maxDepth: SANDBOX_LIMITS.logEntryDepth,
  maxText: SANDBOX_LIMITS.logTextLength,
} as const;
