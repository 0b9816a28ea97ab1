/** What a tool asks a person while its call waits (`state.ask`). */

export interface Question {
  /** Identifies the question within its call: up to 128 characters, the same each time the body reaches it. */
  readonly key: string;
  /** Text for people: up to 2000 characters. */
  readonly question: string;
  /** JSON shown with the question, up to 64 KiB. */
  readonly data?: unknown;
  /** Milliseconds, above 0; if absent, the question stays open for as long as the execution lasts. */
  readonly expiresInMs?: number;
}

export interface Answered {
  /** JSON, as the person gave it. */
  readonly value: unknown;
  /** Who answered, as the API or client that took the answer reports it. */
  readonly by?: string;
}

export interface ThreadQuestions {
  /**
   * Asks a person, for a tool with `asks: true`. The call waits, for days if need be, without occupying a process; then
   * its body restarts from its beginning and gets the answer here. So code before an `ask` runs again and must be free
   * of effects. Rejects with `ActionDenied` if the question was refused or has expired, which is the call's result
   * unless it is caught; with `InvalidValue` or `LimitExceeded` if the question is malformed or too large; with
   * `InvalidDefinitions` if the tool has no `asks: true`.
   */
  ask(question: Question): Promise<Answered>;
}
