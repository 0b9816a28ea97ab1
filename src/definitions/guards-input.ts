/** What authors write as the `guards` of an agent or a prompt. Types alone; `guards-field.ts` checks them. */

/** Each is off unless it is asked for. A prompt's come before its agent's, one by one. */
export interface GuardsInput {
  /**
   * Whether the older part of a long history gives place to a summary in requests; what the thread keeps stays as it is. `true`: with the
   * defaults; `false`: not, whatever the agent says.
   */
  compaction?: boolean | CompactionGuardInput;
  /**
   * Whether calls that go round in circles are noticed: the model is reminded, and then its execution ends. `true`: with the defaults;
   * `false`: not, whatever the agent says.
   */
  loops?: boolean | LoopGuardInput;
  /**
   * How many steps of a model a turn may take, from one message from outside to the next. A root thread ends with `RoundsExhausted`; a subagent is
   * paused until somebody lets it go on.
   */
  rounds?: RoundGuardInput;
  /**
   * Who confirms what tools want confirmed (`confirm` of a tool). `ask` (default): a person. `auto`: the runtime, at once; the log tells it with the
   * decision. What a policy or a budget sends to an approval waits for a person all the same.
   */
  confirm?: 'ask' | 'auto';
}

/** Of an agent. */
export interface AgentGuardsInput extends GuardsInput {
  /**
   * How many calls of its model may fail in a row, in one execution. It then asks for help: it is paused until somebody says something, or lets it go
   * on. Refused, it ends with `HelpRefused`.
   */
  failures?: FailureGuardInput;
  /** How large the team of its subagents may grow, and the teams of those. What is too much is refused: the model reads why. */
  team?: TeamGuardInput;
}

/** Whole numbers; what is below 1 is raised to it. */
export interface TeamGuardInput {
  /** So many subagents of one thread may work at once; default 4. */
  maxConcurrent?: number;
  /** So many subagents may one turn of a thread make in all; default 5. */
  maxChildren?: number;
  /** So many levels of threads there may be below the agent's; default 2. */
  maxDepth?: number;
  /** So many times an execution of a root thread may ask with `query_subagent_status`; default 2. */
  statusBudget?: number;
  /** And not before so many seconds have passed since it did; 0 for at once, default 8. */
  statusCooldownSeconds?: number;
}

export interface FailureGuardInput {
  /** A whole number; what is below 2 is raised to it. Default 3. */
  max?: number;
}

export interface RoundGuardInput {
  /** A whole number; what is below 10 or above 120 is moved there. Default 30. */
  max?: number;
}

/** Whole numbers; what is below its floor is raised to it. */
export interface LoopGuardInput {
  /** So many calls remind the model in its next request; at least 3, default 4. */
  warning?: number;
  /** So many end the execution with `LoopDetected`; more than `warning`, default 8. */
  critical?: number;
  /** So many of the newest calls of the execution are looked at; at least 8 and `critical`, default 30. */
  history?: number;
}

/** Whole numbers; what is below its floor is raised to it. What would not fit the model's window is summarised in any case. */
export interface CompactionGuardInput {
  /** More messages than this are summarised; at least 8 and four more than are kept, default 20 (200 with `byWindow`). */
  thresholdMessages?: number;
  /** More characters than this are summarised; at least 4,000, default 48,000 (200,000 with `byWindow`). */
  thresholdChars?: number;
  /** So many of the newest messages are kept as they are; at least 4, default 8. */
  retainRecentMessages?: number;
  /** Whether what nearly fills the model's window is summarised: three quarters of a small one; default false. */
  byWindow?: boolean;
}
