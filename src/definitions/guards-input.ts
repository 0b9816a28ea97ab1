/** What authors write as the `guards` of an agent or a prompt. Types alone; `guards-field.ts` checks them. */

/** Each guard is off unless it is set. A guard of a prompt replaces the same guard of its agent. */
export interface GuardsInput {
  /**
   * Replaces the older part of a long history by a summary in requests; stored messages stay unchanged. `true`: with
   * the defaults; `false`: off, even if the agent sets it.
   */
  compaction?: boolean | CompactionGuardInput;
  /**
   * Detects loops in the model's calls: the model is reminded first, then its execution ends. `true`: with the
   * defaults; `false`: off, even if the agent sets it.
   */
  loops?: boolean | LoopGuardInput;
  /**
   * Limits the model steps of a turn, from one message from outside to the next. At the limit, the execution of a root
   * thread ends with `RoundsExhausted`, or is paused; a subagent is paused until it is allowed to go on.
   */
  rounds?: RoundGuardInput;
  /**
   * Who gives the confirmations that tools require (`confirm` of a tool). `ask` (default): a person. `auto`: the
   * runtime, immediately, which the log records with the decision. Approvals that a policy or a budget requires still
   * wait for a person.
   */
  confirm?: 'ask' | 'auto';
}

/** Guards of an agent: those of a prompt, and two that only agents have. */
export interface AgentGuardsInput extends GuardsInput {
  /**
   * Limits how many calls of its model may fail in a row in one execution. At the limit the execution asks for help: it
   * is paused until a message arrives or it is allowed to go on. If that is refused, it ends with `HelpRefused`.
   */
  failures?: FailureGuardInput;
  /**
   * Limits the number and the depth of its subagents, theirs included. A subagent beyond a limit is refused, and the
   * model reads the reason.
   */
  team?: TeamGuardInput;
}

/** Whole numbers above 0, except for `statusCooldownSeconds`. */
export interface TeamGuardInput {
  /** Maximum subagents of one thread that work at once; default 4. */
  maxConcurrent?: number;
  /** Maximum subagents that one turn of a thread makes in total; default 5. */
  maxChildren?: number;
  /** Maximum levels of threads below the agent's; default 2. */
  maxDepth?: number;
  /** Maximum calls of `query_subagent_status` in an execution of a root thread; default 2. */
  statusBudget?: number;
  /** Minimum seconds between two such calls; 0 for no minimum, default 8. */
  statusCooldownSeconds?: number;
}

export interface FailureGuardInput {
  /** A whole number above 0; 1 is raised to 2. Default 3. */
  max?: number;
}

export interface RoundGuardInput {
  /** A whole number above 0. Default 30. */
  max?: number;
  /** True if a root thread is paused at the limit as a subagent is, instead of ending. Default false. */
  pause?: boolean;
}

/** Whole numbers above 0; values below a minimum are raised to it. */
export interface LoopGuardInput {
  /** Number of calls in a loop at which the model's next request reminds it; at least 3, default 4. */
  warning?: number;
  /** Number of calls in a loop at which the execution ends with `LoopDetected`; more than `warning`, default 8. */
  critical?: number;
  /** Number of the execution's newest calls that are examined; at least 8 and at least `critical`, default 30. */
  history?: number;
}

/**
 * Whole numbers above 0; values below a minimum are raised to it. A history that would not fit the model's window is
 * summarised in any case.
 */
export interface CompactionGuardInput {
  /**
   * A history with more messages is summarised; at least 8 and four more than are kept, default 20 (200 with
   * `byWindow`).
   */
  thresholdMessages?: number;
  /** A history with more characters is summarised; at least 4,000, default 48,000 (200,000 with `byWindow`). */
  thresholdChars?: number;
  /** Number of the newest messages that are kept unchanged; at least 4, default 8. */
  retainRecentMessages?: number;
  /**
   * True if a history that nearly fills the model's window is summarised: three quarters of a small window, all but
   * 33,000 tokens of a large one. Default false.
   */
  byWindow?: boolean;
}
