/** Reading and setting variables through ThreadState (definitions §16). */
export type EnvType = 'text' | 'secret';

/** The part of ThreadState for variables. */
export interface EnvState {
  /**
   * Returns the value of a variable from the first source that has it: the thread, its user, the instance, the agent,
   * the tool's entry in the prompt, the prompt. Rejects with `MissingVariable`, which names it, if none has it.
   */
  env(name: string): Promise<string>;
  /**
   * `text` may be shown. `secret`, the default, is replaced by `[secret NAME]` wherever the result of this tool or an
   * error is stored.
   */
  envType(name: string): Promise<EnvType>;
  /**
   * Sets a variable of this thread and of its living descendants, except those whose agent declares it scoped. Without
   * `type` a variable keeps its type for this code, from whatever source its value comes (`envType`); a new one is
   * secret. Rejects with `InvalidVariable` or `ThreadTerminated`.
   */
  setEnv(name: string, value: string, options?: { readonly type?: EnvType }): Promise<void>;
}
