/** What a tool asks a person while its call waits (`state.ask`). */

export interface Question {
  /** Names the question within its call: up to 128 characters, the same whenever the body comes to it. */
  readonly key: string;
  /** For people: up to 2000 characters. */
  readonly question: string;
  /** JSON that is shown beside it, up to 64 KiB. */
  readonly data?: unknown;
  /** Milliseconds, above 0; without it the question waits for as long as the execution lasts. */
  readonly expiresInMs?: number;
}

export interface Answered {
  /** JSON, as it was given. */
  readonly value: unknown;
  /** Who answered, as the door says. */
  readonly by?: string;
}

export interface ThreadQuestions {
  /**
   * Asks a person, for a tool with `asks: true`. The call waits, for days if need be, in no process; its body then begins again from its
   * start, and has the answer here. So code before an `ask` runs again and must be free of effects. Rejects with `ActionDenied` where the
   * question was refused or has expired, which is the call's result unless it is caught; `InvalidValue`, `LimitExceeded` for what
   * cannot be asked, `InvalidDefinitions` where the tool does not say that it asks.
   */
  ask(question: Question): Promise<Answered>;
}
