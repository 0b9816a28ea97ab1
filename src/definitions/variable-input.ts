/** How authors declare a variable (definitions §3), on prompts, tools and agents alike. */
export interface VariableInput {
  /** Name of the variable. */
  name: string;
  /** `text` may be shown; `secret` is redacted, and only code can read it. Default `secret`. */
  type?: 'text' | 'secret';
  /** Whether it must have a value before anything runs; default false. */
  required?: boolean;
  /** Whether a child thread does *not* inherit it from its parent; default false. */
  scoped?: boolean;
  /** For user interfaces; default ''. */
  description?: string;
}
