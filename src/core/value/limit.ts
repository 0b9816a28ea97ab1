/** Every number that bounds something, in one place. Bytes are UTF-8 bytes. */
export const LIMITS = {
  /** Characters of an item's or message's id; visible ASCII. */
  idChars: 64,
  /** Characters of an execution's id that a sender gives; visible ASCII. */
  executionIdChars: 200,
  threadIdChars: 128,
  userIdChars: 256,
  /** Context of a start or an item: bytes of its JSON, its nesting, characters of one id, agents in its chain. */
  contextBytes: 8 * 1024,
  contextDepth: 32,
  contextTextChars: 200,
  contextAgents: 64,
  /** Content that a signal or update may carry inline. */
  inlineBytes: 32 * 1024,
  /** The largest content that our client accepts. */
  contentBytes: 4 * 1024 * 1024,
  /** Bytes of queued content passed to a step's activity; more goes to the store first. */
  stepInlineBytes: 4 * 1024,
  /**
   * The largest payload of a signal or update that is read at all: `inlineBytes` of control characters, each six bytes of JSON,
   * with room to spare.
   */
  payloadBytes: 256 * 1024,
  /** The largest payload of a signal that carries no content (stop, terminate, a wake); a larger one is ignored. */
  controlPayloadBytes: 4 * 1024,
  /**
   * Bytes of payloads that one script in the workflow's context reads, and bytes that each signal counts in addition.
   * The SDK aborts a script after 5 s, which harms other workflows. The longest scripts take about 150 ms
   * (bench/activation.ts), which is safe even on a machine that is more than 15 times as busy. The remaining signals
   * are read by the next script.
   */
  scriptBytes: 1024 * 1024,
  signalBytes: 1024,
  /** Signals of one activation that reach the workflow one by one, at up to 0.6 ms of the SDK's time each; the others come in batches. */
  singleSignals: 32,
  /** Bytes of content in one batch that is spilled to the store; below gRPC's 4 MiB with room to spare. */
  stashBytes: 1024 * 1024,
  /** Items of such a batch: each is one or two statements of one transaction. */
  stashItems: 1000,
  /** Reports of children remembered since the thread began to wait for one. */
  heardReports: 1000,
  /** Ids that the workflow remembers as a shortcut; the store's unique key is the guarantee. */
  seenIds: 256,
  /** Bytes that continue-as-new may carry. */
  carriedBytes: 64 * 1024,
  /** Bytes of inline content that may stay in the carried state. */
  carriedInlineBytes: 8 * 1024,
  /** Milliseconds that an attempt follows a task elsewhere; it is polled again after a pause that holds no worker. */
  remoteHoldMs: 20_000,
  activityResultBytes: 4 * 1024,
  /** Tool calls that a step's outcome names one by one; the rest are counted. */
  namedCalls: 16,
  /** Calls of one answer that are under way at once, if their tools say `parallel`. */
  parallelCalls: 8,
  /** Calls of prompts beyond those: the workflow must know them, so their indices are listed. */
  laterPrompts: 64,
  /** Calls of subagents beyond `namedCalls`, listed in the same way. */
  laterChildren: 256,
  /** Model calls of all that one execution of a root causes in its family, unless `EVERTHREAD_FAMILY_CALLS` is set. */
  familyCalls: 2000,
  /** Hard limit of steps in one execution, raised to a side's own maxSteps if that is larger. */
  stepsPerExecution: 250,
  /** Refused items kept for the next commit; beyond this number, the log has only their count. */
  rejections: 50,
  startMessages: 100,
  /** Bytes of the files of a conversation that a new thread begins with, without those of its last message. */
  earlierFileBytes: 8 * 1024 * 1024,
  /** Tags of a thread, and characters of one. */
  tagsPerThread: 50,
  tagChars: 100,
  /** The newest messages that `state.execution.messageHistory` has in tools and their hooks. */
  recentMessages: 100,
  /** Room for the messages of a request, in tokens, if none of the step's models declares its context window. */
  unboundTokens: 128_000,
  /** Characters of history that a model summarises in one request. */
  recordChars: 400_000,
  /** Bytes of a new thread's arguments as JSON: part of its start input, of which the server accepts 2 MB. */
  startArgumentBytes: 1024 * 1024,
  /** Characters of a variable's name, bytes of its value. */
  envNameChars: 128,
  envValueBytes: 64 * 1024,
  /** Files that one message names. */
  attachments: 20,
  /** Bytes of images in one request to a model. */
  requestImageBytes: 20 * 1024 * 1024,
  /** Pending effects of a thread. */
  effectsPerThread: 10_000,
  effectArgumentBytes: 256 * 1024,
  /** Bytes of an event that code emits, as JSON; of a larger event of a thread, the log has only the name. */
  emittedBytes: 64 * 1024,
  /** Bytes of an execution's scratch, as JSON. */
  scratchBytes: 256 * 1024,
  /** Milliseconds that one effect may run, and that one hook may. */
  effectMs: 5 * 60_000,
  hookMs: 30_000,
  /** Characters of the message, and of the stack, of a logged fault of author code. */
  faultChars: 8000,
  /** Stray faults of one run of author code that are logged one by one. */
  strayFaults: 10,
  /** Milliseconds after which code that runs for no thread may log `strayFaults` more. */
  strayPauseMs: 60_000,
  /** Nesting of sub-prompts. */
  subpromptDepth: 8,
  /** Nesting of threads: a root is at depth 0. */
  threadDepth: 16,
  /** Living children of one thread. */
  childrenPerThread: 1000,
  /** Characters of a child's name for display. */
  threadNameChars: 120,
  /** The status text that a child sets in its parent's registry. */
  childStatusChars: 500,
  /** Key-value store of a thread: UTF-16 units of a key, bytes of a value's JSON, number of keys. */
  valueKeyChars: 512,
  valueBytes: 256 * 1024,
  valuesPerThread: 10_000,
  /** Nesting of objects and lists in a value or in a file's metadata. */
  jsonDepth: 1000,
  /** Files of a thread: bytes of each, bytes of all, and their number with the directories. */
  fileBytes: 100 * 1024 * 1024,
  threadFileBytes: 1024 * 1024 * 1024,
  filesPerThread: 10_000,
  filePathBytes: 1024,
  fileNameBytes: 255,
  fileMetadataBytes: 16 * 1024,
  thumbnailBytes: 256 * 1024,
  mimeTypeChars: 255,
  /** Bytes read or written of a file at a time. Never to be changed: files are stored in chunks of this size. */
  fileChunkBytes: 1024 * 1024,
  /** Files that a search returns, matching lines of each, characters of a line. */
  foundFiles: 100,
  foundLines: 1000,
  foundLineChars: 1000,
  patternChars: 1000,
  /**
   * A wait: bytes of JSON shown beside its summary, or of its answer; characters of its summary, of a question's key.
   */
  waitBytes: 64 * 1024,
  waitSummaryChars: 2000,
  askKeyChars: 128,
  /** Milliseconds of computation of one `grepFiles`. */
  grepMs: 10_000,
  /** The schema that a sender gives for an answer: bytes of its JSON, its nesting; milliseconds that a check against it computes. */
  outputSchemaBytes: 64 * 1024,
  outputSchemaDepth: 32,
  outputSchemaMs: 2000,
  /** One answer of a model: bytes of its text, of its reasoning, of the arguments of one call, and of all calls. */
  answerTextBytes: 4 * 1024 * 1024,
  answerReasoningBytes: 4 * 1024 * 1024,
  /** Bytes of JSON of an answer's parts without their texts; larger ones are not kept. */
  answerPartsBytes: 1024 * 1024,
  callArgumentBytes: 1024 * 1024,
  answerArgumentBytes: 4 * 1024 * 1024,
  /** Tool calls of one answer, and tools that the provider ran for it. */
  answerCalls: 256,
  /** Calls of one answer that are run; the calls behind them get an error result. */
  callsRun: 128,
  /** Characters that are kept of a call's original arguments, if these were repaired. */
  rawCallChars: 4096,
  /** Bytes of JSON that one tool run by the provider reported. */
  executedToolBytes: 4 * 1024 * 1024,
  /** Bytes of base64 of the images of one answer. */
  answerImageBytes: 24 * 1024 * 1024,
  /** Chunks of a stream. */
  answerChunks: 1_000_000,
  /** Characters of a tool's name and of a call's id, as a model gives them; of an answer's own id, which is cut there. */
  callNameChars: 128,
  callIdChars: 256,
  responseIdChars: 256,
  /** The most tokens that a provider can report for one answer; a larger number counts as not reported. */
  claimedTokens: 1_000_000_000,
  /** The highest cost in US dollars that a provider can report for one answer; a higher one counts as not reported. */
  claimedCost: 1_000_000,
  /** Bytes on the wire, decompressed: a streamed answer, one event of it, a whole answer, the body of an error. */
  answerStreamBytes: 64 * 1024 * 1024,
  answerEventBytes: 8 * 1024 * 1024,
  answerBodyBytes: 16 * 1024 * 1024,
  errorBodyBytes: 64 * 1024,
  /** The longest time that a model's definition may set. */
  modelTimeoutSeconds: 86_400,
  /** Worker processes that a unit of author code may take down before it is given up. */
  strikes: 3,
  /** Lone processes of one worker. */
  loneProcesses: 2,
} as const;

/** Default timeouts of one request to a model, unless its definition sets others. */
export const MODEL_TIMEOUTS = {
  /** From the request to the first chunk of a stream. */
  firstChunkSeconds: 120,
  /** Between two chunks. */
  idleSeconds: 60,
  /** From the request to the end of a stream, however steadily it arrives. */
  totalSeconds: 600,
  /** A whole answer that is not streamed. */
  plainSeconds: 600,
  /** From the request until readers are notified that no answer has begun. */
  feedbackSeconds: 8,
} as const;

/**
 * Output tokens that an answer may take from a budget if neither the request nor the model's definition sets a number:
 * many models accept no more.
 */
export const BUDGETED_OUTPUT_TOKENS = 8192;

export type ModelTimeouts = { readonly [Name in keyof typeof MODEL_TIMEOUTS]?: number };

/** Returns the defaults, overridden by what a definition sets. */
export function modelTimeouts(set: ModelTimeouts = {}): Required<ModelTimeouts> {
  const given = Object.entries(set).filter(([, seconds]) => seconds !== undefined);
  return { ...MODEL_TIMEOUTS, ...Object.fromEntries(given) };
}

/** UTF-8 length without Buffer or TextEncoder: the workflow VM may lack both. */
export function utf8Length(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) bytes += 1;
    else if (unit < 0x800) bytes += 2;
    else if (isPair(unit, text.charCodeAt(i + 1))) {
      bytes += 4;
      i += 1;
    } else bytes += 3;
  }
  return bytes;
}

/** True for a surrogate pair. A lone surrogate is encoded as the replacement character, three bytes. */
function isPair(first: number, second: number): boolean {
  return first >= 0xd800 && first < 0xdc00 && second >= 0xdc00 && second < 0xe000;
}
