/** ThreadState's variables (definitions §16): what code may ask of them, and set. */
export type EnvType = 'text' | 'secret';

/** The part of ThreadState for variables. */
export interface EnvState {
  /**
   * The value of a variable: from the thread, its user, the instance, the agent, the tool's entry in the prompt, the
   * prompt, in this order. Rejects with `MissingVariable`, which names it, when there is none.
   */
  env(name: string): Promise<string>;
  /**
   * `text` may be shown. `secret`, the default, is replaced by `[secret NAME]` wherever the result of this tool or an
   * error is stored.
   */
  envType(name: string): Promise<EnvType>;
  /**
   * Sets a variable of this thread and of its living descendants, except those whose agent declares it scoped. Without `type` a
   * variable keeps the type that it has for this code, from whatever source its value comes (`envType`); a new one is secret. Rejects with `InvalidVariable` or `ThreadTerminated`.
   */
  setEnv(name: string, value: string, options?: { readonly type?: EnvType }): Promise<void>;
}
