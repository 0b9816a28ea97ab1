/** What authors write as the `guards` of an agent or a prompt. Types alone; `guards-field.ts` checks them. */

/** Each is off unless it is asked for. A prompt's come before its agent's, one by one. */
export interface GuardsInput {
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
